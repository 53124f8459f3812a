"""Values that are strided views of other values, without a copy.

If all readers of a transposed array or a slice accept any strides, they read the memory of its
source. If a product of stacked matrices is only transposed, it is written to the memory of the
transposed array. The products are oneDNN's and cuBLAS's, which need a stride of 1 in one axis of
each matrix; cuBLAS needs evenly spaced matrices, too.

Memory layouts of the values of a planned graph; see `gluonish.ops.support.memory_layout`.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES
from gluonish.core.spec import Shape, Spec
from gluonish.graph.instructions import KernelInstruction
from gluonish.graph.ir import Node, Value
from gluonish.ops.support.memory_layout import follows_layout, has_channels, starts_layout

_PRODUCT = "batch_dot"
_KERNELS = ("onednn.batch_matmul", "cupy.batch_dot")
_EVENLY = "cupy.batch_dot"  # its matrices are evenly spaced


class StridedView(NamedTuple):
    """A strided view on the memory of another value.

    Attributes:
        root: Index of the value that owns the memory.
        shape: Shape of the view.
        strides: Strides in elements of the root.
        offset: Number of elements of the root before the first element of the view.
    """

    root: int
    shape: Shape
    strides: Shape
    offset: int = 0

    def of(self, memory: Any, dtype: np.dtype[Any], xp: Any = np) -> Any:
        """Return the view as an array of the module ``xp`` on the root's bytes."""
        strides = tuple(stride * dtype.itemsize for stride in self.strides)
        first = memory[self.offset * dtype.itemsize :].view(dtype)
        return xp.lib.stride_tricks.as_strided(first, self.shape, strides)


def strided_views(
    instructions: Sequence[KernelInstruction], roots: Mapping[int, Spec], free: Collection[int]
) -> tuple[dict[int, StridedView], set[int]]:
    """Return views by index, and the positions of the instructions that they replace.

    Args:
        instructions: Instructions in execution order.
        roots: Specs of contiguous values in planned memory, by index.
        free: Indices of values that may have any memory and strides.
    """
    if not any(_is_product(instruction) for instruction in instructions):
        return {}, set()
    readers: dict[int, list[tuple[int, int]]] = {}
    for i, instruction in enumerate(instructions):
        for position, index in enumerate(instruction.reads):
            readers.setdefault(index, []).append((i, position))
    excluded: set[int] = set()
    while True:
        found, makers = _candidates(instructions, roots, free, excluded)
        worse = _unreadable(instructions, readers, found, makers)
        if not worse:
            break
        excluded |= worse
    views, idle = dict(found), set(makers)
    for i, instruction in enumerate(instructions):
        view = _written(instruction, roots, free, readers, instructions) if i not in idle else None
        transpose = readers[instruction.writes[0]][0][0] if view is not None else i
        if view is not None and transpose not in idle:
            views[instruction.writes[0]] = view
            idle.add(transpose)
    return views, idle


def _is_product(instruction: KernelInstruction) -> bool:
    return (
        instruction.op.name == _PRODUCT
        and instruction.fast is not None
        and instruction.fast.name in _KERNELS
    )


def _candidates(
    instructions: Sequence[KernelInstruction],
    roots: Mapping[int, Spec],
    free: Collection[int],
    excluded: Collection[int],
) -> tuple[dict[int, StridedView], set[int]]:
    """Return the values that can be views, and the positions of instructions that make them."""
    found: dict[int, StridedView] = {}
    makers: set[int] = set()
    for i, instruction in enumerate(instructions):
        if i in excluded or not all(index in free for index in instruction.writes):
            continue
        source = instruction.reads[0] if instruction.reads else -1
        if source in found:
            view = found[source]
        elif source in roots and not instruction.op.identity:
            shape = roots[source].shape
            view = StridedView(source, shape, _contiguous(shape))
        else:
            continue
        made = _viewed(instruction, view)
        if made:
            makers.add(i)
            found.update(zip(instruction.writes, made, strict=True))
    return found, makers


def _unreadable(
    instructions: Sequence[KernelInstruction],
    readers: Mapping[int, Sequence[tuple[int, int]]],
    found: Mapping[int, StridedView],
    makers: Collection[int],
) -> set[int]:
    """Return the position of the first instruction whose view a reader cannot read, as a set."""
    for i in sorted(makers):
        for index in instructions[i].writes:
            for reader, position in readers.get(index, ()):
                if reader in makers and position == 0:
                    continue
                if not (
                    _is_product(instructions[reader]) and _fits(found[index], instructions[reader])
                ):
                    return {i}
    return set()


def _fits(view: StridedView, product: KernelInstruction) -> bool:
    """Whether a product can read or write a view where it lies."""
    assert product.fast is not None
    return 1 in view.strides[-2:] and (product.fast.name != _EVENLY or _is_even(view))


def _is_even(view: StridedView) -> bool:
    """Whether matrices are equally spaced, and the rows (or columns) of one do not overlap."""
    lead = [
        (n, stride) for n, stride in zip(view.shape[:-2], view.strides[:-2], strict=True) if n > 1
    ]
    even = all(outer == inner * n for (_, outer), (n, inner) in pairwise(lead))
    (rows, columns), (down, across) = view.shape[-2:], view.strides[-2:]
    return even and ((across == 1 and down >= columns) or (down == 1 and across >= rows))


