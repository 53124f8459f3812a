"""Replacement of NumPy operators by equal classic operators, which other passes support."""

from collections.abc import Sequence

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import rebuild
from gluonish.ops.numpy.classic import classic_form
from gluonish.ops.registry import find_operator

_RESHAPE_EXACT = find_operator("_reshape_exact")


def use_classic_operators(graph: Graph) -> Graph:
    """Replace NumPy operators with the classic ones of `gluonish.ops.numpy.classic`.

    Requires: specs on every value.
    Ensures: the outputs have the same specs, gradients and values, except for the order of sums. No
    NumPy operator with a classic form is left.
    """
    return rebuild(graph, _rule)


def _rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
    if node.op is None or not node.op.single:
        return None
    (out,) = node.specs
    specs = [value.spec for value in inputs]
    form = classic_form(node.op, specs, out, node.attrs)
    if form is None:
        return None
    op, attrs = form
    made = op.infer(*specs, **attrs)
    value = Value(Node(op, node.name, inputs, attrs, made, node.extra))
    if made[0] == out:
        return [value]
    shape = {"shape": out.shape}
    return [Value(Node(_RESHAPE_EXACT, node.name, (value,), shape, node.specs, node.extra))]
