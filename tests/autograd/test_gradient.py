from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, AutogradError


def leaf(values: Any = (1.0, 2.0, 3.0), req: str = "write", **options: Any) -> nd.NDArray:
    x = nd.array(values, **options)
    x.attach_grad(req)
    return x


def test_backward_of_an_array_and_of_a_list_agree() -> None:
    x = leaf()
    with autograd.record():
        y = x * x
        z = x * 3
    y.backward(retain_graph=True)
    assert x.grad.tolist() == [2, 4, 6]
    autograd.backward([y, z])
    assert x.grad.tolist() == [5, 7, 9]


def test_head_gradients_weigh_the_heads() -> None:
    x = leaf()
    with autograd.record():
        y, z = x * x, x * 3
    autograd.backward([y, z], [nd.array([1, 0, 2]), None])
    assert x.grad.tolist() == [5, 3, 15]


def test_head_that_is_a_leaf_gets_its_head_gradient() -> None:
    x = leaf()
    x.backward()
    assert x.grad.tolist() == [1, 1, 1]


def test_head_named_twice_counts_twice() -> None:
    x = leaf()
    with autograd.record():
        y = x * x
    autograd.backward([y, y])
    assert x.grad.tolist() == [4, 8, 12]


@pytest.mark.parametrize(
    "head_grad", [nd.ones(2), nd.ones(3, dtype="float64"), [nd.ones(3), nd.ones(3)]]
)
def test_head_gradient_that_does_not_fit_is_refused(head_grad: Any) -> None:
    x = leaf()
    with autograd.record():
        y = x * x
    with pytest.raises(ArgumentError, match=r"backward: expected (a head gradient|1 head)"):
        autograd.backward(y, head_grad)


def test_requests_write_add_and_null() -> None:
    write, add, null = leaf(), leaf(req="add"), leaf(req="null")
    buffer = null.grad
    buffer[:] = 7
    for _ in range(2):
        with autograd.record():
            y = write * add * null
        y.backward()
    assert write.grad.tolist() == [1, 4, 9]
    assert add.grad.tolist() == [2, 8, 18]
    assert null.grad is None  # as in MXNet, after a pass
    assert buffer.tolist() == [7, 7, 7]


def test_array_that_the_heads_do_not_need_gets_zeros() -> None:
    x, w, unrelated = leaf(), leaf(), leaf()
    for array in (x, unrelated):
        array.grad[:] = 7
    with autograd.record():
        y = nd.BlockGrad(x) * w
    y.backward()
    assert x.grad.tolist() == [0, 0, 0]
    assert unrelated.grad.tolist() == [7, 7, 7]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x > 2,
        lambda x: x.argmax(),
        lambda x: x.one_hot(5),
        lambda x: x.zeros_like(),
        lambda x: x.floor(),
    ],
)
def test_gradient_of_a_step_function_is_zero(function: Any) -> None:
    x = leaf()
    x.grad[:] = 7
    with autograd.record():
        y = function(x)
    y.backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_integer_arrays_have_gradients() -> None:
    x = leaf([1, 2], dtype="int32")
    with autograd.record():
        y = x * x
    y.backward()
    assert (x.grad.dtype, x.grad.tolist()) == (np.int32, [2, 4])


def test_attach_grad_cuts_an_intermediate_array_off() -> None:
    x = leaf()
    with autograd.record():
        y = x * x
        y.attach_grad()
        z = y * 2
    z.backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([0, 0, 0], [2, 2, 2])


def test_attach_grad_again_starts_a_new_leaf() -> None:
    x = leaf()
    with autograd.record():
        y = x * x
    x.attach_grad()
    y.backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_detached_array_is_a_constant() -> None:
    x = leaf()
    with autograd.record():
        y = x.detach() * x
    y.backward()
    assert x.grad.tolist() == [1, 2, 3]


def test_gradient_buffer_stays_the_same_array() -> None:
    x = leaf()
    held = x.grad
    with autograd.record():
        y = x * x
    y.backward()
    assert held.tolist() == [2, 4, 6]


def test_part_of_several_outputs_is_enough() -> None:
    x = leaf([[1, 2, 3], [4, 5, 6]])
    with autograd.record():
        first, _ = x.split(2, axis=0)
        y = first * 2
    y.backward()
    assert x.grad.tolist() == [[2, 2, 2], [0, 0, 0]]


