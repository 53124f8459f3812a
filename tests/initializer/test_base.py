import logging

import numpy as np
import pytest

import gluonish as mx
import gluonish.ndarray as nd
from gluonish import initializer
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.initializer import (
    Constant,
    InitDesc,
    Initializer,
    LSTMBias,
    MSRAPrelu,
    Normal,
    One,
    Orthogonal,
    Uniform,
    Xavier,
    Zero,
    create,
    register,
)


def filled(init: Initializer, name: str, shape: tuple[int, ...] = (2, 2)) -> np.ndarray:
    arr = nd.full(shape, 7.0)
    init(name, arr)
    return arr.asnumpy()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fc_weight", 3),
        ("weight", 3),
        ("stn_loc_weight", 3),
        ("h_quantized_weight", 3),
        ("fc_bias", 0),
        ("stn_loc_bias", 0),
        ("bn_gamma", 1),
        ("bn_beta", 0),
        ("bn_min", 0),
        ("bn_max", 1),
    ],
)
def test_end_of_the_name_decides(name: str, value: float) -> None:
    assert np.all(filled(Constant(3.0), InitDesc(name)) == value)


@pytest.mark.parametrize(
    "name", ["foo", "bn_running_mean", "bn_moving_var", "FC_WEIGHT", "upsampling_x", "x_weight_"]
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match=rf"ends in weight, .*, got '{name}'"):
        filled(Constant(3.0), InitDesc(name))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fc_weight", 3),
        ("fc_bias", 0),
        ("bn_moving_mean", 0),
        ("bn_moving_var", 1),
        ("bn_moving_inv_var", 0),
        ("bn_moving_avg", 0),
        ("stn_loc_weight", 0),
    ],
)
def test_plain_name_knows_more_and_is_deprecated(name: str, value: float) -> None:
    with pytest.warns(DeprecationWarning, match="InitDesc"):
        result = filled(Constant(3.0), name)
    assert np.all(result == value)


def test_plain_localization_bias_is_the_identity_transform() -> None:
    with pytest.warns(DeprecationWarning, match="InitDesc"):
        result = filled(Constant(3.0), "stn_loc_bias", (6,))
    assert result.tolist() == [1, 0, 0, 0, 1, 0]
    with (
        pytest.warns(DeprecationWarning, match="InitDesc"),
        pytest.raises(ArgumentError, match="shape"),
    ):
        filled(Constant(3.0), "stn_loc_bias", (5,))


def test_plain_upsampling_name_is_bilinear() -> None:
    with pytest.warns(DeprecationWarning, match="InitDesc"):
        result = filled(Constant(3.0), "upsampling_weight", (1, 1, 4, 4))
    assert result[0, 0, 0].tolist() == [0.0625, 0.1875, 0.1875, 0.0625]


def test_name_of_another_type_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="InitDesc or a name, got 3"):
        One()(3, nd.zeros((2, 2)))  # type: ignore[arg-type]


@pytest.mark.parametrize("chosen", [Constant(5.0), Constant(5.0).dumps(), "five"])
def test_attribute_init_fills_any_name_as_a_weight(chosen: object) -> None:
    if chosen == "five":
        initializer.base.get_register_func(Initializer, "initializer")(_Five, "five")  # type: ignore[attr-defined]
    assert np.all(filled(Zero(), InitDesc("x_bias", {"__init__": chosen})) == 5)


class _Five(Constant):
    def __init__(self) -> None:
        super().__init__(5.0)


def test_empty_attribute_init_counts_as_none() -> None:
    assert np.all(filled(Constant(4.0), InitDesc("x_weight", {"__init__": ""})) == 4)


def test_first_initializer_becomes_the_global_one() -> None:
    outer = Zero()
    desc = InitDesc("x", {"__init__": "one"})
    filled(outer, desc)
    filled(One(), desc)
    assert desc.global_init is outer


def test_description_is_the_name() -> None:
    desc = InitDesc("n", {"a": "b"}, None)
    assert desc == "n"
    assert desc.attrs == {"a": "b"}
    assert InitDesc("n").attrs == {}
    assert InitDesc("n").global_init is None


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (Zero(), '["zero", {}]'),
        (One(), '["one", {}]'),
        (Constant(2.5), '["constant", {"value": 2.5}]'),
        (Uniform(), '["uniform", {"scale": 0.07}]'),
        (Normal(0.3), '["normal", {"sigma": 0.3}]'),
        (Orthogonal(), '["orthogonal", {"scale": 1.414, "rand_type": "uniform"}]'),
        (Xavier(), '["xavier", {"rnd_type": "uniform", "factor_type": "avg", "magnitude": 3}]'),
        (MSRAPrelu("in", 0.5), '["msraprelu", {"factor_type": "in", "slope": 0.5}]'),
        (LSTMBias(2.0), '["lstmbias", {"forget_bias": 2.0}]'),
    ],
)
def test_dumps_is_mxnets_text_and_create_reads_it(made: Initializer, text: str) -> None:
    assert made.dumps() == text
    assert create(text) == made


@pytest.mark.parametrize(
    ("name", "kind"),
    [("zeros", Zero), ("Zero", Zero), ("ones", One), ("xavier", Xavier), ("msraprelu", MSRAPrelu)],
)
def test_create_knows_mxnets_names(name: str, kind: type) -> None:
    assert type(create(name)) is kind


def test_equality_is_class_and_arguments() -> None:
    assert Xavier() == Xavier()
    assert Xavier() != Xavier(magnitude=2)
    assert Zero() != One()
    assert Zero() != "zero"


def test_registered_class_is_found_by_its_name() -> None:
    @register
    class SevenFold(Initializer):
        def _init_weight(self, name: str, arr: nd.NDArray) -> None:
            arr[:] = 77

    assert np.all(filled(create("sevenfold"), InitDesc("x_weight")) == 77)


def test_class_without_init_weight_is_refused_at_the_call() -> None:
    with pytest.raises(NotSupportedError, match="_init_weight"):
        filled(Initializer(), InitDesc("x_weight"))


def test_subclass_may_fill_other_names() -> None:
    class Default(Initializer):
        def _init_default(self, name: str, arr: nd.NDArray) -> None:
            arr[:] = 6

    assert np.all(filled(Default(), InitDesc("foo")) == 6)


def test_verbosity_logs_what_was_filled(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    init = One().set_verbosity(True)
    filled(init, InitDesc("a_weight"))
    filled(init, InitDesc("a_bias", {"__init__": "ones"}))
    init.set_verbosity(True, lambda arr: "shown")
    filled(init, InitDesc("b_bias"))
    init.set_verbosity(False)
    filled(init, InitDesc("c_bias"))
    assert caplog.messages == [
        "Initialized a_weight as weight: 1.0",
        "Initialized a_bias as ones: 1.0",
        "Initialized b_bias as bias: shown",
    ]


def test_quantized_weights_are_whole_numbers_and_their_biases_zero() -> None:
    """As MXNet 1.9.1 fills arrays of these names, a weight with one number."""
    weight, bias = mx.nd.ones((3, 4), dtype="int8") * 7, mx.nd.ones((3,)) * 7
    mx.init.Uniform()(mx.init.InitDesc("a_weight_quantize"), weight)
    mx.init.Uniform()(mx.init.InitDesc("a_bias_quantize"), bias)
    values = set(weight.asnumpy().ravel().tolist())
    assert len(values) == 1
    assert -127 <= values.pop() < 127
    assert bias.asnumpy().tolist() == [0, 0, 0]
