"""SegmentUse: the arguments of a call that each of its engine jobs uses.

An executable runs as a few jobs, its *segments*. Each holds the variables of the arrays that its
instructions use, and no others. So a gradient can be sent as soon as its segment is done, while
later ones still run, and a call can start before a weight that its last segment reads is updated.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from gluonish.graph.instructions import Instruction, KernelInstruction, ViewInstruction


class SegmentUse(NamedTuple):
    """The externals and outputs that one segment uses, by position.

    Attributes:
        reads: Externals that it reads or overwrites.
        updates: Externals that it overwrites.
        reread: Outputs that it only reads.
        writes: Outputs that it writes.
    """

    reads: tuple[int, ...]
    updates: tuple[int, ...]
    reread: tuple[int, ...]
    writes: tuple[int, ...]


def origins(instructions: Sequence[Instruction], argument_count: int) -> dict[int, int]:
    """Return the argument whose memory each argument or view of one uses."""
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
    """Return the use of each segment.

    Args:
        segments: Instructions of each segment, in order.
        copies: Sources and targets of the copies that follow the last segment.
        external_count: Number of externals, which are the first values.
        output_count: Number of outputs, which are the next values.
        constant_inputs: Positions of externals that the first segment may read in the prologue,
            and that must not change until the last one is done.
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
