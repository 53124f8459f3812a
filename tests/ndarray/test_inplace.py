import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, AutogradError, OperatorError

OPERATORS = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.imod]


@pytest.mark.parametrize("apply", OPERATORS)
@pytest.mark.parametrize("other", [2.5, "array", "row", "view"])
def test_result_goes_into_the_memory_of_the_array(apply: Callable[..., Any], other: Any) -> None:
    values = np.array([[5, -7, 9], [1, 2, 3]], np.float32)
    x = nd.array(values)
    view, before = x[1], x
    operand = {"array": nd.array(values + 1), "row": nd.array([[3, 4, 5]]), "view": x[1]}.get(
        other, other
    )
    raw = operand.asnumpy() if isinstance(operand, nd.NDArray) else np.float32(operand)
    x = apply(x, operand)
    assert x is before
    expected = apply(values.copy(), raw)
    np.testing.assert_array_equal(x.asnumpy(), expected)
    np.testing.assert_array_equal(view.asnumpy(), expected[1])


def test_integers_stay_integers() -> None:
    x = nd.array([7, -7], dtype="int32")
    x += 1.5
    x /= 3
    assert (x.dtype, x.tolist()) == (np.int32, [2, -2])


@pytest.mark.parametrize("other", [nd.ones((4, 2, 3)), nd.ones((4, 3))])
def test_operand_that_would_grow_the_array_is_refused(other: nd.NDArray) -> None:
    x = nd.ones((1, 3)) if other.ndim == 2 else nd.ones((2, 3))
    with pytest.raises(ArgumentError, match="expected"):
        x += other
    assert x.tolist() == np.ones(x.shape).tolist()


def test_operand_of_another_dtype_or_kind_is_refused() -> None:
    x = nd.ones(2)
    with pytest.raises(OperatorError, match="equal dtype"):
        x += nd.ones(2, dtype="int32")
    with pytest.raises(ArgumentTypeError, match="expected an array or a number, got list"):
        x += [1, 1]


def test_recorded_array_is_refused_on_both_sides() -> None:
    x = nd.ones(2)
    x.attach_grad()
    total = nd.zeros(2)
    with autograd.record():
        y = x * 2
        with pytest.raises(AutogradError, match=r"\+=: expected an array outside"):
            y += 1
        with pytest.raises(AutogradError, match=r"right operand inside it; write x = x \+ y"):
            total += y
        total += 1
    assert total.tolist() == [1, 1]


def test_recorded_array_may_change_while_recording_pauses() -> None:
    x = nd.array([1, 2, 3])
    x.attach_grad()
    with autograd.record():
        y = x * 2
        with autograd.pause():
            y += 1
        z = y * y
    z.backward()
    assert x.grad.tolist() == [12, 20, 28]


def test_gradient_update_leaves_the_leaf_a_leaf() -> None:
    w = nd.array([1.0])
    w.attach_grad()
    for _ in range(3):
        with autograd.record():
            loss = w * w
        loss.backward()
        w -= 0.25 * w.grad
    assert w.tolist() == [0.125]
