"""Calls of public functions, and waits for the engine, as events of the calling thread.

Recorded with ``profile_api``: every operator that a program calls on arrays (``invoke:relu``), what
moves and reads arrays, backward passes, trainers, stores and executors; and as ``wait`` the times
in which the engine lets a caller wait. While the profiler runs, the methods are others; while it
does not, they are their own.
"""

import functools
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from gluonish.gluon.trainer import Trainer
from gluonish.kvstore import KVStoreBase
from gluonish.ndarray import NDArray
from gluonish.ndarray.autocasting import install
from gluonish.ops.autocast import state
from gluonish.ops.registry import Operator
from gluonish.profiler.recorder import now, recorder
from gluonish.symbol.executor import Executor
from gluonish_engine import Engine

__all__ = ["observe_calls"]

Call = Callable[..., Any]

# Classes, whose subclasses may have methods of their own, and what their calls are recorded as.
_METHODS: tuple[tuple[type, str, tuple[str, ...]], ...] = (
    (
        NDArray,
        "api",
        (
            "as_in_context",
            "asnumpy",
            "asscalar",
            "astype",
            "backward",
            "copy",
            "copyto",
            "wait_to_read",
            "wait_to_write",
        ),
    ),
    (Trainer, "api", ("allreduce_grads", "step", "update")),
    (KVStoreBase, "api", ("broadcast", "init", "pull", "push", "pushpull", "row_sparse_pull")),
    (Executor, "api", ("backward", "forward")),
    (Engine, "wait", ("wait", "wait_all", "wait_to_write")),
)


def observe_calls() -> Callable[[], None]:
    """Start recording calls of public functions, and waits; return a function that stops it."""
    originals: list[tuple[type, str, Any]] = []

    def put(kind: type, name: str, observed: Any) -> None:
        originals.append((kind, name, kind.__dict__[name]))
        setattr(kind, name, observed)

    for base, category, names in _METHODS:
        for kind in dict.fromkeys(_with_subclasses(base)):
            for name in names:
                method = kind.__dict__.get(name)
                if isinstance(method, FunctionType):
                    label = name if category == "wait" else f"{kind.__name__}.{name}"
                    put(kind, name, _observed(method, category, label))
    put(NDArray, "__apply__", staticmethod(_observed_invoke(NDArray.__apply__)))

    def end() -> None:
        for kind, name, original in reversed(originals):
            setattr(kind, name, original)
        if state.used:  # mixed precision may have come meanwhile
            install()

    return end


def _with_subclasses(kind: type) -> Iterator[type]:
    yield kind
    subs: list[type] = kind.__subclasses__()
    for sub in subs:
        yield from _with_subclasses(sub)


def _observed(original: Call, category: str, name: str) -> Call:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not recorder.active:
            return original(*args, **kwargs)
        start_ns = now()
        try:
            return original(*args, **kwargs)
        finally:
            recorder.span(category, name, start_ns, now())

    return call


def _observed_invoke(original: Call) -> Call:
    @functools.wraps(original)
    def invoke(op: Operator, *args: Any, **kwargs: Any) -> Any:
        if not recorder.active:
            return original(op, *args, **kwargs)
        start_ns = now()
        try:
            return original(op, *args, **kwargs)
        finally:
            recorder.span("api", f"invoke:{op.name}", start_ns, now())

    return invoke
