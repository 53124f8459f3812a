"""Operators that return their input and differ in the gradient.

round_ste, sign_ste and gradientmultiplier: functions with a substitute gradient.

References:
    Y. Bengio, N. Leonard, A. Courville, Estimating or Propagating Gradients Through Stochastic
        Neurons for Conditional Computation, 2013 (the straight-through estimator).

Copies of arrays under MXNet's internal names, and zeros.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT32, dtype_from_flag
from gluonish.core.errors import ArgumentTypeError, OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, number, optional, text
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import PartialSpec, Shape, Spec, checked_spec
from gluonish.ops.elementwise.binary import GREATER, LESSER
from gluonish.ops.elementwise.constant_like import ones_like
from gluonish.ops.elementwise.unary import ROUND, SIGN, Unary
from gluonish.ops.facts import Execution, Gradient, ShapeFacts, zero_gradient
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import complete_same, infer_numbers, infer_same


def _kernel(xp: ModuleType, out: Any, data: Any, **_attrs: Any) -> None:
    out[...] = data


def _operator(
    name: str,
    gradient: Callable[..., Any],
    doc: str,
    *aliases: str,
    schema: Schema | None = None,
    ignores_head_gradient: bool = False,
    output_names: tuple[str, ...] = (),
) -> Operator:
    return register(
        Operator(
            name,
            infer_same,
            _kernel,
            Gradient(gradient, ignores_head_gradient=ignores_head_gradient),
            doc=doc,
            schema=schema,
            aliases=aliases,
            output_names=output_names,
            shapes=ShapeFacts(complete=complete_same),
            execution=Execution(elementwise=True, identity=True, copies_only=True),
        )
    )


COPY = _operator("_copy", lambda g, data: (g,), "Copy data.", "identity")
BLOCK_GRAD = _operator(
    "BlockGrad",
    zero_gradient,
    "Return data, and stop the gradient.",
    "stop_gradient",
    "_sparse_stop_gradient",
)


def _make_loss_gradient(_g: V | None, data: V) -> tuple[Any]:
    return (ones_like(data),)


MAKE_LOSS = _operator(
    "make_loss",
    _make_loss_gradient,
    "Return data as a loss: its gradient is 1, and the gradient of the output is ignored.",
    "_sparse_make_loss",
    ignores_head_gradient=True,
    output_names=("loss",),
)


def _old_loss_gradient(
    _g: V | None, data: Any, *, grad_scale: float, valid_thresh: float, normalization: str
) -> tuple[Any]:
    gradient = ones_like(data) * grad_scale
    if normalization == "batch":
        gradient = gradient / float(max(1, math.prod(data.shape[:-1])))
    elif normalization == "valid":
        ones = (1,) * len(data.shape)
        count = reshape(sum_(GREATER(data, valid_thresh)), ones)
        # At least one, so that an array without valid elements has a gradient.
        count = count + LESSER(count, 1.0)
        gradient = gradient / broadcast_to(count, data.shape)
    return (gradient,)


MAKE_LOSS_OUTPUT = _operator(
    "MakeLoss",
    _old_loss_gradient,
    (
        "Return data as a loss: its gradient is grad_scale, and the gradient of the output is\n"
        "ignored.\n\n"
        "normalization divides the gradient by the product of all sizes but the last (batch),\n"
        "or by the number of elements above valid_thresh (valid)."
    ),
    schema=Schema(
        grad_scale=number(1.0),
        valid_thresh=number(0.0),
        normalization=choice("batch", "null", "valid", default="null"),
    ),
    ignores_head_gradient=True,
)


def stop_gradient(x: Any) -> Any:
    """Return ``x``, and stop the gradient."""
    return apply(BLOCK_GRAD, (x,), {})


def _pass_through(g: V, data: V) -> tuple[Any]:
    return (g,)


def _estimator(name: str, function: Unary, doc: str) -> Operator:
    return register(
        Operator(
            name,
            infer_numbers(name),
            function.operator.kernel,
            _pass_through,
            doc=f"{doc}; the gradient passes through unchanged.",
            aliases=(f"_sparse_{name}",),
            shapes=ShapeFacts(complete=complete_same),
            execution=Execution(elementwise=True),
        )
    )


ROUND_STE = _estimator("_contrib_round_ste", ROUND, "Round data to the nearest integer")
SIGN_STE = _estimator("_contrib_sign_ste", SIGN, "Compute the sign of data (-1, 0 or 1)")


def _copy(xp: ModuleType, out: Any, data: Any, **_: object) -> None:
    out[...] = data


def _multiplied(g: V, data: V, *, scalar: float, is_int: bool) -> tuple[Any]:
    return (g * scalar,)


GRADIENT_MULTIPLIER = register(
    Operator(
        "_contrib_gradientmultiplier",
        infer_same,
        _copy,
        _multiplied,
        doc=(
            "Return data, and multiply the gradient by scalar; a negative scalar reverses it.\n\n"
            "is_int means that scalar was written as an integer; it is ignored."
        ),
        schema=Schema(scalar=number(1.0), is_int=boolean(True)),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True, identity=True),
    )
)


def _copy_copies(xp: ModuleType, out: Any, data: Any, *_: Any) -> None:
    out[...] = data


def _pass_back(g: V, data: V) -> tuple[Any]:
    return (g,)


def _identity(name: str, doc: str, *aliases: str) -> Operator:
    return register(
        Operator(
            name,
            infer_same,
            _copy_copies,
            _pass_back,
            doc=doc,
            aliases=aliases,
            shapes=ShapeFacts(complete=complete_same),
            execution=Execution(elementwise=True, identity=True, copies_only=True),
        )
    )


COPYTO = _identity("_copyto", "Copy data.", "_npi_copyto")
CROSS_DEVICE_COPY = _identity(
    "_CrossDeviceCopy",
    "Copy data, to another device where a graph is split over devices.",
)


def _like_infer(lhs: Spec, rhs: Spec) -> tuple[Spec]:
    if lhs.shape != rhs.shape:
        raise OperatorError(
            f"_identity_with_attr_like_rhs: expected arrays of equal shape, got {lhs.shape} and "
            f"{rhs.shape}"
        )
    return (lhs,)


def _like_gradient(g: V, lhs: V, rhs: V) -> tuple[Any, None]:
    return g, None


def _like_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    complete_same(inputs, outputs, attrs, "_identity_with_attr_like_rhs")


IDENTITY_LIKE_RHS = register(
    Operator(
        "_identity_with_attr_like_rhs",
        _like_infer,
        _copy_copies,
        _like_gradient,
        doc=(
            "Return lhs; infer its shape and dtype from rhs.\n\n"
            "Shapes: lhs, rhs and output the same."
        ),
        inputs=("lhs", "rhs"),
        shapes=ShapeFacts(complete=_like_complete),
        execution=Execution(elementwise=True, identity=True),
    )
)


def _zeros_infer(*, shape: Shape | None, ctx: str, dtype: int) -> tuple[Spec]:
    try:
        kind = FLOAT32 if dtype == -1 else dtype_from_flag(dtype)
    except ArgumentTypeError as error:
        raise OperatorError(f"_zeros_without_dtype: {error}") from error
    return (checked_spec("_zeros_without_dtype", shape or (), kind),)


def _zeros_kernel(xp: ModuleType, out: Any, **_: object) -> None:
    out.fill(0)


ZEROS_WITHOUT_DTYPE = register(
    Operator(
        "_zeros_without_dtype",
        _zeros_infer,
        _zeros_kernel,
        None,
        doc=(
            "Return an array of zeros; dtype is the dtype's number in files, -1 for float32.\n\n"
            "Shapes: output shape."
        ),
        inputs=(),
        schema=Schema(shape=optional(shape_attr()), ctx=text(""), dtype=integer(-1)),
        execution=Execution(copies_only=True),
    )
)
