from pathlib import Path

import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError, ParameterError
from gluonish.gluon.parameter import Constant, Parameter, ParameterDict
from gluonish.initializer import Xavier
from gluonish.ndarray import array, load, ones, save


def make(prefix: str = "net_", **shapes: tuple[int, ...]) -> ParameterDict:
    made = ParameterDict(prefix)
    for name, shape in shapes.items():
        made.get(name, shape=shape, init="ones")
    return made


def test_repr_is_that_of_mxnet() -> None:
    assert repr(ParameterDict("net_")) == "net_ (\n\n)"
    assert repr(make("", w=(3,))) == (
        "(\n  Parameter w (shape=(3,), dtype=<class 'numpy.float32'>)\n)"
    )


def test_names_have_the_prefix_and_the_order_of_creation() -> None:
    params = make(b=(1,), a=(2,))
    assert list(params) == list(params.keys()) == ["net_b", "net_a"]
    assert [p.name for p in params.values()] == ["net_b", "net_a"]
    assert "net_b" in params
    assert params.prefix == "net_"


def test_same_name_is_the_same_parameter() -> None:
    params = make(w=(3, 0))
    assert params.get("w") is params["net_w"]


def test_shapes_are_joined() -> None:
    params = make(w=(3, 0))
    assert params.get("w", shape=(0, 5)).shape == (3, 5)


@pytest.mark.parametrize(
    "wanted",
    [{"shape": (4, 5)}, {"shape": (3,)}, {"dtype": "float16"}, {"init": "zeros"}, {"lr_mult": 3}],
)
def test_disagreement_with_an_existing_parameter_is_refused(wanted: dict[str, object]) -> None:
    params = make(w=(3, 5))
    with pytest.raises(ParameterError, match=f"Parameter net_w: expected {next(iter(wanted))} "):
        params.get("w", **wanted)


def test_equal_attributes_agree() -> None:
    params = ParameterDict()
    params.get("w", shape=(3,), init=Xavier(), dtype="float32")
    params.get("w", shape=(3,), init=Xavier(), dtype=np.float32, grad_req="write")
    assert len(list(params)) == 1


def test_missing_initializer_is_taken_over() -> None:
    params = ParameterDict()
    params.get("w", shape=(3,))
    assert params.get("w", init="ones").init == "ones"


def test_shared_parameters_come_before_new_ones() -> None:
    first = make(w=(3,))
    second = ParameterDict("net_", shared=first)
    assert second.get("w") is first["net_w"]
    second.get("v", shape=(1,))
    assert "net_v" not in first


def test_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(KeyError, match=r"got 'net_wieght' \(nearest: 'net_weight'\)"):
        make(weight=(1,))["net_wieght"]


def test_constant_is_made_once() -> None:
    params = ParameterDict("net_")
    constant = params.get_constant("c", [1, 2])
    assert isinstance(constant, Constant)
    assert params.get_constant("c") is constant
    assert params.get_constant("c", np.array([1, 2])) is constant
    with pytest.raises(ParameterError, match="to keep its value"):
        params.get_constant("c", [1, 3])
    with pytest.raises(ParameterError, match="to keep its value"):
        params.get_constant("c", [1, 2, 3])


def test_constant_needs_a_value_and_a_free_name() -> None:
    params = make(w=(1,))
    with pytest.raises(KeyError, match="pass its value"):
        params.get_constant("c")
    with pytest.raises(ParameterError, match="to be a Constant"):
        params.get_constant("w", [1])


def test_update_joins_and_refuses_two_of_a_name() -> None:
    first, second = make("a_", w=(1,)), make("b_", w=(1,))
    first.update(second)
    first.update(second)
    assert list(first) == ["a_w", "b_w"]
    with pytest.raises(ParameterError, match="two called 'b_w'"):
        first.update(make("b_", w=(1,)))


def test_initialize_and_its_kin_reach_all() -> None:
    params = make(a=(1,), b=(2,))
    params.initialize(ctx=[cpu(0), cpu(1)])
    params["net_a"].grad(cpu(0))[:] = 5
    params.zero_grad()
    assert params["net_a"].grad(cpu(0)).asnumpy().tolist() == [0]
    params.reset_ctx([cpu(2)])
    assert params.list_ctx() == [cpu(2)]
    params.setattr("grad_req", "null")
    assert {p.grad_req for p in params.values()} == {"null"}
    assert ParameterDict().list_ctx() == []


