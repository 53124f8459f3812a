"""A hybridized block's gradients are computed where the parameters keep them."""

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.graph import call_plan


def _net(**options: bool) -> gluon.nn.Dense:
    net = gluon.nn.Dense(3, in_units=4)
    net.initialize(mx.init.One())
    net.hybridize(**options)
    return net


def _input() -> mx.nd.NDArray:
    return mx.nd.array(np.arange(8.0).reshape(2, 4))


def _wanted(x: mx.nd.NDArray) -> np.ndarray:
    return np.tile(x.asnumpy().sum(axis=0), (3, 1))


@pytest.mark.parametrize("static_alloc", [True, False])
def test_a_backward_pass_allocates_no_gradient(
    static_alloc: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    net, x = _net(static_alloc=static_alloc), _input()
    with autograd.record():
        loss = net(x).sum()
    loss.backward()
    grad = net.weight.grad()
    raw = grad._data
    made: list[object] = []
    original = call_plan.empty_like_spec  # type: ignore[attr-defined]
    monkeypatch.setattr(call_plan, "empty_like_spec", lambda *a: made.append(a[0]) or original(*a))
    with autograd.record():
        loss = net(x).sum()
    before = len(made)
    loss.backward()
    assert len(made) == before
    assert grad._data is raw
    np.testing.assert_array_equal(grad.asnumpy(), _wanted(x))


def test_gradients_that_add_up_still_do() -> None:
    net, x = _net(), _input()
    net.collect_params().setattr("grad_req", "add")
    for _ in range(3):
        with autograd.record():
            loss = net(x).sum()
        loss.backward()
    np.testing.assert_array_equal(net.weight.grad().asnumpy(), 3 * _wanted(x))


def test_a_block_called_twice_gets_the_sum_of_both() -> None:
    net, x = _net(), _input()
    with autograd.record():
        loss = net(x).sum() + (net(2 * x)).sum()
    loss.backward()
    np.testing.assert_array_equal(net.weight.grad().asnumpy(), 3 * _wanted(x))


def test_a_parameter_that_something_else_reads_gets_the_sum() -> None:
    net, x = _net(), _input()
    net(x)
    with autograd.record():
        loss = net(x).sum() + (net.weight.data() * 5).sum()
    loss.backward()
    np.testing.assert_array_equal(net.weight.grad().asnumpy(), _wanted(x) + 5)


def test_a_gradient_may_be_the_head_of_the_next_pass() -> None:
    x = mx.nd.array([1.0, 2.0, 3.0])
    x.attach_grad()

    class Square(gluon.HybridBlock):
        def hybrid_forward(self, F, y):  # type: ignore[no-untyped-def]
            return y * y

    net = Square()
    net.hybridize()
    with autograd.record():
        y = net(x)
    y.backward(retain_graph=True)
    y.backward(x.grad)
    np.testing.assert_array_equal(x.grad.asnumpy(), [4, 16, 36])


def test_gradients_that_are_asked_for_leave_those_of_the_parameters_alone() -> None:
    net, x = _net(), _input()
    with autograd.record():
        loss = net(x).sum()
    loss.backward(retain_graph=True)
    net.weight.grad()[:] = 7
    (found,) = autograd.grad(loss, [net.weight.data()])
    np.testing.assert_array_equal(found.asnumpy(), _wanted(x))
    assert (net.weight.grad().asnumpy() == 7).all()
