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
    """Whether an operator of the graph returns a sparse array for dense inputs.

    Args:
        outputs: Outputs of the graph.
    """
    nodes = topological_order(outputs)
    casts = [n for n in nodes if n.op is not None and n.op.name == "cast_storage"]
    return any(node.attrs["stype"] != "default" for node in casts)


def storage_types(symbol: Symbol, given: Mapping[str, str | None]) -> dict[str, Storage]:
    """Return the storage types of all arguments and of their gradients.

    The gradient of a row-sparse argument is row-sparse. So is that of a dense argument if every
    operator that reads it gives a row-sparse gradient: an embedding, or a product with a csr array
    as first operand.

    Args:
        symbol: The graph, whose variables may declare their storage type.
        given: Storage types by argument name, which take precedence.

    Raises:
        ArgumentError: A storage type is unknown.
    """
    nodes = topological_order(symbol._values)
    own = {node.name: _declared(node, given) for node in nodes if node.op is None}
    by_rows = {node.inputs[1].node.name for node in nodes if _gives_rows(node, own)}
    if by_rows:
        for node in nodes:
            first = 2 if _gives_rows(node, own) else 0
            by_rows -= {value.node.name for value in (*node.inputs[:1], *node.inputs[first:])}
    return {
        name: Storage(stype, _of_gradient(stype, by_rows=name in by_rows))
        for name, stype in own.items()
    }


def _declared(node: Node, given: Mapping[str, str | None]) -> str:
    stype = given.get(node.name)
    if stype is None:
        said = node.extra.get("__storage_type__")
        if said is None:
            return "default"
        stype = STORAGE_TYPES.get(int(said), "default")
    if stype not in STORAGE_TYPE_NUMBERS:
        raise ArgumentError(
            f"simple_bind: expected a storage type for {node.name} among 'default', 'row_sparse' "
            f"and 'csr', got {stype!r}"
        )
    return "default" if stype == "undefined" else stype


def _gives_rows(node: Node, own: Mapping[str, str]) -> bool:
    """Whether the gradient of an operator's second input has few rows."""
    if node.op is None:
        return False
    if node.op.name in _LOOKUPS:
        flag = _LOOKUPS[node.op.name]
        return flag is None or bool(node.attrs[flag])
    if node.op.name != "dot" or node.attrs["transpose_a"]:
        return False
    first = node.inputs[0].node
    return first.op is None and own[first.name] == "csr"


def _of_gradient(stype: str, *, by_rows: bool) -> str:
    is_sparse = stype == "row_sparse" or (stype == "default" and by_rows)
    return "row_sparse" if is_sparse else "default"
