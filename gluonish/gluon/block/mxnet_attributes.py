"""Functions behind private attributes of MXNet's HybridBlock that programs use."""

from typing import Any

from gluonish.gluon.block.newest_graph import cached_symbols, call_formats

# A block is a HybridBlock, whose module imports this one.


def cached_graph(block: Any) -> Any:
    """Return inputs and outputs of the newest graph as Symbols, or () without a graph."""
    return cached_symbols(block, block._newest_graph())


def cached_op(block: Any) -> Any:
    """Return the newest graph, or None."""
    block._forget_changed()
    return next(reversed(block._graphs.values()), None)


def flags(block: Any) -> list[tuple[str, Any]]:
    """Return the effective options of `HybridBlock.hybridize`, as pairs."""
    return [("static_alloc", block._options.static_alloc)]


def in_format(block: Any) -> Any:
    """Return the format of the newest graph's arguments, in MXNet's encoding."""
    return call_formats(block._newest_graph())[0]


def out_format(block: Any) -> Any:
    """Return the format of the newest graph's results, in MXNet's encoding."""
    return call_formats(block._newest_graph())[1]


def deferred_infer_shape(block: Any, *args: Any) -> None:
    """Infer the unknown shapes of parameters from the arguments of a call."""
    block.infer_shape(*args)


def get_graph(block: Any, *args: Any) -> Any:
    """Return inputs and outputs of a call as Symbols, tracing it if there is no graph."""
    if not block._cached_graph:
        block.infer_shape(*args)
    return block._cached_graph


def build_cache(block: Any, *args: Any) -> None:
    """Trace a call without running it."""
    block._graph_of(*args)


def call_cached_op(block: Any, *args: Any) -> Any:
    """Call the block as a graph."""
    return block._call_graph(*args)
