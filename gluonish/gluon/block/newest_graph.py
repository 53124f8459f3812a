"""A HybridBlock's newest graph: as Symbols, exported, and in files of `Block.save`.

A block that never ran as a graph may have the graph of `infer_shape` or `infer_type`.
"""

import copy
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentTypeError, GraphError
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.gluon.block.arguments import WithKeywords
from gluonish.gluon.block.exported_constants import without_constants
from gluonish.gluon.block.files import values_by_name, write_model
from gluonish.gluon.block.hybrid_graph import (
    Graph,
    HybridGraph,
    ImperativeCall,
    graph_of_call,
    parameters_of,
)
from gluonish.gluon.block.options import HybridOptions
from gluonish.gluon.block.protocols import Traceable
from gluonish.gluon.block.tracing import Traced
from gluonish.graph.ir import Value
from gluonish.graph.pytree import Constant, Structure, flatten, numbered
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol


class InferredGraph:
    """The graph of `infer_shape` or `infer_type`, which is only exported, not run."""

    __slots__ = ("_block", "_traced")

    def __init__(self, block: Traceable, traced: Traced) -> None:
        self._block = block
        self._traced = traced

    def symbol(self) -> Symbol:
        """Return the computation as a Symbol."""
        return Symbol(self._traced.outputs)

    def named_parameters(self) -> dict[str, NDArray]:
        """Run deferred initializations, then return what `HybridGraph.named_parameters` does."""
        parameters = parameters_of(self._block, self._traced.variables())
        for parameter in parameters:
            parameter._finish_deferred_init()
        auxiliary = self.symbol().list_auxiliary_states()
        return values_by_name({p._full_name: p for p in parameters}, auxiliary)


def cached_symbols(
    block: Traceable, graph: Graph | InferredGraph | None
) -> tuple[()] | tuple[list[Symbol], Symbol]:
    """Return the inputs and the outputs of a block's graph as Symbols; () without a graph.

    Inputs are in the order of the call's arguments, as far as the graph reads them.
    """
    if graph is None:
        return ()
    outputs = graph.symbol()
    if isinstance(graph, HybridGraph | InferredGraph):
        read = set(outputs.list_inputs())
        data = [node for node in graph._traced.data if node.name in read]
        return [Symbol([Value(node)]) for node in data], outputs
    weights = {parameter._full_name for parameter in block.collect_params().values()}
    internals = outputs.get_internals()
    inputs = [internals[name] for name in outputs.list_inputs() if name not in weights]
    return inputs, outputs


def example_symbols(
    block: Traceable, args: Sequence[Any]
) -> tuple[list[Symbol], Symbol, dict[str, np.dtype[Any]]]:
    """Return the inputs and the outputs of the graph of a call, and the inputs' dtypes by name.

    The block need not be hybridized, and its graphs are unchanged.

    Args:
        block: The block; the shapes of its parameters are known.
        args: The arguments of the call.

    Raises:
        GraphError: The call has no graph.
    """
    arrays, pytree = flatten(tuple(args), lambda x: isinstance(x, NDArray))
    graph = graph_of_call(block, pytree, arrays, HybridOptions())
    outputs = graph.symbol()
    assert isinstance(graph, HybridGraph)  # `symbol` raises an error for other types
    data = graph._traced.data
    inputs = [Symbol([Value(node)]) for node in data]
    dtypes = {node.name: x._spec.dtype for node, x in zip(data, arrays, strict=True)}
    return inputs, outputs, dtypes


def call_formats(graph: Graph | InferredGraph | None) -> tuple[Any, Any]:
    """Return the formats of a graph's arguments and results, see `numbered`; None if unknown."""
    if not isinstance(graph, HybridGraph):
        return None, None
    return numbered(graph._traced.arguments), numbered(graph._pytree)


def export_graph(
    block: Traceable,
    graph: Graph | InferredGraph | None,
    path: str | os.PathLike[str] | None,
    epoch: int,
    remove_amp_cast: bool,
) -> tuple[str, str] | tuple[Symbol, dict[str, NDArray]]:
    """Write a block's graph and parameters, or return them; see `HybridBlock.export`."""
    what = f"{block.name}.export"
    if graph is None:
        raise GraphError(
            f"{what}: expected a block that was hybridized and run once, and not changed since, "
            "got one without a graph; call hybridize() and then the block, or infer_shape, on an "
            "input"
        )
    symbol = graph.symbol()
    _update_multipliers(block, symbol)
    symbol, constants = without_constants(symbol)
    values = graph.named_parameters() | constants
    if follows_mxnet2():
        symbol, values = _named_by_path(block, symbol, values)
    if path is None:
        return symbol, values
    return write_model(what, symbol, values, path, epoch, remove_amp_cast)


def _named_by_path(
    block: Traceable, symbol: Symbol, values: Mapping[str, NDArray]
) -> tuple[Symbol, dict[str, NDArray]]:
    """Return a copy of a Symbol, and values of parameters, named as `collect_params` names them.

    Args:
        block: The block.
        symbol: Its graph.
        values: Values of the parameters by name, with the prefix ``arg:`` or ``aux:``.
    """
    paths = {
        p._full_name: path for path, p in reversed(block._collect_params_with_prefix().items())
    }
    renamed = copy.deepcopy(symbol)
    for node in renamed._variables():
        node.name = paths.get(node.name, node.name)
    named = {}
    for key, array in values.items():
        kind, name = key.split(":", 1)
        named[f"{kind}:{paths.get(name, name)}"] = array
    return renamed, named


def _update_multipliers(block: Traceable, symbol: Symbol) -> None:
    """Copy the current ``lr_mult`` and ``wd_mult`` of parameters to a graph's variables."""
    parameters = {parameter._full_name: parameter for parameter in block.collect_params().values()}
    for node in symbol._variables():
        parameter = parameters.get(node.name)
        if parameter is not None and "__lr_mult__" in node.extra:
            factors = {
                "__lr_mult__": str(parameter.lr_mult),
                "__wd_mult__": str(parameter.wd_mult),
            }
            node.extra = {**node.extra, **factors}


def describe(graph: Graph | InferredGraph | None) -> dict[str, Any]:
    """Return the entry of a block's newest graph in files of `Block.save`.

    In a format an array is 0, None is -1, and a list or tuple is a list. A graph that cannot be
    encoded is omitted.
    """
    if graph is None:
        return {"hybridized": False}
    try:
        symbol = graph.symbol()
        if isinstance(graph, ImperativeCall):
            return {"hybridized": False}
        return {
            "in_format": _format(graph._traced.arguments),
            "out_format": _format(graph._traced.pytree),
            "inputs": [Symbol([Value(node)]).tojson() for node in graph._traced.data],
            "symbol": symbol.tojson(),
            "hybridized": True,
        }
    except (ArgumentTypeError, GraphError):
        return {"hybridized": False}


def _format(pytree: Structure) -> Any:
    if pytree is None:
        return 0
    if isinstance(pytree, Constant):
        if pytree.value is not None:
            raise GraphError(f"format: expected arrays and None, got {pytree.value!r}")
        return -1
    if pytree[0] is WithKeywords:
        raise GraphError("format: expected positional arguments, got keyword-only ones")
    return [_format(child) for child in pytree[1]]
