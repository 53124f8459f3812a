"""pick: one element of every row along an axis; gathering and scattering along an axis.

one_hot: one-hot encoding of indices.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, INT32
from gluonish.core.errors import OperatorError
from gluonish.core.schema import (
    Schema,
    boolean,
    choice,
    dtype_attr,
    integer,
    number,
    optional,
    shape,
)
from gluonish.core.spec import PartialSpec, Shape, Spec, checked_spec
from gluonish.ops.facts import ShapeFacts, zero_gradient
from gluonish.ops.indexing.take import integer_indices
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.dtype_rules import dtype_rule, named_dtype
from gluonish.ops.support.host import add_at, scatter_accumulator
from gluonish.ops.support.precision import check_number, in_dtype
from gluonish.ops.support.shape_rules import Shapes, merge_shape, normalize_axis
from gluonish.ops.support.work import remembered

_MODE = choice("clip", "wrap", default="clip")


def along_grid(xp: ModuleType, positions: Any, axis: int) -> tuple[Any, ...]:
    """Return an index tuple that selects ``positions`` along ``axis``, row by row."""
    grid = []
    for i, extent in enumerate(positions.shape):
        lengths = [1] * positions.ndim
        lengths[i] = extent
        grid.append(xp.arange(extent).reshape(lengths))
    grid[axis] = positions
    return tuple(grid)


def _along_infer(data: Spec, index: Spec, *, axis: int, mode: str) -> tuple[Spec]:
    axis = normalize_axis("_take_along", axis, len(data.shape))
    rest = (*data.shape[:axis], *data.shape[axis + 1 :])
    if len(index.shape) != len(data.shape) or rest != (
        *index.shape[:axis],
        *index.shape[axis + 1 :],
    ):
        raise OperatorError(
            f"_take_along: expected index of the shape of data {data.shape} except along axis "
            f"{axis}, got {index.shape}"
        )
    return (Spec(index.shape, data.dtype),)


def _along_kernel(xp: ModuleType, out: Any, data: Any, index: Any, *, axis: int, mode: str) -> None:
    positions = integer_indices(xp, "_take_along", index, data.shape[axis], mode)
    out[...] = data[along_grid(xp, positions, axis)]


def _along_gradient(g: V, data: V, index: V, *, axis: int, mode: str) -> tuple[Any, None]:
    return add_along(g, index, data.shape, axis, mode), None


TAKE_ALONG = register(
    Operator(
        "_take_along",
        _along_infer,
        _along_kernel,
        _along_gradient,
        doc="Gather elements of data along axis at the positions in index, for each row.",
        inputs=("data", "index"),
        schema=Schema(axis=integer(), mode=_MODE),
    )
)


def _add_infer(data: Spec, index: Spec, *, shape: Shape, axis: int, mode: str) -> tuple[Spec]:
    return (Spec(shape, data.dtype),)


def _add_kernel(
    xp: ModuleType, out: Any, data: Any, index: Any, *, shape: Shape, axis: int, mode: str
) -> None:
    total = xp.zeros(shape, dtype=scatter_accumulator(out.dtype))
    positions = integer_indices(xp, "_add_along", index, shape[axis], mode)
    add_at(xp, total, along_grid(xp, positions, axis), data.astype(total.dtype))
    out[...] = total.astype(out.dtype)


def _add_gradient(
    g: V, data: V, index: V, *, shape: Shape, axis: int, mode: str
) -> tuple[Any, None]:
    return take_along(g, index, axis, mode), None


ADD_ALONG = register(
    Operator(
        "_add_along",
        _add_infer,
        _add_kernel,
        _add_gradient,
        doc=("Add data to zeros of a shape along axis at the positions in index, for each row."),
        inputs=("data", "index"),
        schema=Schema(shape=shape(), axis=integer(), mode=_MODE),
    )
)


def take_along(x: Any, index: Any, axis: int, mode: str = "clip") -> Any:
    """Gather elements of ``x`` along ``axis`` at the positions in ``index``, row by row."""
    return apply(TAKE_ALONG, (x, index), {"axis": axis, "mode": mode})


def add_along(x: Any, index: Any, shape: Shape, axis: int, mode: str = "clip") -> Any:
    """Add ``x`` to zeros of ``shape`` at the positions in ``index``, row by row."""
    return apply(ADD_ALONG, (x, index), {"shape": shape, "axis": axis, "mode": mode})


def _keepdims_shape(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], 1, *shape[axis + 1 :])


_ONE_HOT = "; for one-hot labels pass sparse_label=False to the loss"


@remembered
def _pick_infer(
    data: Spec, index: Spec, *, axis: int | None, keepdims: bool, mode: str
) -> tuple[Spec]:
    if axis is None:
        raise OperatorError("pick: expected an int axis, got None")
    axis = normalize_axis("pick", axis, len(data.shape))
    if not data.shape[axis] and index.size:
        raise OperatorError(f"pick: expected a nonempty axis {axis}, got data {data.shape}")
    reduced = _keepdims_shape(data.shape, axis)
    dropped = (*data.shape[:axis], *data.shape[axis + 1 :])
    if index.shape not in (reduced, dropped) and not (index.shape == (1,) and not dropped):
        raise OperatorError(
            f"pick: expected index of shape {dropped} or {reduced} for data {data.shape} and axis "
            f"{axis}, got {index.shape}{_ONE_HOT if index.shape == data.shape else ''}"
        )
    return (Spec(reduced if keepdims else dropped or (1,), data.dtype),)


def _pick_kernel(
    xp: ModuleType, out: Any, data: Any, index: Any, *, axis: int, keepdims: bool, mode: str
) -> None:
    axis %= data.ndim
    positions = integer_indices(xp, "pick", index, data.shape[axis], mode)
    if axis == data.ndim - 1:  # the usual case; a grid takes longer than picking itself
        rows = data.reshape(positions.size, data.shape[axis])
        picked = rows[xp.arange(positions.size), positions.reshape(-1)]
        out[...] = picked.reshape(out.shape)
        return
    reduced = _keepdims_shape(data.shape, axis)
    out.reshape(reduced)[...] = data[along_grid(xp, positions.reshape(reduced), axis)]


def _pick_gradient(
    g: V, data: V, index: V, *, axis: int, keepdims: bool, mode: str
) -> tuple[Any, None]:
    axis %= len(data.shape)
    reduced = _keepdims_shape(data.shape, axis)
    return add_along(reshape(g, reduced), reshape(index, reduced), data.shape, axis, mode), None


def _pick_shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    """Infer index and output from data: its shape without the axis, or with extent 1 there."""
    data, axis = inputs[0], attrs["axis"]
    if data is None or axis is None or attrs["mode"] not in ("clip", "wrap"):
        return
    axis += len(data) * (axis < 0)
    if 0 <= axis < len(data):
        found = (*data[:axis], *((1,) if attrs["keepdims"] else ()), *data[axis + 1 :])
        if len(found) == len(inputs[1] or found):
            merge_shape(inputs, 1, found)
        merge_shape(outputs, 0, found)


PICK = register(
    Operator(
        "pick",
        _pick_infer,
        _pick_kernel,
        _pick_gradient,
        doc=(
            "Pick one element of every row along axis, at the position in index.\n\n"
            "Positions out of range are clipped to the nearest end (clip) or wrap around\n"
            "(wrap). index has the shape of data without axis, or with size 1 there.\n\n"
            "Shapes: data (..., K, ...) with K along axis, output data's without axis, or with\n"
            "size 1 there (keepdims)."
        ),
        inputs=("data", "index"),
        schema=Schema(axis=optional(integer(), -1), keepdims=boolean(False), mode=_MODE),
        aliases=("choose_element_0index", "_npx_pick"),
        shapes=ShapeFacts(rule=_pick_shapes, complete=dtype_rule(0)),
    )
)


def pick(x: Any, index: Any, axis: int = -1, keepdims: bool = False) -> Any:
    """Pick one element of every row of ``x`` along ``axis``."""
    attrs = {"axis": axis, "keepdims": keepdims, "mode": "clip"}
    return apply(PICK, (x, index), attrs)


def _batch_infer(a: Spec, indices: Spec) -> tuple[Spec]:
    if len(a.shape) != 2 or indices.shape != a.shape[:1] or (a.shape[0] and not a.shape[1]):
        raise OperatorError(
            f"batch_take: expected nonempty a (N, C) and indices (N,), got {a.shape} and "
            f"{indices.shape}"
        )
    return (Spec(indices.shape, a.dtype),)


def _batch_kernel(xp: ModuleType, out: Any, a: Any, indices: Any) -> None:
    _pick_kernel(xp, out, a, indices, axis=1, keepdims=False, mode="clip")


def _batch_gradient(g: V, a: V, indices: V) -> tuple[Any, None]:
    return _pick_gradient(g, a, indices, axis=1, keepdims=False, mode="clip")


_complete_matrix = dtype_rule(0)


def _batch_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    """Complete indices of unknown dtype as int32, as MXNet does."""
    _complete_matrix(inputs, outputs, attrs)
    if inputs[1].dtype is None:
        inputs[1] = PartialSpec(inputs[1].shape, INT32)


BATCH_TAKE = register(
    Operator(
        "batch_take",
        _batch_infer,
        _batch_kernel,
        _batch_gradient,
        doc=(
            "Pick element indices[i] of row i, for every row of a matrix.\n\n"
            "Shapes: a (N, K), indices (N,), output (N,)."
        ),
        inputs=("a", "indices"),
        shapes=ShapeFacts(complete=_batch_complete),
    )
)


def _infer(
    indices: Spec, *, depth: int, on_value: float, off_value: float, dtype: np.dtype[Any]
) -> tuple[Spec]:
    check_number("one_hot", dtype, on_value)
    check_number("one_hot", dtype, off_value)
    return (checked_spec("one_hot", (*indices.shape, depth), dtype),)


def _kernel(
    xp: ModuleType,
    out: Any,
    indices: Any,
    *,
    depth: int,
    on_value: float,
    off_value: float,
    dtype: np.dtype[Any],
) -> None:
    out.fill(in_dtype(dtype, off_value))
    hit = indices.astype(xp.int64)[..., None] == xp.arange(depth)
    out[hit] = in_dtype(dtype, on_value)


ONE_HOT = register(
    Operator(
        "one_hot",
        _infer,
        _kernel,
        zero_gradient,
        doc=(
            "Return rows of depth values: on_value at the index, off_value elsewhere.\n\n"
            "An index outside [0, depth) gives a row of off_value.\n\n"
            "Shapes: indices any, output (*indices.shape, depth)."
        ),
        inputs=("indices",),
        schema=Schema(
            depth=integer(low=0),
            on_value=number(1.0),
            off_value=number(0.0),
            dtype=dtype_attr(FLOAT32),
        ),
        aliases=("_npx_one_hot",),
        shapes=ShapeFacts(complete=named_dtype),
    )
)
