"""Steps that many translators take: reductions, shapes, slices, in the spelling of each opset."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import INT64
from gluonish.onnx.exporting.package import CannotExportError
from gluonish.onnx.exporting.tensors import Extent, OpenExtent, Tensor

__all__ = [
    "arange",
    "axis_of",
    "broadcast",
    "clip",
    "concat",
    "extents",
    "filled",
    "gather",
    "pad",
    "reduced",
    "reshaped",
    "select",
    "sliced",
    "softmax",
    "split",
    "squeezed",
    "to_shape",
    "transposed",
    "unsqueezed",
]

_LAST = np.iinfo(np.int64).max


def axis_of(axis: int, rank: int) -> int:
    """Return an axis counted from the front."""
    return axis + rank if axis < 0 else axis


def reduced(
    kind: str, x: Tensor, axes: Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """Return a reduction, such as ReduceMean, over some axes or all."""
    emitter = x.emitter
    if axes is not None and not len(axes):
        return x if kind != "ReduceSumSquare" else x * x
    given = None if axes is None else [int(axis) for axis in axes]
    if kind == "ReduceSum" or emitter.opset >= 18:
        return emitter(kind, x, given, keepdims=int(keepdims))
    return emitter(kind, x, axes=given, keepdims=int(keepdims))


def reshaped(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Return a reshape; 0 takes over an extent and -1 is found."""
    made = x.emitter("Reshape", x, [int(extent) for extent in shape])
    if all(extent > 0 for extent in shape):
        made.shape = tuple(shape)
    return made


def to_shape(x: Tensor, before: Sequence[Extent], after: Sequence[Extent]) -> Tensor:
    """Return a reshape from one known shape to another, of which extents may be dynamic."""
    if not after:
        return x.emitter("Reshape", x, x.emitter.constant(np.zeros(0, np.int64)))
    sizes: list[int] = []
    for i, extent in enumerate(after):
        if not isinstance(extent, OpenExtent):
            sizes.append(extent)
        elif i < len(before) and before[i] == extent:
            sizes.append(0)
        else:
            sizes.append(-1)
    if sizes.count(-1) > 1:
        raise CannotExportError(
            f"a reshape of {tuple(before)} to {tuple(after)} with several dynamic axes that it "
            "moves; give these axes sizes"
        )
    fixed = [extent for extent in after if not isinstance(extent, OpenExtent)]
    if 0 in fixed:  # no elements at all: 0 would mean that the extent is taken over
        if x.emitter.opset < 14 or len(fixed) < len(after):
            raise CannotExportError("a reshape of an array without elements before opset 14")
        return x.emitter("Reshape", x, x.emitter.constant(fixed, INT64), allowzero=1)
    made = reshaped(x, sizes)
    made.shape = tuple(after)
    return made


def extents(x: Tensor) -> Tensor:
    """Return the shape of a tensor: a constant where it is known."""
    if x.shape is not None and not any(isinstance(extent, OpenExtent) for extent in x.shape):
        return x.emitter.constant(np.array(x.shape, np.int64))
    return x.emitter("Shape", x)


def extent_of(x: Tensor, axis: int) -> Tensor:
    """Return one extent, of shape (1,)."""
    return sliced(extents(x), [axis], [axis + 1], [0])


def transposed(x: Tensor, axes: Sequence[int]) -> Tensor:
    """Return it with its axes in another order."""
    if list(axes) == list(range(len(axes))):
        return x
    made = x.emitter("Transpose", x, perm=[int(axis) for axis in axes])
    if x.shape is not None:
        made.shape = tuple(x.shape[axis] for axis in axes)
    return made


def unsqueezed(x: Tensor, *axes: int) -> Tensor:
    """Return it with new axes of extent 1."""
    return x.emitter("Unsqueeze", x, list(axes))


def squeezed(x: Tensor, *axes: int) -> Tensor:
    """Return it without some axes of extent 1."""
    return x.emitter("Squeeze", x, list(axes))


def sliced(
    x: Tensor,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int],
    steps: Sequence[int] | None = None,
) -> Tensor:
    """Return a slice along some axes."""
    if not axes:
        return x
    given = [list(map(int, starts)), list(map(int, ends)), list(map(int, axes))]
    return x.emitter("Slice", x, *given, *([] if steps is None else [list(map(int, steps))]))


def concat(parts: Sequence[Tensor], axis: int) -> Tensor:
    """Return tensors one behind the other."""
    if len(parts) == 1:
        return parts[0]
    return parts[0].emitter("Concat", *parts, axis=int(axis))


def split(x: Tensor, sizes: Sequence[int], axis: int) -> list[Tensor]:
    """Return parts of given sizes along an axis."""
    return x.emitter.several("Split", len(sizes), x, [int(size) for size in sizes], axis=int(axis))


def gather(x: Tensor, indices: Tensor | Any, axis: int) -> Tensor:
    """Return slices by number; negative numbers count from the end."""
    return x.emitter("Gather", x, indices, axis=int(axis))


def select(condition: Tensor, x: Any, y: Any, dtype: np.dtype[Any] | None = None) -> Tensor:
    """Return x where the condition holds, else y; numbers become constants of the other's type."""
    emitter = condition.emitter
    found = dtype or next(v.dtype for v in (x, y) if isinstance(v, Tensor))
    x, y = (v if isinstance(v, Tensor) else emitter.constant(v, found) for v in (x, y))
    return emitter("Where", condition, x, y)


def clip(x: Tensor, low: float | None, high: float | None) -> Tensor:
    """Return it within bounds."""
    limits = [None if v is None else x.emitter.constant(v, x.dtype) for v in (low, high)]
    return x.emitter("Clip", x, *limits)


def filled(
    shape: Tensor | Sequence[int], value: float, dtype: np.dtype[Any], near: Tensor
) -> Tensor:
    """Return a tensor of one value; ``near`` says where its nodes go."""
    return near.emitter("Expand", near.emitter.constant(value, dtype), shape)


def broadcast(x: Tensor, shape: Tensor | Sequence[int]) -> Tensor:
    """Return it broadcast with a shape."""
    return x.emitter("Expand", x, shape if isinstance(shape, Tensor) else list(shape))


def pad(
    x: Tensor, before: Sequence[int], after: Sequence[int], value: float = 0, mode: str = "constant"
) -> Tensor:
    """Return it with a border around all axes."""
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
    """Return the one element of a tensor, of shape ()."""
    if x.shape == ():
        return x
    return x.emitter("Reshape", x, x.emitter.constant(np.zeros(0, np.int64)))
