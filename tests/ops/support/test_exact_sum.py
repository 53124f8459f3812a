"""Sums of float32 stay within a few roundings of those in float64, whatever the axis."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.ops.support.precision import running_total, total

CASES = [
    ((5000, 7), (0,)),
    ((70000, 3), (0,)),
    ((1, 3), (0,)),
    ((130, 64), (0,)),
    ((7, 5000), (1,)),
    ((4000, 1), (0,)),
    ((4000, 1, 1), (0, 2)),
    ((300, 20, 10), (0, 1)),
    ((8, 1000, 8), (1,)),
    ((64, 3, 40, 40), (0, 2, 3)),
    ((20, 30, 20, 3), (0, 2)),
    ((20, 30, 20, 3), ()),
    ((20, 30), (0, 1)),
    ((0, 3), (0,)),
    ((3, 0), (0,)),
]
FEW = 4 * float(np.finfo(np.float32).eps)


def _random(*shape: int) -> Any:
    return np.random.RandomState(0).rand(*shape).astype(np.float32)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_totals_are_those_of_float64(
    shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool
) -> None:
    data = _random(*shape)
    wanted = data.astype(np.float64).sum(axis=axes, keepdims=keepdims)
    turned = np.ascontiguousarray(data.T).T
    for given in (data, turned, data[::-1].copy()[::-1]):
        found = np.asarray(total(np, given, axes, keepdims=keepdims), np.float32)
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=FEW)


def test_infinities_and_nan_are_in_the_total() -> None:
    data = np.ones((200, 3), np.float32)
    data[150, 0], data[3, 1] = np.inf, np.nan
    np.testing.assert_array_equal(total(np, data, (0,)), [np.inf, np.nan, 200])


LONG = (1 << 20) + 333
RUNS: dict[str, tuple[Any, int]] = {
    "rows": (_random(2, LONG), 1),
    "columns": (_random(LONG, 2), 0),
    "turned": (_random(LONG, 2)[::-1].T, 1),
    "strided": (_random(2 * LONG)[::2], 0),
    "float16": (_random(LONG).astype(np.float16), 0),
    "no rows": (_random(0, LONG), 1),
}


@pytest.mark.parametrize("name", RUNS)
def test_long_running_totals_are_rounded_a_few_times(name: str) -> None:
    data, axis = RUNS[name]
    exact = np.cumsum(data, axis=axis, dtype=np.float64)
    found = running_total(np, data, axis, np.dtype(np.float32))
    assert (found.dtype, found.shape) == (np.float32, data.shape)
    np.testing.assert_allclose(found, exact, rtol=FEW, atol=FEW * np.abs(exact).max(initial=0))


def test_infinities_and_nan_stay_in_running_totals() -> None:
    data = np.ones(LONG, np.float32)
    data[2000], data[5000] = np.inf, -np.inf
    found = running_total(np, data, 0, np.dtype(np.float32))
    assert found[1999] == 2000
    assert (found[2000:5000] == np.inf).all()
    assert np.isnan(found[5000:]).all()


@pytest.mark.parametrize("hybridize", [False, True])
def test_gradient_of_a_running_total_of_no_rows(hybridize: bool) -> None:
    x = mx.np.zeros((0, LONG))
    x.attach_grad()
    net = _Net(lambda a: mx.np.cumsum(a, axis=1))
    net.hybridize(hybridize)
    with autograd.record():
        y = net(x)
    y.backward()
    assert x.grad.asnumpy().shape == y.asnumpy().shape == (0, LONG)


class _Net(mx.gluon.HybridBlock):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *inputs: Any) -> Any:
        return self._function(*inputs)


SUMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sum": (lambda x: nd.sum(x, axis=0), lambda x: x.sum(0)),
    "mean": (lambda x: nd.mean(x, axis=0), lambda x: x.mean(0)),
    "norm": (lambda x: nd.norm(x, axis=0), lambda x: np.sqrt((x * x).sum(0))),
    "np.sum": (lambda x: mx.np.sum(x, axis=0), lambda x: x.sum(0)),
    "np.mean": (lambda x: mx.np.mean(x, axis=0), lambda x: x.mean(0)),
    "np.var": (lambda x: mx.np.var(x, axis=0), lambda x: x.var(0)),
}


@pytest.mark.parametrize("shape", [(65536, 16), (20000, 3), (3000, 200), (600, 5), (3000, 1)])
@pytest.mark.parametrize("name", SUMS)
def test_reductions_over_rows_are_exact_and_equal_when_planned(
    name: str, shape: tuple[int, int]
) -> None:
    function, expectation = SUMS[name]
    data = _random(*shape)
    array = mx.np.array(data) if name.startswith("np") else nd.array(data)
    found = function(array).asnumpy()
    np.testing.assert_allclose(found, expectation(data.astype(np.float64)), rtol=FEW)
    net = _Net(function)
    net.hybridize()
    net(array)
    np.testing.assert_array_equal(net(array).asnumpy(), found)


DEEP = [
    ((512, 64, 8), 0),
    ((512, 64, 8), 1),
    ((512, 64, 8), 2),
    ((512, 64, 8), (0, 2)),
    ((512, 64, 8), (1, 2)),
    ((64, 100, 100), (0, 1, 2)),
    ((16, 16, 28, 28), (0, 2, 3)),
    ((16, 16, 28, 28), 1),
    ((16, 16, 28, 28), (0, 3)),
    ((16, 16, 8, 8), (1, 3)),
    ((8, 8, 8), 1),
    ((200000,), 0),
]


@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize(("shape", "axis"), DEEP)
def test_sums_over_any_axes_are_exact_and_equal_however_they_run(
    shape: tuple[int, ...], axis: Any, name: str
) -> None:
    data = np.random.RandomState(0).randn(*shape).astype(np.float32)
    wanted = getattr(data.astype(np.float64), name)(axis=axis)
    array = nd.array(data)
    found = getattr(nd, name)(array, axis=axis).asnumpy()
    error = np.linalg.norm(found.reshape(wanted.shape) - wanted) / np.linalg.norm(wanted)
    assert error < 6e-8
    of_np = getattr(mx.np, name)(mx.np.array(data), axis=axis).asnumpy()
    np.testing.assert_array_equal(of_np.reshape(found.shape), found)
    for flags in ({}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}):
        net = _Net(lambda x: getattr(nd, name)(x, axis=axis))
        net.hybridize(**flags)
        for _ in range(2):
            np.testing.assert_array_equal(net(array).asnumpy(), found)
    symbol = getattr(mx.sym, name)(mx.sym.Variable("x"), axis=axis)
    bound = symbol.bind(mx.cpu(), {"x": array})
    np.testing.assert_array_equal(bound.forward()[0].asnumpy(), found)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize(
    ("shape", "operand"),
    [
        ((512, 64, 8), (1, 64, 1)),
        ((512, 64, 8), (512, 1, 8)),
        ((512, 64, 8), (64, 8)),
        ((16, 16, 28, 28), (1, 16, 1, 1)),
        ((16, 16, 8, 8), (1, 16, 1, 8)),
    ],
)
def test_gradients_of_broadcast_operands_are_exact(
    shape: tuple[int, ...], operand: tuple[int, ...], hybridize: bool
) -> None:
    heads = np.random.RandomState(0).randn(*shape).astype(np.float32)
    lead = (1,) * (len(shape) - len(operand)) + operand
    axes = tuple(i for i, n in enumerate(lead) if n == 1)
    wanted = heads.astype(np.float64).sum(axes).ravel()
    x, small = nd.zeros(shape), nd.zeros(operand)
    small.attach_grad()
    net = _Sum(lead)
    net.hybridize(hybridize)
    with autograd.record():
        y = net(x, small)
    y.backward(nd.array(heads))
    error = np.linalg.norm(small.grad.asnumpy().ravel() - wanted) / np.linalg.norm(wanted)
    assert error < 6e-8


class _Sum(mx.gluon.HybridBlock):
    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self._shape = shape

    def hybrid_forward(self, F: Any, x: Any, small: Any) -> Any:
        return F.broadcast_add(x, F.reshape(small, shape=self._shape))


GRADIENTS: dict[str, Callable[[Any, Any], Any]] = {
    "broadcast_add": lambda x, b: nd.broadcast_add(x, b.reshape((1, -1))),
    "FullyConnected": lambda x, b: nd.FullyConnected(
        x, nd.ones((x.shape[1], x.shape[1])), b, num_hidden=x.shape[1]
    ),
}


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("shape", [(40000, 16), (3000, 200)])
def test_gradients_that_are_summed_over_rows_are_exact(
    name: str, shape: tuple[int, int], hybridize: bool
) -> None:
    x, bias, heads = nd.ones(shape), nd.zeros(shape[1]), nd.array(_random(*shape))
    bias.attach_grad()
    net = _Net(lambda x, b: GRADIENTS[name](x, b)) if not hybridize else _Hybrid(name, shape[1])
    net.hybridize(hybridize)
    with autograd.record():
        y = net(x, bias)
    y.backward(heads)
    wanted = heads.asnumpy().astype(np.float64).sum(0)
    np.testing.assert_allclose(bias.grad.asnumpy(), wanted, rtol=FEW)


class _Hybrid(mx.gluon.HybridBlock):
    def __init__(self, name: str, units: int) -> None:
        super().__init__()
        self._name, self._units = name, units

    def hybrid_forward(self, F: Any, x: Any, b: Any) -> Any:
        if self._name == "broadcast_add":
            return F.broadcast_add(x, F.reshape(b, shape=(1, -1)))
        weight = F.ones(shape=(self._units, self._units))
        return F.FullyConnected(x, weight, b, num_hidden=self._units)
