"""A HybridBlock's graph as Symbols, exported, and as `Block.save` has it.

A block that never ran as a graph may have one that shapes or types were inferred from.
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentTypeError, GraphError
from gluonish.gluon.block.arguments import WithKeywords
from gluonish.gluon.block.export_files import values_by_name, write_model
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
    """The graph that parameters' shapes or types were inferred from; to be written, not to run.

    Args:
        block: The block.
        traced: The graph.
    """

    __slots__ = ("_block", "_traced")

    def __init__(self, block: Traceable, traced: Traced) -> None:
        self._block = block
        self._traced = traced

    def symbol(self) -> Symbol:
        """Return the computation as a Symbol."""
        return Symbol(self._traced.outputs)

    def named_parameters(self) -> dict[str, NDArray]:
        """Return the parameters' values as `HybridGraph.named_parameters` does.

        Those that waited for their shapes get values first.
        """
        parameters = parameters_of(self._block, self._traced.variables())
        for parameter in parameters:
            parameter._finish_deferred_init()
        auxiliary = self.symbol().list_auxiliary_states()
        return values_by_name({p.name: p for p in parameters}, auxiliary)


def cached_symbols(
    block: Traceable, graph: Graph | InferredGraph | None
) -> tuple[()] | tuple[list[Symbol], Symbol]:
    """Return the inputs and the outputs of a block's graph as Symbols; () without one."""
    if graph is None:
        return ()
    outputs = graph.symbol()
    weights, internals = block.collect_params(), outputs.get_internals()
    inputs = [internals[name] for name in outputs.list_inputs() if name not in weights]
    return inputs, outputs


def example_symbols(
    block: Traceable, args: Sequence[Any]
) -> tuple[list[Symbol], Symbol, dict[str, np.dtype[Any]]]:
    """Return the inputs and the outputs of the graph of a call, and the inputs' dtypes by name.

    The block need not be hybridized, and keeps the graphs that it has.

    Args:
        block: The block; the shapes of its parameters are known.
        args: The arguments of the call.

    Raises:
        GraphError: The call has no graph.
    """
    arrays, structure = flatten(tuple(args), lambda x: isinstance(x, NDArray))
    graph = graph_of_call(block, structure, arrays, HybridOptions())
    outputs = graph.symbol()
    assert isinstance(graph, HybridGraph)  # others have no symbol
    data = graph._traced.data
    inputs = [Symbol([Value(node)]) for node in data]
    dtypes = {node.name: x._spec.dtype for node, x in zip(data, arrays, strict=True)}
    return inputs, outputs, dtypes


def call_formats(graph: Graph | InferredGraph | None) -> tuple[Any, Any]:
    """Return how arrays are nested in arguments and results of a graph.

    Returns:
        Each as MXNet writes it, see `numbered`; None without a graph.
    """
    if not isinstance(graph, HybridGraph):
        return None, None
    return numbered(graph._traced.arguments), numbered(graph._structure)


def export_graph(
    block: Traceable,
    graph: Graph | InferredGraph | None,
    path: str | os.PathLike[str],
    epoch: int,
    remove_amp_cast: bool,
) -> tuple[str, str]:
    """Write a block's graph and its parameters, and return the names of the files.

    Args:
        block: The block.
        graph: Its newest graph.
        path: What the names begin with.
        epoch: Number in the name of the parameter file, in four digits.
        remove_amp_cast: Whether casts of mixed precision are left out.
    """
    what = f"{block.name}.export"
    if graph is None:
        raise GraphError(
            f"{what}: expected a block that was hybridized and run once, and not changed since, "
            "got one without a graph; call hybridize() and then the block, or infer_shape, on an "
            "input"
        )
    symbol = graph.symbol()
    _renew_multipliers(block, symbol)
    return write_model(what, symbol, graph.named_parameters(), path, epoch, remove_amp_cast)


def _renew_multipliers(block: Traceable, symbol: Symbol) -> None:
    """Have variables of a graph say the factors that their parameters have now."""
    parameters = {parameter.name: parameter for parameter in block.collect_params().values()}
    for node in symbol._variables():
        parameter = parameters.get(node.name)
        if parameter is not None and "__lr_mult__" in node.extra:
            factors = {
                "__lr_mult__": str(parameter.lr_mult),
                "__wd_mult__": str(parameter.wd_mult),
            }
            node.extra = {**node.extra, **factors}


def describe(graph: Graph | InferredGraph | None) -> dict[str, Any]:
    """Return what files of `Block.save` hold of a block's newest graph.

    An array is 0 in a format, None is -1, and a list or tuple a list. A graph that they have no
    words for is left out, as if there were none.
    """
    if graph is None:
        return {"hybridized": False}
    try:
        symbol = graph.symbol()
        if isinstance(graph, ImperativeCall):
            return {"hybridized": False}
        return {
            "in_format": _format(graph._traced.arguments),
            "out_format": _format(graph._traced.structure),
            "inputs": [Symbol([Value(node)]).tojson() for node in graph._traced.data],
            "symbol": symbol.tojson(),
            "hybridized": True,
        }
    except (ArgumentTypeError, GraphError):
        return {"hybridized": False}


def _format(structure: Structure) -> Any:
    if structure is None:
        return 0
    if isinstance(structure, Constant):
        if structure.value is not None:
            raise GraphError(f"format: expected arrays and None, got {structure.value!r}")
        return -1
    if structure[0] is WithKeywords:
        raise GraphError("format: expected arguments by position, got some by keyword only")
    return [_format(part) for part in structure[1]]
