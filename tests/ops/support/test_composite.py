from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish.core.errors import AutogradError
from gluonish.ops.elementwise.unary import EXP
from gluonish.ops.registry import find_operator
from gluonish.ops.support.composite import composite_gradient, evaluate, input_gradients


def array(*values: float) -> nd.NDArray:
    return nd.array(values)


def product_and_power(x: Any, y: Any) -> Any:
    return x * y, EXP(x) * x * x


def test_gradient_is_that_of_the_composition() -> None:
    x, y = array(0.5, 1), array(2, 3)
    rule = composite_gradient(product_and_power)
    first, second = rule((array(1, 1), array(1, 2)), x, y)
    values = x.asnumpy()
    expected = y.asnumpy() + np.array([1, 2]) * np.exp(values) * (values**2 + 2 * values)
    np.testing.assert_allclose(first.asnumpy(), expected, rtol=1e-6)
    assert second.tolist() == x.tolist()


def test_outputs_without_gradient_and_unused_inputs_give_none() -> None:
    rule = composite_gradient(product_and_power)
    first, second = rule((None, array(1)), array(0.0), array(2))
    assert (first.tolist(), second) == ([0], None)


def test_single_output_needs_no_tuple() -> None:
    rule = composite_gradient(lambda x, *, power: x**power)
    (gradient,) = rule(array(2), array(3), power=3)
    assert gradient.tolist() == [54]


def test_gradient_can_be_differentiated_again() -> None:
    x = array(3)
    x.attach_grad()
    rule = composite_gradient(lambda x: x * x * x)
    with autograd.record():
        (first,) = rule(array(1), x)
    first.backward()
    assert (first.tolist(), x.grad.tolist()) == ([27], [18])


def test_entries_are_evaluated_only_where_wanted() -> None:
    assert evaluate(lambda: 3) == evaluate(3) == 3
    op = find_operator("broadcast_mul")
    x, y = array(2), array(5)
    found = input_gradients(op, [array(1)], [x, y], [], {}, [True, False])
    assert (found[0].tolist(), found[1]) == ([5], None)


def test_operator_without_gradient_is_refused() -> None:
    op = find_operator("_shuffle")
    with pytest.raises(AutogradError, match="_shuffle: expected a differentiable operator"):
        input_gradients(op, [array(1)], [array(1)], [], {}, [True])
