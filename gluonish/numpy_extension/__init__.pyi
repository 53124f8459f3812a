# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Sequence
from gluonish.core.devices import Context as Context
from gluonish.core.devices import Device as Device
from gluonish.core.devices import cpu as cpu
from gluonish.core.devices import cpu_pinned as cpu_pinned
from gluonish.core.devices import current_context as current_context
from gluonish.core.devices import current_device as current_device
from gluonish.core.devices import gpu as gpu
from gluonish.core.devices import gpu_memory_info as gpu_memory_info
from gluonish.core.devices import num_gpus as num_gpus
from gluonish.core.dtype import DType
from gluonish.core.numpy_mode import is_np_array as is_np_array
from gluonish.core.numpy_mode import is_np_default_dtype as is_np_default_dtype
from gluonish.core.numpy_mode import is_np_shape as is_np_shape
from gluonish.core.numpy_mode import set_np_default_dtype as set_np_default_dtype
from gluonish.core.user_functions import get_cuda_compute_capability as get_cuda_compute_capability
from gluonish.core.user_functions import reset_np as reset_np
from gluonish.core.user_functions import set_np as set_np
from gluonish.ndarray.functions import waitall as waitall
from gluonish.numpy.array import ndarray
from gluonish.numpy_extension import image as image
from gluonish.numpy_extension import random as random
from gluonish.numpy_extension.control_flow import cond as cond
from gluonish.numpy_extension.control_flow import foreach as foreach
from gluonish.numpy_extension.control_flow import while_loop as while_loop
from gluonish.numpy_extension.files import load as load
from gluonish.numpy_extension.files import save as save
from gluonish.numpy_extension.files import savez as savez
from gluonish.numpy_extension.indexing import index_add as index_add
from gluonish.numpy_extension.indexing import index_update as index_update
from gluonish.numpy_extension.layers import activation as activation
from gluonish.numpy_extension.layers import group_norm as group_norm
from gluonish.numpy_extension.masking import masked_log_softmax as masked_log_softmax
from gluonish.numpy_extension.masking import masked_softmax as masked_softmax
from gluonish.numpy_extension.operators import constraint_check as constraint_check
from gluonish.numpy_extension.operators import nonzero as nonzero
from gluonish.numpy_extension.random import scalar_poisson as scalar_poisson
from gluonish.numpy_extension.sharing import from_dlpack as from_dlpack
from gluonish.numpy_extension.sharing import from_numpy as from_numpy
from gluonish.numpy_extension.sharing import to_dlpack_for_read as to_dlpack_for_read
from gluonish.numpy_extension.sharing import to_dlpack_for_write as to_dlpack_for_write
from typing import Literal

__all__ = [
    "Context",
    "Device",
    "activation",
    "cond",
    "constraint_check",
    "cpu",
    "cpu_pinned",
    "current_context",
    "current_device",
    "foreach",
    "from_dlpack",
    "from_numpy",
    "get_cuda_compute_capability",
    "gpu",
    "gpu_memory_info",
    "group_norm",
    "image",
    "index_add",
    "index_update",
    "is_np_array",
    "is_np_default_dtype",
    "is_np_shape",
    "load",
    "masked_log_softmax",
    "masked_softmax",
    "nonzero",
    "num_gpus",
    "random",
    "reset_np",
    "save",
    "savez",
    "scalar_poisson",
    "set_np",
    "set_np_default_dtype",
    "to_dlpack_for_read",
    "to_dlpack_for_write",
    "waitall",
    "while_loop",
]

