"""The graph of a network that is to be converted."""

from typing import Any

import numpy as np

from gluonish.core.errors import GraphError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.newest_graph import example_symbols
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.graph.structure import flatten
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol

__all__ = ["graph_of"]


def graph_of(
    block: HybridBlock, example: Any
) -> tuple[list[Symbol], Symbol, dict[str, np.dtype[Any]] | None]:
    """Return the inputs and outputs of a block's graph, and an example's dtypes by name.

    Args:
        block: The block.
        example: What it is called with: an array, or a list or tuple of arguments; None for the
            newest graph that it has.

    Raises:
        GraphError: There is none, or the block cannot be traced.
    """
    given = () if example is None else example if isinstance(example, list | tuple) else (example,)
    if isinstance(block, SymbolBlock):
        arrays, _ = flatten(tuple(given), lambda x: isinstance(x, NDArray))
        dtypes = {n: x._spec.dtype for n, x in zip(block._input_names, arrays, strict=False)}
        inputs = [_variable_of(name, block) for name in block._input_names]
        return inputs, block._symbol, dtypes
    if example is not None:
        block(*given)  # parameters whose shapes are not known yet get them
        return example_symbols(block, given)
    found = block._cached_graph
    if not found:
        raise GraphError(
            f"convert_hybrid_block: expected {block.name} to be hybridized and called once, so "
            "that it has a graph, got none; call hybridize() and then the block on an input"
        )
    return *found, None


def _variable_of(name: str, block: SymbolBlock) -> Symbol:
    found: Symbol = block._symbol.get_internals()[name]
    return found
