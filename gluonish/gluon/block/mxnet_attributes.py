"""Private attributes of MXNet's HybridBlock that programs use."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gluonish.gluon.block.block import Block
from gluonish.gluon.block.hybrid_graph import Graph
from gluonish.gluon.block.newest_graph import cached_symbols, call_formats
from gluonish.gluon.block.options import HybridOptions
from gluonish.symbol import Symbol


class HybridAttributes(Block):
    """Private attributes of `HybridBlock` that MXNet programs use."""

    _options: HybridOptions
    _graphs: dict[Any, Graph]

    if TYPE_CHECKING:  # methods of HybridBlock
        _newest_graph: Callable[[], Any]
        _forget_changed: Callable[[], None]
        _graph_of: Callable[..., tuple[Any, list[Any]]]
        _call_graph: Callable[..., Any]
        infer_shape: Callable[..., None]

    @property
    def _cached_graph(self) -> Any:
        """Inputs and outputs of the newest graph as Symbols, or () without a graph."""
        block: Any = self
        return cached_symbols(block, self._newest_graph())

    @property
    def _cached_op(self) -> Any:
        """The newest graph, or None."""
        self._forget_changed()
        return next(reversed(self._graphs.values()), None)

    @property
    def _flags(self) -> list[tuple[str, Any]]:
        """The effective options of `HybridBlock.hybridize`, as pairs."""
        return [("static_alloc", self._options.static_alloc)]

    @property
    def _in_format(self) -> Any:
        """The format of the newest graph's arguments, in MXNet's encoding."""
        return call_formats(self._newest_graph())[0]

    @property
    def _out_format(self) -> Any:
        """The format of the newest graph's results, in MXNet's encoding."""
        return call_formats(self._newest_graph())[1]

    def _deferred_infer_shape(self, *args: Any) -> None:
        """Infer the unknown shapes of parameters from the arguments of a call."""
        self.infer_shape(*args)

    def _get_graph(self, *args: Any) -> tuple[list[Symbol], Symbol]:
        """Return inputs and outputs of a call as Symbols, tracing it if there is no graph."""
        if not self._cached_graph:
            self.infer_shape(*args)
        inputs, outputs = self._cached_graph
        return inputs, outputs

    def _build_cache(self, *args: Any) -> None:
        """Trace a call without running it."""
        self._graph_of(*args)

    def _call_cached_op(self, *args: Any) -> Any:
        """Call the block as a graph."""
        return self._call_graph(*args)
