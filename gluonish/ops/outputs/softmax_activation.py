"""SoftmaxActivation: softmax over the last axis or over the channels."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.nn.softmax import SOFTMAX
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.support.broadcasting import complete_same

__all__ = ["SOFTMAX_ACTIVATION"]


def _infer(data: Spec, *, mode: str) -> tuple[Spec]:
    least = 3 if mode == "channel" else 1
    if len(data.shape) < least or not is_floating(data.dtype):
        raise OperatorError(
            f"SoftmaxActivation: expected floating data of at least {least} axes with mode "
            f"{mode!r}, got {data}"
        )
    return (data,)


def _axis(mode: str) -> int:
    return 1 if mode == "channel" else -1


def _kernel(xp: ModuleType, out: Any, data: Any, *, mode: str) -> None:
    SOFTMAX.kernel(xp, out, data, axis=_axis(mode), temperature=None)


def _gradient(g: V, data: V, out: V, *, mode: str) -> tuple[Any]:
    weighted = g * out
    return (weighted - out * sum_(weighted, (_axis(mode),), keepdims=True),)


SOFTMAX_ACTIVATION = register(
    Operator(
        "SoftmaxActivation",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "softmax of data: over the last axis (instance), or over axis 1 at each position\n"
            "(channel).\n\n"
            "Shapes: data (N, ...), or (N, C, ...) for channel, output the same."
        ),
        schema=Schema(mode=choice("channel", "instance", default="instance")),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(heavy=True),
    )
)
