"""argmax and argmin as int64."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, optional
from gluonish.core.spec import Spec
from gluonish.ops.axes import normalize_axis
from gluonish.ops.numpy.promotion import refuse_bool
from gluonish.ops.precision import widen
from gluonish.ops.registry import Operator, register
from gluonish.ops.zero_gradient import zero_gradient

__all__ = ["ARGMAX", "ARGMIN"]


def _row(name: str, find: Callable[[Any, int | None], Any], word: str) -> Operator:
    def infer(data: Spec, *, axis: int | None, keepdims: bool) -> tuple[Spec]:
        refuse_bool(name, data)
        shape = data.shape
        if axis is None:
            result = (1,) * len(shape) if keepdims else ()
        else:
            axis = normalize_axis(name, axis, len(shape))
            result = (*shape[:axis], *(1,) * keepdims, *shape[axis + 1 :])
        if (data.size if axis is None else shape[axis]) == 0 and 0 not in result:
            raise OperatorError(f"{name}: expected elements to choose from, got data {shape}")
        return (Spec(result, INT64),)

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
                "Shapes: data any, output data's without axis, or with extent 1 there (keepdims)."
            ),
            schema=Schema(axis=optional(integer()), keepdims=boolean(False)),
        )
    )


ARGMAX = _row("_npi_argmax", lambda data, axis: data.argmax(axis), "maximum")
ARGMIN = _row("_npi_argmin", lambda data, axis: data.argmin(axis), "minimum")
