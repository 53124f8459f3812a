"""Storage types of a Symbol's arguments, and of their gradients, for `simple_bind`."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gluonish.core.errors import ArgumentError
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ndarray.mxnet_numbers import STORAGE_TYPE_NUMBERS, STORAGE_TYPES
from gluonish.symbol.symbol import Symbol

# Operators where the gradient of the second input has only the rows that the first one selects.
_LOOKUPS = {"Embedding": "sparse_grad", "_contrib_SparseEmbedding": None}
# Operators whose gradients have the rows of their inputs if all inputs are row-sparse.
_KEEP_ROWS = frozenset(
    (
        *("abs", "sign", "square", "relu", "rint", "ceil", "floor", "trunc", "fix", "round"),
        *("negative", "_copy", "BlockGrad", "zeros_like", "ones_like", "_square_sum"),
        *("_mul_scalar", "_div_scalar", "_scatter_plus_scalar", "_scatter_minus_scalar"),
        *("add_n", "elemwise_add", "elemwise_sub", "_grad_add"),
    )
)


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

    The gradient of an argument is row-sparse if every operator that reads it has a row-sparse
    gradient: an embedding with ``sparse_grad``, or a product with a csr array as first operand. For
    a row-sparse argument, elementwise operators that keep zeros qualify, too.

    Args:
        symbol: The graph, whose variables may declare their storage type.
        given: Storage types by argument name, which take precedence.

    Raises:
        ArgumentError: A storage type is unknown.
    """
    nodes = topological_order(symbol._values)
    own = {node.name: _declared(node, given) for node in nodes if node.op is None}
    by_rows = {name for name, stype in own.items() if stype == "row_sparse"}
    by_rows |= {node.inputs[1].node.name for node in nodes if _gives_rows(node, own)}
    if by_rows:
        for node in nodes:
            dense = set(range(len(node.inputs))) - _inputs_by_rows(node, own)
            by_rows -= {node.inputs[i].node.name for i in dense}
    return {
        name: Storage(stype, _of_gradient(stype, by_rows=name in by_rows))
        for name, stype in own.items()
    }


def _inputs_by_rows(node: Node, own: Mapping[str, str]) -> set[int]:
    """Return the positions of the inputs whose gradients may be row-sparse."""
    if _gives_rows(node, own):
        return {1}
    if node.op is None or any(own.get(x.node.name) != "row_sparse" for x in node.inputs):
        return set()
    return set(range(len(node.inputs))) if node.op.name in _KEEP_ROWS else set()


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
    """Whether the gradient of an operator's second input can be row-sparse."""
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
    is_sparse = stype in ("row_sparse", "default") and by_rows
    return "row_sparse" if is_sparse else "default"
