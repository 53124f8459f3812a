"""What a backward pass has freed is a constant to all that is recorded later, as in MXNet 1.9.1."""

import gc
import weakref
from typing import Any

import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.errors import AutogradError


def _leaf(*values: float) -> Any:
    x = nd.array(values)
    x.attach_grad()
    return x


def test_what_was_freed_is_a_constant_later() -> None:
    x = _leaf(1, 1)
    with autograd.record():
        y = x * 2
    y.backward()
    with autograd.record():
        z = y * x
    z.backward()
    assert x.grad.asnumpy().tolist() == [2, 2]


def test_what_was_freed_behind_a_head_is_a_constant_too() -> None:
    x, w = _leaf(1, 1), _leaf(3, 3)
    with autograd.record():
        y = x * 2
        u = y * 4
    u.backward()
    with autograd.record():
        z = y * w
    z.backward()
    assert x.grad.asnumpy().tolist() == [8, 8]
    assert w.grad.asnumpy().tolist() == [2, 2]


@pytest.mark.parametrize("hybridize", [False, True])
def test_a_state_carried_without_detach_trains(hybridize: bool) -> None:
    net = mx.gluon.nn.Dense(2, in_units=2)
    net.initialize(mx.init.One())
    net.hybridize(hybridize)
    state = nd.ones((1, 2))
    for _ in range(3):
        with autograd.record():
            state = net(state)
        state.backward()
    assert net.weight.grad().asnumpy().tolist() == [[4, 4], [4, 4]]


@pytest.mark.parametrize("hybridize", [False, True])
def test_carried_lstm_states_train_as_detached_ones(hybridize: bool) -> None:
    def gradients(detach: bool) -> Any:
        mx.random.seed(0)
        net = mx.gluon.rnn.LSTM(3, input_size=2)
        net.initialize(mx.init.Uniform(0.5))
        if hybridize:
            net.hybridize()
        x = nd.arange(8).reshape((2, 2, 2)) / 8
        states = net.begin_state(2)
        for _ in range(3):
            if detach:
                states = [state.detach() for state in states]
            with autograd.record():
                output, states = net(x, states)
            output.backward()
        return [p.grad().asnumpy().tolist() for p in net.collect_params().values()]

    assert gradients(detach=False) == gradients(detach=True)


def test_carried_states_keep_no_memory_of_earlier_calls() -> None:
    x = _leaf(1)
    state = nd.ones(1)
    nodes = []
    for _ in range(4):
        with autograd.record():
            kept = state * x
            state = kept * 2
        nodes.append(weakref.ref(kept._var))
        del kept
        state.backward()
    nd.waitall()
    gc.collect()
    assert [node() for node in nodes[:-1]] == [None] * 3


def test_of_several_heads_a_freed_one_is_left_out() -> None:
    x, w = _leaf(1, 1), _leaf(3, 3)
    with autograd.record():
        y = x * 2
    y.backward()
    with autograd.record():
        z = y * w
    autograd.backward([y, z])
    assert x.grad.asnumpy().tolist() == [2, 2]
    assert w.grad.asnumpy().tolist() == [2, 2]


def test_grad_of_what_lies_behind_the_constant_is_refused() -> None:
    x, w = _leaf(1, 1), _leaf(3, 3)
    with autograd.record():
        y = x * 2
    y.backward()
    with autograd.record():
        z = y * w
    assert autograd.grad(z, [w], retain_graph=True)[0].asnumpy().tolist() == [2, 2]
    with pytest.raises(AutogradError, match="expected variables that the heads depend on"):
        autograd.grad(z, [x])


def test_nothing_that_asks_for_a_gradient_is_an_error() -> None:
    x = _leaf(1, 1)
    with autograd.record():
        y = x * 2
    y.backward()
    with autograd.record():
        z = y * 3
    with pytest.raises(AutogradError, match="attach_grad before recording"):
        z.backward()


def test_two_passes_from_one_head_are_an_error() -> None:
    x = _leaf(1, 1)
    with autograd.record():
        y = x * 2
    y.backward()
    with pytest.raises(AutogradError, match="an earlier backward freed"):
        y.backward()


def test_what_was_recorded_before_it_was_freed_has_lost_its_gradient() -> None:
    x, w = _leaf(1, 1), _leaf(3, 3)
    with autograd.record():
        y = x * 2
        z = y * 3 * w
    y.backward()
    with pytest.raises(AutogradError, match="an earlier backward freed at _mul_scalar"):
        z.backward()


def test_get_symbol_shows_a_freed_array_as_a_constant() -> None:
    x = _leaf(1, 1)
    with autograd.record():
        y = x * 2
    y.backward()
    with autograd.record():
        z = y * x
    assert sorted(autograd.get_symbol(z).list_arguments()) == ["null1", "var0"]


@pytest.mark.parametrize("face", ["nd", "np"])
@pytest.mark.parametrize("hybridize", [False, True])
def test_an_array_of_req_null_has_no_gradient_after_a_pass(face: str, hybridize: bool) -> None:
    class Product(mx.gluon.HybridBlock):
        def forward(self, x: Any, w: Any) -> Any:
            return x * w

    arrays = getattr(mx, face)
    x, w = arrays.ones((2,)), arrays.ones((2,))
    x.attach_grad("null")
    w.attach_grad()
    assert x.grad.asnumpy().tolist() == [0, 0]
    net = Product()
    net.hybridize(hybridize)
    with autograd.record():
        z = net(x, w)
    z.backward()
    assert x.grad is None
    assert w.grad.asnumpy().tolist() == [1, 1]
