"""Recurrent layers on devices whose kernel has a reserve in a private format.

Their parameters are joined in one launch.
"""

from collections.abc import Sequence

from gluonish.core.device import Device
from gluonish.core.spec import Spec
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.passes.fuse_rnn import FLATTENING
from gluonish.graph.passes.simplify import eliminate_dead_code
from gluonish.graph.rewrite import has_operator, rebuild
from gluonish.ops.recurrent.packing import RNN_PARAM_PACK
from gluonish.ops.recurrent.reserved_rnn import RESERVED_RNN, private_reserve


def reserve_rnn(graph: Graph, *, device: Device, gradient: bool) -> Graph:
    """Run RNN as _reserved_rnn where the device has a kernel for it.

    Requires: specs on every value, and the training mode on every node that depends on it; no RNN
    has a gradient in the graph yet.
    Ensures: the visible outputs have the same specs, and the same values within round-off.

    Args:
        graph: The graph.
        device: Device that will run it.
        gradient: Whether a gradient may be computed; else nothing is saved for it.
    """
    if not has_operator(graph, ("RNN",)):
        return graph

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if node.op is not None and node.op.name == "_rnn_param_concat":
            return _packed(node, inputs)
        if node.op is None or node.op.name != "RNN":
            return None
        size = private_reserve(device, [value.spec for value in inputs], node.attrs)
        if size is None:
            return None
        saved = size if gradient else 0
        specs = (*node.specs[:-1], Spec((saved,), node.specs[-1].dtype))
        attrs = {**node.attrs, "reserve": saved}
        made = Node(RESERVED_RNN, node.name, inputs, attrs, specs, node.extra)
        return [Value(made, i) for i in range(made.num_outputs)]

    return eliminate_dead_code(rebuild(graph, rule))


def _packed(node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
    """Return the vector of parameters, from parameters in their own shapes."""
    parts = [
        value.node.inputs[0]
        if value.node.op is not None and value.node.op.name in FLATTENING
        else value
        for value in inputs
    ]
    attrs = {"num_args": len(parts)}
    return [Value(Node(RNN_PARAM_PACK, node.name, parts, attrs, node.specs, node.extra), 0)]
