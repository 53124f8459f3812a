"""create_engine: makes an engine by name. This module has no state and no lock."""

import sys

from gluonish_engine.base import Engine
from gluonish_engine.errors import EngineError
from gluonish_engine.lifecycle import register
from gluonish_engine.naive import NaiveEngine
from gluonish_engine.threaded import ThreadedEngine

_KINDS = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")


def create_engine(
    kind: str,
    *,
    cpu_workers: int = 1,
    copy_workers: int = 1,
    priority_workers: int = 4,
    launch_workers: int = 1,
    launch_copy_workers: int = 1,
    stack_trace_depth: int = 0,
    error_type: type[Exception] = EngineError,
    most_pending: int = 1024,
) -> Engine:
    """Build an engine; no thread starts before it is needed.

    Args:
        kind: "NaiveEngine" runs each operator at its push. "ThreadedEngine" has one pool of
            ``cpu_workers + copy_workers`` threads for all lanes. "ThreadedEnginePerDevice" has
            dedicated threads for each lane key.
        cpu_workers: Threads of a lane whose key ends in "compute", and of all keys not named below.
        copy_workers: Threads of a lane whose key ends in "copy".
        priority_workers: Threads of a lane whose key ends in "priority".
        launch_workers: Threads that launch on the stream of a lane whose key ends in "compute",
            while a promise is pending.
        launch_copy_workers: The same for keys that end in "copy".
        stack_trace_depth: Stack frames of the push that an error shows; capturing them costs time
            at each push that is not inline.
        error_type: Class of the errors that the engine raises; called with a message.
        most_pending: Number of unfinished calls of a lane beyond which a push waits until half of
            them are done, unless the push is made inside an operator or a promise is pending. So a
            loop that never waits uses bounded memory.

    Raises:
        ValueError: The kind is unknown, or a number is out of range.
        EngineError: The engine is threaded and Python runs without a global interpreter lock, on
            which the scheduler relies (docs/engine.md).
    """
    if kind not in _KINDS:
        raise ValueError(f"create_engine: expected kind in {', '.join(_KINDS)}, got {kind!r}")
    workers = {
        "compute": cpu_workers,
        "copy": copy_workers,
        "priority": priority_workers,
        "launch compute": launch_workers,
        "launch copy": launch_copy_workers,
    }
    for name, count in workers.items():
        if count < 1:
            raise ValueError(f"create_engine: expected at least 1 {name} worker, got {count}")
    if most_pending < 1:
        raise ValueError(f"create_engine: expected most_pending of at least 1, got {most_pending}")
    if stack_trace_depth < 0:
        raise ValueError(
            f"create_engine: expected stack_trace_depth of at least 0, got {stack_trace_depth}"
        )
    engine: Engine
    if kind == "NaiveEngine":
        engine = NaiveEngine(stack_trace_depth, error_type)
    else:
        if not getattr(sys, "_is_gil_enabled", lambda: True)():
            raise EngineError(
                f"create_engine: expected a Python with its global lock for {kind}, got one "
                "without it; set PYTHON_GIL=1, or MXNET_ENGINE_TYPE=NaiveEngine"
            )
        per_device = kind == "ThreadedEnginePerDevice"
        engine = ThreadedEngine(workers, per_device, stack_trace_depth, error_type, most_pending)
    register(engine)
    return engine
