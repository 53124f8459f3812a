"""group_adagrad_update: AdaGrad with one history entry for each row of the weight."""

import math
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, number
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.precision import widen

_NAME = "_contrib_group_adagrad_update"


def _infer(weight: Spec, grad: Spec, history: Spec, **_: object) -> tuple[Spec]:
    if not weight.shape or not is_floating(weight.dtype) or grad != weight:
        raise OperatorError(
            f"{_NAME}: expected a floating weight (N, ...) and an equal grad, got {weight} and "
            f"{grad}"
        )
    rows = weight.shape[:1]
    if history.shape not in (rows, (*rows, 1)) or history.dtype != weight.dtype:
        raise OperatorError(
            f"{_NAME}: expected history {weight.dtype.name}{(*rows, 1)} for weight {weight}, "
            f"got {history}"
        )
    return (weight,)


def _kernel(
    xp: ModuleType,
    out: Any,
    weight: Any,
    grad: Any,
    history: Any,
    *,
    lr: float,
    rescale_grad: float,
    clip_gradient: float,
    epsilon: float,
) -> None:
    if not weight.size:
        out[...] = weight
        return
    g = widen(grad)
    real = g.dtype.type
    g = g * real(rescale_grad)
    if clip_gradient >= 0:
        g = xp.clip(g, real(-clip_gradient), real(clip_gradient))
    rows = g.reshape(len(g), math.prod(g.shape[1:]))
    history += (rows * rows).mean(axis=1).reshape(history.shape).astype(history.dtype)
    scale = real(lr) / xp.sqrt(widen(history).reshape(-1, 1) + real(epsilon))
    out[...] = widen(weight) - (rows * scale).reshape(weight.shape)


GROUP_ADAGRAD_UPDATE = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        None,
        doc=(
            "Take one step of AdaGrad with one history value for each row: return the new\n"
            "weight, and update history in place.\n\n"
            "The gradient is scaled by rescale_grad, and clipped to [-clip_gradient,\n"
            "clip_gradient] unless clip_gradient is negative. history increases by the mean\n"
            "square of each row; a row changes by -lr * gradient / sqrt(history + epsilon).\n\n"
            "Shapes: weight and grad (N, ...), history (N, 1) or (N,), output that of weight."
        ),
        inputs=("weight", "grad", "history"),
        schema=Schema(
            lr=number(),
            rescale_grad=number(1.0),
            clip_gradient=number(-1.0),
            epsilon=number(1e-5),
        ),
        execution=Execution(mutates=(2,)),
        shapes=ShapeFacts(complete=dtype_rule(0, 1, 2)),
    )
)
