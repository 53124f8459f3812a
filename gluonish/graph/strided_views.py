"""Values that are views of others in memory, with strides: nothing is copied for them.

Where all that reads a transposed array, or a slice, takes any strides, it reads the source's memory
in another order. Where a product of stacked matrices is only transposed, it is written into the
transposed array's memory in that order. The products are oneDNN's, which want one of the two
axes of a matrix without gaps.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.spec import Shape, Spec
from gluonish.graph.instructions import KernelInstruction

_PRODUCT = "batch_dot"
_KERNEL = "onednn.batch_matmul"


class StridedView(NamedTuple):
    """An array on the memory of another value.

    Attributes:
        root: Place of the value that has the memory.
        shape: The view's.
        strides: For each axis, how many elements of the root lie between two neighbours.
        offset: Elements of the root before the first one.
    """

    root: int
    shape: Shape
    strides: Shape
    offset: int = 0

    def of(self, memory: Any, dtype: np.dtype[Any]) -> Any:
        """Return the array.

        Args:
            memory: The root's bytes.
            dtype: The root's.
        """
        strides = tuple(stride * dtype.itemsize for stride in self.strides)
        return np.ndarray(self.shape, dtype, memory, self.offset * dtype.itemsize, strides)


def strided_views(
    steps: Sequence[KernelInstruction], roots: Mapping[int, Spec], free: Collection[int]
) -> tuple[dict[int, StridedView], set[int]]:
    """Return views by their places, and the positions of the steps that need not run then.

    Args:
        steps: In order.
        roots: Places of contiguous values with memory of the plan's.
        free: Places of values that may lie anywhere, in any order.
    """
    if not any(_is_product(step) for step in steps):
        return {}, set()
    readers: dict[int, list[tuple[int, int]]] = {}
    for i, step in enumerate(steps):
        for position, place in enumerate(step.reads):
            readers.setdefault(place, []).append((i, position))
    barred: set[int] = set()
    while True:
        found, makers = _candidates(steps, roots, free, barred)
        worse = _unread(steps, readers, found, makers)
        if not worse:
            break
        barred |= worse
    views, idle = dict(found), set(makers)
    for i, step in enumerate(steps):
        view = _written(step, roots, free, readers, steps) if i not in idle else None
        turn = readers[step.writes[0]][0][0] if view is not None else i
        if view is not None and turn not in idle:
            views[step.writes[0]] = view
            idle.add(turn)
    return views, idle


def _is_product(step: KernelInstruction) -> bool:
    return step.op.name == _PRODUCT and step.fast is not None and step.fast.name == _KERNEL


def _candidates(
    steps: Sequence[KernelInstruction],
    roots: Mapping[int, Spec],
    free: Collection[int],
    barred: Collection[int],
) -> tuple[dict[int, StridedView], set[int]]:
    """Return all values that can be views, and the positions of the steps that make them."""
    found: dict[int, StridedView] = {}
    makers: set[int] = set()
    for i, step in enumerate(steps):
        if i in barred or not all(place in free for place in step.writes):
            continue
        source = step.reads[0] if step.reads else -1
        if source in found:
            view = found[source]
        elif source in roots and not step.op.identity:
            shape = roots[source].shape
            view = StridedView(source, shape, _contiguous(shape))
        else:
            continue
        made = _moved(step, view)
        if made:
            makers.add(i)
            found.update(zip(step.writes, made, strict=True))
    return found, makers


def _unread(
    steps: Sequence[KernelInstruction],
    readers: Mapping[int, Sequence[tuple[int, int]]],
    found: Mapping[int, StridedView],
    makers: Collection[int],
) -> set[int]:
    """Return the first step that makes views which somebody cannot read, in a set."""
    for i in sorted(makers):
        for place in steps[i].writes:
            for reader, position in readers.get(place, ()):
                if reader in makers and position == 0:
                    continue
                if not (_is_product(steps[reader]) and _has_unit_axis(found[place])):
                    return {i}
    return set()


def _has_unit_axis(view: StridedView) -> bool:
    return 1 in view.strides[-2:]


def _written(
    step: KernelInstruction,
    roots: Mapping[int, Spec],
    free: Collection[int],
    readers: Mapping[int, Sequence[tuple[int, int]]],
    steps: Sequence[KernelInstruction],
) -> StridedView | None:
    """Return a product as a view of what it is transposed to, where that alone reads it."""
    if not _is_product(step) or step.writes[0] not in free:
        return None
    read = readers.get(step.writes[0], ())
    if len(read) != 1 or steps[read[0][0]].op.name != "transpose":
        return None
    turn = steps[read[0][0]]
    root = turn.writes[0]
    if root not in roots:
        return None
    shape = turn.node.specs[0].shape
    axes = _axes(turn, len(shape))
    strides = _contiguous(shape)
    back = [axes.index(axis) for axis in range(len(axes))]
    view = StridedView(root, tuple(shape[i] for i in back), tuple(strides[i] for i in back))
    return view if view.strides[-1] == 1 else None


def _contiguous(shape: Shape) -> Shape:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)
    return tuple(reversed(strides[: len(shape)]))


def _axes(step: KernelInstruction, rank: int) -> list[int]:
    """Return the axes of a transpose, none negative."""
    axes = step.node.attrs["axes"]
    return [axis % rank for axis in axes] if axes else list(reversed(range(rank)))


def _moved(step: KernelInstruction, view: StridedView) -> list[StridedView] | None:
    """Return what a step makes of a view, for each output; None if that takes a copy."""
    name, attrs, rank = step.op.name, step.node.attrs, len(view.shape)
    if name == "transpose":
        axes = _axes(step, rank)
    elif name == "SwapAxis":
        axes = list(range(rank))
        one, other = attrs["dim1"] % rank, attrs["dim2"] % rank
        axes[one], axes[other] = other, one
    elif name == "SliceChannel":
        return _pieces(step, view)
    elif name == "slice_axis":
        return [_range(step, view)]
    elif step.op.identity and step.single:
        made = _reshaped(view, step.node.specs[0].shape)
        return None if made is None else [made]
    else:
        return None
    shape, strides = (tuple(of[axis] for axis in axes) for of in (view.shape, view.strides))
    return [view._replace(shape=shape, strides=strides)]


def _pieces(step: KernelInstruction, view: StridedView) -> list[StridedView]:
    axis = step.node.attrs["axis"] % len(view.shape)
    count = len(step.writes)
    extent = view.shape[axis] // count
    made = []
    for i in range(count):
        shape, strides = list(view.shape), list(view.strides)
        shape[axis] = extent
        if step.node.attrs["squeeze_axis"]:
            del shape[axis], strides[axis]
        offset = view.offset + i * extent * view.strides[axis]
        made.append(StridedView(view.root, tuple(shape), tuple(strides), offset))
    return made


def _range(step: KernelInstruction, view: StridedView) -> StridedView:
    axis, begin = step.node.attrs["axis"] % len(view.shape), step.node.attrs["begin"]
    begin += view.shape[axis] if begin < 0 else 0
    offset = view.offset + begin * view.strides[axis]
    return view._replace(shape=step.node.specs[0].shape, offset=offset)


def _reshaped(view: StridedView, shape: Shape) -> StridedView | None:
    """Return a view with its elements in another shape; None where it has no strides for that."""
    if 0 in shape:
        return None
    left = [(n, stride) for n, stride in zip(view.shape, view.strides, strict=True) if n > 1]
    joined: list[tuple[int, int]] = []
    for extent, stride in left:
        if joined and joined[-1][1] == extent * stride:
            joined[-1] = (joined[-1][0] * extent, stride)
        else:
            joined.append((extent, stride))
    strides: list[int] = []
    rest, step = joined.pop() if joined else (1, 1)
    for extent in reversed(shape):
        if extent > 1 and rest == 1:
            if not joined:
                return None
            rest, step = joined.pop()
        if rest % extent:
            return None
        strides.append(step)
        rest, step = rest // extent, step * extent
    return view._replace(shape=shape, strides=tuple(reversed(strides)))
