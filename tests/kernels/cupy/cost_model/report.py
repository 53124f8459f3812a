"""What `gluonish profile --model` says of a session: a dictionary for JSON, and a trace.

The trace has the profiler's form, so that the profiler's page shows it: the device's kernels, the
host's work and waits of each step, and the peak of memory.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from tests.kernels.cupy.cost_model.session import Session
from tests.kernels.cupy.cost_model.timeline import Run, Step

_DEVICE, _HOST = 1, 2


def report(session: Session) -> dict[str, Any]:
    """Return all figures: of each step, and of the last step by operator and by kernel.

    Times are in milliseconds, memory and traffic in bytes.
    """
    steps = session.steps()
    last = typical(steps)
    return {
        "device": session.rates.table["name"],
        "source": session.rates.table["source"],
        "memory": session.memory(),
        "steps": [figures(step) for step in steps],
        "step": None if last is None else figures(last),
        "operators": [] if last is None else by(last, lambda run: run.launch.operator or "(none)"),
        "kernels": [] if last is None else by(last, kernel_name),
    }


def typical(steps: list[Step]) -> Step | None:
    """Return the last step that something ended; without one, the last."""
    found = [step for step in steps if step.name and step.runs] or steps
    return found[-1] if found else None


def figures(step: Step) -> dict[str, Any]:
    """Return the figures of a step."""
    return {
        "name": step.name,
        "launches": step.launches,
        "kernels": step.kernels,
        "graphs": step.graphs,
        "submissions": step.submissions,
        "uploads": step.uploads,
        "downloads": step.downloads,
        "waits": step.waits,
        "calls": step.calls,
        "bytes": step.nbytes,
        "flops": step.flops,
        "device_ms": round(step.device_us / 1e3, 4),
        "host_ms": round(step.host_us / 1e3, 4),
        "waited_ms": round(step.waited_us / 1e3, 4),
        "step_ms": round(step.took_us / 1e3, 4),
    }


def kernel_name(run: Run) -> str:
    """Return a kernel's name with what sets its pace: a convolution's layout and type."""
    cost = run.launch.cost
    if cost.problem is None:
        return f"{run.launch.kernel} {cost.dtype}".strip()
    if not hasattr(cost.problem, "layout"):
        return f"product {cost.dtype}"
    window = "x".join(map(str, cost.problem.weight[2:]))
    return f"convolution {cost.problem.kind} {window} {cost.problem.layout} {cost.dtype}"


def by(step: Step, name: Callable[[Run], str]) -> list[dict[str, Any]]:
    """Return the sums of a step's launches under each name, the longest first."""
    groups: dict[str, list[Run]] = defaultdict(list)
    for run in step.runs:
        groups[name(run)].append(run)
    found = [_sum(name, runs, step.device_us) for name, runs in groups.items()]
    return sorted(found, key=lambda row: (-row["device_ms"], row["name"]))


def _sum(name: str, runs: Iterable[Run], whole_us: float) -> dict[str, Any]:
    runs = list(runs)
    device_us = sum(run.device_us for run in runs)
    costs = [run.launch.cost for run in runs]
    return {
        "name": name,
        "launches": sum(cost.launches for cost in costs),
        "bytes": sum(cost.nbytes for cost in costs),
        "flops": sum(cost.flops for cost in costs if cost.problem is not None),
        "device_ms": round(device_us / 1e3, 4),
        "share": round(device_us / whole_us, 4) if whole_us else 0.0,
    }


def trace(session: Session) -> dict[str, Any]:
    """Return the trace, as Perfetto and the profiler's page read it."""
    events: list[dict[str, Any]] = []
    for pid, process, row in ((_DEVICE, "gpu/0", "modelled"), (_HOST, "python", "host, modelled")):
        events += [
            {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": process}},
            {"ph": "M", "name": "thread_name", "pid": pid, "tid": pid, "args": {"name": row}},
        ]
    began = 0.0
    for number, step in enumerate(session.steps()):
        events += [_span(run) for run in step.runs]
        events += _host(number, step, began)
        began += step.took_us
    peak = session.memory()["peak"]
    for at in (0.0, began):
        events.append({"ph": "C", "name": "memory", "cat": "Device Storage", "pid": _DEVICE,
                       "ts": at, "args": {"bytes": peak}})  # fmt: skip
    return {"traceEvents": events, "otherData": {"dropped": 0}}


def _span(run: Run) -> dict[str, Any]:
    cost = run.launch.cost
    kernel = kernel_name(run)
    copies = run.launch.kernel in ("h2d", "d2h")
    return {
        "ph": "X",
        "pid": _DEVICE,
        "tid": _DEVICE + 2 * copies,
        "name": run.launch.operator or kernel,
        "cat": "operator",
        "ts": round(run.start_us, 3),
        "dur": round(run.device_us, 3),
        "args": {"bytes": {"in": cost.read, "out": cost.written}, "node": kernel},
    }


def _host(number: int, step: Step, began: float) -> list[dict[str, Any]]:
    common = {"ph": "X", "pid": _HOST, "tid": _HOST}
    name = f"step {number}: {step.name}" if step.name else "after the last step"
    work = {**common, "name": name, "cat": "api", "ts": round(began, 3),
            "dur": round(min(step.host_us, step.took_us), 3)}  # fmt: skip
    wait = {**common, "name": "wait for the device", "cat": "wait",
            "ts": round(began + min(step.host_us, step.took_us), 3),
            "dur": round(max(step.took_us - step.host_us, 0.0), 3)}  # fmt: skip
    return [work, wait]