def add_n(
    *data: ndarray | Sequence[ndarray],
    num_args: int = ...,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Sum arrays of the same shape and dtype."""
def add_rms_norm(
    data: ndarray,
    residual: ndarray,
    gamma: ndarray,
    axis: int = -1,
    eps: float = 1e-06,
    offset: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """rms_norm of data + residual, and the sum itself, in one pass over memory."""
def arange_like(
    data: ndarray,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: str = "",
    axis: int | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Return values from start in steps of step, each repeated repeat times, in the dtype of
    data."""
def batch_dot(
    lhs: ndarray,
    rhs: ndarray,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    forward_stype: Literal[None, "csr", "default", "row_sparse"] | str = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Multiply batched matrices over the last two axes."""
def batch_flatten(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Flatten all axes after the first: (N, ...) becomes (N, features)."""
def batch_norm(
    data: ndarray,
    gamma: ndarray,
    beta: ndarray,
    moving_mean: ndarray,
    moving_var: ndarray,
    eps: float = 0.001,
    momentum: float = 0.9,
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    output_mean_var: bool | int = False,
    axis: int = 1,
    cudnn_off: bool | int = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics for each index of axis
    (each channel)."""
def bipartite_matching(
    data: ndarray,
    is_ascend: bool | int = False,
    threshold: float = ...,
    topk: int = -1,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Match rows with columns greedily: the pair with the best score first, then the best remaining
    pair."""
def box_decode(
    data: ndarray,
    anchors: ndarray,
    std0: float = 1.0,
    std1: float = 1.0,
    std2: float = 1.0,
    std3: float = 1.0,
    clip: float = -1.0,
    format: Literal["center", "corner"] | str = "center",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Decode predicted offsets from anchors to boxes, as corners (xmin, ymin, xmax, ymax)."""
def box_encode(
    samples: ndarray,
    matches: ndarray,
    anchors: ndarray,
    refs: ndarray,
    means: ndarray,
    stds: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Compute training targets: the offsets from anchors to their matched boxes, and a mask."""
def box_iou(
    lhs: ndarray,
    rhs: ndarray,
    format: Literal["center", "corner"] | str = "corner",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Compute the intersection over union (IoU) of all pairs of boxes."""
def box_nms(
    data: ndarray,
    overlap_thresh: float = 0.5,
    valid_thresh: float = 0.0,
    topk: int = -1,
    coord_start: int = 2,
    score_index: int = 1,
    id_index: int = -1,
    background_id: int = -1,
    force_suppress: bool | int = False,
    in_format: Literal["center", "corner"] | str = "corner",
    out_format: Literal["center", "corner"] | str = "corner",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Apply non-maximum suppression: remove boxes that overlap a better box too much."""
def broadcast_greater(
    lhs: ndarray,
    rhs: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise lhs > rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_like(
    lhs: ndarray,
    rhs: ndarray,
    lhs_axes: int | Sequence[int] | None = None,
    rhs_axes: int | Sequence[int] | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Broadcast lhs to the shape of rhs: all axes, or lhs_axes to the sizes of rhs_axes."""
def cast(
    data: ndarray,
    dtype: DType,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Cast data to another dtype."""
def contrib_calibrate_entropy(
    hist: ndarray,
    hist_edges: ndarray,
    num_quantized_bins: int = 255,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Compute the threshold with the least relative entropy (information loss) when a histogram is
    quantized, and that entropy."""
def contrib_quantize(
    data: ndarray,
    min_range: ndarray,
    max_range: ndarray,
    out_type: Literal["int8", "uint8"] | str = "uint8",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Convert data to int8 or uint8, and return the represented range."""
def contrib_quantize_v2(
    data: ndarray,
    out_type: Literal["auto", "int8", "uint8"] | str = "int8",
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Convert data to int8 or uint8, and return the represented range."""
def contrib_quantized_rnn(
    data: ndarray,
    parameters: ndarray | None = None,
    state: ndarray | None = None,
    state_cell: ndarray | None = None,
    data_scale: ndarray | None = None,
    data_shift: ndarray | None = None,
    state_size: int = ...,
    num_layers: int = ...,
    bidirectional: bool | int = False,
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"] | str = ...,
    p: float = 0.0,
    state_outputs: bool | int = False,
    projection_size: int | None = None,
    lstm_state_clip_min: float | None = None,
    lstm_state_clip_max: float | None = None,
    lstm_state_clip_nan: bool | int = False,
    use_sequence_length: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Apply recurrent layers to data from _contrib_quantize_asym, with its scale and shift."""
def convolution(
    data: ndarray,
    weight: ndarray | None = None,
    bias: ndarray | None = None,
    kernel: int | Sequence[int] = ...,
    stride: int | Sequence[int] = (),
    dilate: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    num_filter: int = ...,
    num_group: int = 1,
    workspace: int = 1024,
    no_bias: bool | int = False,
    cudnn_tune: Literal["off", "limited_workspace", "fastest", None] | str = None,
    cudnn_off: bool | int = False,
    layout: Literal[None, "NCW", "NWC", "NCHW", "NHWC", "NCDHW", "NDHWC"] | str = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Convolution: slide num_filter filters over the spatial axes, and add the bias."""
def cross_entropy(
    data: ndarray,
    label: ndarray,
    ignore_label: int | None = None,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    reduction: Literal["none", "mean", "sum"] | str = "none",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Cross entropy of softmax(data) over the last axis with the classes in label."""
def ctc_loss(
    data: ndarray,
    label: ndarray | None = None,
    data_lengths: ndarray | None = None,
    label_lengths: ndarray | None = None,
    use_data_lengths: bool | int = False,
    use_label_lengths: bool | int = False,
    blank_label: Literal["first", "last"] | str = "first",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """CTC loss: negative logarithm of the probability of each label sequence, over all its
    alignments with the frames."""
def deconvolution(
    data: ndarray,
    weight: ndarray | None = None,
    bias: ndarray | None = None,
    kernel: int | Sequence[int] = ...,
    stride: int | Sequence[int] = (),
    dilate: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    adj: int | Sequence[int] = (),
    target_shape: int | Sequence[int] = (),
    num_filter: int = ...,
    num_group: int = 1,
    workspace: int = 512,
    no_bias: bool | int = True,
    cudnn_tune: Literal[None, "fastest", "limited_workspace", "off"] | str = None,
    cudnn_off: bool | int = False,
    layout: Literal[None, "NCW", "NCHW", "NHWC", "NCDHW", "NDHWC"] | str = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Transposed convolution: add up num_filter filters, scaled by the data, at every position, and
    add the bias."""
def deformable_convolution(
    data: ndarray,
    offset: ndarray | None = None,
    weight: ndarray | None = None,
    bias: ndarray | None = None,
    kernel: int | Sequence[int] = ...,
    stride: int | Sequence[int] = (),
    dilate: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    num_filter: int = ...,
    num_group: int = 1,
    num_deformable_group: int = 1,
    workspace: int = 1024,
    no_bias: bool | int = False,
    layout: Literal[None, "NCDHW", "NCHW", "NCW"] | str = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Apply deformable convolution: sample the elements of each window at offsets, with bilinear
    interpolation."""
def digamma(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise derivative of log gamma."""
def dropout(
    data: ndarray,
    p: float = 0.5,
    mode: Literal["always", "training"] | str = "training",
    axes: int | Sequence[int] = (),
    cudnn_off: bool | int | None = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Zero each element with probability p, and multiply the others by 1 / (1 - p)."""
def embedding(
    data: ndarray,
    weight: ndarray,
    input_dim: int,
    output_dim: int,
    dtype: DType = ...,
    sparse_grad: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Look up rows of weight by the indices in data."""
def erf(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise error function."""
def erfinv(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise inverse of the error function."""
def fully_connected(
    data: ndarray,
    weight: ndarray | None = None,
    bias: ndarray | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """data times the transposed weight, plus bias: a dense layer."""
def gamma(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise gamma function."""
def gammaln(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise logarithm of the gamma function's absolute value."""
def gather_nd(
    data: ndarray,
    indices: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Gather elements of data at points: column j of indices holds the M coordinates of point j."""
def geglu(
    data: ndarray,
    value: ndarray | None = None,
    approximation: Literal["erf", "tanh", "sigmoid"] | str = "erf",
    axis: int = -1,
    use_value: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """GELU of gate, or an approximation of it, times value, elementwise."""
def instance_norm(
    data: ndarray,
    gamma: ndarray,
    beta: ndarray,
    eps: float = 0.001,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics of each sample and
    channel."""
def interleaved_matmul_encdec_qk(
    queries: ndarray,
    keys_values: ndarray,
    heads: int,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Attention scores: products of queries and keys, divided by sqrt(units)."""
def interleaved_matmul_encdec_valatt(
    keys_values: ndarray,
    attention: ndarray,
    heads: int,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Values weighted by attention, summed over the keys."""
def interleaved_matmul_selfatt_qk(
    queries_keys_values: ndarray,
    heads: int,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Self-attention scores: products of queries and keys, divided by sqrt(units)."""
def interleaved_matmul_selfatt_valatt(
    queries_keys_values: ndarray,
    attention: ndarray,
    heads: int,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Values of self-attention weighted by attention, summed over the keys."""
def intgemm_fully_connected(
    data: ndarray,
    weight: ndarray | None = None,
    scaling: ndarray | None = None,
    bias: ndarray | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    out_type: Literal["float32", "int32"] | DType = "float32",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Multiply prepared data by a prepared weight: ``scaling * data weight^T + bias``."""
def intgemm_maxabsolute(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """The largest absolute value, which `intgemm_prepare_data` takes."""
def intgemm_prepare_data(
    data: ndarray,
    maxabs: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Convert data to int8: ``round(data * 127 / maxabs)``, clipped to [-127, 127]."""
def intgemm_prepare_weight(
    weight: ndarray,
    maxabs: ndarray | None = None,
    already_quantized: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Convert a weight to int8, for `intgemm_fully_connected`."""
def intgemm_take_weight(
    weight: ndarray,
    indices: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Select rows of a prepared weight."""
def layer_norm(
    data: ndarray,
    gamma: ndarray,
    beta: ndarray,
    axis: int = -1,
    eps: float = 1e-05,
    output_mean_var: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics along axis."""
def leaky_relu(
    data: ndarray,
    gamma: ndarray | None = None,
    act_type: Literal["elu", "gelu", "leaky", "prelu", "rrelu", "selu", "gelu_erf", "gelu_tanh", "gelu_sigmoid"] | str = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Leaky ReLU and its variants, elementwise, by act_type."""
def linear_cross_entropy(
    data: ndarray,
    weight: ndarray | None = None,
    label: ndarray | None = None,
    bias: ndarray | None = None,
    recompute: bool | int = False,
    use_bias: bool | int = False,
    ignore_label: int | None = None,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    reduction: Literal["none", "mean", "sum"] | str = "none",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Cross entropy of the scores data weight^T + bias with the classes in label."""
def log_softmax(
    data: ndarray,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | int | None = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Logarithm of softmax along axis, of data / temperature."""
def modulated_deformable_convolution(
    data: ndarray,
    offset: ndarray | None = None,
    mask: ndarray | None = None,
    weight: ndarray | None = None,
    bias: ndarray | None = None,
    kernel: int | Sequence[int] = ...,
    stride: int | Sequence[int] = (),
    dilate: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    num_filter: int = ...,
    num_group: int = 1,
    num_deformable_group: int = 1,
    workspace: int = 1024,
    no_bias: bool | int = False,
    im2col_step: int = 64,
    layout: Literal[None, "NCDHW", "NCHW", "NCW"] | str = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Apply modulated deformable convolution: sample the elements of each window at offsets, with
    bilinear interpolation, and multiply each element by mask."""
def multibox_detection(
    cls_prob: ndarray,
    loc_pred: ndarray,
    anchor: ndarray,
    clip: bool | int = True,
    threshold: float = 0.01,
    background_id: int = 0,
    nms_threshold: float = 0.5,
    force_suppress: bool | int = False,
    variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    nms_topk: int = -1,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Decode the predictions of a detector to rows (class, score, xmin, ymin, xmax, ymax)."""
def multibox_prior(
    data: ndarray,
    sizes: float | Sequence[float] = (1.0,),
    ratios: float | Sequence[float] = (1.0,),
    clip: bool | int = False,
    steps: float | Sequence[float] = (-1.0, -1.0),
    offsets: float | Sequence[float] = (0.5, 0.5),
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Generate anchor boxes centered at every pixel of a feature map, as corners (xmin, ymin, xmax,
    ymax)."""
def multibox_target(
    anchor: ndarray,
    label: ndarray,
    cls_pred: ndarray,
    overlap_threshold: float = 0.5,
    ignore_label: float = -1.0,
    negative_mining_ratio: float = -1.0,
    negative_mining_thresh: float = 0.5,
    minimum_negative_samples: int = 0,
    variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Compute training targets for anchors: offsets to boxes, a mask of the matched anchors, and
    classes."""
def norm(
    data: ndarray,
    ord: int = 2,
    axis: int | Sequence[int] | None = None,
    out_dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Compute the norm along axis, or over all elements: the sum of absolute values (ord=1) or the
    square root of the sum of squares (ord=2)."""
def one_hot(
    indices: ndarray,
    depth: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: DType = ...,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Return rows of depth values: on_value at the index, off_value elsewhere."""
def pad(
    data: ndarray,
    mode: Literal["constant", "edge", "reflect"] | str,
    pad_width: int | Sequence[int],
    constant_value: float = 0.0,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Pad data."""
def pick(
    data: ndarray,
    index: ndarray,
    axis: int | None = -1,
    keepdims: bool | int = False,
    mode: Literal["clip", "wrap"] | str = "clip",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Pick one element of every row along axis, at the position in index."""
def pooling(
    data: ndarray,
    kernel: int | Sequence[int] = (),
    pool_type: Literal["max", "avg", "sum", "lp"] | str = "max",
    global_pool: bool | int = False,
    cudnn_off: bool | int = False,
    pooling_convention: Literal["full", "valid", "same"] | str = "valid",
    stride: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    p_value: int | None = None,
    count_include_pad: bool | int | None = None,
    layout: Literal[None, "NCW", "NWC", "NCHW", "NHWC", "NCDHW", "NDHWC"] | str = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Pooling: the maximum, mean, sum or p-norm of each window of the spatial axes."""
def quantized_act(
    data: ndarray,
    min_data: ndarray,
    max_data: ndarray,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] | str,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Apply an activation to a quantized array; act_type must be relu."""
def quantized_conv(
    data: ndarray,
    weight: ndarray | None = None,
    bias: ndarray | None = None,
    min_data: ndarray | None = None,
    max_data: ndarray | None = None,
    min_weight: ndarray | None = None,
    max_weight: ndarray | None = None,
    min_bias: ndarray | None = None,
    max_bias: ndarray | None = None,
    kernel: int | Sequence[int] = ...,
    stride: int | Sequence[int] = (),
    dilate: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    num_filter: int = ...,
    num_group: int = 1,
    workspace: int = 1024,
    no_bias: bool | int = False,
    cudnn_tune: Literal["off", "limited_workspace", "fastest", None] | str = None,
    cudnn_off: bool | int = False,
    layout: Literal[None, "NCW", "NWC", "NCHW", "NHWC", "NCDHW", "NDHWC"] | str = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Convolve quantized arrays, with the attributes of Convolution."""
def quantized_elemwise_add(
    lhs: ndarray,
    rhs: ndarray,
    lhs_min: ndarray,
    lhs_max: ndarray,
    rhs_min: ndarray,
    rhs_max: ndarray,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Add two quantized arrays, as int32 with a range that holds all sums."""
def quantized_elemwise_mul(
    lhs: ndarray,
    rhs: ndarray,
    lhs_min: ndarray,
    lhs_max: ndarray,
    rhs_min: ndarray,
    rhs_max: ndarray,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    enable_float_output: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Multiply two quantized arrays, as int32 with its range."""
def quantized_embedding(
    data: ndarray,
    weight: ndarray,
    min_weight: ndarray,
    max_weight: ndarray,
    input_dim: int,
    output_dim: int,
    dtype: DType = ...,
    sparse_grad: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Look up rows of a quantized weight; the range does not change."""
def quantized_flatten(
    data: ndarray,
    min_data: ndarray,
    max_data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Flatten all axes of a quantized array after the first."""
def quantized_fully_connected(
    data: ndarray,
    weight: ndarray | None = None,
    bias: ndarray | None = None,
    min_data: ndarray | None = None,
    max_data: ndarray | None = None,
    min_weight: ndarray | None = None,
    max_weight: ndarray | None = None,
    min_bias: ndarray | None = None,
    max_bias: ndarray | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Apply the dense layer x W^T + b to quantized arrays."""
def quantized_npi_add(
    lhs: ndarray,
    rhs: ndarray,
    lhs_min: ndarray,
    lhs_max: ndarray,
    rhs_min: ndarray,
    rhs_max: ndarray,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Add two quantized arrays, as int32 with a range that holds all sums."""
def quantized_pooling(
    data: ndarray,
    min_data: ndarray,
    max_data: ndarray,
    kernel: int | Sequence[int] = (),
    pool_type: Literal["max", "avg", "sum", "lp"] | str = "max",
    global_pool: bool | int = False,
    cudnn_off: bool | int = False,
    pooling_convention: Literal["full", "valid", "same"] | str = "valid",
    stride: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    p_value: int | None = None,
    count_include_pad: bool | int | None = None,
    layout: Literal[None, "NCW", "NWC", "NCHW", "NHWC", "NCDHW", "NDHWC"] | str = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Compute the maximum or mean over windows of a quantized array; attributes are as in
    Pooling."""
def quantized_reshape(
    data: ndarray,
    min_data: ndarray,
    max_data: ndarray,
    newshape: int | Sequence[int],
    reverse: bool | int = False,
    order: str = "C",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Reshape a quantized array; attributes are as in npx.reshape."""
def quantized_transpose(
    data: ndarray,
    min_data: ndarray,
    max_data: ndarray,
    axes: int | Sequence[int] | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Permute the axes of a quantized array; without axes, reverse them."""
def relu(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise maximum of data and 0."""
def requantize(
    data: ndarray,
    min_range: ndarray,
    max_range: ndarray,
    out_type: Literal["auto", "int8", "uint8"] | str = "int8",
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Convert int32 data to int8 or uint8, and return the new range."""
def reshape(
    a: ndarray,
    newshape: int | Sequence[int],
    reverse: bool | int = False,
    order: str = "C",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """The same elements in the same order in another shape."""
def reshape_like(
    lhs: ndarray,
    rhs: ndarray,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Reshape lhs to the shape of rhs."""
def rms_norm(
    data: ndarray,
    gamma: ndarray,
    axis: int = -1,
    eps: float = 1e-06,
    offset: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """data / sqrt(mean(data^2) + eps) * gamma, with the mean along axis."""
def rnn(
    data: ndarray,
    parameters: ndarray | None = None,
    state: ndarray | None = None,
    state_cell: ndarray | None = None,
    sequence_length: ndarray | None = None,
    state_size: int = ...,
    num_layers: int = ...,
    bidirectional: bool | int = False,
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"] | str = ...,
    p: float = 0.0,
    state_outputs: bool | int = False,
    projection_size: int | None = None,
    lstm_state_clip_min: float | None = None,
    lstm_state_clip_max: float | None = None,
    lstm_state_clip_nan: bool | int = False,
    use_sequence_length: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Recurrent layers (RNN, LSTM or GRU) over complete sequences."""
def roi_pooling(
    data: ndarray,
    rois: ndarray,
    pooled_size: int | Sequence[int],
    spatial_scale: float,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Apply region of interest (ROI) pooling: pool each region to a pooled_size grid of maxima."""
def rotary_embedding(
    data: ndarray,
    positions: ndarray | None = None,
    offset: int = 0,
    dim: int | None = None,
    pairing: Literal["halves", "neighbours"] | str = "halves",
    layout: Literal["NHTC", "NTHC", "TNHC"] | str = "NHTC",
    base: float = 10000.0,
    scaling: Literal["none", "linear", "dynamic", "llama3", "yarn"] | str = "none",
    factor: float = 1.0,
    original_max_position_embeddings: int | None = None,
    low_freq_factor: float = 1.0,
    high_freq_factor: float = 4.0,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool | int = True,
    attention_factor: float | None = None,
    use_positions: bool | int = False,
    transposed: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Rotate pairs of elements by the angle position * base^(-2 i / dim) of pair i."""
def round_ste(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Round data to the nearest integer; the gradient passes through unchanged."""
def scaled_dot_product_attention(
    query: ndarray,
    key: ndarray | None = None,
    value: ndarray | None = None,
    mask: ndarray | None = None,
    valid_length: ndarray | None = None,
    dropout: float = 0.0,
    mode: Literal["always", "training"] | str = "training",
    causal: bool | int = False,
    window: int | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    layout: Literal["NHTC", "NTHC", "TNHC"] | str = "NHTC",
    use_mask: bool | int = False,
    use_length: bool | int = False,
    swapped: bool | int = False,
    bounded: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Attention: softmax of scaled products of queries and keys, times values."""
def sequence_last(
    data: ndarray,
    sequence_length: ndarray | None = None,
    use_sequence_length: bool | int = False,
    axis: int = 0,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """The last step of every sequence."""
def sequence_mask(
    data: ndarray,
    sequence_length: ndarray | None = None,
    use_sequence_length: bool | int = False,
    value: float = 0.0,
    axis: int = 0,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """data with everything after the end of each sequence set to value."""
def sequence_reverse(
    data: ndarray,
    sequence_length: ndarray | None = None,
    use_sequence_length: bool | int = False,
    axis: int = 0,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Every sequence reversed; the steps after its end are unchanged."""
def shape_array(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Return the shape of data, as int64."""
def sigmoid(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise 1 / (1 + exp(-data))."""
def sign_ste(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Compute the sign of data (-1, 0 or 1); the gradient passes through unchanged."""
def sldwin_atten_context(
    score: ndarray,
    value: ndarray,
    dilation: ndarray,
    w: int,
    symmetric: bool | int,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Values in each position's sliding window, weighted by score and summed."""
def sldwin_atten_mask_like(
    score: ndarray,
    dilation: ndarray,
    valid_length: ndarray,
    w: int,
    symmetric: bool | int,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """1 where both a position and the entry of its window lie within the sequence, else 0."""
def sldwin_atten_score(
    query: ndarray,
    key: ndarray,
    dilation: ndarray,
    w: int,
    symmetric: bool | int,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Products of each query with the keys in its sliding window."""
def slice(
    data: ndarray,
    begin: int | Sequence[int | None],
    end: int | Sequence[int | None],
    step: int | Sequence[int | None] = (),
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Slice data from begin up to end in steps of step, as Python slices."""
def slice_channel(
    data: ndarray,
    num_outputs: int,
    axis: int = 1,
    squeeze_axis: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Split data into num_outputs equal pieces along axis."""
def slice_like(
    data: ndarray,
    shape_like: ndarray,
    axes: int | Sequence[int] = (),
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Slice the first elements of data along axes (all by default), to the sizes of shape_like."""
def smooth_l1(
    data: ndarray,
    scalar: float = 1.0,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Compute the smooth L1 loss elementwise: (scalar * data)^2 / 2 where abs(data) < 1 / scalar^2,
    else abs(data) - 0.5 / scalar^2."""
def softmax(
    data: ndarray,
    length: ndarray | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | int | None = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """e^x / sum of e^x along axis, of data / temperature."""
def softsign(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data / (1 + abs(data))."""
def stop_gradient(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Return data, and stop the gradient."""
def swiglu(
    data: ndarray,
    value: ndarray | None = None,
    axis: int = -1,
    use_value: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """gate * sigmoid(gate) times value, elementwise."""
def sync_batch_norm(
    data: ndarray,
    gamma: ndarray,
    beta: ndarray,
    moving_mean: ndarray,
    moving_var: ndarray,
    eps: float = 0.001,
    momentum: float = 0.9,
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    output_mean_var: bool | int = False,
    ndev: int = 1,
    key: str = ...,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Compute (data - mean) / sqrt(variance + eps) * gamma + beta, with statistics for each channel
    over all devices."""
def tensor_poisson(
    lam: ndarray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw integers from Poisson distributions with mean lam."""
def topk(
    data: ndarray,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: Literal["both", "indices", "mask", "value"] | str = "indices",
    is_ascend: bool | int = False,
    dtype: DType = ...,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Return the k largest elements along axis in descending order, or with is_ascend the k
    smallest in ascending order."""
def weight_only_dense(
    data: ndarray,
    weight: ndarray | None = None,
    scale: ndarray | None = None,
    bias: ndarray | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    group_size: int | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Dense layer with a weight of 8-bit integers: data times the transpose of weight * scale, plus
    bias."""
