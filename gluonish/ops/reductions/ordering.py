"""topk, sort and argsort, which are stable in ascending and descending order."""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, INT32, normalize_dtype
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, dtype_attr, integer, optional
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.facts import Execution, ShapeFacts, zero_gradient
from gluonish.ops.indexing.pick import add_along, along_grid
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.dtype_rules import dtype_rule, named_dtype
from gluonish.ops.support.precision import check_positions, widen
from gluonish.ops.support.shape_rules import normalize_axis

_ADVICE = "use a wider dtype, such as dtype='int32'"


def _row_shape(name: str, shape: Shape, axis: int | None) -> tuple[Shape, int]:
    """Return the shape to sort and its axis; an axis of None flattens the array."""
    if axis is None:
        return (math.prod(shape),), 0
    return shape, normalize_axis(name, axis, len(shape))


def _order(xp: ModuleType, data: Any, axis: int, ascending: bool) -> Any:
    """Return the indices that sort along an axis; NaN is larger than any number."""
    wide = widen(data)
    if ascending:
        return xp.argsort(wide, axis=axis, kind="stable")
    # Sorting the reversed array, and reversing the result, is stable.
    backward = xp.argsort(xp.flip(wide, axis), axis=axis, kind="stable")
    return data.shape[axis] - 1 - xp.flip(backward, axis)


def _select(x: Any, positions: Any, xp: ModuleType, axis: int) -> Any:
    return xp.take_along_axis(x, positions, axis=axis)


def _top_shape(data: Spec, axis: int | None, k: int) -> tuple[Shape, int]:
    shape, along = _row_shape("topk", data.shape, axis)
    if k > shape[along]:
        raise OperatorError(f"topk: expected k of at most {shape[along]}, got {k}")
    count = shape[along] if k < 1 else k
    return (*shape[:along], count, *shape[along + 1 :]), along


def _topk_infer(
    data: Spec, *, axis: int | None, k: int, ret_typ: str, is_ascend: bool, dtype: np.dtype[Any]
) -> tuple[Spec, ...]:
    shape, along = _top_shape(data, axis, k)
    if ret_typ in ("both", "indices"):
        count = data.size if axis is None else data.shape[along]
        check_positions("topk", count, dtype, _ADVICE)
    values, indices = Spec(shape, data.dtype), Spec(shape, dtype)
    if ret_typ == "both":
        return values, indices
    return ({"value": values, "indices": indices, "mask": data}[ret_typ],)


def _topk_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    *,
    axis: int | None,
    k: int,
    ret_typ: str,
    is_ascend: bool,
    dtype: np.dtype[Any],
) -> None:
    shape, along = _row_shape("topk", data.shape, axis)
    rows = data.reshape(shape)
    order = _order(xp, rows, along, is_ascend)
    if k >= 1:
        order = order[(*(slice(None),) * along, slice(k))]
    if ret_typ == "mask":
        mask = xp.zeros(shape, dtype=data.dtype)
        mask[along_grid(xp, order, along)] = 1
        out[0][...] = mask.reshape(data.shape)
    elif ret_typ == "indices":
        out[0][...] = order.astype(dtype)
    else:
        out[0][...] = _select(rows, order, xp, along)
        if ret_typ == "both":
            out[1][...] = order.astype(dtype)


def _scatter_back(g: V, data: V, axis: int | None, k: int, is_ascend: bool) -> Any:
    """Scatter the gradients of sorted elements to the positions of the elements in data."""
    shape, along = _row_shape("topk", data.shape, axis)
    attrs = {"axis": axis, "k": k, "ret_typ": "indices", "is_ascend": is_ascend, "dtype": INT32}
    order = apply(TOPK, (data,), attrs)
    return reshape(add_along(g, order, shape, along), data.shape)


def _topk_gradient(
    g: Any,
    data: V,
    *,
    axis: int | None,
    k: int,
    ret_typ: str,
    is_ascend: bool,
    dtype: np.dtype[Any],
) -> tuple[Any]:
    if ret_typ not in ("value", "both") or g[0] is None:
        return (None,)
    return (_scatter_back(g[0], data, axis, k, is_ascend),)


