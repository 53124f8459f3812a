"""Advice on a trace: sentences about conspicuous findings, with remedies."""

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise

from gluonish.tools.profile.page import bytes_text, share_text, time_text
from gluonish.tools.profile.summary import Summary, covered_us
from gluonish.tools.profile.trace import Trace

# Thresholds above which a finding is reported.
_IDLE_SHARE = 0.5
_BUSY_SHARE = 0.8
_OF_SERVERS = "cpu/1023"  # names of the rows in which servers of dist_async update weights
_WAIT_SHARE = 0.3
_ONE_OPERATOR_SHARE = 0.5
_FIRST_SHARE = 0.4
_FEW_RUNS = 4
_FIRST_US = 100_000.0
_SHORT_US = 20.0
_SHORT_SHARE = 0.5
_MANY_RUNS = 200
_OVERLAP_SHARE = 0.1
_LATE_SHARE = 0.1
_EXPOSED_SHARE = 0.15
_GROWTH = 1.3
_QUARTERS = (0.25, 0.5, 0.75, 1.0)  # the first one is start-up
_GROWTH_NBYTES = 10e6


def advice(trace: Trace, summary: Summary) -> list[str]:
    """Return sentences about conspicuous findings, if any."""
    if not summary.operators:
        return ["No operator ran while the profiler was running."]
    return [sentence for look in _LOOKS for sentence in look(trace, summary)]


def _failures(_: Trace, summary: Summary) -> Iterator[str]:
    for operator in summary.operators:
        if operator.failed:
            yield f"{operator.name} failed in {operator.failed} of {operator.runs} runs."


def _missing(_: Trace, summary: Summary) -> Iterator[str]:
    if summary.dropped:
        yield (
            f"{summary.dropped:,} events are missing: the buffer of the profiler was full. "
            "Profile fewer steps."
        )


def _late(_: Trace, summary: Summary) -> Iterator[str]:
    """Yield advice on a rank that others wait for."""
    if len(summary.communication) < 2:
        return
    most = max(summary.communication, key=lambda found: found.waiting_us)
    least = min(summary.communication, key=lambda found: found.waiting_us)
    share = (most.waiting_us - least.waiting_us) / summary.duration_us
    if share > _LATE_SHARE:
        longer, shorter = (
            share_text(found.waiting_us / summary.duration_us) for found in (most, least)
        )
        yield (
            f"Rank {most.rank} waited for other ranks for {longer} of the time, rank {least.rank} "
            f"for {shorter}: rank {least.rank} is the slow one. "
            "Check whether its data arrive late, its work is larger, or other programs use its "
            "cores."
        )


def _exposed(_: Trace, summary: Summary) -> Iterator[str]:
    """Yield advice on transfers during which no device computes."""
    for found in summary.communication:
        share = found.transfer_us * (1 - found.hidden) / summary.duration_us
        if share > _EXPOSED_SHARE:
            yield (
                f"Rank {found.rank} spent {share_text(share)} of the time on transfers while no "
                "device computed. Larger batches overlap more of each transfer with computation; "
                "gradient compression sends less."
            )
            return


def _idle(_: Trace, summary: Summary) -> Iterator[str]:
    for device in summary.devices:
        share = device.busy_us / summary.duration_us
        if device.lanes and share < _IDLE_SHARE and not device.name.endswith(_OF_SERVERS):
            yield (
                f"{device.name} was idle for {share_text(1 - share)} of the time: it waited for "
                f"the program. Larger batches, {'' if summary.in_graphs else 'hybridize(), '}"
                "or a DataLoader with workers keep it busy."
            )


def _apart(_: Trace, summary: Summary) -> Iterator[str]:
    for left, right in combinations(summary.devices, 2):
        if summary.communication:
            return  # the program does not order the devices of different ranks
        shorter_us = min(left.busy_us, right.busy_us)
        if shorter_us <= 0.05 * summary.duration_us:
            continue
        common = covered_us(left.busy, right.busy) / shorter_us
        if common < _OVERLAP_SHARE:
            yield (
                f"{left.name} and {right.name} worked one after the other: they overlapped for "
                f"{share_text(common)} of the shorter one's time. Start the work of both before "
                "waiting for either."
            )


def _waiting(_: Trace, summary: Summary) -> Iterator[str]:
    share = summary.wait_us / summary.duration_us
    # Waiting costs nothing while the devices have work.
    if share > _WAIT_SHARE and _busiest(summary) < _BUSY_SHARE:
        yield (
            f"The program waited for results {summary.waits:,} times, {share_text(share)} of the "
            "time in all. asnumpy(), asscalar() and printing wait; fetch results once in a "
            "while rather than at each step."
        )


def _busiest(summary: Summary) -> float:
    return max((device.busy_us for device in summary.devices), default=0.0) / summary.duration_us


def _short(_: Trace, summary: Summary) -> Iterator[str]:
    runs = sum(operator.runs for operator in summary.operators)
    eager = runs - summary.in_graphs
    mean_us = summary.operator_us / runs
    if eager > max(_MANY_RUNS, _SHORT_SHARE * runs) and mean_us < _SHORT_US:
        what = "hybridize() the network."
        if summary.in_graphs:
            what = (
                "They are outside of the hybridized blocks: have a HybridBlock call them, such as "
                "the loss."
            )
        yield (
            f"{eager:,} of {runs:,} operators ran one by one, {time_text(mean_us)} each on "
            f"average: calling them costs as much as running them. {what}"
        )


def _one_operator(_: Trace, summary: Summary) -> Iterator[str]:
    first = summary.operators[0]
    if first.runs > _FEW_RUNS and first.longest_us > _FIRST_SHARE * max(first.total_us, _FIRST_US):
        yield (
            f"One run of {first.name} took {time_text(first.longest_us)} of the "
            f"{time_text(first.total_us)} of all its runs, as when a kernel is compiled at its "
            "first use. Compiled kernels are cached in MXNET_HOME: profile a second time."
        )
    elif first.share > _ONE_OPERATOR_SHARE and len(summary.operators) > 1:
        yield (
            f"{first.name} takes {share_text(first.share)} of the time of all operators: what "
            "makes it faster makes everything faster."
        )


def _growing(trace: Trace, _: Summary) -> Iterator[str]:
    for device, curve in trace.memory.items():
        peaks = [
            max((nbytes for at, nbytes in curve if begin <= at <= end), default=0)
            for begin, end in pairwise(part * trace.duration_us for part in _QUARTERS)
        ]
        grows = all(after > before * _GROWTH for before, after in pairwise(peaks))
        if peaks[0] and grows and peaks[-1] - peaks[0] > _GROWTH_NBYTES:
            yield (
                f"Memory of {device} keeps growing, to {bytes_text(peaks[-1])} at the end: results "
                "stay referenced from step to step, or are pushed faster than they are computed."
            )


_Look = Callable[[Trace, Summary], Iterator[str]]
_LOOKS: tuple[_Look, ...] = (
    _failures,
    _missing,
    _idle,
    _apart,
    _late,
    _exposed,
    _waiting,
    _short,
    _one_operator,
    _growing,
)
