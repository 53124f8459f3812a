"""ValueLayout: the instructions of a planned graph, and the memory of its values.

While a call runs, its *values* are one list of raw arrays. The list begins with the *arguments* of
the call: the *externals* (inputs, and what a backward graph reads of its forward graph), then the
*outputs*. The other entries are made once for an arena and used by call after call: constants,
values at planned offsets in an *arena* or a *state*, and empty entries for *views*, which are
arguments in another shape, in the memory of the arguments.

Some externals rarely change, such as parameters at inference. A value is *constant* if it is one
of these, a constant of the graph, or is computed from constant values only. The *prologue* computes
such values once, into memory that all calls share.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from gluonish.core.config import MXNET_EXEC_ENABLE_INPLACE, NNVM_EXEC_MATCH_RANGE
from gluonish.core.device import Device, Platform
from gluonish.core.spec import Spec
from gluonish.graph.instructions import (
    Instruction,
    KernelInstruction,
    PlannedInstruction,
    ViewInstruction,
    in_memory_order,
)
from gluonish.graph.ir import Node, Value
from gluonish.graph.memory_plan import MemoryPlan, Slot, plan_memory
from gluonish.graph.memory_plan import Step as MemoryStep
from gluonish.graph.state import StateUse
from gluonish.graph.strided_views import StridedView, strided_views
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.kernel import FastKernel
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.memory_layout import moves_channels

_FUSED = ("_fused_pointwise", "_fused_pointwise_many", "_fused_pointwise_random")
Key = tuple[int, int]
Strided = dict[int, tuple[StridedView, Spec]]


@dataclass(frozen=True, slots=True)
class ValueLayout:
    """Instructions of a graph, and memory of its values; printed with one line for each.

    Attributes:
        count: Number of values.
        argument_count: Number of arguments, which are the first values.
        instructions: Instructions in order, without those in the prologue or without effect.
        prologue: Instructions that depend on constant values only, in order.
        packing: Instructions that pack constant values beforehand.
        copies: Pairs of source and target, for outputs and saved values that no instruction
            writes, because they are arguments or are delivered twice.
        mutated: Positions of the externals that an instruction overwrites.
        random_count: Number of random keys that a call uses.
        entry_count: Number of planned instructions; each has an entry in a list after the values.
        arena_nbytes: Size of the arena.
        slots: Slot of each value in the arena or the state, by index.
        specs: Specs of these values, by index.
        strided: Strided views of these values, each with the spec of the value that it views.
        constants: Constants of the graph.
        shared: Specs of the values that the prologue computes.
        channels_last: Indices of the values that are laid out channels last.
    """

    count: int
    argument_count: int
    instructions: Sequence[Instruction]
    prologue: Sequence[Instruction]
    packing: Sequence[PlannedInstruction]
    copies: Sequence[tuple[int, int]]
    mutated: Sequence[int]
    random_count: int
    entry_count: int
    arena_nbytes: int
    slots: Mapping[int, Slot]
    specs: Mapping[int, Spec]
    strided: Strided
    constants: Mapping[int, NDArray]
    shared: Mapping[int, Spec]
    channels_last: Collection[int]

    def __str__(self) -> str:
        lines = [f"{self.argument_count} arguments, arena of {self.arena_nbytes} bytes"]
        lines += [f"prologue {self._text(instruction)}" for instruction in self.prologue]
        lines += [self._text(instruction) for instruction in self.instructions]
        lines += [f"%{target} = copy %{source}" for source, target in self.copies]
        return "\n".join(lines)

    def _text(self, instruction: Instruction) -> str:
        writes = ", ".join(f"%{i}{self._memory(i)}" for i in instruction.writes)
        reads = ", ".join(f"%{i}" for i in instruction.reads)
        verb = "view" if isinstance(instruction, ViewInstruction) else instruction.op.name
        return f"{writes} = {verb}({reads})"

    def _memory(self, index: int) -> str:
        suffix = ""
        if index in self.strided:
            index, suffix = self.strided[index][0].root, " strided"
        slot = self.slots.get(index)
        if slot is None:
            return " shared" if index in self.shared else ""
        space = "state" if slot.in_state else "arena"
        return f" {space}[{slot.offset}:{slot.offset + slot.nbytes}]{suffix}"


def plan_layout(
    nodes: Sequence[Node],
    externals: Sequence[Value],
    outputs: Sequence[Value],
    device: Device,
    *,
    constant_inputs: Collection[int] = (),
    channels_last: Collection[Key] = (),
    state: StateUse | None = None,
) -> ValueLayout:
    """Return the layout of a graph.

    Args:
        nodes: Operator nodes to run, in order, with specs.
        externals: Values that each call supplies, in order.
        outputs: Values that each call delivers into arrays of the caller, in order.
        device: Device of the constants and kernels.
        constant_inputs: Positions of the externals that rarely change.
        channels_last: Keys of values that are laid out channels last, arguments included.
        state: How the graph uses a state; None without a state.
    """
    bound = _bind(nodes, externals, outputs, device, channels_last, state)
    constant, ahead = _ahead(bound, constant_inputs)
    views = _views(bound, constant)
    shared = _planned_specs(ahead, {*views})
    unplanned = {*range(bound.argument_count), *views, *shared}
    instructions, strided = _without_copies(bound, unplanned)
    specs = _planned_specs(instructions, unplanned | {*strided})
    specs |= {view.root: spec for view, spec in strided.values()}
    specs |= {index: spec for index, (spec, _) in bound.saved.items()}
    memory = _memory_plan(
        bound, instructions, strided, specs, lasting=state is None or state.lasting
    )
    kernels = [x for x in instructions if not _has_no_effect(bound, x, memory)]
    if not device.is_host:
        for instruction in kernels:
            if _is_in_one_order(bound, instruction):
                instruction.kernel = in_memory_order(instruction.kernel)
    every, entry_count = _planned(bound, kernels, views, constant)
    per_call = [x for x in every if x.writes[0] not in shared]
    return ValueLayout(
        count=bound.count,
        argument_count=bound.argument_count,
        instructions=per_call,
        prologue=[x for x in every if x.writes[0] in shared or _is_constant_view(x, constant)],
        packing=[x for x in per_call if _packs(x, constant)],
        copies=bound.copies,
        mutated=sorted(bound.overwritten.intersection(range(len(externals)))),
        random_count=bound.random_count,
        entry_count=entry_count,
        arena_nbytes=memory.nbytes,
        slots=memory.slots,
        specs=specs,
        strided=strided,
        constants=bound.constants,
        shared=shared,
        channels_last=bound.last_indices,
    )


class _Indices:
    """The index of each value by key; looking up a new value assigns the next index."""

    def __init__(self, externals: Sequence[Value], output_count: int) -> None:
        self.of: dict[Key, int] = {value.key: i for i, value in enumerate(externals)}
        self.count = len(externals) + output_count

    def __getitem__(self, value: Value) -> int:
        index = self.of.get(value.key)
        if index is None:
            index = self.of[value.key] = self.count
            self.count += 1
        return index


@dataclass(frozen=True, slots=True)
class _Bound:
    """Operators bound to kernels, and to the indices of their values.

    Attributes:
        saved: Spec and offset in the state of each saved value, by index.
        channels_last: Keys of values that are laid out channels last.
        last_indices: Indices of these values.
        overwritten: Indices of the values that an instruction overwrites.
        delivered: Indices of outputs and saved values.
    """

    count: int
    argument_count: int
    copies: list[tuple[int, int]]
    saved: dict[int, tuple[Spec, int]]
    constants: dict[int, NDArray]
    instructions: list[KernelInstruction]
    random_count: int
    channels_last: Collection[Key]
    last_indices: set[int]
    overwritten: set[int]
    delivered: set[int]


def _bind(
    nodes: Sequence[Node],
    externals: Sequence[Value],
    outputs: Sequence[Value],
    device: Device,
    channels_last: Collection[Key],
    state: StateUse | None,
) -> _Bound:
    indices = _Indices(externals, len(outputs))
    saved, copies = ({}, []) if state is None else _saved_values(indices, state)
    for i, value in enumerate(outputs, len(externals)):
        if value.key in indices.of or value.node.op is None:
            copies.append((indices[value], i))
        else:
            indices.of[value.key] = i
    read = [value for node in nodes for value in node.inputs]
    read += [*outputs, *(() if state is None else state.values)]
    constants = _constants(indices, read, device)
    instructions, random_count = _kernels(indices, nodes, device.platform)
    argument_count = len(externals) + len(outputs)
    return _Bound(
        count=indices.count,
        argument_count=argument_count,
        copies=copies,
        saved=saved,
        constants=constants,
        instructions=instructions,
        random_count=random_count,
        channels_last=channels_last,
        last_indices={indices.of[key] for key in channels_last if key in indices.of},
        overwritten={x.reads[i] for x in instructions for i in _mutated_inputs(x)},
        delivered={*range(len(externals), argument_count), *saved},
    )


def _saved_values(
    indices: _Indices, state: StateUse
) -> tuple[dict[int, tuple[Spec, int]], list[tuple[int, int]]]:
    """Return spec and offset of each saved value, and the copies for values not computed here."""
    saved, copies = {}, []
    for value, offset in zip(state.values, state.offsets, strict=True):
        index = indices.count
        if value.key in indices.of or value.node.array is not None:
            indices.count += 1
            copies.append((indices[value], index))
        else:
            index = indices[value]
        saved[index] = value.spec, offset
    return saved, copies


def _constants(indices: _Indices, values: Iterable[Value], device: Device) -> dict[int, NDArray]:
    constants: dict[int, NDArray] = {}
    for value in values:
        array = value.node.array
        if array is not None and indices[value] not in constants:
            constants[indices[value]] = array.as_in_context(device.context)
    return constants


def _kernels(
    indices: _Indices, nodes: Sequence[Node], platform: Platform
) -> tuple[list[KernelInstruction], int]:
    """Return an instruction for each node, and the number of random keys that they use."""
    chosen: dict[tuple[Any, ...], FastKernel | None] = {}
    instructions, random_count = [], 0
    for node in nodes:
        op = node.op
        assert op is not None
        draws = op.draws(node.attrs)
        attrs = {k: v for k, v in node.attrs.items() if k != "key"}
        fast = _fast_kernel(chosen, platform, op, tuple([v.spec for v in node.inputs]), attrs)
        reads = [indices[value] for value in node.inputs]
        writes = [indices[Value(node, i)] for i in range(node.num_outputs)]
        random = random_count if draws else None
        instructions.append(KernelInstruction(node, op, fast, attrs, reads, writes, random))
        random_count += draws
    return instructions, random_count


def _fast_kernel(
    chosen: dict[tuple[Any, ...], FastKernel | None],
    platform: Platform,
    op: Operator,
    specs: Sequence[Spec],
    attrs: Attrs,
) -> FastKernel | None:
    """Return the fast kernel of an instruction; equal instructions select it once."""
    try:
        key = (op, specs, *attrs.items())
        if key not in chosen:
            chosen[key] = op.select_fast(platform, specs, attrs)
    except TypeError:  # attributes of control flow cannot be hashed
        return op.select_fast(platform, specs, attrs)
    return chosen[key]


def _ahead(
    bound: _Bound, constant_inputs: Collection[int]
) -> tuple[set[int], list[KernelInstruction]]:
    """Return the constant values, and the prologue: instructions that compute constants."""
    if not constant_inputs:
        return set(), []
    constant = {*constant_inputs, *bound.constants} - bound.overwritten
    ahead = []
    for instruction in bound.instructions if constant else ():
        if (
            instruction.random is None
            and not _mutated_inputs(instruction)
            and constant.issuperset(instruction.reads)
            and bound.delivered.isdisjoint(instruction.writes)
        ):
            ahead.append(instruction)
            constant.update(instruction.writes)
    return constant, ahead


def _views(bound: _Bound, constant: set[int]) -> dict[int, ViewInstruction]:
    """Return views of arguments and constant values, by the index that they write."""
    sources = {*range(bound.argument_count), *bound.constants, *constant} - bound.overwritten
    views = {}
    for instruction in bound.instructions:
        if not _is_reshaped(bound, instruction):
            continue
        source, target = instruction.reads[0], instruction.writes[0]
        if source in sources and target not in bound.delivered:
            node = instruction.node
            views[target] = ViewInstruction(
                node, instruction.op, source, target, node.specs[0].shape
            )
            sources.add(target)
    return views


def _without_copies(
    bound: _Bound, unplanned: Collection[int]
) -> tuple[list[KernelInstruction], Strided]:
    """Return the instructions except those that strided views replace, and the views."""
    fixed = {*unplanned, *bound.overwritten, *bound.last_indices}
    roots = _planned_specs(bound.instructions, fixed)
    roots |= {i: spec for i, (spec, _) in bound.saved.items() if i not in fixed}
    free = {*roots}.difference(bound.delivered, dict(bound.copies))
    views, idle = strided_views(bound.instructions, roots, free)
    strided = {index: (view, roots[view.root]) for index, view in views.items()}
    return [x for i, x in enumerate(bound.instructions) if i not in idle], strided


def _memory_plan(
    bound: _Bound,
    instructions: Sequence[KernelInstruction],
    strided: Strided,
    specs: Mapping[int, Spec],
    *,
    lasting: bool,
) -> MemoryPlan:
    read_at_last = bound.saved if lasting else {source for source, _ in bound.copies}
    return plan_memory(
        [_memory_step(bound, x, strided, specs) for x in instructions],
        {index: spec.nbytes for index, spec in specs.items()},
        state={index: offset for index, (_, offset) in bound.saved.items()},
        lasting=[index for index in read_at_last if index in bound.saved],
        match_range=NNVM_EXEC_MATCH_RANGE.value,
        in_place=MXNET_EXEC_ENABLE_INPLACE.value,
    )


def _memory_step(
    bound: _Bound, instruction: KernelInstruction, strided: Strided, specs: Mapping[int, Spec]
) -> MemoryStep:
    def root(index: int) -> int:
        return strided[index][0].root if index in strided else index

    return MemoryStep(
        tuple([root(index) for index in instruction.reads]),
        tuple(dict.fromkeys([root(index) for index in instruction.writes])),
        in_place=instruction.op.elementwise and _same_layout(bound, instruction),
        alias=_is_alias(bound, instruction) and instruction.reads[0] in specs,
        over=_overwritten_read(bound, instruction),
    )


def _overwritten_read(bound: _Bound, instruction: KernelInstruction) -> int | None:
    """Return the position of the only input whose memory the output may reuse, or None."""
    fast = instruction.fast
    if instruction.op.overwrites is None or (fast is not None and not fast.overwrites):
        return None
    position = instruction.op.overwrites(instruction.attrs)
    if position is None or instruction.reads.count(instruction.reads[position]) > 1:
        return None
    last = instruction.reads[position] in bound.last_indices
    return position if last == (instruction.writes[0] in bound.last_indices) else None


def _same_layout(bound: _Bound, instruction: KernelInstruction) -> bool:
    """Whether all inputs that are as large as the output have the same memory layout."""
    node = instruction.node
    last = (id(node), 0) in bound.channels_last
    return all(
        (value.key in bound.channels_last) == last
        for value in node.inputs
        if value.spec.nbytes == node.specs[0].nbytes
    )


def _is_in_one_order(bound: _Bound, instruction: KernelInstruction) -> bool:
    """Whether an operator computes element by element on arrays that are all channels last.

    Fused operators find the order by themselves.
    """
    op, node = instruction.op, instruction.node
    alike = op.elementwise or op.name in ("Cast", "LeakyReLU")
    return (
        alike
        and op.name not in _FUSED
        and instruction.random is None
        and bound.last_indices.issuperset((*instruction.reads, *instruction.writes))
        and all(value.shape == node.specs[0].shape for value in node.inputs)
    )


def _is_reshaped(bound: _Bound, instruction: KernelInstruction) -> bool:
    """Whether the output is the first input in another shape."""
    identity = instruction.op.identity and instruction.single
    return identity and instruction.node.inputs[0].key not in bound.channels_last


def _is_alias(bound: _Bound, instruction: KernelInstruction) -> bool:
    """Whether the output has the same bytes as the first input."""
    if _is_reshaped(bound, instruction):
        return True
    node = instruction.node
    moved = moves_channels(instruction.op, node.attrs, len(node.specs[0].shape))
    if moved is None:
        return False
    last = [key in bound.channels_last for key in (node.inputs[0].key, (id(node), 0))]
    return last == ([False, True] if moved == "first" else [True, False])


def _has_no_effect(bound: _Bound, instruction: KernelInstruction, memory: MemoryPlan) -> bool:
    """Whether the output has the slot of the input, and the same elements."""
    if not _is_alias(bound, instruction):
        return False
    source, target = instruction.reads[0], instruction.writes[0]
    return source in memory.slots and memory.slots[source] == memory.slots.get(target)


def _planned(
    bound: _Bound,
    kernels: Sequence[KernelInstruction],
    views: Mapping[int, ViewInstruction],
    constant: Collection[int],
) -> tuple[list[Instruction], int]:
    """Return the instructions with views and planned kernels, and the number of the latter."""
    found: list[Instruction] = []
    entry_count = 0
    reallocated = {*range(bound.argument_count), *views}
    for instruction in kernels:
        fast = instruction.fast
        view = views.get(instruction.writes[0])
        if view is not None:
            found.append(view)
        elif fast is None or not (fast.plan or fast.attach) or instruction.random is not None:
            found.append(instruction)
        else:
            found.append(
                PlannedInstruction(instruction, entry_count, bound.count, reallocated, constant)
            )
            entry_count += 1
    return found, entry_count


def _is_constant_view(instruction: Instruction, constant: Collection[int]) -> bool:
    return isinstance(instruction, ViewInstruction) and instruction.writes[0] in constant


def _packs(instruction: Instruction, constant: set[int]) -> TypeGuard[PlannedInstruction]:
    return (
        isinstance(instruction, PlannedInstruction)
        and instruction.fast is not None
        and instruction.fast.packs
        and not constant.isdisjoint(instruction.reads)
    )


def _mutated_inputs(instruction: KernelInstruction) -> tuple[int, ...]:
    return instruction.op.mutated_inputs(instruction.attrs)


def _planned_specs(
    instructions: Sequence[KernelInstruction], unplanned: set[int]
) -> dict[int, Spec]:
    """Return the specs of the values that the memory plan must place, by index."""
    return {
        index: spec
        for instruction in instructions
        for index, spec in zip(instruction.writes, instruction.node.specs, strict=True)
        if index not in unplanned
    }
