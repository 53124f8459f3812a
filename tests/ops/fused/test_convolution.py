"""The fused convolution, and what all fused operators share."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.fused.activation import ACTIVATIONS, Finish, finish, finished
from gluonish.ops.fused.operator import FUSED_CONVOLUTION
from tests.checking.check_operator import check_operator
from tests.checking.values import ArrayValue

_RANDOM = np.random.default_rng(3)
NUMBERS = {
    "leaky": {"alpha": 0.1},
    "elu": {"alpha": 0.7},
    "clip": {"alpha": -1.0, "beta": 2.0},
    "hard_sigmoid": {"alpha": 0.2, "beta": 0.5},
    "swish": {"alpha": 1.5},
}
# What each function is, in float64.
EXPECTED: dict[str, Any] = {
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softrelu": lambda x: np.log1p(np.exp(x)),
    "tanh": np.tanh,
    "elu": lambda x: np.where(x > 0, x, 0.7 * np.expm1(x)),
    "leaky": lambda x: np.where(x > 0, x, 0.1 * x),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "clip": lambda x: np.clip(x, -1, 2),
    "hard_sigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "swish": lambda x: x / (1 + np.exp(-1.5 * x)),
}


def _normal(*shape: int) -> Any:
    return _RANDOM.standard_normal(shape)


def _what(activation: str, **given: Any) -> Finish:
    numbers = NUMBERS.get(activation, {})
    return Finish(activation, numbers.get("alpha", 0.0), numbers.get("beta", 0.0), False)


@pytest.mark.parametrize("activation", EXPECTED)
def test_an_activation_is_its_formula(activation: str) -> None:
    x = np.linspace(-3, 3, 30)
    out = np.empty_like(x)
    finish(np, out, x.copy(), None, _what(activation))
    np.testing.assert_allclose(out, EXPECTED[activation](x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_kernel_and_operators_give_the_same(activation: str) -> None:
    x, addend = _normal(4, 5), _normal(4, 5)
    out = addend.copy()
    finish(np, out, x.copy(), out, _what(activation))
    made: Any = finished(ArrayValue(x), ArrayValue(addend), _what(activation))
    np.testing.assert_allclose(out, made.array, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_each_activation_with_a_sum(activation: str) -> None:
    inputs = [_normal(1, 2, 4, 3), _normal(3, 2, 2, 2), _normal(3), _normal(1, 3, 3, 2)]
    window = {"kernel": (2, 2), "num_filter": 3, "with_sum": True}
    attrs = {**window, "activation": activation, **NUMBERS.get(activation, {})}
    # The derivative of clip and hard_sigmoid jumps at ends that rounding may cross.
    smooth = activation not in ("clip", "hard_sigmoid")
    check_operator(FUSED_CONVOLUTION, inputs, attrs, half_tolerance=5e-2, second_order=smooth)


@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("with_sum", [False, True])
def test_bias_and_sum_are_each_optional(no_bias: bool, with_sum: bool) -> None:
    inputs = [_normal(2, 3, 5), _normal(4, 3, 2)]
    inputs += [] if no_bias else [_normal(4)]
    inputs += [_normal(2, 4, 4)] if with_sum else []
    attrs = {"kernel": (2,), "num_filter": 4, "no_bias": no_bias, "with_sum": with_sum}
    check_operator(FUSED_CONVOLUTION, inputs, attrs, half_tolerance=5e-2)


def test_the_addend_may_be_the_output() -> None:
    data, weight, addend = _normal(2, 3, 4, 4), _normal(5, 3, 1, 1), _normal(2, 5, 4, 4)
    window = {"kernel": (1, 1), "num_filter": 5, "no_bias": True}
    attrs = FUSED_CONVOLUTION.schema.parse("", {**window, "with_sum": True, "activation": "tanh"})
    apart = np.empty_like(addend)
    FUSED_CONVOLUTION.kernel(np, apart, data, weight, addend, **attrs)
    FUSED_CONVOLUTION.kernel(np, addend, data, weight, addend, **attrs)
    np.testing.assert_array_equal(addend, apart)


def test_an_addend_of_another_shape_is_refused() -> None:
    specs = [Spec(s, np.dtype("f4")) for s in ((1, 2, 4, 4), (3, 2, 1, 1), (3,), (1, 3, 4, 1))]
    attrs = FUSED_CONVOLUTION.schema.parse(
        "", {"kernel": (1, 1), "num_filter": 3, "with_sum": True}
    )
    with pytest.raises(OperatorError, match=r"_fused_convolution: expected addend .*\(1, 3, 4, 4"):
        FUSED_CONVOLUTION.infer(*specs, **attrs)


def test_shapes_follow_from_the_data() -> None:
    given = {"kernel": (3, 3), "num_filter": 7, "with_sum": True}
    attrs = FUSED_CONVOLUTION.schema.parse("", given)
    assert FUSED_CONVOLUTION.input_names(attrs) == ("data", "weight", "bias", "addend")
    inputs = [PartialSpec((2, 4, 9, 8), np.dtype("f4")), *[PartialSpec(None, None)] * 3]
    outputs = [PartialSpec(None, None)]
    assert FUSED_CONVOLUTION.complete is not None
    FUSED_CONVOLUTION.complete(inputs, outputs, attrs)
    assert [spec.shape for spec in inputs[1:]] == [(7, 4, 3, 3), (7,), (2, 7, 7, 6)]
    assert outputs[0].shape == (2, 7, 7, 6)
