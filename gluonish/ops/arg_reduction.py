"""argmax, argmin and argmax_channel: where an extreme value stands, in the dtype of the data."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, optional
from gluonish.core.spec import Spec
from gluonish.ops.axes import normalize_axis
from gluonish.ops.broadcasting import refuse_truth_values
from gluonish.ops.precision import widen
from gluonish.ops.registry import Operator, register
from gluonish.ops.zero_gradient import zero_gradient

__all__ = ["ARGMAX", "ARGMAX_CHANNEL", "ARGMIN"]

_SCHEMA = Schema(axis=optional(integer()), keepdims=boolean(False))


def _row(name: str, find: Callable[[Any, int | None], Any], word: str) -> Operator:
    def infer(data: Spec, *, axis: int | None, keepdims: bool) -> tuple[Spec]:
        refuse_truth_values(name, data)
        shape = data.shape
        if axis is None:
            result = (1,) * len(shape) if keepdims else ()
        else:
            axis = normalize_axis(name, axis, len(shape))
            result = (*shape[:axis], *(1,) * keepdims, *shape[axis + 1 :])
        if (data.size if axis is None else shape[axis]) == 0 and 0 not in result:
            raise OperatorError(f"{name}: expected elements to choose from, got data {shape}")
        return (Spec(result or (1,), data.dtype),)

    def kernel(xp: ModuleType, out: Any, data: Any, *, axis: int | None, keepdims: bool) -> None:
        if out.size:
            out[...] = find(widen(data), axis).reshape(out.shape)

    return register(
        Operator(
            name,
            infer,
            kernel,
            zero_gradient,
            doc=(
                f"Position of the first {word} along axis, or among all elements in row order.\n\n"
                "The dtype is that of data, in which large positions may not be exact.\n\n"
                "Shapes: data any, output data's without axis, or with extent 1 there (keepdims);\n"
                "(1,) where no axis is left."
            ),
            schema=_SCHEMA,
        )
    )


ARGMAX = _row("argmax", lambda data, axis: data.argmax(axis), "maximum")
ARGMIN = _row("argmin", lambda data, axis: data.argmin(axis), "minimum")


def _channel_infer(data: Spec) -> tuple[Spec]:
    refuse_truth_values("argmax_channel", data)
    if len(data.shape) < 2 or data.shape[1] == 0:
        raise OperatorError(f"argmax_channel: expected data (N, C, ...), got {data.shape}")
    return (Spec((data.shape[0], *data.shape[2:]), data.dtype),)


def _channel_kernel(xp: ModuleType, out: Any, data: Any) -> None:
    out[...] = widen(data).argmax(1)


ARGMAX_CHANNEL = register(
    Operator(
        "argmax_channel",
        _channel_infer,
        _channel_kernel,
        zero_gradient,
        doc=(
            "Position of the first maximum along axis 1, in the dtype of data.\n\n"
            "Shapes: data (N, C, ...), output (N, ...)."
        ),
    )
)
