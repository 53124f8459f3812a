"""Values that are strided views of other values, without a copy.

If all readers of a transposed array or a slice accept its strides, they read the memory of its
source. If a kernel that writes strided memory is read only by a transpose, or by a concatenation of
its outputs, it writes to the memory of the transposed or joined array. Kernels say which strides
they accept (`gluonish.ops.kernel.FastKernel`).

Memory layouts of the values of a planned graph; see `gluonish.ops.support.memory_layout`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES
from gluonish.core.spec import Shape, Spec
from gluonish.graph.instructions import KernelInstruction
from gluonish.graph.ir import Node, Value
from gluonish.ops.kernel import StridesRule
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.memory_layout import (
    follows_layout,
    has_channels,
    may_have_layout,
    moves_channels,
    reads_no_layout,
    starts_layout,
)


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

    def of(self, xp: Any, memory: Any, dtype: np.dtype[Any]) -> Any:
        """Return the view as an array on the root's bytes."""
        strides = tuple(stride * dtype.itemsize for stride in self.strides)
        if isinstance(memory, np.ndarray):
            return np.ndarray(self.shape, dtype, memory, self.offset * dtype.itemsize, strides)
        rest = memory[self.offset * dtype.itemsize :].view(dtype)
        return xp.lib.stride_tricks.as_strided(rest, self.shape, strides)


def strided_views(
    instructions: Sequence[KernelInstruction], roots: Mapping[int, Spec], free: Collection[int]
) -> tuple[dict[int, StridedView], set[int]]:
    """Return views by index, and the positions of the instructions that they replace.

    Args:
        instructions: Instructions in execution order.
        roots: Specs of contiguous values in planned memory, by index.
        free: Indices of values that may have any memory and strides.
    """
    if not any(_takes_strides(instruction) for instruction in instructions):
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
    targets = _Targets(instructions, roots, free, readers)
    for i, instruction in enumerate(instructions):
        if i in idle or instruction.fast is None or instruction.fast.writes_strides is None:
            continue
        made, replaced = targets.of(instruction)
        if made and idle.isdisjoint(replaced):
            views.update(made)
            idle |= replaced
    return views, idle


def _takes_strides(instruction: KernelInstruction) -> bool:
    fast = instruction.fast
    return fast is not None and (fast.reads_strides or fast.writes_strides) is not None


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
                accepts = _reads_strides(instructions[reader])
                if accepts is None or not accepts(
                    position, found[index].shape, found[index].strides
                ):
                    return {i}
    return set()


def _reads_strides(instruction: KernelInstruction) -> StridesRule | None:
    return None if instruction.fast is None else instruction.fast.reads_strides


class _Targets:
    """Finds the memory that kernels can write their outputs to, in place of a copy of them."""

    def __init__(
        self,
        instructions: Sequence[KernelInstruction],
        roots: Mapping[int, Spec],
        free: Collection[int],
        readers: Mapping[int, Sequence[tuple[int, int]]],
    ) -> None:
        self._instructions = instructions
        self._roots = roots
        self._free = free
        self._readers = readers

    def of(self, instruction: KernelInstruction) -> tuple[dict[int, StridedView], set[int]]:
        """Return views for outputs of an instruction, and the positions that they replace."""
        assert instruction.fast is not None
        accepts = instruction.fast.writes_strides
        assert accepts is not None
        views: dict[int, StridedView] = {}
        replaced: set[int] = set()
        joined: dict[int, list[tuple[int, int, list[int]]]] = {}
        for k, index in enumerate(instruction.writes):
            chain, end = self._chain(index)
            reader = self._only_reader(end)
            if reader is not None and self._instructions[reader[0]].op.name == "Concat":
                joined.setdefault(reader[0], []).append((reader[1], k, [*chain]))
            view = self._through(chain, index)
            if view is not None and accepts(k, view.shape, view.strides):
                views[index] = view
                replaced.update(chain)
        for at, parts in joined.items():
            made = self._in_concatenation(instruction, at, parts)
            found = [(k, made[instruction.writes[k]]) for _, k, _ in parts] if made else []
            if found and all(accepts(k, view.shape, view.strides) for k, view in found):
                views |= made
                replaced |= {at}.union(*(chain for _, _, chain in parts))
        return views, replaced

    def _only_reader(self, index: int) -> tuple[int, int] | None:
        """Return position and operand of the only reader of a value that may have any memory."""
        read = self._readers.get(index, ())
        return read[0] if len(read) == 1 and index in self._free else None

    def _chain(self, index: int) -> tuple[list[int], int]:
        """Return the views that follow a value one by one, by position, and the last result."""
        chain: list[int] = []
        while (reader := self._only_reader(index)) is not None:
            instruction = self._instructions[reader[0]]
            moves = instruction.op.name in ("transpose", "SwapAxis")
            if reader[1] or not (moves or (instruction.op.identity and instruction.single)):
                break
            if instruction.writes[0] not in self._roots:
                break
            chain.append(reader[0])
            index = instruction.writes[0]
        return chain, index

    def _through(self, chain: list[int], index: int) -> StridedView | None:
        """Return a value as a view of the last transpose of its chain; shortens the chain."""
        while chain and self._instructions[chain[-1]].op.identity:
            chain.pop()
        if not chain:
            return None
        root = self._instructions[chain[-1]].writes[0]
        shape = self._roots[root].shape
        return self._before(chain, StridedView(root, shape, _contiguous(shape)), index)

    def _before(self, chain: Sequence[int], view: StridedView, index: int) -> StridedView | None:
        """Return the value at the begin of a chain, whose last result is a view."""
        for position in reversed(chain):
            instruction = self._instructions[position]
            if instruction.op.identity:
                made = _reshaped(view, instruction.node.inputs[0].shape)
                if made is None:
                    return None
                view = made
                continue
            axes = _moved_axes(instruction, len(view.shape))
            back = [axes.index(axis) for axis in range(len(axes))]
            shape, strides = (tuple(of[i] for i in back) for of in (view.shape, view.strides))
            view = view._replace(shape=shape, strides=strides)
        return view

    def _in_concatenation(
        self,
        instruction: KernelInstruction,
        at: int,
        parts: Sequence[tuple[int, int, list[int]]],
    ) -> dict[int, StridedView]:
        """Return outputs as parts of the concatenation at a position, if they are all of it."""
        concatenation = self._instructions[at]
        root = concatenation.writes[0]
        if len(parts) != len(concatenation.reads) or root not in self._roots:
            return {}
        shape = self._roots[root].shape
        strides = _contiguous(shape)
        axis = concatenation.node.attrs["dim"] % len(shape)
        views: dict[int, StridedView] = {}
        start = 0
        for (_, k, chain), value in zip(sorted(parts), concatenation.node.inputs, strict=True):
            part = StridedView(root, value.shape, strides, start * strides[axis])
            start += value.shape[axis]
            view = self._before(chain, part, instruction.writes[k])
            if view is None:
                return {}
            views[instruction.writes[k]] = view
        return views


