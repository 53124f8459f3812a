"""How much work a graph is, from shapes: whether handing it to another thread pays."""

from collections.abc import Sequence

from gluonish.graph.ir import Node
from gluonish.ops.support.work import LIGHT, SMALL, Work, work_of

_LIGHT_STEPS, _SMALL_STEPS = 32, 64


def work(nodes: Sequence[Node]) -> Work:
    """Return the work of some operators together."""
    elements = products = 0
    for node in nodes:
        if node.op is not None:
            own = work_of(node.op.heavy, [x.spec for x in node.inputs], node.specs, node.attrs)
            elements += own.elements
            products += own.products
    return Work(elements, products)


def is_light(nodes: Sequence[Node]) -> bool:
    """Whether the nodes together are too little work for a second thread."""
    return len(nodes) <= _LIGHT_STEPS and work(nodes).is_within(LIGHT)


def is_small(nodes: Sequence[Node]) -> bool:
    """Whether a hand-over would be a large part of the work; kernels may use a team of threads."""
    return len(nodes) <= _SMALL_STEPS and work(nodes).is_within(SMALL)
