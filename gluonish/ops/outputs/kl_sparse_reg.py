"""IdentityAttachKLSparseReg: identity with the gradient of a sparsity penalty."""

import math
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, number
from gluonish.core.spec import UNKNOWN, PartialSpec, Spec
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.precision import widen


def _infer(data: Spec, moving_avg: Spec, **_: object) -> tuple[Spec, Spec]:
    if len(data.shape) < 2 or not is_floating(data.dtype):
        raise OperatorError(
            f"IdentityAttachKLSparseReg: expected floating data of 2 axes or more, got {data}"
        )
    expected = Spec(data.shape[1:2], data.dtype)
    if moving_avg != expected:
        raise OperatorError(
            f"IdentityAttachKLSparseReg: expected moving_avg {expected} for data {data}, "
            f"got {moving_avg}"
        )
    return data, moving_avg


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any],
    data: Any,
    moving_avg: Any,
    *,
    momentum: float,
    train: bool,
    **_: object,
) -> None:
    out, average = outputs
    out[...] = data
    if train and data.size:
        wide = widen(data)
        axes = (0, *range(2, data.ndim))
        count = math.prod(data.shape) // data.shape[1]
        mean = wide.sum(axis=axes) / wide.dtype.type(count)
        moved = widen(moving_avg) * wide.dtype.type(momentum)
        moving_avg[...] = moved + mean * wide.dtype.type(1 - momentum)
    average[...] = moving_avg


def _gradient(
    g: tuple[Any, Any],
    data: V,
    moving_avg: V,
    out: V,
    average: Any,
    *,
    sparseness_target: float,
    penalty: float,
    **_: object,
) -> tuple[Any, None]:
    push = (1.0 - sparseness_target) / (1.0 - average) - sparseness_target / average
    shape = tuple(n if i == 1 else 1 for i, n in enumerate(data.shape))
    penalty_gradient = broadcast_to(reshape(push * penalty, shape), data.shape)
    return penalty_gradient if g[0] is None else g[0] + penalty_gradient, None


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    data, average = inputs
    shape = data.shape or outputs[0].shape
    dtype = data.dtype or outputs[0].dtype
    inputs[0] = outputs[0] = PartialSpec(shape, dtype)
    if average.shape is None and shape is not None and len(shape) > 1 and shape[1] != UNKNOWN:
        average = PartialSpec(shape[1:2], average.dtype)
    inputs[1] = PartialSpec(average.shape, average.dtype or dtype)
    for i in range(1, len(outputs)):
        outputs[i] = inputs[1]


IDENTITY_ATTACH_KL_SPARSE_REG = register(
    Operator(
        "IdentityAttachKLSparseReg",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True, ignores_head_gradient=True),
        doc=(
            "data itself, with the gradient of a penalty on the distance of each channel's\n"
            "average from a target.\n\n"
            "The values of data are in (0, 1). In training moving_avg becomes momentum *\n"
            "moving_avg + (1 - momentum) * the batch's average; the penalty is its\n"
            "Kullback-Leibler divergence from sparseness_target, weighted by penalty.\n\n"
            "Shapes: data (N, C, ...), moving_avg (C,), output that of data."
        ),
        inputs=("data", "moving_avg"),
        schema=Schema(sparseness_target=number(0.1), penalty=number(0.001), momentum=number(0.9)),
        outputs=2,
        visible=1,
        output_names=("output", "average"),
        execution=Execution(mutates=(1,), train_dependent=True),
        shapes=ShapeFacts(complete=_complete),
    )
)
