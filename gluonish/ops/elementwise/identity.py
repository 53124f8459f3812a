"""Operators that return their input and differ in the gradient."""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.schema import Schema, choice, number
from gluonish.ops.elementwise.binary import GREATER, LESSER
from gluonish.ops.elementwise.constant_like import ones_like
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import complete_same, infer_same
from gluonish.ops.support.zero_gradient import zero_gradient


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
