"""Storage types of a Symbol's arguments, and of their gradients, for `simple_bind`."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gluonish.core.errors import ArgumentError
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ndarray.mxnet_numbers import STORAGE_TYPE_NUMBERS, STORAGE_TYPES
from gluonish.symbol.symbol import Symbol

__all__ = ["Storage", "makes_sparse", "storage_types"]

# Operators whose gradient of the second input has the rows that the first one names.
_LOOKUPS = {"Embedding": "sparse_grad", "_contrib_SparseEmbedding": None}


class Storage(NamedTuple):
    """Storage types of an argument and of its gradient, such as ``"row_sparse"``."""

    array: str
    gradient: str


def makes_sparse(outputs: Sequence[Value]) -> bool:
    """Whether an operator on the way to the outputs makes a sparse array of dense ones."""
    nodes = topological_order(outputs)
    casts = [n for n in nodes if n.op is not None and n.op.name == "cast_storage"]
    return any(node.attrs["stype"] != "default" for node in casts)


def storage_types(symbol: Symbol, given: Mapping[str, str | None]) -> dict[str, Storage]:
    """Return the storage types of all arguments.

    The gradient of a row-sparse argument is row-sparse, and so is that of a dense one which only
    operators read that give such a gradient: an embedding, or a product with a csr array before it.

    Args:
        symbol: The graph, whose variables may declare their storage type.
        given: Storage types by name of argument, over those that are declared.

    Raises:
        ArgumentError: A storage type is unknown.
    """
    own = {node.name: _declared(node, given) for node in symbol._variables()}
    readers: dict[str, list[bool]] = {name: [] for name in own}
    for node in topological_order(symbol._values):
        for position, value in enumerate(node.inputs):
            if value.node.op is None:
                sparse = position == 1 and _gives_rows(node, own)
                readers[value.node.name].append(sparse)
    return {name: Storage(own[name], _of_gradient(own[name], readers[name])) for name in own}


def _declared(node: Node, given: Mapping[str, str | None]) -> str:
    stype = given.get(node.name)
    if stype is None:
        stype = STORAGE_TYPES.get(int(node.extra.get("__storage_type__", 0)), "default")
    if stype not in STORAGE_TYPE_NUMBERS:
        raise ArgumentError(
            f"simple_bind: expected a storage type for {node.name} among 'default', 'row_sparse' "
            f"and 'csr', got {stype!r}"
        )
    return "default" if stype == "undefined" else stype


def _gives_rows(node: Node, own: Mapping[str, str]) -> bool:
    """Whether the gradient of an operator's second input has few rows."""
    assert node.op is not None
    if node.op.name in _LOOKUPS:
        flag = _LOOKUPS[node.op.name]
        return flag is None or bool(node.attrs[flag])
    first = node.inputs[0].node
    is_csr = first.op is None and own[first.name] == "csr"
    return node.op.name == "dot" and is_csr and not node.attrs["transpose_a"]


def _of_gradient(stype: str, readers: list[bool]) -> str:
    few = stype == "row_sparse" or (stype == "default" and bool(readers) and all(readers))
    return "row_sparse" if few else "default"