def _contiguous(shape: Shape) -> Shape:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)
    return tuple(reversed(strides[: len(shape)]))


def _moved_axes(instruction: KernelInstruction, rank: int) -> list[int]:
    """Return the axes that a transpose or SwapAxis reads in order, none negative."""
    attrs = instruction.node.attrs
    if instruction.op.name == "transpose":
        axes = attrs["axes"]
        return [axis % rank for axis in axes] if axes else list(reversed(range(rank)))
    axes = list(range(rank))
    first, second = attrs["dim1"] % rank, attrs["dim2"] % rank
    axes[first], axes[second] = second, first
    return axes


def _viewed(instruction: KernelInstruction, view: StridedView) -> list[StridedView] | None:
    """Return views for the outputs of an instruction that reads a view; None if it must copy."""
    name = instruction.op.name
    if name in ("transpose", "SwapAxis"):
        axes = _moved_axes(instruction, len(view.shape))
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


Starts = Callable[[Operator, Attrs, Sequence[Spec], Any], bool]
Positions = Callable[[Operator, Attrs], Sequence[int]]


def channels_last_values(
    nodes: Sequence[Node],
    external: Collection[Key] = (),
    xp: Any = None,
    *,
    starts: Starts = starts_layout,
    positions: Positions = reads_no_layout,
) -> frozenset[Key]:
    """Return the keys of the values to lay out channels last.

    Args:
        nodes: Operators in order, with specs.
        external: Keys of external values in this layout. Only these are returned if
            ``MXNET_DISABLED_GRAPH_PASSES`` contains ``channels_last``.
        xp: The device's array module.
        starts: Returns whether outputs of an operator, given its attributes, the specs of its
            inputs and ``xp``, are laid out channels last for any layout of the inputs.
        positions: Returns the positions of the inputs that such an operator reads in this layout;
            those computed by operators that write any layout are laid out so.
    """
    found = set(external)
    if "channels_last" in MXNET_DISABLED_GRAPH_PASSES.value:
        return frozenset(found)
    anchors = {
        id(node): node
        for node in nodes
        if node.op is not None and starts(node.op, node.attrs, [x.spec for x in node.inputs], xp)
    }
    read = {node.inputs[i].key for node in anchors.values() for i in _positions(node, positions)}
    free = _free_transpositions(nodes, anchors)
    for node in nodes:
        op = node.op
        if op is None:
            continue
        anchored = id(node) in anchors
        follows = not anchored and follows_layout(op)
        for i, spec in enumerate(node.specs):
            if has_channels(spec) and (
                anchored
                or (id(node) in free and node.inputs[0].key not in found)
                or ((id(node), i) in read and may_have_layout(op))
                or (follows and _follows(spec, node.inputs, found))
            ):
                found.add((id(node), i))
    return frozenset(found)


def _free_transpositions(nodes: Sequence[Node], anchors: Collection[int]) -> set[int]:
    """Return transpositions that move channels first for nodes that take them last in memory.

    Laid out channels last, their outputs have the bytes of their inputs.

    Args:
        nodes: Operators in order.
        anchors: Identities of the nodes whose outputs are channels last for any inputs.
    """
    moves = {
        id(node): move
        for node in nodes
        if node.op is not None
        and (move := moves_channels(node.op, node.attrs, len(node.specs[0].shape)))
    }
    read_last, read_first = set(), set()
    for node in nodes if moves else ():
        gains = id(node) in anchors or moves.get(id(node)) == "last"
        takes = node.op is not None and follows_layout(node.op)
        for i, value in enumerate(node.inputs):
            if moves.get(id(value.node)) != "first":
                continue
            if gains and not i:
                read_last.add(id(value.node))
            elif gains or not takes:
                read_first.add(id(value.node))
    return read_last - read_first


def _positions(node: Node, positions: Positions) -> Sequence[int]:
    assert node.op is not None
    return positions(node.op, node.attrs)


def _follows(spec: Spec, inputs: Sequence[Value], found: Collection[Key]) -> bool:
    rank = len(spec.shape)
    return any(value.key in found and len(value.shape) == rank for value in inputs)
