"""ExecutionPlan: the engine jobs of a graph, with their instructions and the arrays that they hold.

SegmentUse: the arguments of a call that each of its engine jobs uses.

An executable runs as a few jobs, its *segments*. Each holds the variables of the arrays that its
instructions use, and no others. So a gradient can be sent as soon as its segment is done, while
later ones still run, and a call can start before a weight that its last segment reads is updated.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gluonish.core.device import Device
from gluonish.graph.chains import Chain, chained
from gluonish.graph.instructions import Instruction, KernelInstruction, ViewInstruction
from gluonish.graph.ir import Node, Value
from gluonish.graph.schedule import is_light, is_short, is_small
from gluonish.graph.state import StateUse
from gluonish.graph.value_layout import ValueLayout, plan_layout


class SegmentUse(NamedTuple):
    """The externals and outputs that one segment uses, by position.

    Attributes:
        reads: Externals that the segment reads or overwrites.
        updates: Externals that the segment overwrites.
        reread: Outputs that the segment only reads.
        writes: Outputs that the segment writes.
    """

    reads: tuple[int, ...]
    updates: tuple[int, ...]
    reread: tuple[int, ...]
    writes: tuple[int, ...]


def origins(instructions: Sequence[Instruction], argument_count: int) -> dict[int, int]:
    """Return the argument whose memory is used, for each argument or view of one."""
    found = {index: index for index in range(argument_count)}
    for instruction in instructions:
        if isinstance(instruction, ViewInstruction) and instruction.reads[0] in found:
            found[instruction.writes[0]] = found[instruction.reads[0]]
    return found


def segment_uses(
    segments: Sequence[Sequence[Instruction]],
    copies: Sequence[tuple[int, int]],
    external_count: int,
    output_count: int,
    constant_inputs: Collection[int] = (),
) -> list[SegmentUse]:
    """Return the externals and outputs that each segment uses.

    Args:
        segments: Instructions of each segment, in order.
        copies: Sources and targets of the copies that follow the last segment.
        external_count: Number of externals, which are the first values.
        output_count: Number of outputs, which are the next values.
        constant_inputs: Positions of externals that the first segment may read in the prologue,
            and that must not change until the last segment is done.
    """
    arguments = range(external_count + output_count)
    origin = origins([x for segment in segments for x in segment], len(arguments))
    read, written = [set[int]() for _ in segments], [set[int]() for _ in segments]
    for segment, reads, writes in zip(segments, read, written, strict=True):
        for instruction in segment:
            reads.update(origin[index] for index in instruction.reads if index in origin)
            if isinstance(instruction, ViewInstruction):
                continue
            writes.update(index for index in instruction.writes if index in arguments)
            writes.update(_overwritten(instruction, external_count))
    # The last segment makes the copies, and holds outputs that no instruction writes.
    read[-1].update(source for source, _ in copies if source in arguments)
    written[-1].update({*arguments[external_count:]}.difference(*written))
    read[0].update(constant_inputs)
    read[-1].update(constant_inputs)
    return [_use(*both, external_count) for both in zip(read, written, strict=True)]


def _overwritten(instruction: KernelInstruction, external_count: int) -> set[int]:
    mutated = instruction.op.mutated_inputs(instruction.attrs)
    return {instruction.reads[i] for i in mutated if instruction.reads[i] < external_count}


def _use(read: set[int], written: set[int], first: int) -> SegmentUse:
    return SegmentUse(
        reads=tuple(sorted(i for i in read | written if i < first)),
        updates=tuple(sorted(i for i in written if i < first)),
        reread=tuple(sorted(i - first for i in read - written if i >= first)),
        writes=tuple(sorted(i - first for i in written if i >= first)),
    )


_MAX_COPIED = 64 << 20  # bytes of an argument that is copied for a CUDA graph

Run = Sequence[Instruction | Chain]


@dataclass(frozen=True, slots=True)
class ExecutionPlan:
    """Plan of an `Executable`; printed as its layout, divided into segments.

    Attributes:
        layout: Instructions and memory.
        segments: Instructions of each engine job.
        runs: The segments with chains; equal to ``segments`` with ``repeats``.
        uses: Arguments that each segment uses.
        constant_inputs: Positions of the externals that the prologue and the packing read.
        has_prologue: Whether there is a prologue or packing.
        entry_count: Number of planned instructions and chains.
        reads_state: Whether a call reads the state.
        writes_state: Whether a call writes the state.
        is_light: Whether the work is too little for a second thread.
        is_small: Whether an engine job may run in the calling thread.
        is_short: Whether the only engine job may run there if the caller waits for it anyway.
        repeats: Whether the device repeats the segments as CUDA graphs.
        origins: For each argument, or view of one, the argument whose memory it uses.
        copied: Arguments that change from call to call, and are small enough to be copied to
            the memory of a CUDA graph.
    """

    layout: ValueLayout
    segments: Sequence[Sequence[Instruction]]
    runs: Sequence[Run]
    uses: Sequence[SegmentUse]
    constant_inputs: Sequence[int]
    has_prologue: bool
    entry_count: int
    reads_state: bool
    writes_state: bool
    is_light: bool
    is_small: bool
    is_short: bool
    repeats: bool
    origins: dict[int, int]
    copied: Collection[int]

    def __str__(self) -> str:
        lines = [f"{len(self.segments)} segments"]
        for i, (segment, use) in enumerate(zip(self.segments, self.uses, strict=True)):
            read, written = (*use.reads, *use.reread), (*use.writes, *use.updates)
            lines.append(f"segment {i}: {len(segment)} instructions, {read=}, {written=}")
        return "\n".join([*lines, str(self.layout)])


def plan_execution(
    nodes: Sequence[Node],
    externals: Sequence[Value],
    outputs: Sequence[Value],
    device: Device,
    *,
    segment_size: int,
    constant_inputs: Collection[int] = (),
    channels_last: Collection[tuple[int, int]] = (),
    state: StateUse | None = None,
    repeats: bool = False,
    reallocated: Collection[int] = (),
) -> ExecutionPlan:
    """Return the plan of a graph for one set of specs.

    Args:
        nodes: Operator nodes to run, in order, with specs.
        externals: Values that each call supplies, in order.
        outputs: Values that each call delivers into arrays of the caller, in order.
        device: Device that runs it.
        segment_size: Maximum number of instructions in one engine job, at least 1.
        constant_inputs: Positions of the externals that rarely change.
        channels_last: Keys of values that are laid out channels last.
        state: How the graph uses a state; None without a state.
        repeats: Whether a device that has CUDA graphs captures and repeats the instructions.
        reallocated: Positions of the externals, then of the outputs after them, whose arrays
            change from call to call.
    """
    layout = plan_layout(
        nodes,
        externals,
        outputs,
        device,
        constant_inputs=constant_inputs,
        channels_last=channels_last,
        state=state,
    )
    instructions, arguments = layout.instructions, [*externals, *outputs]
    segments = _segments(instructions, segment_size)
    repeats = repeats and device.graphs is not None
    runs, entry_count = (segments, layout.entry_count) if repeats else _chained(layout, segments)
    has_prologue = bool(layout.prologue or layout.packing)
    constant = sorted(constant_inputs) if has_prologue else []
    light = is_light(nodes)
    small = light or (device.is_host and is_small(nodes))
    return ExecutionPlan(
        layout=layout,
        segments=segments,
        runs=runs,
        uses=segment_uses(segments, layout.copies, len(externals), len(outputs), constant),
        constant_inputs=constant,
        has_prologue=has_prologue,
        entry_count=entry_count,
        reads_state=state is not None and state.filled,
        writes_state=state is not None and not (state.filled and state.lasting),
        is_light=light,
        is_small=small,
        is_short=device.is_host and not small and len(segments) == 1 and is_short(nodes),
        repeats=repeats,
        origins=origins(instructions, len(arguments)) if repeats else {},
        copied=[i for i in reallocated if repeats and arguments[i].spec.nbytes <= _MAX_COPIED],
    )


def _segments(instructions: Sequence[Instruction], size: int) -> list[Sequence[Instruction]]:
    starts = range(0, len(instructions), size)
    return [instructions[start : start + size] for start in starts] or [()]


def _chained(
    layout: ValueLayout, segments: Sequence[Sequence[Instruction]]
) -> tuple[list[Run], int]:
    """Return the segments with chains, and the number of planned instructions and chains."""
    runs: list[Run] = []
    entry_count = layout.entry_count
    for segment in segments:
        run = chained(segment, entry_count)
        entry_count += sum(isinstance(x, Chain) for x in run)
        runs.append(run)
    return runs, entry_count
