"""How much work a graph is, from shapes: whether handing it to another thread pays."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gluonish.graph.ir import Node

__all__ = ["is_light", "is_small"]


class _Limits(NamedTuple):
    """The most steps, elements that are written by operators that cost little each, and
    multiplications with an addition."""

    steps: int
    elements: int
    products: int


# A hand-over to a worker costs tens of microseconds, as much as these on one thread.
_LIGHT = _Limits(32, 1 << 16, 96**3)
# Some 0.5 ms on two threads. Two hand-overs were a fifth of the training step of a network of three
# dense layers (64 x 784, 256, 128, 10).
_SMALL = _Limits(64, 1 << 19, 1 << 26)
_HEAVY = 64  # what an element counts of other operators that do much for each


def is_light(nodes: Sequence[Node]) -> bool:
    """Whether the nodes together are too little work for a second thread."""
    return _is_within(_LIGHT, nodes)


def is_small(nodes: Sequence[Node]) -> bool:
    """Whether a hand-over would be a large part of the work; kernels may use a team of threads."""
    return _is_within(_SMALL, nodes)


def _is_within(limits: _Limits, nodes: Sequence[Node]) -> bool:
    if len(nodes) > limits.steps:
        return False
    elements = products = 0
    for node in nodes:
        op = node.op
        size = sum(spec.size for spec in node.specs)
        if op is None or not op.heavy:
            elements += size
        else:
            count = _PRODUCTS.get(op.name)
            products += _HEAVY * size if count is None else count(node)
    return elements <= limits.elements and products <= limits.products


def _by_weight(node: Node) -> int:
    """Each element of the output is a product with one filter."""
    return node.specs[0].size * math.prod(node.inputs[1].shape[1:])


def _by_data(node: Node) -> int:
    """The gradient of data: each element of the output's gradient meets one filter."""
    return node.inputs[0].size * math.prod(node.inputs[1].shape[1:])


def _by_shape(node: Node) -> int:
    """The gradient of a weight, whose shape is an attribute."""
    shape: tuple[int, ...] = node.attrs["weight_shape"]
    return node.inputs[0].size * math.prod(shape[1:])


def _dot(node: Node) -> int:
    lhs, rhs = node.inputs[0].spec, node.inputs[1].spec
    return lhs.size * rhs.size // max(1, rhs.shape[-1 if node.attrs["transpose_b"] else 0])


def _whole_sequence(node: Node) -> int:
    """Recurrent layers and loops are long whatever their sizes."""
    return _SMALL.products + 1


_PRODUCTS: Mapping[str, Callable[[Node], int]] = {
    "Convolution": _by_weight,
    "_fused_convolution": _by_weight,
    "FullyConnected": _by_weight,
    "_fused_dense": _by_weight,
    "_convolution_backward_data": _by_data,
    "_convolution_backward_weight": _by_shape,
    "_convolution_backward_weight_bias": _by_shape,
    "dot": _dot,
    "RNN": _whole_sequence,
    "_branch": _whole_sequence,
    "_cond": _whole_sequence,
    "_foreach": _whole_sequence,
    "_scan": _whole_sequence,
    "_while_loop": _whole_sequence,
    "_fused_rnn": _whole_sequence,
    "_fused_rnn_backward": _whole_sequence,
    "_rnn_backward": _whole_sequence,
}