def test_array_that_was_not_recorded_is_refused() -> None:
    x = leaf()
    for y in (x * x, nd.ones(3), x[0:2]):
        with pytest.raises(AutogradError, match="expected an array that autograd recorded"):
            y.backward()


def test_graph_without_a_wanted_gradient_is_refused() -> None:
    x = leaf(req="null")
    with autograd.record():
        y = x * x
    with pytest.raises(AutogradError, match="computed from arrays with attach_grad"):
        y.backward()


def test_freed_graph_is_refused_with_the_remedy() -> None:
    x = leaf()
    with autograd.record():
        y = x * x
    y.backward()
    with pytest.raises(AutogradError, match="freed at broadcast_mul; pass retain_graph=True"):
        y.backward()


def test_what_is_no_array_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="backward: expected NDArrays, got int"):
        autograd.backward([3])  # type: ignore[list-item]


def test_mark_variables_uses_the_given_buffers() -> None:
    x, buffer = nd.array([1, 2]), nd.zeros(2)
    autograd.mark_variables(x, buffer)
    with autograd.record():
        y = x * x
    y.backward()
    assert buffer.tolist() == x.grad.tolist() == [2, 4]


@pytest.mark.parametrize(
    "arguments",
    [
        ([nd.ones(2)], [nd.ones(2), nd.ones(2)]),
        (nd.ones(2), nd.ones(3)),
        (nd.ones(2), nd.ones(2), "foo"),
    ],
)
def test_mark_variables_refuses_what_does_not_fit(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match="mark_variables: expected"):
        autograd.mark_variables(*arguments)


def test_grad_returns_a_list_and_leaves_the_buffers() -> None:
    x, w = leaf(), leaf()
    with autograd.record():
        y = x * x * w
    found = autograd.grad(y, [x, w], retain_graph=True)
    assert [g.tolist() for g in found] == [[2, 8, 18], [1, 4, 9]]
    (alone,) = autograd.grad(y, x)
    assert alone.tolist() == [2, 8, 18]
    assert x.grad.tolist() == [0, 0, 0]


def test_grad_of_a_blocked_variable_is_zero() -> None:
    x, w = leaf(), leaf()
    with autograd.record():
        y = nd.BlockGrad(x) * w
    assert [g.tolist() for g in autograd.grad(y, [x, w])] == [[0, 0, 0], [1, 2, 3]]


def test_grad_refuses_variables_that_are_out_of_reach() -> None:
    x, w = leaf(), leaf()
    with autograd.record():
        y = x * x
        z = y * 2
    with pytest.raises(AutogradError, match=r"variable 1 of shape \(3,\) that they do not"):
        autograd.grad(z, [x, w], retain_graph=True)
    with pytest.raises(AutogradError, match="variable 0"):
        autograd.grad(z, y, retain_graph=True)
    with pytest.raises(ArgumentError, match="at least one variable"):
        autograd.grad(z, [])


def test_third_derivative() -> None:
    x = leaf()
    with autograd.record():
        y = x * x * x * x
        (first,) = autograd.grad(y, x, create_graph=True)
        (second,) = autograd.grad(first, x, create_graph=True)
        (third,) = autograd.grad(second, x, create_graph=True)
    assert second.tolist() == [12, 48, 108]
    third.backward()
    assert (third.tolist(), x.grad.tolist()) == ([24, 48, 72], [24, 24, 24])


def test_gradient_itself_is_not_recorded_without_create_graph() -> None:
    x = leaf()
    with autograd.record():
        y = x * x * x
        (first,) = autograd.grad(y, x)
        z = first * x
    z.backward()
    assert x.grad.tolist() == [3, 12, 27]


@pytest.mark.parametrize("train_mode", [True, False])
def test_operators_of_the_gradient_run_in_the_mode_asked_for(train_mode: bool) -> None:
    seen = []

    class Look(autograd.Function):
        def forward(self, x: nd.NDArray) -> nd.NDArray:
            return x * 2

        def backward(self, dy: nd.NDArray) -> nd.NDArray:
            seen.append((autograd.is_recording(), autograd.is_training()))
            return dy

    x = leaf()
    with autograd.record():
        y = Look()(x)
    y.backward(train_mode=train_mode)
    assert seen == [(False, train_mode)]
