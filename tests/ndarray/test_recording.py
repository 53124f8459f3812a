import gc
import weakref

import pytest

from gluonish import autograd
from gluonish import ndarray as nd


def recorded(x: nd.NDArray) -> nd.NDArray:
    with autograd.record():
        return (x * x + x.exp()).sum()


def test_call_on_constants_leaves_nothing_behind() -> None:
    with autograd.record():
        y = nd.ones(2) * 2
    assert y._edge is None


def test_call_outside_recording_leaves_nothing_behind() -> None:
    x = nd.ones(2)
    x.attach_grad()
    assert (x * 2)._edge is None


@pytest.mark.parametrize("retain", [False, True])
def test_tape_goes_with_its_output_and_without_the_garbage_collector(retain: bool) -> None:
    x = nd.ones(2)
    x.attach_grad()
    gc.disable()
    try:
        y = recorded(x)
        kept = weakref.ref(y._edge[0].inputs[0])  # type: ignore[index]
        y.backward(retain_graph=retain)
        assert (kept() is None) != retain
        del y
        assert kept() is None
    finally:
        gc.enable()


def test_tape_that_was_never_walked_goes_too() -> None:
    x = nd.ones(2)
    x.attach_grad()
    gc.disable()
    try:
        y = recorded(x)
        kept = weakref.ref(y._edge[0].inputs[0])  # type: ignore[index]
        del y
        assert kept() is None
    finally:
        gc.enable()


def test_graph_of_a_gradient_goes_too() -> None:
    x = nd.ones(2)
    x.attach_grad()
    gc.disable()
    try:
        with autograd.record():
            y = x * x * x
            (first,) = autograd.grad(y, x, create_graph=True)
            z = first * first
        kept = weakref.ref(first)
        z.backward()
        del first, y, z
        assert kept() is None
    finally:
        gc.enable()


def test_values_read_by_the_gradient_are_those_at_the_backward_pass() -> None:
    x = nd.array([1, 2, 3])
    x.attach_grad()
    with autograd.record():
        y = x * x
    x[:] = 10
    y.backward()
    assert x.grad.tolist() == [20, 20, 20]  # as in MXNet: inputs are kept, not copied


def test_unknown_grad_req_is_a_key_error_too() -> None:
    x = nd.ones(2)
    with pytest.raises(KeyError, match="expected grad_req"):
        x.attach_grad("foo")
    with pytest.raises(KeyError, match="expected grad_req"):
        autograd.mark_variables([x], [nd.ones(2)], "foo")
