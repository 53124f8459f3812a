"""Memory layouts: operators that work on arrays whose channels come last in memory.

Shapes are always MXNet's: N, C, then the spatial axes. A value stored channels-last is a transposed
view, which every kernel supports. oneDNN's convolutions are as fast on it as on blocked layouts,
those of cuDNN with tensor cores faster than on any other, and elementwise or per-channel operators
work on such memory as is. So the layout starts at convolutions, and propagates from operator to
operator until one changes the shape. A back end may add operators that start it.
"""

from collections.abc import Sequence
from typing import Any

from gluonish.core.spec import Spec
from gluonish.ops.registry import Attrs, Operator

# Operators whose kernels write channels-last at full speed from any input layout.
_ANCHORS = frozenset(
    (
        *("Convolution", "_fused_convolution", "_convolution_backward_data"),
        *("Deconvolution", "_deconvolution_backward_data", "_int8_convolution"),
    )
)
# Non-elementwise operators that write channels-last if they read it.
_FOLLOWERS = frozenset(
    (
        *("BatchNorm", "_batch_norm_backward", "LRN", "_lrn_backward"),
        *("_contrib_BatchNormWithReLU", "UpSampling", "_upsampling_backward"),
        *("Cast", "Pooling", "_pooling_backward", "Concat", "add_n", "Dropout", "slice_axis"),
        *("_activation_backward", "_gelu_backward", "_leaky_relu_backward", "LeakyReLU"),
        *("_fused_pointwise", "_fused_pointwise_many", "_fused_pointwise_random"),
        *("_batch_norm_data_gradient", "_batch_norm_apply", "_contrib_BatchNormWithReLU_backward"),
        "_batch_norm_residual_sums",
        *("broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_div"),
        *("_int8_pooling", "_contrib_quantized_concat", "_contrib_quantized_elemwise_add"),
        *("_contrib_quantized_act", "_contrib_dequantize"),
    )
)


# Operators that compute weights, in any layout.
_WEIGHT_MAKERS = frozenset(("_cast_weights", "_fold_batch_norm"))


def starts_layout(op: Operator, attrs: Attrs, inputs: Sequence[Spec] = (), xp: Any = None) -> bool:
    """Whether the operator's output is channels-last for any input layout, on a CPU.

    Args:
        op: The operator.
        attrs: Its attributes.
        inputs: Specs of its inputs.
        xp: The device's array module.
    """
    return op.name in _ANCHORS and has_channels_first(attrs)


def has_channels_first(attrs: Attrs) -> bool:
    """Whether a convolution's layout attribute has the channels in axis 1."""
    layout = attrs.get("layout")
    return layout is None or layout[1] == "C"


def reads_no_layout(op: Operator, attrs: Attrs) -> tuple[int, ...]:
    """Return positions of inputs to lay out channels-last: none, as CPU kernels pack weights."""
    return ()


def keeps_layout(attrs: Attrs) -> bool:
    """Whether a convolution (1x1 or grouped) is as fast on contiguous arrays.

    The former is a matrix product; the latter does too little work to pay for a conversion.
    """
    single = set(attrs["kernel"]) == {1} and not any(attrs["pad"] or ())
    return single or attrs["num_group"] > 1


def follows_layout(op: Operator) -> bool:
    """Whether the operator's outputs are channels-last if an input of their rank is."""
    return (op.elementwise and not op.identity) or op.name in _FOLLOWERS


def may_have_layout(op: Operator) -> bool:
    """Whether the operator's kernels write an output in any layout without a copy."""
    return follows_layout(op) or op.name in _WEIGHT_MAKERS


def moves_channels(op: Operator, attrs: Attrs, rank: int) -> str | None:
    """Return where a transposition of an array moves the channels, and keeps all other axes.

    Args:
        op: The operator.
        attrs: Its attributes.
        rank: Number of axes of the array.

    Returns:
        ``"first"``, from the last axis to axis 1; ``"last"``, from axis 1 to the last one; or None.
    """
    if op.name != "transpose" or not 4 <= rank <= 5:
        return None
    axes = tuple(axis % rank for axis in attrs["axes"] or ())
    if axes == (0, rank - 1, *range(1, rank - 1)):
        return "first"
    return "last" if axes == (0, *range(2, rank), 1) else None


def has_channels(spec: Spec) -> bool:
    """Whether the two layouts of a value differ."""
    shape = spec.shape
    return 3 <= len(shape) <= 5 and shape[1] > 1 and spec.size > shape[0] * shape[1]


def array_of(raw: Any, spec: Spec, *, channels_last: bool) -> Any:
    """Return an array of a spec over raw memory.

    Args:
        raw: Bytes, one axis, as many as the spec needs.
        channels_last: Whether axis 1 of the shape is the last one in memory.
    """
    typed = raw.view(spec.dtype)
    if not channels_last:
        return typed.reshape(spec.shape)
    batch, channels, *spatial = spec.shape
    last = len(spatial) + 1
    return typed.reshape(batch, *spatial, channels).transpose(0, last, *range(1, last))
