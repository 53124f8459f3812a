"""_grouped_dense and _grouped_outer against products of each group in float64."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError

RANDOM = np.random.default_rng(7)
ROWS, FEATURES, UNITS = 6, 4, 3
COUNTS = [[2, 0, 3, 1], [0, 0, 0, 6], [6, 0, 0, 0]]


def arrays(dtype: Any = np.float32) -> tuple[np.ndarray, np.ndarray]:
    shapes = [(ROWS, FEATURES), (4, UNITS, FEATURES)]
    x, weight = (RANDOM.standard_normal(shape).astype(dtype) for shape in shapes)
    return x, weight


def compute(x: Any, weight: Any, counts: Any, **attrs: Any) -> Any:
    given = [mx.nd.array(a, dtype=a.dtype) for a in (x, weight)]
    function: Any = mx.nd._internal._grouped_dense
    return function(*given, mx.nd.array(counts, dtype="int32"), **attrs)


def expected(x: np.ndarray, weight: np.ndarray, counts: list[int]) -> np.ndarray:
    of_row = np.repeat(np.arange(4), counts)
    rows = [weight[e].astype(np.float64) @ row.astype(np.float64) for e, row in zip(of_row, x)]  # noqa: B905
    return np.array(rows).reshape(len(x), weight.shape[1])


@pytest.mark.parametrize("counts", COUNTS)
def test_rows_are_multiplied_by_the_weight_of_their_group(counts: list[int]) -> None:
    x, weight = arrays()
    wanted = expected(x, weight, counts)
    np.testing.assert_allclose(compute(x, weight, counts).asnumpy(), wanted, rtol=0, atol=1e-6)
    turned = compute(x, weight.swapaxes(1, 2), counts, transpose=True)
    np.testing.assert_allclose(turned.asnumpy(), wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16])
def test_dtypes(dtype: Any) -> None:
    x, weight = arrays(dtype)
    found = compute(x, weight, COUNTS[0]).asnumpy()
    assert found.dtype == np.dtype(dtype)
    tolerance = 3e-2 if found.dtype.itemsize == 2 else 1e-12
    wanted = expected(x, weight, COUNTS[0])
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=0, atol=tolerance)


def test_empty_arrays() -> None:
    x, weight = arrays()
    assert compute(x[:0], weight, [0, 0, 0, 0]).shape == (0, UNITS)
    assert compute(x, weight[:, :0], COUNTS[0]).shape == (ROWS, 0)


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("transpose", [False, True])
def test_gradients_of_both_orders(counts: list[int], transpose: bool) -> None:
    x, weight = (mx.nd.array(a, dtype="float64") for a in arrays(np.float64))
    weight = weight.swapaxes(1, 2) if transpose else weight
    heads = mx.nd.array(RANDOM.standard_normal((ROWS, UNITS)), dtype="float64")
    sizes = mx.nd.array(counts, dtype="int32")
    function: Any = mx.nd._internal._grouped_dense

    def loss(x: Any, weight: Any) -> Any:
        return (function(x, weight, sizes, transpose=transpose) ** 3 * heads).sum()

    inputs = [x, weight]
    steps = [mx.nd.array(RANDOM.standard_normal(v.shape), dtype="float64") for v in inputs]
    for value in inputs:
        value.attach_grad()

    def slope(create_graph: bool = False) -> Any:
        with mx.autograd.record():
            value = loss(*inputs)
            of = mx.autograd.grad(value, inputs, create_graph=create_graph, retain_graph=True)
            return sum((g * s).sum() for g, s in zip(of, steps, strict=True))

    def moved(function: Any, by: float) -> float:
        for value, step in zip(inputs, steps, strict=True):
            value[:] += step * by
        found = float(function().asscalar())
        for value, step in zip(inputs, steps, strict=True):
            value[:] -= step * by
        return found

    def difference(function: Any) -> float:
        return (moved(function, 1e-5) - moved(function, -1e-5)) / 2e-5

    assert float(slope().asscalar()) == pytest.approx(difference(lambda: loss(*inputs)), rel=1e-6)
    with mx.autograd.record():
        first = slope(create_graph=True)
    first.backward()
    second = sum(float((v.grad * s).sum().asscalar()) for v, s in zip(inputs, steps, strict=True))
    assert second == pytest.approx(difference(slope), rel=1e-5)


def test_what_does_not_fit_is_refused() -> None:
    x, weight = arrays()
    with pytest.raises(OperatorError, match="expected counts whose sum is 6, got"):
        compute(x, weight, [1, 2, 2, 2]).wait_to_read()
    with pytest.raises(OperatorError, match="expected counts whose sum is 6, got"):
        compute(x, weight, [-1, 3, 2, 2]).wait_to_read()
    with pytest.raises(OperatorError, match=r"expected counts \(4,\) of numbers"):
        compute(x, weight, [3, 3])
    with pytest.raises(OperatorError, match=r"expected data \(rows, 4\) for weight \(4, 3, 4\)"):
        compute(x[:, :2], weight, COUNTS[0])
    outer: Any = mx.nd._internal._grouped_outer
    with pytest.raises(OperatorError, match="expected two matrices with the same rows"):
        outer(mx.nd.ones((3, 2)), mx.nd.ones((4, 2)), mx.nd.ones((2,)))
