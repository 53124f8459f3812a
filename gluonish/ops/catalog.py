"""All operators: importing this module registers every one."""

import warnings

from gluonish.ops import (  # noqa: F401  # imported for what they register
    absent,
    activation,
    add_n,
    arg_reduction,
    attention,
    binary,
    broadcast_axis,
    broadcast_to,
    cast,
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
    gather_nd,
    identity,
    image,
    indexing,
    leaky_relu,
    linalg,
    log_softmax_pick,
    matmul,
    numpy,
    one_hot,
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
    sampling,
    sequence,
    slice,  # noqa: A004  # the module
    softmax,
    softmax_output,
    sparse,
    split,
    take,
    tile,
    transpose,
    unary,
    updates,
    upsampling,
    vision,
    where,
)
from gluonish.ops.fused import convolution as _fused_convolution  # noqa: F401
from gluonish.ops.fused import dense as _fused_dense  # noqa: F401
from gluonish.ops.fused import pointwise as _fused_pointwise  # noqa: F401
from gluonish.ops.normalization import (  # noqa: F401
    batch_norm,
    batch_norm_apply,
    batch_norm_parts,
    batch_norm_relu,
    fold_batch_norm,
    group_norm,
    l2_normalization,
    layer_norm,
    lrn,
)
from gluonish.ops.recurrent import cell_steps, fused_rnn, param_concat, rnn  # noqa: F401
from gluonish.ops.registry import all_names
from gluonish.ops.updates import multi_update, update  # noqa: F401

__all__ = ["has"]


def has(name: str) -> bool:
    """Whether an operator of this registry name or alias is there."""
    return name in all_names()


# The logarithm of 0 is -inf and 0 / 0 is nan, as in MXNet, without a word. NumPy would warn at
# each; a filter for its calls from these modules costs nothing where nothing is wrong, and leaves
# the user's own NumPy alone. Copies that convert, in the arrays' modules, are treated alike.
_QUIET = r"gluonish\.(ops|kernels|ndarray|core)\."
warnings.filterwarnings("ignore", category=RuntimeWarning, module=_QUIET)
