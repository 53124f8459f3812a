"""A hybrid block's inner facts, under the names by which programs for MXNet get at them."""

from typing import TYPE_CHECKING, Any, cast

from gluonish.gluon.block.block import Block
from gluonish.gluon.block.newest_graph import cached_symbols, call_formats
from gluonish.gluon.block.reads import forget_changed
from gluonish.symbol import Symbol

if TYPE_CHECKING:
    from gluonish.gluon.block.hybrid_block import HybridBlock

__all__ = ["HybridBlockAttributes"]


class HybridBlockAttributes(Block):
    """The part of `HybridBlock` that MXNet's programs use though its names begin with ``_``."""

    if TYPE_CHECKING:  # of `HybridBlock` itself
        infer_shape: Any
        _graph_of: Any
        _call_graph: Any
        _graphs: Any
        _options: Any

    @property
    def _cached_graph(self) -> Any:
        """Inputs and outputs of the newest graph as Symbols, or () without one."""
        return cached_symbols(cast("HybridBlock", self))

    @property
    def _cached_op(self) -> Any:
        """The newest graph; None without one."""
        forget_changed(cast("HybridBlock", self))
        return next(reversed(self._graphs.values()), None)

    @property
    def _flags(self) -> list[tuple[str, Any]]:
        """The options of `HybridBlock.hybridize` that have an effect, in pairs."""
        return [("static_alloc", self._options.static_alloc)]

    @property
    def _in_format(self) -> Any:
        """How arrays are nested in the newest graph's arguments, as MXNet writes it."""
        return call_formats(cast("HybridBlock", self))[0]

    @property
    def _out_format(self) -> Any:
        """How arrays are nested in the newest graph's results, as MXNet writes it."""
        return call_formats(cast("HybridBlock", self))[1]

    def _deferred_infer_shape(self, *args: Any) -> None:
        """Find the unknown shapes of parameters from the arguments of a call."""
        self.infer_shape(*args)

    def _get_graph(self, *args: Any) -> tuple[list[Symbol], Symbol]:
        """Return inputs and outputs of a call as Symbols, tracing it if there is no graph."""
        if not self._cached_graph:
            self.infer_shape(*args)
        inputs, outputs = self._cached_graph
        return inputs, outputs

    def _build_cache(self, *args: Any) -> None:
        """Trace a call, without running it."""
        self._graph_of(*args)

    def _call_cached_op(self, *args: Any) -> Any:
        """Call the block as a graph."""
        return self._call_graph(*args)