def _written(
    instruction: KernelInstruction,
    roots: Mapping[int, Spec],
    free: Collection[int],
    readers: Mapping[int, Sequence[tuple[int, int]]],
    instructions: Sequence[KernelInstruction],
) -> StridedView | None:
    """Return a product as a view on its transpose, if the transpose is its only reader."""
    if not _is_product(instruction) or instruction.writes[0] not in free:
        return None
    read = readers.get(instruction.writes[0], ())
    if len(read) != 1 or instructions[read[0][0]].op.name != "transpose":
        return None
    transpose = instructions[read[0][0]]
    root = transpose.writes[0]
    if root not in roots:
        return None
    shape = transpose.node.specs[0].shape
    axes = _axes(transpose, len(shape))
    strides = _contiguous(shape)
    back = [axes.index(axis) for axis in range(len(axes))]
    view = StridedView(root, tuple(shape[i] for i in back), tuple(strides[i] for i in back))
    return view if view.strides[-1] == 1 and _fits(view, instruction) else None


def _contiguous(shape: Shape) -> Shape:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)
    return tuple(reversed(strides[: len(shape)]))


def _axes(instruction: KernelInstruction, rank: int) -> list[int]:
    """Return the axes of a transpose, none negative."""
    axes = instruction.node.attrs["axes"]
    return [axis % rank for axis in axes] if axes else list(reversed(range(rank)))


def _viewed(instruction: KernelInstruction, view: StridedView) -> list[StridedView] | None:
    """Return views for the outputs of an instruction that reads a view; None if it must copy."""
    name, attrs, rank = instruction.op.name, instruction.node.attrs, len(view.shape)
    if name == "transpose":
        axes = _axes(instruction, rank)
    elif name == "SwapAxis":
        axes = list(range(rank))
        first, second = attrs["dim1"] % rank, attrs["dim2"] % rank
        axes[first], axes[second] = second, first
    elif name == "SliceChannel":
        return _chunks(instruction, view)
    elif name == "slice_axis":
        return [_range(instruction, view)]
    elif instruction.op.identity and instruction.single:
        made = _reshaped(view, instruction.node.specs[0].shape)
        return None if made is None else [made]
    else:
        return None
    shape, strides = (tuple(of[axis] for axis in axes) for of in (view.shape, view.strides))
    return [view._replace(shape=shape, strides=strides)]


def _chunks(instruction: KernelInstruction, view: StridedView) -> list[StridedView]:
    axis = instruction.node.attrs["axis"] % len(view.shape)
    count = len(instruction.writes)
    extent = view.shape[axis] // count
    made = []
    for i in range(count):
        shape, strides = list(view.shape), list(view.strides)
        shape[axis] = extent
        if instruction.node.attrs["squeeze_axis"]:
            del shape[axis], strides[axis]
        offset = view.offset + i * extent * view.strides[axis]
        made.append(StridedView(view.root, tuple(shape), tuple(strides), offset))
    return made


def _range(instruction: KernelInstruction, view: StridedView) -> StridedView:
    axis, begin = instruction.node.attrs["axis"] % len(view.shape), instruction.node.attrs["begin"]
    begin += view.shape[axis] if begin < 0 else 0
    offset = view.offset + begin * view.strides[axis]
    return view._replace(shape=instruction.node.specs[0].shape, offset=offset)


def _reshaped(view: StridedView, shape: Shape) -> StridedView | None:
    """Return a view in another shape; None if no strides describe it."""
    if 0 in shape:
        return None
    axes = [(n, stride) for n, stride in zip(view.shape, view.strides, strict=True) if n > 1]
    joined: list[tuple[int, int]] = []
    for extent, stride in axes:
        if joined and joined[-1][1] == extent * stride:
            joined[-1] = (joined[-1][0] * extent, stride)
        else:
            joined.append((extent, stride))
    strides: list[int] = []
    remaining, spacing = joined.pop() if joined else (1, 1)
    for extent in reversed(shape):
        if extent > 1 and remaining == 1:
            if not joined:
                return None
            remaining, spacing = joined.pop()
        if remaining % extent:
            return None
        strides.append(spacing)
        remaining, spacing = remaining // extent, spacing * extent
    return view._replace(shape=shape, strides=tuple(reversed(strides)))


Key = tuple[int, int]


def channels_last_values(nodes: Sequence[Node], external: Collection[Key] = ()) -> frozenset[Key]:
    """Return the keys of the values to lay out channels last.

    Args:
        nodes: Operators in order, with specs.
        external: Keys of external values in this layout. Only these are returned if
            ``MXNET_DISABLED_GRAPH_PASSES`` contains ``channels_last``.
    """
    found = set(external)
    if "channels_last" in MXNET_DISABLED_GRAPH_PASSES.value:
        return frozenset(found)
    for node in nodes:
        op = node.op
        if op is None:
            continue
        anchored = starts_layout(op, node.attrs)
        if not anchored and not follows_layout(op):
            continue
        for i, spec in enumerate(node.specs):
            if has_channels(spec) and (anchored or _follows(spec, node.inputs, found)):
                found.add((id(node), i))
    return frozenset(found)


def _follows(spec: Spec, inputs: Sequence[Value], found: Collection[Key]) -> bool:
    rank = len(spec.shape)
    return any(value.key in found and len(value.shape) == rank for value in inputs)
