"""The fastest of cuDNN's engines for a problem, by the time that it takes on the device.

The first engines that the heuristics name run on the operator's own arrays and stream, between
events. Engines without a fixed order of sums are excluded before, so that the choice changes no run
of equal bits. Nothing is measured while a stream captures a graph: the heuristics' first engine
serves until the next call.
"""

import time
from collections.abc import Mapping
from typing import Any

_MOST = 6  # engines
_BUILD_S = (
    1.0  # engines whose kernels are compiled at run time take long; the first ones come first
)
_RUNS = 3
_MARGIN = 0.97  # of the time of the first engine: less is noise


def choose(
    xp: Any, graph: Any, handle: Any, addresses: Mapping[int, int], errors: tuple[Any, ...]
) -> bool:
    """Build the plan of a graph's fastest engine; return whether it is not the heuristics' first.

    Args:
        graph: A graph of the frontend, whose support was checked, and which no plan was built of.
        handle: Of the current stream.
        addresses: Addresses of the tensors, by their ids in the graph; the result is overwritten.
        errors: What the frontend raises for an engine that it cannot build or run.
    """
    times: dict[int, float] = {}
    deadline = time.perf_counter() + _BUILD_S
    for index in range(graph.get_execution_plan_count()):
        if len(times) == _MOST or (times and time.perf_counter() > deadline):
            break
        try:
            with handle.lock:
                graph.build_plan_at_index(index)
            times[index] = _milliseconds(xp, graph, handle, addresses, index)
        except (*errors, MemoryError):  # it was excluded, or has no memory for its workspace
            continue
    if len(times) < 2:
        return False
    first = next(iter(times))
    best = min(times, key=lambda index: times[index])
    if best == first or times[best] > _MARGIN * times[first]:
        return False
    with handle.lock:
        graph.build_plan_at_index(best)  # makes it the graph's plan
    return True


def _milliseconds(
    xp: Any, graph: Any, handle: Any, addresses: Mapping[int, int], index: int
) -> float:
    """Return the shortest time of a plan, after a first run."""
    nbytes = int(graph.get_workspace_size_plan_at_index(index))
    workspace = xp.cuda.alloc(nbytes) if nbytes else None
    address = 0 if workspace is None else workspace.ptr
    stream, times = xp.cuda.get_current_stream(), []
    for _ in range(_RUNS + 1):
        start, end = xp.cuda.Event(), xp.cuda.Event()
        start.record(stream)
        with handle.lock:
            graph._execute_plan_at_index(addresses, address, index, handle.raw)
        end.record(stream)
        end.synchronize()
        times.append(float(xp.cuda.get_elapsed_time(start, end)))
    return min(times[1:])
