# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Sequence
from gluonish.core.devices import Context as Context
from gluonish.core.devices import cpu as cpu
from gluonish.core.devices import cpu_pinned as cpu_pinned
from gluonish.core.devices import current_context as current_context
from gluonish.core.devices import gpu as gpu
from gluonish.core.devices import gpu_memory_info as gpu_memory_info
from gluonish.core.devices import num_gpus as num_gpus
from gluonish.core.dtype import DType
from gluonish.core.numpy_mode import is_np_array as is_np_array
from gluonish.core.numpy_mode import is_np_shape as is_np_shape
from gluonish.core.user_functions import get_cuda_compute_capability as get_cuda_compute_capability
from gluonish.core.user_functions import reset_np as reset_np
from gluonish.core.user_functions import set_np as set_np
from gluonish.ndarray.functions import waitall as waitall
from gluonish.numpy.array import ndarray
from gluonish.numpy_extension import image as image
from gluonish.numpy_extension import random as random
from gluonish.numpy_extension.files import load as load
from gluonish.numpy_extension.files import save as save
from gluonish.numpy_extension.operators import constraint_check as constraint_check
from gluonish.numpy_extension.operators import nonzero as nonzero
from typing import Literal

__all__ = [
    "Context",
    "constraint_check",
    "cpu",
    "cpu_pinned",
    "current_context",
    "get_cuda_compute_capability",
    "gpu",
    "gpu_memory_info",
    "image",
    "is_np_array",
    "is_np_shape",
    "load",
    "nonzero",
    "num_gpus",
    "random",
    "reset_np",
    "save",
    "set_np",
    "waitall",
]

def activation(
    data: ndarray,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] | str,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise activation function: relu, sigmoid, softrelu log(1 + e^data), softsign data / (1
    + |data|), or tanh."""
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
def cast(
    data: ndarray,
    dtype: DType,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Cast data to another dtype."""
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
def relu(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise maximum of data and 0."""
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
    bits: object = 8,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Dense layer with a weight of integers: data times the transpose of weight * scale, plus
    bias."""
