"""Speed of a network on 1, 2, 4 .. threads of one process, and what more would bring.

    python -m benchmarks.cpu threads [--networks resnet50_v1] [--batch-size 32] \\
        [--works Inference,Training] [--most 2] [--peers torch_cl --peers-python PYTHON]

Processes with each number of threads take turns. By Amdahl's law a step takes a + b / n seconds on
n threads, where a is the part that runs on one thread. The law is fitted to all numbers but the
largest, if that leaves two, and to all otherwise; its prediction for the largest is compared with
what was measured, and it says what up to 64 threads would bring. It knows nothing of memory
bandwidth, which cores share, so that what is predicted is the most that can be expected.

gluonish does not bind threads to cores, and memory lies where it is first written. On a machine
with several nodes of memory, start one process a node: ``numactl --cpunodebind=0 --membind=0``.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from benchmarks.interleaved.compare import Workplace
from benchmarks.interleaved.driver import PeerError, Worker, measure
from benchmarks.interleaved.peers import add_arguments, make_job
from benchmarks.interleaved.report import Report, table

_PREDICTED = (2, 4, 8, 16, 32, 64)


def counts_up_to(most: int) -> list[int]:
    """Return the powers of two up to a number of threads, and the number itself."""
    found = [1 << i for i in range(most.bit_length()) if 1 << i <= most]
    return found if found[-1] == most else [*found, most]


def fit(seconds: Mapping[int, float]) -> tuple[float, float]:
    """Return a and b of ``a + b / n``, of the least squares of relative errors, neither negative.

    Args:
        seconds: What a step takes, by the number of threads; at least one.
    """
    if len(seconds) == 1:
        ((count, taken),) = seconds.items()
        return 0.0, taken * count
    ones, both, squares, first, second = (0.0,) * 5
    for count, taken in seconds.items():
        weight = 1 / taken**2
        ones += weight
        both += weight / count
        squares += weight / count**2
        first += weight * taken
        second += weight * taken / count
    determinant = ones * squares - both * both
    serial = (first * squares - second * both) / determinant
    parallel = (second * ones - first * both) / determinant
    if serial < 0:
        return 0.0, second / squares
    return (serial, parallel) if parallel >= 0 else (first / ones, 0.0)


def rows_of(name: str, seconds: Mapping[int, float]) -> list[list[str]]:
    """Return the lines of a peer: what was measured, then what is predicted.

    Args:
        name: The peer.
        seconds: What a step takes, by the number of threads.
    """
    counts = sorted(seconds)
    known = counts[:-1] if len(counts) > 2 else counts
    serial, parallel = fit({count: seconds[count] for count in known})
    alone = seconds.get(1, serial + parallel)
    lines = []
    for count in counts:
        taken = seconds[count]
        error = ""
        if count not in known:
            error = f"{(serial + parallel / count) / taken - 1:+.1%}"
        lines.append(_line(name, count, taken, alone, error))
    for count in _PREDICTED:
        if count > counts[-1] and serial > 0:  # without, the law says nothing
            lines.append(_line(name, count, serial + parallel / count, alone, "predicted"))
    share = serial / (serial + parallel)
    note = f"{share:.1%} of a step on one thread only" if serial > 0 else "no limit seen"
    lines.append([f"{name}: {note}", *[""] * 5])
    return lines


def _line(name: str, count: int, taken: float, alone: float, note: str) -> list[str]:
    gain = alone / taken
    numbers = (f"{taken * 1e3:.2f}", f"{gain:.2f}", f"{gain / count:.0%}")
    return [name, str(count), *numbers, note]


def measured(
    names: Sequence[str],
    counts: Sequence[int],
    work: str,
    options: Mapping[str, Any],
    arguments: argparse.Namespace,
    report: Report,
) -> dict[str, dict[int, float]]:
    """Return the seconds of a step by peer and number of threads; what fails is reported."""
    running: list[tuple[str, int, Worker]] = []
    errors: dict[str, str] = {}
    try:
        for name in names:
            for count in counts:
                try:
                    worker = Worker(make_job(name, work, arguments, options), count)
                except PeerError as error:
                    errors[name] = str(error)
                    break
                worker.name = f"{name} {count}"
                running.append((name, count, worker))
        workers = [worker for _, _, worker in running]
        samples = measure(workers, arguments.seconds, arguments.rounds, errors)
    finally:
        for _, _, worker in running:
            worker.end()
    for message in errors.values():
        report.say(message)
    found: dict[str, dict[int, float]] = {}
    for name, count, worker in running:
        if worker.name in samples:
            found.setdefault(name, {})[count] = samples[worker.name].median_s
            report.note(worker.versions)
    return found


def main() -> None:
    """Measure every network, and print a table for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--networks", default="resnet50_v1", help="(default: %(default)s)")
    parser.add_argument("--works", default="Inference,Training", help="(default: %(default)s)")
    parser.add_argument("--batch-size", type=int, default=32)
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--most", type=int, default=cores, help="threads (default: %(default)s)")
    add_arguments(parser, "")
    arguments = parser.parse_args()
    if arguments.most < 1:
        parser.error(f"--most: expected at least 1 thread, got {arguments.most}")
    report = Report()
    with ExitStack() as stack:
        place = Workplace(arguments, stack)
        for path, network in place.networks(arguments.networks, report):
            for work in arguments.works.split(","):
                options = {"network": path, "batch_size": arguments.batch_size}
                options |= {"dtype": "float32"} if work == "Inference" else {}
                report.say(f"\n{network.name}, batch {arguments.batch_size}, {work.lower()}")
                counts = counts_up_to(arguments.most)
                found = measured(place.names(), counts, work, options, arguments, report)
                lines = [line for name in found for line in rows_of(name, found[name])]
                header = ("peer", "threads", "ms a step", "speedup", "efficiency", "prediction")
                report.say(table(header, lines))
        report.end()


if __name__ == "__main__":
    main()
