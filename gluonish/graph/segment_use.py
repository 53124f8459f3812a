"""SegmentUse: which of a call's arrays each of its engine jobs touches.

An executable runs as a few jobs, its *segments*. Each holds the variables of the arrays that its
own steps touch, and no others. So a gradient can be sent as soon as the segment that writes it is
done, while later ones still run, and a call can start before a weight that its last segment reads
has got its new value.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from gluonish.graph.frame_layout import FrameLayout
from gluonish.graph.steps import RunStep, Step, ViewStep


class SegmentUse(NamedTuple):
    """What one segment touches of the arrays that each call gives.

    Attributes:
        reads: Positions of externals that it reads or overwrites.
        updates: Positions of externals that it overwrites.
        reread: Positions of outputs that it only reads.
        writes: Positions of outputs that it writes.
    """

    reads: tuple[int, ...]
    updates: tuple[int, ...]
    reread: tuple[int, ...]
    writes: tuple[int, ...]


def origins(steps: Sequence[Step], given: int) -> dict[int, int]:
    """Return whose memory each given value, and each view of one, lies in.

    Args:
        steps: All steps, in order.
        given: How many places, from the first, are of what calls give.
    """
    found = {place: place for place in range(given)}
    for step in steps:
        if isinstance(step, ViewStep) and step.reads[0] in found:
            found[step.writes[0]] = found[step.reads[0]]
    return found


def segment_uses(
    layout: FrameLayout,
    segments: Sequence[Sequence[Step]],
    external_count: int,
    output_count: int,
    stable: Collection[int] = (),
) -> list[SegmentUse]:
    """Return what each segment touches.

    Args:
        layout: Where the values lie.
        segments: The steps of each segment, in order.
        external_count: How many arrays each call gives to read; their places come first.
        output_count: How many it gives to write; theirs come next.
        stable: Positions of externals that the first segment may compute ahead from, and that must
            stay as they are until the last one is done.
    """
    given = range(external_count + output_count)
    whose = origins([step for steps in segments for step in steps], len(given))
    read, written = [set[int]() for _ in segments], [set[int]() for _ in segments]
    for steps, reads, writes in zip(segments, read, written, strict=True):
        for step in steps:
            reads.update(whose[place] for place in step.reads if place in whose)
            if isinstance(step, ViewStep):
                continue
            writes.update(place for place in step.writes if place in given)
            writes.update(_overwritten(step, external_count))
    # The last one makes the copies that are left, and answers for what no step writes.
    read[-1].update(source for source, _ in layout.copies if source in given)
    written[-1].update({*given[external_count:]}.difference(*written))
    read[0].update(stable)
    read[-1].update(stable)
    return [_use(*both, external_count) for both in zip(read, written, strict=True)]


def _overwritten(step: RunStep, external_count: int) -> set[int]:
    """Return the positions of the externals that a step overwrites."""
    places = {step.reads[i] for i in step.op.mutated_inputs(step.attrs)}
    return {place for place in places if place < external_count}


def _use(read: set[int], written: set[int], external_count: int) -> SegmentUse:
    outputs = [place - external_count for place in sorted(written) if place >= external_count]
    return SegmentUse(
        reads=tuple(sorted(place for place in read | written if place < external_count)),
        updates=tuple(sorted(place for place in written if place < external_count)),
        reread=tuple(
            sorted(place - external_count for place in read - written if place >= external_count)
        ),
        writes=tuple(outputs),
    )
