"""cumsum: cumulative sums."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, INT64
from gluonish.core.schema import Schema, choice, integer, optional
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.cast import cast, convert
from gluonish.ops.numpy.promotion import dtype_of
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import infer_same
from gluonish.ops.support.precision import accumulator, running_total
from gluonish.ops.support.shape_rules import normalize_axis


def _dtype(data: np.dtype[Any], dtype: str | None) -> np.dtype[Any]:
    if dtype is not None:
        return np.dtype(dtype)
    return INT64 if data == BOOL else data


def _infer(a: Spec, *, axis: int | None, dtype: str | None) -> tuple[Spec]:
    if axis is None:
        return (Spec((a.size,), _dtype(a.dtype, dtype)),)
    normalize_axis("_np_cumsum", axis, len(a.shape))
    return (Spec(a.shape, _dtype(a.dtype, dtype)),)


def _kernel(xp: ModuleType, out: Any, a: Any, *, axis: int | None, dtype: str | None) -> None:
    wide = accumulator(out.dtype)
    if axis is None:  # CuPy's order of addition varies from run to run without an axis
        a, axis = a.reshape(-1), 0
    convert(out, running_total(xp, a, axis, wide))


def _gradient(g: V, a: Any, *, axis: int | None, dtype: str | None) -> tuple[Any]:
    own = dtype_of(a)
    if own == BOOL:
        return (None,)
    along = 0 if axis is None else axis % len(a.shape)
    back = apply(_REVERSED, (cast(g, own),), {"axis": along})
    return (reshape(back, a.shape),)


CUMSUM = register(
    Operator(
        "_np_cumsum",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Cumulative sums along axis, or of all elements in row-major order.\n\n"
            "Sums of bool are int64, others of the dtype of a, unless dtype is given.\n\n"
            "Shapes: a any, output the same, or without axis (elements,)."
        ),
        inputs=("a",),
        schema=Schema(
            axis=optional(integer()),
            dtype=choice(
                None, "float16", "float32", "float64", "int32", "int64", "int8", default=None
            ),
        ),
        aliases=("cumsum",),
    )
)


def _reversed_kernel(xp: ModuleType, out: Any, data: Any, *, axis: int) -> None:
    wide = accumulator(data.dtype)
    turned = xp.flip(data, axis)
    out[...] = xp.flip(running_total(xp, turned, axis, wide), axis).astype(out.dtype)


def _reversed_gradient(g: V, data: V, *, axis: int) -> tuple[Any]:
    return (apply(CUMSUM, (g,), {"axis": axis, "dtype": None}),)


_REVERSED = register(
    Operator(
        "_cumsum_reversed",
        infer_same,
        _reversed_kernel,
        _reversed_gradient,
        doc=(
            "Cumulative sums from the end: the sum of the elements from each one to the last\n"
            "along axis."
        ),
        schema=Schema(axis=integer()),
    )
)
