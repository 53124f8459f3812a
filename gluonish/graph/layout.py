"""Memory layouts: which values of a planned graph lie in memory with their channels last.

Shapes are MXNet's everywhere, N, C, then the spatial axes. Where a value lies in memory as N,
spatial axes, C, its array is a transposed view, which every kernel takes. oneDNN's convolutions are
as fast so as in its blocked layouts, and what works on single elements or on channels works on such
memory as it is. So the layout starts at convolutions and goes on from operator to operator until
one asks for another shape.
"""

from collections.abc import Collection, Sequence
from typing import Any

from gluonish.core.spec import Spec
from gluonish.graph.ir import Node, Value

__all__ = ["FOLLOWERS", "array_of", "channels_last_values", "has_channels"]

Key = tuple[int, int]

# Operators whose kernels read and write channels last at full speed, whatever comes in.
_ANCHORS = frozenset(
    (
        *("Convolution", "_fused_convolution", "_convolution_backward_data"),
        *("Deconvolution", "_deconvolution_backward_data"),
    )
)
# Operators, besides the elementwise ones, that write channels last as well as they read it.
FOLLOWERS = frozenset(
    (
        *("BatchNorm", "_batch_norm_backward", "LRN", "_lrn_backward"),
        *("_contrib_BatchNormWithReLU", "_batch_norm_relu_backward"),
        *("Pooling", "_pooling_backward", "Concat", "add_n", "Dropout", "slice_axis"),
        *("_activation_backward", "_leaky_relu_backward", "LeakyReLU", "_fused_pointwise"),
        *("broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_div"),
    )
)


def channels_last_values(nodes: Sequence[Node], given: Collection[Key] = ()) -> frozenset[Key]:
    """Return which values to lay out with their channels last.

    Args:
        nodes: Operators in order, with specs.
        given: Values from outside that lie so already.

    Returns:
        Keys of values, those of ``given`` included.
    """
    found = set(given)
    for node in nodes:
        op = node.op
        if op is None or op.identity:
            continue
        anchored = op.name in _ANCHORS and _is_channels_first(node)
        if not anchored and not op.elementwise and op.name not in FOLLOWERS:
            continue
        for i, spec in enumerate(node.specs):
            if has_channels(spec) and (anchored or _follows(spec, node.inputs, found)):
                found.add((id(node), i))
    return frozenset(found)


def has_channels(spec: Spec) -> bool:
    """Whether both layouts exist for a value, and differ."""
    shape = spec.shape
    return 3 <= len(shape) <= 5 and shape[1] > 1 and spec.size > shape[0] * shape[1]


def _is_channels_first(node: Node) -> bool:
    layout = node.attrs.get("layout")
    return layout is None or layout[1] == "C"


def _follows(spec: Spec, inputs: Sequence[Value], found: Collection[Key]) -> bool:
    rank = len(spec.shape)
    return any(value.key in found and len(value.shape) == rank for value in inputs)


def array_of(raw: Any, spec: Spec, *, channels_last: bool) -> Any:
    """Return an array of a spec on memory.

    Args:
        raw: Bytes, one axis, as many as the spec needs.
        spec: Shape and dtype.
        channels_last: Whether axis 1 of the shape is the last one in memory.
    """
    typed = raw.view(spec.dtype)
    if not channels_last:
        return typed.reshape(spec.shape)
    batch, channels, *spatial = spec.shape
    last = len(spatial) + 1
    return typed.reshape(batch, *spatial, channels).transpose(0, last, *range(1, last))
