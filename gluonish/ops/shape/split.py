"""SliceChannel and _split_v2: split an array along an axis."""

import itertools
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, shape
from gluonish.core.spec import UNKNOWN, Shape, Spec, merge_shapes
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.shape.concat import concat
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.shape_rules import Shapes, merge_shape, normalize_axis

Bounds = Sequence[tuple[int, int]]

_MOST_EMPTY = 1 << 12  # pieces of an axis without elements


def _piece_shape(data_shape: Shape, axis: int, length: int, squeeze: bool) -> Shape:
    return (*data_shape[:axis], *(() if squeeze else (length,)), *data_shape[axis + 1 :])


def infer_pieces(
    name: str, data: Spec, axis: int, bounds: Bounds, squeeze: bool
) -> tuple[Spec, ...]:
    """Return the specs of the pieces of an array between bounds along ``axis``.

    Raises:
        OperatorError: ``squeeze`` is set and a piece does not have size 1.
    """
    if squeeze and any(last - first != 1 for first, last in bounds):
        raise OperatorError(f"{name}: expected pieces of size 1 to squeeze, got {bounds}")
    return tuple(
        Spec(_piece_shape(data.shape, axis, last - first, squeeze), data.dtype)
        for first, last in bounds
    )


def fill_pieces(out: Any, data: Any, axis: int, bounds: Bounds) -> None:
    """Copy pieces of an array into the arrays of ``out``."""
    for piece, (first, last) in zip(out, bounds, strict=True):
        source = data[(*(slice(None),) * axis, slice(first, last))]
        piece.reshape(source.shape)[...] = source


def join_gradients(g: Any, data: V, axis: int, bounds: Bounds) -> Any:
    """Concatenate the gradients of the pieces, with zeros for pieces without one."""
    pieces = []
    for piece, (first, last) in zip(g, bounds, strict=True):
        if last == first:
            continue
        if piece is None:
            pieces.append(zeros_like(slice_axis(data, axis, first, last)))
        else:
            shape = _piece_shape(data.shape, axis, last - first, squeeze=False)
            pieces.append(reshape(piece, shape))
    if not pieces:
        return zeros_like(data)
    return pieces[0] if len(pieces) == 1 else concat(pieces, axis)


def _equal_bounds(name: str, extent: int, count: int) -> Bounds:
    if extent % count or count > max(extent, _MOST_EMPTY):
        raise OperatorError(f"{name}: expected an axis size divisible by {count}, got {extent}")
    length = extent // count
    return [(i * length, (i + 1) * length) for i in range(count)]


def _nearly_equal_bounds(name: str, extent: int, count: int) -> Bounds:
    """Split an axis into pieces whose sizes differ by at most 1, longer ones first."""
    if count > max(extent, _MOST_EMPTY):
        raise OperatorError(f"{name}: expected at most {extent} pieces of its axis, got {count}")
    length, longer = divmod(extent, count)
    begins = [i * length + min(i, longer) for i in range(count + 1)]
    return list(itertools.pairwise(begins))


def bounds_from(name: str, extent: int, begins: Sequence[int]) -> Bounds:
    """Split an axis at ``begins``; all pieces of an empty axis are empty.

    Raises:
        OperatorError: ``begins`` does not ascend from 0, or exceeds the axis.
    """
    if not extent:
        return [(0, 0)] * len(begins)
    bounds = list(zip(begins, (*begins[1:], extent), strict=False))
    if not begins or begins[0] or any(not 0 <= a <= b <= extent for a, b in bounds):
        raise OperatorError(
            f"{name}: expected indices that begin at 0, ascend, and are at most {extent}, got "
            f"{tuple(begins)}"
        )
    return bounds


def _channel_bounds(shape: Shape, num_outputs: int, axis: int) -> tuple[int, Bounds]:
    axis = normalize_axis("SliceChannel", axis, len(shape))
    return axis, _equal_bounds("SliceChannel", shape[axis], num_outputs)


def _channel_infer(
    data: Spec, *, num_outputs: int, axis: int, squeeze_axis: bool
) -> tuple[Spec, ...]:
    axis, bounds = _channel_bounds(data.shape, num_outputs, axis)
    return infer_pieces("SliceChannel", data, axis, bounds, squeeze_axis)


def _channel_kernel(
    xp: ModuleType, out: Any, data: Any, *, num_outputs: int, axis: int, squeeze_axis: bool
) -> None:
    fill_pieces(out, data, *_channel_bounds(data.shape, num_outputs, axis))


