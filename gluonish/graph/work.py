"""The amount of work of a graph, from shapes, to decide whether another thread pays."""

from collections.abc import Sequence

from gluonish.graph.ir import Node
from gluonish.ops.support.work import LIGHT, SMALL, Work, work_of

_LIGHT_STEPS, _SMALL_STEPS = 32, 64


def work(nodes: Sequence[Node]) -> Work:
    """Return the total work of some operators."""
    elements = products = 0
    for node in nodes:
        if node.op is not None:
            amount = work_of(node.op.heavy, [x.spec for x in node.inputs], node.specs, node.attrs)
            elements += amount.elements
            products += amount.products
    return Work(elements, products)


def is_light(nodes: Sequence[Node]) -> bool:
    """Whether the nodes are too little work for a second thread."""
    return len(nodes) <= _LIGHT_STEPS and work(nodes).is_within(LIGHT)


def is_small(nodes: Sequence[Node]) -> bool:
    """Whether submission to another thread is a large part of the work; kernels may use a team."""
    return len(nodes) <= _SMALL_STEPS and work(nodes).is_within(SMALL)
