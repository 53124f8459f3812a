"""Memory layouts of the values of a planned graph; see `gluonish.ops.support.memory_layout`."""

from collections.abc import Collection, Sequence

from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES
from gluonish.core.spec import Spec
from gluonish.graph.ir import Node, Value
from gluonish.ops.support.memory_layout import follows_layout, has_channels, starts_layout

Key = tuple[int, int]


def channels_last_values(nodes: Sequence[Node], external: Collection[Key] = ()) -> frozenset[Key]:
    """Return the keys of the values to lay out channels last.

    Args:
        nodes: Operators in order, with specs.
        external: Keys of external values in this layout. Only these are returned if
            ``MXNET_DISABLED_GRAPH_PASSES`` has ``channels_last``.
    """
    found = set(external)
    if "channels_last" in MXNET_DISABLED_GRAPH_PASSES.value:
        return frozenset(found)
    for node in nodes:
        op = node.op
        if op is None:
            continue
        anchored = starts_layout(op, node.attrs)
        if not anchored and not follows_layout(op):
            continue
        for i, spec in enumerate(node.specs):
            if has_channels(spec) and (anchored or _follows(spec, node.inputs, found)):
                found.add((id(node), i))
    return frozenset(found)


def _follows(spec: Spec, inputs: Sequence[Value], found: Collection[Key]) -> bool:
    rank = len(spec.shape)
    return any(value.key in found and len(value.shape) == rank for value in inputs)