def _channel_gradient(
    g: Any, data: V, *, num_outputs: int, axis: int, squeeze_axis: bool
) -> tuple[Any]:
    return (join_gradients(g, data, *_channel_bounds(data.shape, num_outputs, axis)),)


def _channel_count(attrs: Attrs) -> int:
    count: int = attrs["num_outputs"]
    return count


def _channel_shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    """Infer the shapes of the pieces from data, and of data from the pieces."""
    count, squeeze = attrs["num_outputs"], attrs["squeeze_axis"]
    piece: Shape | None = None
    for known in outputs:
        piece = merge_shapes(piece, known, "SliceChannel")
    rank = len(inputs[0]) if inputs[0] is not None else None
    if rank is None and piece is not None:
        rank = len(piece) + squeeze
    if rank is None:
        return
    axis = attrs["axis"] + rank * (attrs["axis"] < 0)
    if not 0 <= axis < rank:
        return
    if piece is not None and len(piece) + squeeze == rank:
        extent = 1 if squeeze else piece[axis]
        total = extent * count if extent != UNKNOWN else UNKNOWN
        merge_shape(inputs, 0, (*piece[:axis], total, *piece[axis + (not squeeze) :]))
    data = inputs[0]
    if data is None or (data[axis] != UNKNOWN and data[axis] % count):
        return
    middle = () if squeeze else (UNKNOWN if data[axis] == UNKNOWN else data[axis] // count,)
    for i in range(len(outputs)):
        merge_shape(outputs, i, (*data[:axis], *middle, *data[axis + 1 :]))


SLICE_CHANNEL = register(
    Operator(
        "SliceChannel",
        _channel_infer,
        _channel_kernel,
        _channel_gradient,
        doc=(
            "Split data into num_outputs equal pieces along axis.\n\n"
            "squeeze_axis removes the axis; the pieces must then have size 1 along it.\n\n"
            "Shapes: data (..., n, ...) with n along axis, outputs (..., n / num_outputs, ...),\n"
            "or (...) with squeeze_axis."
        ),
        schema=Schema(num_outputs=integer(low=1), axis=integer(1), squeeze_axis=boolean(False)),
        aliases=("split",),
        outputs=_channel_count,
        shapes=ShapeFacts(rule=_channel_shapes),
        output_names=("output",),
        execution=Execution(copies_only=True),
    )
)


def _v2_bounds(shape: Shape, indices: Shape, axis: int, sections: int) -> tuple[int, Bounds]:
    axis = normalize_axis("_split_v2", axis, len(shape))
    if sections > 0:
        return axis, _nearly_equal_bounds("_split_v2", shape[axis], sections)
    return axis, bounds_from("_split_v2", shape[axis], indices)


def _v2_infer(
    data: Spec, *, indices: Shape, axis: int, squeeze_axis: bool, sections: int
) -> tuple[Spec, ...]:
    axis, bounds = _v2_bounds(data.shape, indices, axis, sections)
    return infer_pieces("_split_v2", data, axis, bounds, squeeze_axis)


def _v2_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    *,
    indices: Shape,
    axis: int,
    squeeze_axis: bool,
    sections: int,
) -> None:
    fill_pieces(out, data, *_v2_bounds(data.shape, indices, axis, sections))


def _v2_gradient(
    g: Any, data: V, *, indices: Shape, axis: int, squeeze_axis: bool, sections: int
) -> tuple[Any]:
    return (join_gradients(g, data, *_v2_bounds(data.shape, indices, axis, sections)),)


def _v2_count(attrs: Attrs) -> int:
    return attrs["sections"] if attrs["sections"] > 0 else len(attrs["indices"])


SPLIT_V2 = register(
    Operator(
        "_split_v2",
        _v2_infer,
        _v2_kernel,
        _v2_gradient,
        doc=(
            "Split data along axis into sections pieces, or at the positions in indices.\n\n"
            "If sections does not divide the axis, the first pieces are longer by 1. indices\n"
            "holds the start of each piece, beginning with 0; the last piece ends with the\n"
            "axis. squeeze_axis removes the axis of pieces of size 1.\n\n"
            "Shapes: data (..., n, ...) with n along axis, outputs (..., n_i, ...) whose n_i\n"
            "sum to n."
        ),
        schema=Schema(
            indices=shape(), axis=integer(1), squeeze_axis=boolean(False), sections=integer(0)
        ),
        aliases=("_npi_split",),
        outputs=_v2_count,
        output_names=("output",),
        execution=Execution(copies_only=True),
    )
)
