"""take: slices of an array along an axis by index.

boolean_mask: select rows by a mask.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError, OperatorIndexError
from gluonish.core.schema import Schema, choice, integer, shape
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import UNKNOWN, Shape, Spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.host import add_at, scatter_accumulator
from gluonish.ops.support.shape_rules import normalize_axis

_MODE = choice("clip", "raise", "wrap", default="clip")


def integer_indices(
    xp: ModuleType, operator: str, positions: Any, extent: int, mode: str = "clip"
) -> Any:
    """Return positions as int64 within [0, extent); fractions are truncated.

    Raises:
        OperatorIndexError: A position is out of range in mode ``raise``.
    """
    index = positions.astype(xp.int64)
    if mode == "wrap":
        return index % max(1, extent)
    if mode == "raise" and index.size and not 0 <= int(index.min()) <= int(index.max()) < extent:
        raise OperatorIndexError(
            f"{operator}: expected positions in [0, {extent}), got positions from "
            f"{int(index.min())} to {int(index.max())}"
        )
    return xp.minimum(xp.maximum(index, 0), extent - 1)  # takes half the time of clip


def _infer(a: Spec, indices: Spec, *, axis: int, mode: str) -> tuple[Spec]:
    axis = normalize_axis("take", axis, len(a.shape))
    if a.shape[axis] == 0 and indices.size:
        raise OperatorError(f"take: expected a nonempty axis {axis}, got a {a.shape}")
    return (Spec(a.shape[:axis] + indices.shape + a.shape[axis + 1 :], a.dtype),)


def _kernel(xp: ModuleType, out: Any, a: Any, indices: Any, *, axis: int, mode: str) -> None:
    extent = a.shape[axis]
    if axis == 0 and type(indices) is np.ndarray and indices.size == 1:
        position = indices.item()  # few functions of NumPy, as in Embedding
        if type(position) is int and 0 <= position < extent:
            out[...] = a[position]
            return
    positions = integer_indices(xp, "take", indices, extent, mode)
    xp.take(a, positions, axis=axis, out=out)


def _gradient(g: V, a: V, indices: V, *, axis: int, mode: str) -> tuple[Any, None]:
    attrs = {"shape": a.shape, "axis": axis, "mode": mode}
    return apply(TAKE_ADD, (g, indices), attrs), None


TAKE = register(
    Operator(
        "take",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Take slices of a along axis at the positions in indices, which may have any dtype.\n\n"
            "Positions out of range are clipped to the nearest end (clip), wrap around (wrap),\n"
            "or are an error (raise).\n\n"
            "Shapes: a any, indices any, output a's with axis replaced by the axes of indices."
        ),
        inputs=("a", "indices"),
        schema=Schema(axis=integer(0), mode=_MODE),
        aliases=("_npi_take",),
        shapes=ShapeFacts(complete=dtype_rule(0)),
    )
)


def _add_infer(g: Spec, indices: Spec, *, shape: Shape, axis: int, mode: str) -> tuple[Spec]:
    return (Spec(shape, g.dtype),)


def _add_kernel(
    xp: ModuleType, out: Any, g: Any, indices: Any, *, shape: Shape, axis: int, mode: str
) -> None:
    axis %= len(shape)
    positions = integer_indices(xp, "take", indices, shape[axis], mode)
    total = xp.zeros(shape, dtype=scatter_accumulator(out.dtype))
    # Move the axes of the positions to the front of both arrays.
    values = xp.moveaxis(g, range(axis, axis + indices.ndim), range(indices.ndim))
    add_at(xp, xp.moveaxis(total, axis, 0), positions, values.astype(total.dtype))
    out[...] = total.astype(out.dtype)


def _add_gradient(
    h: V, g: V, indices: V, *, shape: Shape, axis: int, mode: str
) -> tuple[Any, None]:
    return take(h, indices, axis, mode), None


TAKE_ADD = register(
    Operator(
        "_take_add",
        _add_infer,
        _add_kernel,
        _add_gradient,
        doc="Add slices to zeros of a shape along axis: the adjoint of take.",
        inputs=("data", "indices"),
        schema=Schema(shape=shape(), axis=integer(), mode=_MODE),
    )
)


def take(a: Any, indices: Any, axis: int = 0, mode: str = "clip") -> Any:
    """Take slices of ``a`` along ``axis`` at ``indices``."""
    return apply(TAKE, (a, indices), {"axis": axis, "mode": mode})


def _infer_boolean_mask(data: Spec, index: Spec, *, axis: int) -> tuple[Spec]:
    if axis != 0 or not data.shape:
        raise OperatorError(
            f"_contrib_boolean_mask: expected axis 0 of data (N, ...), got axis {axis} of "
            f"{data.shape}"
        )
    if index.shape != data.shape[:1]:
        raise OperatorError(
            f"_contrib_boolean_mask: expected index {data.shape[:1]} for data {data.shape}, "
            f"got {index.shape}"
        )
    return (Spec((UNKNOWN, *data.shape[1:]), data.dtype),)


def _measure(xp: ModuleType, data: Any, index: Any, *, axis: int) -> tuple[Shape]:
    return ((int(xp.count_nonzero(index)), *data.shape[1:]),)


def _kernel_boolean_mask(xp: ModuleType, out: Any, data: Any, index: Any, *, axis: int) -> None:
    out[...] = data[index != 0]


def _gradient_boolean_mask(g: V, data: V, index: V, *, axis: int) -> tuple[Any, None]:
    return apply(_PUT, (g, index), {"shape": data.shape}), None


BOOLEAN_MASK = register(
    Operator(
        "_contrib_boolean_mask",
        _infer_boolean_mask,
        _kernel_boolean_mask,
        _gradient_boolean_mask,
        doc=(
            "Select the rows of data where index is not 0, in order; axis must be 0.\n\n"
            "Shapes: data (N, ...), index (N,), output (count, ...)."
        ),
        inputs=("data", "index"),
        schema=Schema(axis=integer(0)),
        aliases=("_npi_boolean_mask",),
        shapes=ShapeFacts(complete=dtype_rule(0), measure=_measure),
    )
)


def _put_kernel(xp: ModuleType, out: Any, data: Any, index: Any, *, shape: Shape) -> None:
    out.fill(0)
    out[index != 0] = data


def _put_gradient(g: V, data: V, index: V, *, shape: Shape) -> tuple[Any, None]:
    return apply(BOOLEAN_MASK, (g, index), {"axis": 0}), None


_PUT = register(
    Operator(
        "_boolean_mask_put",
        lambda data, index, *, shape: (Spec(shape, data.dtype),),
        _put_kernel,
        _put_gradient,
        doc="Write data to the rows of zeros where index is not 0.",
        inputs=("data", "index"),
        schema=Schema(shape=shape_attr()),
        shapes=ShapeFacts(complete=dtype_rule(0)),
    )
)
