"""Recording of API calls, waits and calls of Blocks.

``profile_api`` records every operator that a program calls on arrays (``invoke:relu``), copies and
reads of arrays, backward passes, trainers, stores and executors; and as ``wait`` the times in which
a caller waits for the engine. Methods are replaced while the profiler runs, `Block.__call__` and
`HybridBlock.__call__` included, so that there is no cost while it is stopped.

With the threaded engine a call returns when its operators are pushed, and their time is in later
waits; with ``MXNET_ENGINE_TYPE=NaiveEngine`` it is in the call.
"""

import functools
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.trainer import Trainer
from gluonish.kvstore import KVStoreBase
from gluonish.ndarray import NDArray
from gluonish.ndarray.autocasting import install
from gluonish.ndarray.recording import tracer
from gluonish.ops.autocast import state
from gluonish.ops.registry import Operator
from gluonish.profiler.events import TOP_LEVEL, Location, current_location
from gluonish.profiler.recorder import now, recorder
from gluonish.symbol import Symbol
from gluonish.symbol.executor import Executor
from gluonish_engine import Engine

Call = Callable[..., Any]

# Class, whose subclasses may override the methods; category; methods.
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
    """Start recording API calls and waits; return a function that stops it."""
    originals: list[tuple[type, str, Any]] = []

    def replace(kind: type, name: str, observed: Any) -> None:
        originals.append((kind, name, kind.__dict__[name]))
        setattr(kind, name, observed)

    for base, category, names in _METHODS:
        for kind in dict.fromkeys(_with_subclasses(base)):
            for name in names:
                method = kind.__dict__.get(name)
                if isinstance(method, FunctionType):
                    label = name if category == "wait" else f"{kind.__name__}.{name}"
                    replace(kind, name, _observed(method, category, label))
    replace(NDArray, "__apply__", staticmethod(_observed_invoke(NDArray.__apply__)))

    def end() -> None:
        for kind, name, original in reversed(originals):
            setattr(kind, name, original)
        if state.used:  # mixed precision may have been switched on meanwhile
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


def observe_blocks(*, imperative: bool, symbolic: bool) -> Callable[[], None]:
    """Start recording calls of Blocks; return a function that stops it.

    Args:
        imperative: Whether to record calls that run operator by operator.
        symbolic: Whether to record calls of hybridized Blocks, which run as graphs.
    """
    originals: list[tuple[type[Block], Call]] = [
        (kind, kind.__dict__["__call__"]) for kind in (Block, HybridBlock)
    ]
    for kind, original in originals:
        observed = _blocks_observed(original, imperative, symbolic)
        kind.__call__ = observed  # type: ignore[method-assign]

    def end() -> None:
        for kind, original in originals:
            kind.__call__ = original  # type: ignore[method-assign]

    return end


def _blocks_observed(original: Call, imperative: bool, symbolic: bool) -> Call:
    @functools.wraps(original)
    def call(self: Block, *args: Any, **kwargs: Any) -> Any:
        enabled = symbolic if getattr(self, "_active", False) else imperative
        if not (enabled and recorder.active):
            return original(self, *args, **kwargs)
        location = current_location.get(TOP_LEVEL)
        name = location.path + _relative_name(self, location.parent)
        token = current_location.set(Location(f"{name}:", self))
        start = now()
        try:
            return original(self, *args, **kwargs)
        finally:
            stop = now()
            current_location.reset(token)
            recorder.span("block trace" if _is_traced(args) else "block", name, start, stop)

    return call


def _relative_name(block: Block, parent: Block | None) -> str:
    """Return a Block's name without its parent's prefix, or its key if the prefixes are equal."""
    if parent is None or parent is block:
        return block.name
    if block.prefix != parent.prefix:
        return block.name.removeprefix(parent.prefix)
    return next((key for key, child in parent._children.items() if child is block), block.name)


def _is_traced(args: tuple[Any, ...]) -> bool:
    """Whether a call only traces a graph."""
    return tracer.get() is not None or (bool(args) and isinstance(args[0], Symbol))
