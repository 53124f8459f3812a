"""Conversion of a recorded computation to a Symbol, for `autograd.get_symbol`."""

import math
from collections.abc import Sequence
from typing import cast

from gluonish.autograd.tape import topological
from gluonish.core.errors import AutogradError, NotSupportedError
from gluonish.graph.body import Body
from gluonish.graph.call_plan import CallPlan, GraphNode
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.graph.rewrite import copied_graph
from gluonish.ndarray import NDArray, recording
from gluonish.ndarray.ndarray import GradientEdge
from gluonish.ndarray.recording import Leaf, MarkedNode, OperatorNode
from gluonish.ops.control_flow.cached_op import CACHED_OP
from gluonish.ops.registry import Attrs, Operator
from gluonish.symbol.symbol import Symbol, attribute_strings


def symbol_of(link: GradientEdge) -> Symbol:
    """Return the recorded computation of an array as a Symbol.

    Args:
        link: The recorded call and the index of its output.

    Raises:
        AutogradError: A backward pass has freed the record.
        NotSupportedError: A recorded call is not a call of an operator.
    """
    head, index = link
    _check(head)
    order, _ = topological([head])
    translation = _Translation()
    for node in order:
        translation.add(node)
    value = translation.value((head, index))
    translation.name([value])
    return Symbol([value])


class _Translation:
    """Translates recorded calls to graph values, which it stores by the id of the call.

    Calls hold the arrays that they read, so that ids stay unique.
    """

    def __init__(self) -> None:
        self._outputs: dict[int, Sequence[Value]] = {}
        self._leaves: set[int] = set()
        self._constants: dict[int, Value] = {}

    def value(self, link: GradientEdge) -> Value:
        """Return the value of a call's output; a leaf becomes a variable on first use."""
        node, index = link
        if isinstance(node, Leaf) and id(node) not in self._outputs:
            variable = Value(Node(None, ""))
            self._leaves.add(id(variable.node))
            self._outputs[id(node)] = [variable]
        return self._outputs[id(node)][index]

    def add(self, node: recording.Node) -> None:
        """Translate a call whose inputs have been translated; skip a freed call."""
        if node.freed < math.inf:
            return
        if isinstance(node, MarkedNode):
            self._outputs[id(node)] = [self.value(cast(GradientEdge, node.parents[0]))]
        elif isinstance(node, OperatorNode):
            inputs = self._inputs(node, node.inputs)
            made = _operator_node(node.op, inputs, node.attrs)
            self._outputs[id(node)] = [Value(made, i) for i in range(node.output_count)]
        elif isinstance(node, GraphNode):
            inputs = self._inputs(node, node.inputs)
            self._outputs[id(node)] = _graph_call(node.plan, inputs)
        else:
            raise NotSupportedError(
                "get_symbol: expected a computation of operators, got a call of an "
                "autograd.Function; write it with operators only"
            )

    def _inputs(self, node: recording.Node, arrays: Sequence[NDArray]) -> list[Value]:
        found = []
        for x, parent in zip(arrays, node.parents, strict=True):
            if parent is None or parent[0].freed < node.made:
                found.append(self._constants.setdefault(id(x), Value(Node(None, ""))))
            else:
                _check(parent[0])
                found.append(self.value(parent))
        return found

    def name(self, heads: Sequence[Value]) -> None:
        """Name the new nodes in the order in which a Symbol lists them, variables first."""
        order = topological_order(heads)
        leaves = [node for node in order if id(node) in self._leaves]
        constants = [node for node in order if node.op is None and id(node) not in self._leaves]
        for i, node in enumerate(leaves):
            node.name = f"var{i}"
        for i, node in enumerate(constants, len(leaves)):
            node.name = f"null{i}"
        for i, node in enumerate(node for node in order if node.op is not None):
            node.name = f"node_{i}"


def _check(node: recording.Node | Leaf) -> None:
    if node.freed < math.inf:
        what = node.op.name if isinstance(node, OperatorNode) else "a call that is no operator's"
        raise AutogradError(
            f"get_symbol: expected a recorded graph, got one that a backward freed at {what}; "
            "call get_symbol before backward, or pass retain_graph=True to it"
        )


def _operator_node(op: Operator, inputs: Sequence[Value], attrs: Attrs) -> Node:
    """Return a node for an operator call, without the mode and random keys of the call."""
    stored = {
        name: value
        for name, value in attrs.items()
        if name in op.schema.attributes or name in ("subgraphs", "state")
    }
    return Node(op, "", inputs, stored, given=attribute_strings(op, stored))


def _graph_call(plan: CallPlan, inputs: Sequence[Value]) -> list[Value]:
    """Return the outputs of a graph's call, as its operators or, if they are many, one node."""
    variables, outputs = plan.traced
    order = topological_order(outputs)
    count = sum(node.op is not None for node in order)
    if plan.inline_limit is None or count <= plan.inline_limit:
        return copied_graph(variables, outputs, inputs)
    value_of = {id(variable): value for variable, value in zip(variables, inputs, strict=True)}
    # In the order that files use.
    read = [node for node in order if id(node) in value_of]
    body = Body(read, outputs, "_CachedOp")
    node = Node(
        CACHED_OP,
        "",
        [value_of[id(variable)] for variable in read],
        {"subgraphs": (body,)},
        given={},
    )
    return [Value(node, i) for i in range(node.num_outputs)]
