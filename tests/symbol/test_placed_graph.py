"""Graphs over devices, against the same graph on one."""

import numpy as np
import pytest

import gluonish as mx
from gluonish.ndarray import array, ones
from gluonish.symbol.executor import Executor


def _network() -> mx.sym.Symbol:
    """A layer on each of two devices, and what joins both on a third."""
    x = mx.sym.var("x")
    with mx.AttrScope(ctx_group="one"):
        a = mx.sym.FullyConnected(x, num_hidden=3, name="f1")
    with mx.AttrScope(ctx_group="two"):
        b = mx.sym.tanh(mx.sym.FullyConnected(a, num_hidden=2, name="f2"))
    with mx.AttrScope(ctx_group="one"):
        c = mx.sym.FullyConnected(b, num_hidden=2, name="f3")
        c = mx.sym.broadcast_add(c, mx.sym.sum(a, axis=1, keepdims=True))
    joined: mx.sym.Symbol = mx.sym.broadcast_mul(c, mx.sym.sum(b, axis=1, keepdims=True))
    return joined


def _bound(groups: dict[str, mx.Context] | None) -> Executor:
    executor: Executor = _network().simple_bind(mx.cpu(), group2ctx=groups, x=(4, 5))
    rng = np.random.default_rng(3)
    for x in executor.arg_arrays:
        x[:] = array(rng.standard_normal(x.shape))
    return executor


GROUPS = {"one": mx.cpu(1), "two": mx.cpu(2)}


def test_variables_lie_where_they_are_read() -> None:
    executor = _bound(GROUPS)
    contexts = {name: x.context for name, x in executor.arg_dict.items()}
    assert contexts["x"] == contexts["f1_weight"] == contexts["f3_bias"] == mx.cpu(1)
    assert contexts["f2_weight"] == mx.cpu(2)
    assert executor.outputs[0].context == mx.cpu(0)


@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_values_and_gradients_are_those_of_one_device(grad_req: str) -> None:
    split, whole = _bound(GROUPS), _bound(None)
    for executor in (split, whole):
        executor.forward(is_train=True)
        executor.backward(ones((4, 2)))
    np.testing.assert_allclose(
        split.outputs[0].asnumpy(), whole.outputs[0].asnumpy(), rtol=1e-5, atol=1e-6
    )
    for name, gradient in split.grad_dict.items():
        expected = whole.grad_dict[name].asnumpy()
        np.testing.assert_allclose(gradient.asnumpy(), expected, rtol=1e-4, atol=1e-5)
        assert gradient.context == split.arg_dict[name].context


def test_an_output_may_lie_on_any_device() -> None:
    x = mx.sym.var("x")
    with mx.AttrScope(ctx_group="one"):
        y = x * 2
    both = mx.sym.Group([y, y + 1, x])
    executor = both.bind(mx.cpu(), [ones(2)], group2ctx={"one": mx.cpu(1)})
    first, second, same = executor.forward()
    assert first.context == mx.cpu(1)
    assert second.context == mx.cpu(0)
    assert [first.tolist(), second.tolist(), same.tolist()] == [[2, 2], [3, 3], [1, 1]]


def test_a_part_without_inputs_runs() -> None:
    with mx.AttrScope(ctx_group="one"):
        y = mx.sym.ones((2,))
    executor = (mx.sym.var("x") + y).bind(mx.cpu(), [ones(2)], group2ctx={"one": mx.cpu(1)})
    assert executor.forward()[0].tolist() == [2, 2]


def test_a_monitor_sees_every_device() -> None:
    executor = _bound(GROUPS)
    seen = []
    executor.set_monitor_callback(lambda name, x: seen.append((name, x.context)))
    executor.forward()
    assert ("f1_output", mx.cpu(1)) in seen
    assert ("f2_output", mx.cpu(2)) in seen
