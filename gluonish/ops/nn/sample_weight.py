"""_sample_weight: the sample weights of a loss, reshaped to broadcast to it."""

import math
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.reshape import copy_kernel, reshape
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.shape_rules import normalize_axis


def is_aligned(weight: Shape, loss: Shape) -> bool:
    """Whether weights broadcast to the loss by sample without a reshape."""
    if len(weight) != len(loss):
        return False
    return False not in [own in (1, extent) for own, extent in zip(weight, loss, strict=True)]


def _aligned(weight: Shape, loss: Shape, batch_axis: int) -> Shape | None:
    """Return the weights' shape extended to the rank of the loss; None if this is not possible.

    The rank decides, rather than sizes that happen to be equal: 1-d weights are per sample.
    """
    rank = len(loss)
    samples = loss[batch_axis] if loss else 1
    each = tuple(samples if axis == batch_axis else 1 for axis in range(rank))
    count = math.prod(weight)
    if count == 1:
        return (1,) * rank
    column = count == samples and samples in (weight[0], weight[min(batch_axis, len(weight) - 1)])
    if len(weight) == 1 or (column and len(weight) != rank):
        return each if count == samples and loss else None
    while len(weight) > rank and weight[-1] == 1:
        weight = weight[:-1]
    if len(weight) > rank:
        return None
    return (*(1,) * (rank - len(weight)), *weight)


def _fits(weight: Shape, loss: Shape, batch_axis: int) -> bool:
    """Whether weights of the same rank as the loss apply without mixing samples.

    As in MXNet, several weights for one element of the loss act as their sum.
    """
    of_samples = bool(loss) and weight[batch_axis] == loss[batch_axis]
    return all(
        own in (1, extent) or (extent == 1 and axis != batch_axis and of_samples)
        for axis, (own, extent) in enumerate(zip(weight, loss, strict=True))
    )


def _infer(sample_weight: Spec, loss: Spec, *, batch_axis: int) -> tuple[Spec]:
    axis = normalize_axis("sample_weight", batch_axis, len(loss.shape)) if loss.shape else 0
    shape = _aligned(sample_weight.shape, loss.shape, axis)
    if shape is None or not _fits(shape, loss.shape, axis):
        samples = loss.shape[axis] if loss.shape else 1
        raise OperatorError(
            f"sample_weight: expected one weight for each of {samples} samples, ({samples},), or "
            f"weights of {len(loss.shape)} axes that broadcast to the loss {loss.shape}, with the "
            f"samples on axis {axis}, got {sample_weight.shape}; reshape them"
        )
    return (Spec(shape, sample_weight.dtype),)


def _gradient(g: V, sample_weight: V, loss: V, *, batch_axis: int) -> tuple[Any, None]:
    return reshape(g, sample_weight.shape), None


SAMPLE_WEIGHT = register(
    Operator(
        "_sample_weight",
        _infer,
        copy_kernel,
        _gradient,
        doc=(
            "Sample weights of a loss, reshaped to broadcast to it.\n\n"
            "Weights of one axis are per sample; weights of the loss's rank are returned as is.\n\n"
            "Shapes: sample_weight (N,) and loss (N, ...), output (N, 1, ..)."
        ),
        inputs=("sample_weight", "loss"),
        schema=Schema(batch_axis=integer(0)),
        execution=Execution(identity=True, copies_only=True),
        shapes=ShapeFacts(complete=dtype_rule(0)),
    )
)