def _topk_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    if attrs["ret_typ"] == "indices":
        named_dtype(inputs, outputs, attrs)
        return
    values = outputs[:1]
    _complete_values(inputs, values, attrs)
    outputs[0] = values[0]
    if attrs["ret_typ"] == "both":
        outputs[1] = PartialSpec(outputs[1].shape, normalize_dtype(attrs["dtype"]))


_complete_values = dtype_rule(0)


def _topk_outputs(attrs: Attrs) -> int:
    return 2 if attrs["ret_typ"] == "both" else 1


TOPK = register(
    Operator(
        "topk",
        _topk_infer,
        _topk_kernel,
        _topk_gradient,
        doc=(
            "Return the k largest elements along axis in descending order, or with is_ascend\n"
            "the k smallest in ascending order.\n\n"
            "ret_typ selects their values, their indices (of type dtype, which must represent\n"
            "the last index), both, or a mask of data's shape with 1 at their positions. k below\n"
            "1 means all; axis None means over all elements.\n\n"
            "Shapes: data any, outputs data's with k along axis, without axis (k,); mask data's."
        ),
        schema=Schema(
            axis=optional(integer(), -1),
            k=integer(1),
            ret_typ=choice("both", "indices", "mask", "value", default="indices"),
            is_ascend=boolean(False),
            dtype=dtype_attr(FLOAT32),
        ),
        aliases=("_npx_topk",),
        outputs=_topk_outputs,
        execution=Execution(heavy=True),
        shapes=ShapeFacts(complete=_topk_complete),
    )
)


def _sort_infer(data: Spec, *, axis: int | None, is_ascend: bool) -> tuple[Spec, Spec]:
    shape, _ = _row_shape("sort", data.shape, axis)
    return Spec(shape, data.dtype), Spec(shape, INT32)


def _sort_kernel(xp: ModuleType, out: Any, data: Any, *, axis: int | None, is_ascend: bool) -> None:
    shape, along = _row_shape("sort", data.shape, axis)
    rows = data.reshape(shape)
    order = _order(xp, rows, along, is_ascend)
    out[0][...] = _select(rows, order, xp, along)
    out[1][...] = order


def _sort_gradient(g: Any, data: V, *, axis: int | None, is_ascend: bool) -> tuple[Any]:
    return (None if g[0] is None else _scatter_back(g[0], data, axis, 0, is_ascend),)


SORT = register(
    Operator(
        "sort",
        _sort_infer,
        _sort_kernel,
        _sort_gradient,
        doc=(
            "Sort the elements along axis; without axis, data is flattened first.\n\n"
            "Shapes: data any, output the same, or without axis (elements,)."
        ),
        schema=Schema(axis=optional(integer(), -1), is_ascend=boolean(True)),
        aliases=("_npi_sort",),
        outputs=2,
        visible=1,
        execution=Execution(heavy=True),
        output_names=("output0",),
    )
)


def _argsort_infer(
    data: Spec, *, axis: int | None, is_ascend: bool, dtype: np.dtype[Any]
) -> tuple[Spec]:
    shape, along = _row_shape("argsort", data.shape, axis)
    check_positions("argsort", shape[along], dtype, _ADVICE)
    return (Spec(shape, dtype),)


def _argsort_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    *,
    axis: int | None,
    is_ascend: bool,
    dtype: np.dtype[Any],
) -> None:
    shape, along = _row_shape("argsort", data.shape, axis)
    out[...] = _order(xp, data.reshape(shape), along, is_ascend).astype(dtype)


ARGSORT = register(
    Operator(
        "argsort",
        _argsort_infer,
        _argsort_kernel,
        zero_gradient,
        doc=(
            "Return the indices, of type dtype, that sort the elements along axis. The type must\n"
            "represent the last index.\n\n"
            "Shapes: data any, output the same, or without axis (elements,)."
        ),
        schema=Schema(
            axis=optional(integer(), -1), is_ascend=boolean(True), dtype=dtype_attr(FLOAT32)
        ),
        aliases=("_npi_argsort",),
        execution=Execution(heavy=True),
        shapes=ShapeFacts(complete=named_dtype),
    )
)
