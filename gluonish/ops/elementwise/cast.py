"""Cast: convert to another dtype."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.schema import Schema, dtype_attr
from gluonish.core.spec import PartialSpec, Spec, merge_shapes
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, apply, register


def _infer(data: Spec, *, dtype: np.dtype[Any]) -> tuple[Spec]:
    return (Spec(data.shape, dtype),)


def convert(out: Any, data: Any) -> None:
    """Copy ``data`` to ``out`` of another dtype; floats are truncated toward zero and wrap."""
    if out.dtype == np.bool_:
        out[...] = data != 0
    elif out.dtype.kind in "iu" and is_floating(data.dtype):
        out[...] = data.astype(np.int64).astype(out.dtype)
    else:
        out[...] = data.astype(out.dtype)


def _kernel(xp: ModuleType, out: Any, data: Any, *, dtype: np.dtype[Any]) -> None:
    convert(out, data)


def _gradient(g: V, data: V, *, dtype: np.dtype[Any]) -> tuple[Any]:
    return (cast(g, data.dtype),)  # type: ignore[attr-defined]  # values have a dtype


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    shape = merge_shapes(inputs[0].shape, outputs[0].shape, "Cast")
    inputs[0] = PartialSpec(shape, inputs[0].dtype)
    outputs[0] = PartialSpec(shape, attrs["dtype"])


CAST = register(
    Operator(
        "Cast",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Cast data to another dtype. Floats are truncated toward zero to integers, and\n"
            "wrap around.\n\n"
            "Shapes: data any, output the same."
        ),
        schema=Schema(dtype=dtype_attr()),
        aliases=("cast", "_npi_cast", "_npx_cast"),
        shapes=ShapeFacts(complete=_complete),
    )
)


def cast(x: Any, dtype: np.dtype[Any]) -> Any:
    """Return ``x`` cast to ``dtype``; ``x`` itself if it already has that dtype."""
    return x if x.dtype == dtype else apply(CAST, (x,), {"dtype": np.dtype(dtype)})
