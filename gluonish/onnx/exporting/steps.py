"""Helpers of translators: reductions, reshapes, slices and the like, for every opset."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import INT64
from gluonish.onnx.exporting.package import CannotExportError
from gluonish.onnx.exporting.tensors import Emitter, Extent, OpenExtent, Tensor

_LAST = np.iinfo(np.int64).max


def axis_of(axis: int, rank: int) -> int:
    """Return the non-negative index of an axis."""
    return axis + rank if axis < 0 else axis


def reduced(
    kind: str, x: Tensor, axes: Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """Append a reduction, such as ReduceMean, over some axes or all."""
    emitter = x.emitter
    if axes is not None and not len(axes):
        return x if kind != "ReduceSumSquare" else x * x
    given = None if axes is None else [int(axis) for axis in axes]
    if kind == "ReduceSum" or emitter.opset >= 18:
        return emitter(kind, x, given, keepdims=int(keepdims))
    return emitter(kind, x, axes=given, keepdims=int(keepdims))


def reshaped(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Reshape; 0 copies a size and -1 is inferred."""
    made = x.emitter("Reshape", x, [int(extent) for extent in shape])
    if all(extent > 0 for extent in shape):
        made.shape = tuple(shape)
    return made


def to_shape(x: Tensor, before: Sequence[Extent], after: Sequence[Extent]) -> Tensor:
    """Reshape from one known shape to another; sizes may be dynamic."""
    if tuple(before) == tuple(after):
        return x
    sizes: list[int] = []
    for i, extent in enumerate(after):
        if not isinstance(extent, OpenExtent):
            sizes.append(extent)
        else:
            sizes.append(0 if i < len(before) and before[i] == extent else -1)
    fixed = [extent for extent in after if not isinstance(extent, OpenExtent)]
    if sizes.count(-1) > 1:
        made = x.emitter("Reshape", x, _found_shape(x, before, after))
    elif 0 in fixed:  # no elements: without allowzero, 0 copies the extent
        if x.emitter.opset < 14 or len(fixed) < len(after):
            raise CannotExportError("it reshapes an array without elements; give opset_version=14")
        made = x.emitter("Reshape", x, x.emitter.constant(np.array(fixed, np.int64)), allowzero=1)
    else:
        made = x.emitter("Reshape", x, x.emitter.constant(np.array(sizes, np.int64)))
    made.shape = tuple(after)
    return made


def _found_shape(x: Tensor, before: Sequence[Extent], after: Sequence[Extent]) -> Tensor:
    """Return a shape tensor, with dynamic sizes read from x or from inputs; one may be inferred."""
    known = [e for e in after if not isinstance(e, OpenExtent) or e in before]
    left = [e for e in after if e not in known and e not in x.emitter.origins]
    if len(left) > 1:
        return shape_tensor(x.emitter, after)  # raises the error
    own = x.emitter("Shape", x)
    chunks = []
    for extent in after:
        if not isinstance(extent, OpenExtent):
            chunks.append(x.emitter.constant(np.array([extent], np.int64)))
        elif extent in before:
            axis = list(before).index(extent)
            chunks.append(sliced(own, [axis], [axis + 1], [0]))
        elif left:
            chunks.append(x.emitter.constant(np.array([-1], np.int64)))
        else:
            chunks.append(shape_tensor(x.emitter, [extent]))
    return concat(chunks, 0)


def shape_tensor(emitter: Emitter, shape: Sequence[Extent]) -> Tensor:
    """Return a shape as a tensor; dynamic extents come from the model's inputs.

    Raises:
        CannotExportError: No input has a dynamic axis of this size.
    """
    chunks: list[Tensor] = []
    fixed: list[int] = []
    for extent in shape:
        if not isinstance(extent, OpenExtent):
            fixed.append(extent)
            continue
        if extent not in emitter.origins:
            raise CannotExportError(
                f"it needs the shape {tuple(shape)}, with a dynamic size that no axis of an input "
                "has; export with fixed input sizes"
            )
        if fixed:
            chunks.append(emitter.constant(np.array(fixed, np.int64)))
        fixed = []
        x, axis = emitter.origins[extent]
        shape_of = emitter("Shape", Tensor(emitter, x.name, x.dtype, x.shape))
        chunks.append(emitter("Slice", shape_of, [axis], [axis + 1]))
    if fixed or not chunks:
        chunks.append(emitter.constant(np.array(fixed, np.int64)))
    return chunks[0] if len(chunks) == 1 else emitter("Concat", *chunks, axis=0)


def extents(x: Tensor) -> Tensor:
    """Return the shape of a tensor, as a constant if it is known."""
    if x.shape is not None and not any(isinstance(extent, OpenExtent) for extent in x.shape):
        return x.emitter.constant(np.array(x.shape, np.int64))
    return x.emitter("Shape", x)


def extent_of(x: Tensor, axis: int) -> Tensor:
    """Return the size of one axis, as a tensor of shape (1,)."""
    return sliced(extents(x), [axis], [axis + 1], [0])


def transposed(x: Tensor, axes: Sequence[int]) -> Tensor:
    """Permute the axes."""
    if list(axes) == list(range(len(axes))):
        return x
    made = x.emitter("Transpose", x, perm=[int(axis) for axis in axes])
    if x.shape is not None:
        made.shape = tuple(x.shape[axis] for axis in axes)
    return made


