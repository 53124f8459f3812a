"""Arrays that a traced ``forward`` made, such as ``np.zeros(4)``, in the graph of an exported file.

A file holds operators and variables, no arrays. An array of one value, or of equal steps along one
axis, becomes the operator that makes it, as MXNet 2.0 writes it; any other one becomes a variable
whose value is in the file of parameters, with a gradient of zero.
"""

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ndarray import NDArray
from gluonish.ops.registry import Operator, find_operator
from gluonish.symbol import Symbol

_MOST_STEPS = 2**24  # a longer array of float32 does not hold all whole numbers


def without_constants(symbol: Symbol) -> tuple[Symbol, dict[str, NDArray]]:
    """Return a graph with operators and variables in place of arrays, and the variables' values.

    Args:
        symbol: The graph; it does not change, and is returned if it holds no arrays.

    Returns:
        The graph, and values by name with the prefix ``arg:``.
    """
    order = topological_order(symbol._values)
    if all(node.array is None for node in order):
        return symbol, {}
    names = {node.name for node in order}
    free = (name for name in (f"constant{i}" for i in count()) if name not in names)
    values: dict[str, NDArray] = {}
    replaced: dict[tuple[int, int], Value] = {}
    for node in order:
        made = node
        if node.array is not None:
            name = next(free)
            made = _maker(name, node.array.asnumpy()) or _variable(name)
            if made.op is find_operator("BlockGrad"):
                values[f"arg:{name}"] = node.array
        elif any(value.key in replaced for value in node.inputs):
            inputs = [replaced.get(value.key, value) for value in node.inputs]
            made = Node(node.op, node.name, inputs, node.attrs, (), node.extra, given=node.given)
        if made is not node:
            replaced |= {(id(node), i): Value(made, i) for i in range(made.num_outputs)}
    outputs = [replaced.get(value.key, value) for value in symbol._values]
    return type(symbol)(outputs), values


def _variable(name: str) -> Node:
    """Return a node that passes on a new variable, but no gradient to it."""
    return Node(find_operator("BlockGrad"), f"{name}_value", [Value(Node(None, name))])


def _maker(name: str, array: np.ndarray[Any, Any]) -> Node | None:
    """Return an operator that makes an array exactly; None if no operator of a few numbers does."""
    if array.dtype.kind not in "fiub" or not array.size:
        return None
    first = array.flat[0].item()
    dtype = array.dtype.name
    if np.array_equal(array, np.full_like(array, first)) and np.isfinite(first):
        return _made(find_operator("_full"), name, shape=array.shape, dtype=dtype, value=first)
    if array.ndim != 1 or array.size > _MOST_STEPS or array.dtype.kind == "b":
        return None
    step = array[1].item() - first
    stop = first + step * array.size
    steps = np.arange(array.size)
    if step == 0 or not np.array_equal(array, (first + step * steps).astype(array.dtype)):
        return None
    if np.ceil((stop - first) / step) != array.size:
        return None
    arange = find_operator("_npi_arange")
    return _made(arange, name, start=first, stop=stop, step=step, dtype=dtype)


def _made(op: Operator, name: str, **attrs: Any) -> Node:
    inputs: Sequence[Value] = ()
    texts = {key: str(value) for key, value in attrs.items()}
    return Node(op, name, inputs, op.schema.parse(op.name, texts))
