"""All operators: importing this module registers every one."""

import warnings

from gluonish.ops import (  # noqa: F401  # imported for what they register
    absent,
    activation,
    add_n,
    arg_reduction,
    attention,
    batch_norm,
    batch_norm_apply,
    batch_norm_parts,
    batch_norm_relu,
    binary,
    broadcast_axis,
    broadcast_to,
    cast,
    cell_steps,
    concat,
    constant_like,
    contrib,
    control_flow,
    convolution,
    creation,
    custom,
    deconvolution,
    dense,
    detection,
    dropout,
    embedding,
    fold_batch_norm,
    fused_convolution,
    fused_dense,
    fused_pointwise,
    fused_rnn,
    gather_nd,
    group_norm,
    identity,
    image,
    indexing,
    l2_normalization,
    layer_norm,
    leaky_relu,
    linalg,
    log_softmax_pick,
    lrn,
    matmul,
    numpy,
    one_hot,
    optimizer_multi_update,
    optimizer_update,
    ordering,
    outputs,
    pad,
    pick,
    pointwise,
    pooling,
    quantization,
    random,
    reduction,
    reshape,
    reverse,
    rnn,
    rnn_param_concat,
    sampling,
    sequence,
    slice,  # noqa: A004  # named after its operator
    softmax,
    softmax_output,
    sparse,
    split,
    take,
    tile,
    transpose,
    unary,
    unary_row,
    updates,
    upsampling,
    vision,
    where,
)
from gluonish.ops.registry import all_names

__all__ = ["has"]


def has(name: str) -> bool:
    """Whether an operator of this registry name or alias is there."""
    return name in all_names()


# The logarithm of 0 is -inf and 0 / 0 is nan, as in MXNet, without a word. NumPy would warn at
# each; a filter for its calls from these modules costs nothing where nothing is wrong, and leaves
# the user's own NumPy alone. Copies that convert, in the arrays' modules, are treated alike.
_QUIET = r"gluonish\.(ops|kernels|ndarray|core)\."
warnings.filterwarnings("ignore", category=RuntimeWarning, module=_QUIET)
