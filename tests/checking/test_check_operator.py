"""Operators with one fault each: check_operator finds every one of them."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.schema import Schema, number
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.registry import Operator
from gluonish.ops.support.broadcasting import infer_same
from tests.checking.check_operator import check_operator
from tests.checking.values import ArrayValue

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=np.float32)


def square(
    kernel: Any = lambda xp, out, x: xp.multiply(x, x, out=out),
    gradient: Any = lambda g, x: (g * x * 2.0,),
    infer: Any = infer_same,
    **options: Any,
) -> Operator:
    return Operator("test_square", infer, kernel, gradient, doc="A square.", **options)


def test_a_sound_operator_passes() -> None:
    check_operator(square(), [X], {}, X * X)


def test_wrong_expectation_is_found() -> None:
    with pytest.raises(AssertionError, match="forward"):
        check_operator(square(), [X], {}, X)


def test_wrong_shape_is_found() -> None:
    with pytest.raises(AssertionError, match=r"\(2, 3\) is not \(3, 2\)"):
        check_operator(square(), [X], {}, (X * X).T)


def test_elements_that_the_kernel_leaves_out_are_found() -> None:
    def kernel(xp: Any, out: Any, x: Any) -> None:
        out[:, 1:] = x[:, 1:] ** 2

    with pytest.raises(AssertionError, match="forward"):
        check_operator(square(kernel), [X], {}, X * X)


def test_kernel_that_reads_memory_in_order_is_found() -> None:
    def kernel(xp: Any, out: Any, x: Any) -> None:
        out[...] = x.ravel("K").reshape(out.shape) ** 2

    with pytest.raises(AssertionError, match="strided"):
        check_operator(square(kernel), [X], {}, X * X)


def test_kernel_that_needs_elements_is_found() -> None:
    def kernel(xp: Any, out: Any, x: Any) -> None:
        out[...] = x * x + 0 * x.max()

    with pytest.raises(ValueError, match="zero-size"):
        check_operator(square(kernel, execution=Execution(elementwise=True)), [X])


def test_sum_in_half_precision_is_found() -> None:
    def infer(x: Spec) -> tuple[Spec]:
        return (Spec((1,), x.dtype),)

    def kernel(xp: Any, out: Any, x: Any) -> None:
        total = out.dtype.type(0)
        for value in x.ravel():
            total = out.dtype.type(total + value)
        out[...] = total

    with pytest.raises(AssertionError, match="float16"):
        check_operator(
            square(kernel, None, infer), [np.ones((3, 1000), np.float32)], differentiable=False
        )


def test_wrong_gradient_is_found() -> None:
    with pytest.raises(AssertionError, match="gradient of input 0"):
        check_operator(square(gradient=lambda g, x: (g * x,)), [X])


def test_wrong_second_gradient_is_found() -> None:
    # The value is right, but it comes as a constant.
    def gradient(g: Any, x: Any) -> tuple[Any]:
        plain = x.value.array if hasattr(x, "value") else x.array
        return (g * ArrayValue(2 * plain),)

    with pytest.raises(AssertionError, match="second gradient"):
        check_operator(square(gradient=gradient), [X])


def test_gradient_of_an_input_that_gives_none_is_found() -> None:
    with pytest.raises(AssertionError, match="gradient of input 0"):
        check_operator(square(gradient=lambda g, x: (None,)), [X], wrt=[0])


def test_wrong_number_of_outputs_is_found() -> None:
    def kernel(xp: Any, out: Any, x: Any) -> None:
        out[0][...] = x

    with pytest.raises(AssertionError, match="inference gives 1 outputs"):
        check_operator(square(kernel, outputs=2), [X])


def test_wrong_fast_kernel_is_found() -> None:
    op = square()
    op.register_kernel(
        FastKernel(
            *(BackEnd.GENERATED, "square", lambda x: True),
            run=lambda xp, out, x: np.multiply(x, 2, out=out),
        )
    )
    with pytest.raises(AssertionError, match=r"generated\.square"):
        check_operator(op, [X])


def test_fast_kernel_that_does_not_take_the_inputs_is_left_alone() -> None:
    op = square()
    op.register_kernel(
        FastKernel(BackEnd.GENERATED, "square", lambda x: False, run=lambda xp, out, x: None)
    )
    check_operator(op, [X])


def test_inputs_that_the_kernel_overwrites_stay_as_they_were() -> None:
    def kernel(xp: Any, out: Any, x: Any, state: Any) -> None:
        out[...] = x + state
        state += 1

    op = Operator(
        "test_state",
        lambda x, state: (x,),
        kernel,
        None,
        doc="A sum.",
        inputs=("data", "state"),
        execution=Execution(mutates=(1,)),
    )
    state = np.zeros_like(X)
    check_operator(op, [X, state], {}, X, differentiable=False)
    assert not state.any()


def test_attributes_are_parsed() -> None:
    op = Operator(
        "test_scale",
        infer_same,
        lambda xp, out, x, factor: xp.multiply(x, x.dtype.type(factor), out=out),
        lambda g, x, factor: (g * factor,),
        doc="A multiple.",
        schema=Schema(factor=number()),
    )
    check_operator(op, [X], {"factor": "2"}, 2 * X)