class TestFiles:
    def test_what_is_saved_is_loaded(self, tmp_path: Path) -> None:
        path = tmp_path / "x.params"
        params = make(a=(1,), b=(2, 3))
        params.initialize()
        params["net_b"].set_data(ones((2, 3)) * 7)
        params.save(path, strip_prefix="net_")
        assert list(load(path)) == ["a", "b"]
        again = make("other_", a=(1,), b=(2, 0))
        again.load(path, restore_prefix="other_")
        assert again["other_b"].data().asnumpy().tolist() == [[7, 7, 7], [7, 7, 7]]

    def test_prefix_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        params = make(a=(1,))
        params.initialize()
        with pytest.raises(ArgumentError, match="strip_prefix 'zz'"):
            params.save(tmp_path / "x", strip_prefix="zz")
        with pytest.raises(ArgumentError, match="restore_prefix 'zz'"):
            params.load_dict({"a": ones((1,))}, restore_prefix="zz")
        assert list(tmp_path.iterdir()) == []

    def test_exported_names_are_understood(self) -> None:
        params = make("", a=(1,), b=(1,))
        params.load_dict({"arg:a": array([3]), "aux:b": array([4])})
        assert [p.data().asnumpy().tolist() for p in params.values()] == [[3], [4]]

    def test_missing_array_is_refused_unless_allowed(self) -> None:
        params = make("", weight=(1,), bias=(1,))
        arrays = {"weight": array([3]), "biass": array([1])}
        with pytest.raises(ParameterError, match=r"'bias' in the dict.*nearest: 'biass'"):
            params.load_dict(arrays)
        params.load_dict(arrays, allow_missing=True, ignore_extra=True)
        assert params["weight"].data().asnumpy().tolist() == [3]
        with pytest.raises(ParameterError, match="not; call initialize"):
            params["bias"].data()

    def test_extra_array_is_refused_unless_ignored(self) -> None:
        params = make("", weight=(1,))
        with pytest.raises(ArgumentError, match=r"got 'weigth' .*ignore_extra=True"):
            params.load_dict({"weight": array([3]), "weigth": array([3])})

    def test_file_without_names_is_refused(self, tmp_path: Path) -> None:
        save(tmp_path / "x.params", [ones((1,))])
        with pytest.raises(ArgumentTypeError, match="arrays with names"):
            make("", weight=(1,)).load(tmp_path / "x.params")

    def test_empty_file_lacks_everything(self, tmp_path: Path) -> None:
        save(tmp_path / "x.params", {})
        with pytest.raises(ParameterError, match="'weight'"):
            make("", weight=(1,)).load(tmp_path / "x.params")

    def test_dtype_arguments_are_passed_on(self) -> None:
        params = make("", weight=(1,))
        params.load_dict(
            {"weight": ones((1,), dtype="float16")}, cast_dtype=True, dtype_source="saved"
        )
        assert params["weight"].data().dtype == np.float16


def test_parameters_of_any_kind_may_be_updated_from_a_plain_dict() -> None:
    params = ParameterDict()
    params.update({"w": Parameter("w", shape=(1,))})
    assert list(params) == ["w"]


@pytest.mark.parametrize(
    "kept",
    [{"allow_deferred_init": False}, {"differentiable": False}, {"grad_stype": "row_sparse"}],
)
def test_what_a_parameter_was_made_for_stays(kept: dict[str, object]) -> None:
    params = make(w=(3, 5))
    before = vars(params["net_w"]).copy()
    assert params.get("w", **kept) is params["net_w"]
    assert vars(params["net_w"]) == before


def test_other_storage_type_is_refused() -> None:
    with pytest.raises(ParameterError, match="expected stype default, as it was created"):
        make(w=(3, 5)).get("w", stype="row_sparse")


def test_unknown_argument_is_refused_for_an_existing_parameter_too() -> None:
    with pytest.raises(ArgumentTypeError, match=r"got 'lr_mul' \(nearest: 'lr_mult'"):
        make(w=(3, 5)).get("w", lr_mul=2.0)


def test_zero_grad_reaches_every_parameter_on_every_device() -> None:
    params = make(w=(3, 5), b=(3,))
    params["net_b"].grad_req = "null"
    params.initialize(ctx=[cpu(0), cpu(1)])
    for gradient in params["net_w"].list_grad():
        gradient += 3
    params.zero_grad()
    assert [g.asnumpy().any() for g in params["net_w"].list_grad()] == [False, False]


def test_any_parameter_is_found_as_a_constant_without_a_value() -> None:
    params = ParameterDict("net_")
    weight = params.get("w", shape=(2,))
    assert params.get_constant("w") is weight


def test_what_is_not_asked_of_a_shared_parameter_is_taken_as_it_is() -> None:
    given = ParameterDict("net_")
    stored = given.get(
        "w", grad_req="null", shape=(0, 3), dtype="float64", lr_mult=2.0, wd_mult=3.0, init="ones"
    )
    donated = ParameterDict("net_", given).get("w", shape=(2, 0), grad_stype="row_sparse")
    assert donated is stored
    facts = (
        donated.grad_req,
        donated.shape,
        donated.dtype,
        donated.lr_mult,
        donated.wd_mult,
        donated.init,
    )
    assert facts == ("null", (2, 3), "float64", 2.0, 3.0, "ones")
    with pytest.raises(ParameterError, match="expected grad_req null"):
        given.get("w", grad_req="write")


@pytest.mark.parametrize("first", [True, False])
def test_a_shared_parameter_waits_for_its_shape_if_either_lets_it(first: bool) -> None:
    given = ParameterDict("net_")
    given.get("w", shape=(0, 3), allow_deferred_init=first)
    donated = ParameterDict("net_", given).get("w", allow_deferred_init=not first)
    donated.initialize()
    assert donated.shape == (0, 3)
