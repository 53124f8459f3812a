"""Calls of Blocks as events, named by the Blocks that they are called from.

While the profiler runs, `Block.__call__` and `HybridBlock.__call__` are other functions; while it
does not, they are their own, so that a call costs nothing more.

With the threaded engine a call returns when its operators are on their way. What they take after
that is in the time of whoever waits; with ``MXNET_ENGINE_TYPE=NaiveEngine`` it is in the call's.
"""

import functools
from collections.abc import Callable
from typing import Any

from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.ndarray.recording import tracer
from gluonish.profiler.recorder import now, recorder
from gluonish.profiler.scopes import NOWHERE, Place, current_place
from gluonish.symbol import Symbol

__all__ = ["observe_blocks"]

Call = Callable[..., Any]


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
        observed = _observed(original, imperative, symbolic)
        kind.__call__ = observed  # type: ignore[method-assign]  # until `end`

    def end() -> None:
        for kind, original in originals:
            kind.__call__ = original  # type: ignore[method-assign]  # as it was

    return end


def _observed(original: Call, imperative: bool, symbolic: bool) -> Call:
    @functools.wraps(original)
    def call(self: Block, *args: Any, **kwargs: Any) -> Any:
        wanted = symbolic if getattr(self, "_active", False) else imperative
        if not (wanted and recorder.active):
            return original(self, *args, **kwargs)
        place = current_place.get(NOWHERE)
        name = place.path + _own_name(self, place.parent)
        token = current_place.set(Place(f"{name}:", self))
        start = now()
        try:
            return original(self, *args, **kwargs)
        finally:
            stop = now()
            current_place.reset(token)
            recorder.span("block trace" if _is_traced(args) else "block", name, start, stop)

    return call


def _own_name(block: Block, parent: Block | None) -> str:
    """Return a Block's name without its parent's, or what leads to it where both have one name."""
    if parent is None or parent is block:
        return block.name
    if block.prefix != parent.prefix:
        return block.name.removeprefix(parent.prefix)
    return next((key for key, child in parent._children.items() if child is block), block.name)


def _is_traced(args: tuple[Any, ...]) -> bool:
    """Whether a call makes a part of a graph, and computes nothing."""
    return tracer.get() is not None or (bool(args) and isinstance(args[0], Symbol))
