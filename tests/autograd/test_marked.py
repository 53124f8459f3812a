"""Arrays that were recorded and have a gradient buffer of their own; checked against MXNet 2.0."""

from collections.abc import Iterator
from typing import Any

import numpy as onp
import pytest

import gluonish as mx
from gluonish import autograd, nd, np
from gluonish.core.mxnet_rules import Rules, follow_mxnet


@pytest.fixture
def mxnet2() -> Iterator[None]:
    before = follow_mxnet(Rules.MXNET2)
    yield
    follow_mxnet(before)


def recorded(array: Any, req: str = "write") -> tuple[Any, Any, Any]:
    """Return x, y = 3x with a gradient buffer, and z, the sum of squares of y."""
    x = array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = x * 3
        y.attach_grad(req)
        z = (y * y).sum()
    return x, y, z


def test_gradient_goes_on_from_a_marked_array() -> None:
    x, y, z = recorded(np.array)
    z.backward()
    onp.testing.assert_array_equal(y.grad.asnumpy(), [6.0, 12.0])
    onp.testing.assert_array_equal(x.grad.asnumpy(), [18.0, 36.0])


@pytest.mark.usefixtures("mxnet2")
def test_gradient_goes_on_from_a_marked_nd_array_by_the_rules_of_2() -> None:
    x, y, z = recorded(nd.array)
    z.backward()
    onp.testing.assert_array_equal(y.grad.asnumpy(), [6.0, 12.0])
    onp.testing.assert_array_equal(x.grad.asnumpy(), [18.0, 36.0])


@pytest.mark.parametrize("rules", [Rules.GLUONISH, Rules.MXNET1])
def test_marked_nd_array_is_cut_off(rules: Rules) -> None:
    before = follow_mxnet(rules)
    try:
        x, y, z = recorded(nd.array)
        z.backward()
    finally:
        follow_mxnet(before)
    onp.testing.assert_array_equal(y.grad.asnumpy(), [6.0, 12.0])
    onp.testing.assert_array_equal(x.grad.asnumpy(), [0.0, 0.0])


def test_marked_np_array_is_cut_off_by_the_rules_of_1() -> None:
    before = follow_mxnet(Rules.MXNET1)
    try:
        x, _, z = recorded(np.array)
        z.backward()
    finally:
        follow_mxnet(before)
    onp.testing.assert_array_equal(x.grad.asnumpy(), [0.0, 0.0])


def test_marked_twice_and_in_a_chain() -> None:
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = x * 3
        y.attach_grad()
        y.attach_grad()
        z = y * 2
        autograd.mark_variables([z], [np.zeros(2)])
        total = (z * z).sum()
    total.backward()
    for array, wanted in ((z, [12.0, 24.0]), (y, [24.0, 48.0]), (x, [72.0, 144.0])):
        onp.testing.assert_array_equal(array.grad.asnumpy(), wanted)


def test_added_gradients_of_two_passes() -> None:
    x, y, z = recorded(np.array, "add")
    z.backward(retain_graph=True)
    z.backward()
    onp.testing.assert_array_equal(y.grad.asnumpy(), [12.0, 24.0])
    onp.testing.assert_array_equal(x.grad.asnumpy(), [18.0, 36.0])


def test_gradient_with_respect_to_a_marked_array() -> None:
    x, y, z = recorded(np.array)
    (found,) = autograd.grad(z, [y], retain_graph=True)
    onp.testing.assert_array_equal(found.asnumpy(), [6.0, 12.0])
    onp.testing.assert_array_equal(y.grad.asnumpy(), [0.0, 0.0])
    found, of_x = autograd.grad(z, [y, x])
    onp.testing.assert_array_equal(found.asnumpy(), [6.0, 12.0])
    onp.testing.assert_array_equal(of_x.asnumpy(), [18.0, 36.0])


def test_second_order_through_a_marked_array() -> None:
    x = np.array([2.0])
    x.attach_grad()
    with autograd.record():
        y = x**2
        y.attach_grad()
        (first,) = autograd.grad((y * y).sum(), [x], create_graph=True, retain_graph=True)
    first.backward()
    onp.testing.assert_array_equal(x.grad.asnumpy(), [12.0 * 2**2])  # x ** 4


def test_buffer_of_an_array_marked_after_a_pass_that_freed_it() -> None:
    x, y, z = recorded(np.array)
    z.backward()
    y.attach_grad()  # a leaf from here on
    with autograd.record():
        z = (y * 2).sum()
    z.backward()
    onp.testing.assert_array_equal(y.grad.asnumpy(), [2.0, 2.0])
    onp.testing.assert_array_equal(x.grad.asnumpy(), [18.0, 36.0])


def test_recorded_symbol_of_a_marked_array() -> None:
    _, _, z = recorded(np.array)
    symbol = autograd.get_symbol(z)
    (name,) = symbol.list_arguments()
    (found,) = symbol.bind(mx.cpu(), {name: nd.array([1.0, 2.0])}).forward()
    assert float(found.asnumpy()) == 45.0


def test_network_and_trainer_with_a_marked_hidden_layer() -> None:
    def gradients(*, marks: bool) -> list[Any]:
        mx.random.seed(1)
        first, second = mx.gluon.nn.Dense(3, in_units=2), mx.gluon.nn.Dense(1, in_units=3)
        for net in (first, second):
            net.initialize()
            net.hybridize(static_alloc=True)
        with autograd.record():
            hidden = first(np.ones((4, 2)))
            if marks:
                hidden.attach_grad()
            loss = (second(hidden) ** 2).sum()
        loss.backward()
        if marks:
            assert hidden.grad.shape == (4, 3)
            assert float(abs(hidden.grad).sum()) > 0
        return [
            p.grad().asnumpy() for net in (first, second) for p in net.collect_params().values()
        ]

    for found, wanted in zip(gradients(marks=True), gradients(marks=False), strict=True):
        onp.testing.assert_array_equal(found, wanted)
        assert abs(wanted).sum() > 0
