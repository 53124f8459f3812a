"""Elementwise, sum, concat, reduction and resampling plans against NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.onednn import RefusedError
from gluonish.kernels.onednn.api import AlgorithmKind
from gluonish.kernels.onednn.concat import concat
from gluonish.kernels.onednn.eltwise import (
    binary,
    eltwise,
    eltwise_backward,
    prelu,
    prelu_backward,
    weighted_sum,
)
from gluonish.kernels.onednn.pooling import nearest, nearest_backward
from gluonish.kernels.onednn.softmax import reduction
from gluonish.ops.kernel import Array, Bound
from tests.kernels.onednn.planned import LAYOUTS, Layout, channels_last, contiguous, random

Close = Callable[[Array, Array], None]

SHAPE = (2, 5, 4, 6)


def _run(bound: Bound, *arrays: Array) -> None:
    bound.plan.run(*bound.order(arrays))


def _wide(array: Array) -> Array:
    return array.astype(np.float64)


FUNCTIONS: dict[AlgorithmKind, Callable[[Array], Array]] = {
    AlgorithmKind.ELTWISE_RELU: lambda x: np.maximum(x, 0),
    AlgorithmKind.ELTWISE_TANH: np.tanh,
    AlgorithmKind.ELTWISE_LOGISTIC: lambda x: 1 / (1 + np.exp(-x)),
    AlgorithmKind.ELTWISE_EXP: np.exp,
    AlgorithmKind.ELTWISE_ABS: np.abs,
    AlgorithmKind.ELTWISE_SQUARE: np.square,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", FUNCTIONS, ids=lambda kind: kind.name)
def test_eltwise(kind: AlgorithmKind, layout: Layout, dtype: Any, close: Close) -> None:
    data = layout(random(*SHAPE, dtype=dtype))
    out = layout(np.zeros(SHAPE, dtype))
    _run(eltwise(out, data, kind), out, data)
    close(out, FUNCTIONS[kind](_wide(data)))


def test_eltwise_backward_from_the_result(dtype: Any, close: Close) -> None:
    grad, result = random(*SHAPE, dtype=dtype), random(*SHAPE, dtype=dtype, seed=1)
    out = np.zeros(SHAPE, dtype)
    kind = AlgorithmKind.ELTWISE_RELU_USE_DST_FOR_BWD
    _run(eltwise_backward(out, grad, result, kind), out, grad, result)
    close(out, _wide(grad) * (result > 0))


BINARY: dict[AlgorithmKind, Callable[[Array, Array], Array]] = {
    AlgorithmKind.BINARY_ADD: np.add,
    AlgorithmKind.BINARY_SUB: np.subtract,
    AlgorithmKind.BINARY_MUL: np.multiply,
    AlgorithmKind.BINARY_MAX: np.maximum,
    AlgorithmKind.BINARY_MIN: np.minimum,
}


@pytest.mark.parametrize("other", [SHAPE, (1, 5, 1, 1), (1,), (6,), (4, 1)], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", BINARY, ids=lambda kind: kind.name)
def test_binary(
    kind: AlgorithmKind, layout: Layout, other: tuple[int, ...], dtype: Any, close: Close
) -> None:
    lhs, rhs = layout(random(*SHAPE, dtype=dtype)), random(*other, dtype=dtype, seed=1)
    out = layout(np.zeros(SHAPE, dtype))
    _run(binary(out, lhs, rhs, kind), out, lhs, rhs)
    close(out, BINARY[kind](_wide(lhs), _wide(rhs)))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sum(layout: Layout, dtype: Any, close: Close) -> None:
    arrays = [layout(random(*SHAPE, dtype=dtype, seed=seed)) for seed in range(3)]
    out = layout(np.zeros(SHAPE, dtype))
    _run(weighted_sum(out, arrays, (1.0, 2.0, -0.5)), out, *arrays)
    close(out, _wide(arrays[0]) + 2 * _wide(arrays[1]) - 0.5 * _wide(arrays[2]))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_concat(layout: Layout, axis: int, dtype: Any) -> None:
    arrays = [layout(random(*SHAPE, dtype=dtype, seed=seed)) for seed in range(3)]
    want = np.concatenate(arrays, axis)
    out = layout(np.zeros_like(want))
    _run(concat([out], arrays, {"dim": axis}), out, *arrays)
    np.testing.assert_array_equal(out, want)


REDUCTIONS: dict[AlgorithmKind, Callable[..., Array]] = {
    AlgorithmKind.REDUCTION_SUM: np.sum,
    AlgorithmKind.REDUCTION_MEAN: np.mean,
    AlgorithmKind.REDUCTION_MAX: np.max,
    AlgorithmKind.REDUCTION_MIN: np.min,
}


@pytest.mark.parametrize("axes", [(3,), (2, 3), (0, 1, 2, 3)], ids=str)
@pytest.mark.parametrize("kind", REDUCTIONS, ids=lambda kind: kind.name)
def test_reduction(kind: AlgorithmKind, axes: tuple[int, ...], dtype: Any, close: Close) -> None:
    data = random(*SHAPE, dtype=dtype)
    want = REDUCTIONS[kind](_wide(data), axis=axes)
    out = np.zeros(want.shape or (1,), dtype)
    _run(reduction(out, data, axes, kind), out, data)
    close(out, want.reshape(out.shape))


def test_reduction_of_leading_axes_is_refused() -> None:
    data, out = random(*SHAPE), np.zeros(SHAPE[1:], np.float32)
    with pytest.raises(RefusedError, match="expected an optimized implementation"):
        reduction(out, data, (0,), AlgorithmKind.REDUCTION_SUM)


@pytest.mark.parametrize("layout", [contiguous, channels_last])
def test_nearest_neighbours(layout: Layout, dtype: Any, close: Close) -> None:
    data = layout(random(2, 32, 3, 4, dtype=dtype))
    want = data.repeat(3, axis=2).repeat(2, axis=3)
    out = layout(np.zeros_like(want))
    _run(nearest([out], [data], {}), out, data)
    np.testing.assert_array_equal(out, want)
    grad = layout(random(*want.shape, dtype=dtype, seed=1))
    back = layout(np.zeros(data.shape, dtype))
    _run(nearest_backward([back], [grad], {}), back, grad)
    close(back, _wide(grad).reshape(2, 32, 3, 3, 4, 2).sum((3, 5)))


@pytest.mark.parametrize("layout", [contiguous, channels_last])
def test_prelu(layout: Layout, dtype: Any, close: Close) -> None:
    data, grad = (layout(random(*SHAPE, dtype=dtype, seed=seed)) for seed in range(2))
    gamma = random(5, dtype=dtype, seed=2)
    along = _wide(gamma).reshape(1, -1, 1, 1)
    out = layout(np.zeros(SHAPE, dtype))
    _run(prelu(out, data, gamma), out, data, gamma)
    close(out, np.where(data > 0, _wide(data), _wide(data) * along))
    back, gamma_back = layout(np.zeros(SHAPE, dtype)), np.zeros(5, dtype)
    arrays = (back, gamma_back, grad, data, gamma)
    _run(prelu_backward(*arrays), *arrays)
    close(back, _wide(grad) * np.where(data > 0, 1, along))
    below = _wide(grad) * _wide(data) * (data <= 0)
    close(gamma_back, below.sum((0, 2, 3)))


def test_one_slope_for_all_channels_is_refused() -> None:
    data, gamma = random(*SHAPE), random(1)
    with pytest.raises(RefusedError, match="expected an optimized implementation"):
        prelu(np.empty_like(data), data, gamma)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: eltwise(x, y, AlgorithmKind.ELTWISE_TANH),
        lambda x, y: binary(x, x, y, AlgorithmKind.BINARY_ADD),
        lambda x, y: weighted_sum(x, [x, y], (1, 1)),
        lambda x, y: concat([x], [x, y], {"dim": 0}),
        lambda x, y: reduction(x, y, (1,), AlgorithmKind.REDUCTION_SUM),
        lambda x, y: nearest([x], [y], {}),
        lambda x, y: prelu(x, y, y),
    ],
)
def test_two_dtypes_are_refused_with_the_shapes(call: Callable[..., Bound]) -> None:
    x = random(2, 3)
    with pytest.raises(RefusedError, match=r"float32\(2, 3\).*float64\(2, 3\)"):
        call(x, x.astype(np.float64))