def unsqueezed(x: Tensor, *axes: int) -> Tensor:
    """Insert axes of size 1."""
    return x.emitter("Unsqueeze", x, list(axes))


def squeezed(x: Tensor, *axes: int) -> Tensor:
    """Remove axes of size 1."""
    return x.emitter("Squeeze", x, list(axes))


def sliced(
    x: Tensor,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int],
    steps: Sequence[int] | None = None,
) -> Tensor:
    """Slice along some axes."""
    if not axes:
        return x
    given = [list(map(int, starts)), list(map(int, ends)), list(map(int, axes))]
    return x.emitter("Slice", x, *given, *([] if steps is None else [list(map(int, steps))]))


def concat(chunks: Sequence[Tensor], axis: int) -> Tensor:
    """Concatenate along an axis."""
    if len(chunks) == 1:
        return chunks[0]
    return chunks[0].emitter("Concat", *chunks, axis=int(axis))


def split(x: Tensor, sizes: Sequence[int], axis: int) -> list[Tensor]:
    """Split along an axis into chunks of given sizes."""
    return x.emitter.several("Split", len(sizes), x, [int(size) for size in sizes], axis=int(axis))


def gather(x: Tensor, indices: Tensor | Any, axis: int) -> Tensor:
    """Select slices along an axis by index; negative indices count from the end."""
    return x.emitter("Gather", x, indices, axis=int(axis))


def select(condition: Tensor, x: Any, y: Any, dtype: np.dtype[Any] | None = None) -> Tensor:
    """Return x where the condition holds, else y; a number gets the dtype of the other operand."""
    emitter = condition.emitter
    found = dtype or next(v.dtype for v in (x, y) if isinstance(v, Tensor))
    x, y = (v if isinstance(v, Tensor) else emitter.constant(v, found) for v in (x, y))
    return emitter("Where", condition, x, y)


def clip(x: Tensor, low: float | None, high: float | None) -> Tensor:
    """Clip to bounds; None means unbounded."""
    limits = [None if v is None else x.emitter.constant(v, x.dtype) for v in (low, high)]
    return x.emitter("Clip", x, *limits)


def filled(emitter: Emitter, shape: Sequence[Extent], value: Any, dtype: np.dtype[Any]) -> Tensor:
    """Return a tensor filled with one value."""
    made = emitter("Expand", emitter.constant(value, dtype), shape_tensor(emitter, shape))
    made.shape = tuple(shape)
    return made


def broadcast(x: Tensor, shape: Sequence[Extent]) -> Tensor:
    """Broadcast x to a shape."""
    own = (1,) * (len(shape) - x.rank) + x.known_shape
    if own == tuple(shape):
        return to_shape(x, x.known_shape, shape)
    target = [1 if a == b else b for a, b in zip(own, shape, strict=True)]
    made = x.emitter("Expand", x, shape_tensor(x.emitter, target))
    made.shape = tuple(shape)
    return made


def flipped(x: Tensor, *axes: int) -> Tensor:
    """Reverse the order of elements along some axes."""
    count = len(axes)
    return sliced(x, [-1] * count, [-_LAST] * count, axes, [-1] * count)


def used(x: Tensor, positions: Any, axes: Sequence[int]) -> Tensor:
    """Gather elements by flat indices into some axes.

    Args:
        x: A tensor with a known shape.
        positions: Array of flat indices; the axes of this array are the last ones of the result.
        axes: The indexed axes, outermost first.
    """
    rest = [axis for axis in range(x.rank) if axis not in axes]
    moved = transposed(x, [*rest, *axes])
    extent = int(np.prod([x.size(axis) for axis in axes], dtype=np.int64))
    flat = to_shape(moved, moved.known_shape, (*(x.known_shape[axis] for axis in rest), extent))
    return gather(flat, np.asarray(positions, np.int64), len(rest))


def placed(x: Tensor, places: Any) -> Tensor:
    """Gather elements along the last axis, with 0 where the index is -1.

    Args:
        x: A tensor with a known shape.
        places: Array of indices; the axes of this array replace the last axis of x.
    """
    places = np.asarray(places, np.int64)
    last = x.rank - 1
    padded = pad(x, [0] * x.rank, [0] * last + [1])
    return gather(padded, np.where(places < 0, x.size(last), places), last)


def pad(
    x: Tensor, before: Sequence[int], after: Sequence[int], value: float = 0, mode: str = "constant"
) -> Tensor:
    """Pad all axes."""
    if not any(before) and not any(after):
        return x
    given = [x.emitter.constant(value, x.dtype)] if mode == "constant" else []
    return x.emitter("Pad", x, [*map(int, before), *map(int, after)], *given, mode=mode)


def softmax(x: Tensor, axis: int, log: bool = False) -> Tensor:
    """Return the softmax along an axis, or its logarithm."""
    return x.emitter("LogSoftmax" if log else "Softmax", x, axis=int(axis))


def arange(count: Tensor) -> Tensor:
    """Return 0 .. count - 1 as int64, for a count of shape () or (1,)."""
    emitter = count.emitter
    scalar = reshaped_to_scalar(count)
    return emitter("Range", emitter.constant(0, INT64), scalar, emitter.constant(1, INT64))


def reshaped_to_scalar(x: Tensor) -> Tensor:
    """Reshape a tensor of one element to shape ()."""
    if x.shape == ():
        return x
    return x.emitter("Reshape", x, x.emitter.constant(np.zeros(0, np.int64)))
