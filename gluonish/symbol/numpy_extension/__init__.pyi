# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Mapping
from collections.abc import Sequence
from gluonish.core.dtype import DType
from gluonish.symbol.numpy_extension import image as image
from gluonish.symbol.numpy_extension import random as random
from gluonish.symbol.numpy_symbol import NumpySymbol
from typing import Literal

__all__ = [
    "image",
    "random",
]

def activation(
    data: NumpySymbol | None = None,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] | str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise activation function: relu, sigmoid, softrelu log(1 + e^data), softsign data / (1
    + |data|), or tanh."""
def add_n(
    *data: NumpySymbol | Sequence[NumpySymbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Sum arrays of the same shape and dtype."""
def add_rms_norm(
    data: NumpySymbol | None = None,
    residual: NumpySymbol | None = None,
    gamma: NumpySymbol | None = None,
    axis: int = -1,
    eps: float = 1e-06,
    offset: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """rms_norm of data + residual, and the sum itself, in one pass over memory."""
def arange_like(
    data: NumpySymbol | None = None,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: str = "",
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Return values from start in steps of step, each repeated repeat times, in the dtype of
    data."""
def batch_dot(
    lhs: NumpySymbol | None = None,
    rhs: NumpySymbol | None = None,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    forward_stype: Literal[None, "csr", "default", "row_sparse"] | str = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Multiply batched matrices over the last two axes."""
def batch_flatten(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Flatten all axes after the first: (N, ...) becomes (N, features)."""
def batch_norm(
    data: NumpySymbol | None = None,
    gamma: NumpySymbol | None = None,
    beta: NumpySymbol | None = None,
    moving_mean: NumpySymbol | None = None,
    moving_var: NumpySymbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics for each index of axis
    (each channel)."""
def bipartite_matching(
    data: NumpySymbol | None = None,
    is_ascend: bool | int = False,
    threshold: float = ...,
    topk: int = -1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Match rows with columns greedily: the pair with the best score first, then the best remaining
    pair."""
def box_decode(
    data: NumpySymbol | None = None,
    anchors: NumpySymbol | None = None,
    std0: float = 1.0,
    std1: float = 1.0,
    std2: float = 1.0,
    std3: float = 1.0,
    clip: float = -1.0,
    format: Literal["center", "corner"] | str = "center",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Decode predicted offsets from anchors to boxes, as corners (xmin, ymin, xmax, ymax)."""
def box_encode(
    samples: NumpySymbol | None = None,
    matches: NumpySymbol | None = None,
    anchors: NumpySymbol | None = None,
    refs: NumpySymbol | None = None,
    means: NumpySymbol | None = None,
    stds: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute training targets: the offsets from anchors to their matched boxes, and a mask."""
def box_iou(
    lhs: NumpySymbol | None = None,
    rhs: NumpySymbol | None = None,
    format: Literal["center", "corner"] | str = "corner",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the intersection over union (IoU) of all pairs of boxes."""
def box_nms(
    data: NumpySymbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Apply non-maximum suppression: remove boxes that overlap a better box too much."""
def broadcast_greater(
    lhs: NumpySymbol | None = None,
    rhs: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise lhs > rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_like(
    lhs: NumpySymbol | None = None,
    rhs: NumpySymbol | None = None,
    lhs_axes: int | Sequence[int] | None = None,
    rhs_axes: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Broadcast lhs to the shape of rhs: all axes, or lhs_axes to the sizes of rhs_axes."""
def cast(
    data: NumpySymbol | None = None,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Cast data to another dtype."""
def constraint_check(
    input: NumpySymbol | None = None,
    msg: str = "Constraint violated.",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """True if all elements are true; otherwise an error with the text msg when the result is waited
    for."""
def contrib_calibrate_entropy(
    hist: NumpySymbol | None = None,
    hist_edges: NumpySymbol | None = None,
    num_quantized_bins: int = 255,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the threshold with the least relative entropy (information loss) when a histogram is
    quantized, and that entropy."""
def contrib_quantize(
    data: NumpySymbol | None = None,
    min_range: NumpySymbol | None = None,
    max_range: NumpySymbol | None = None,
    out_type: Literal["int8", "uint8"] | str = "uint8",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Convert data to int8 or uint8, and return the represented range."""
def contrib_quantize_v2(
    data: NumpySymbol | None = None,
    out_type: Literal["auto", "int8", "uint8"] | str = "int8",
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Convert data to int8 or uint8, and return the represented range."""
def contrib_quantized_rnn(
    data: NumpySymbol | None = None,
    parameters: NumpySymbol | None = None,
    state: NumpySymbol | None = None,
    state_cell: NumpySymbol | None = None,
    data_scale: NumpySymbol | None = None,
    data_shift: NumpySymbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Apply recurrent layers to data from _contrib_quantize_asym, with its scale and shift."""
def convolution(
    data: NumpySymbol | None = None,
    weight: NumpySymbol | None = None,
    bias: NumpySymbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Convolution: slide num_filter filters over the spatial axes, and add the bias."""
def cross_entropy(
    data: NumpySymbol | None = None,
    label: NumpySymbol | None = None,
    ignore_label: int | None = None,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    reduction: Literal["none", "mean", "sum"] | str = "none",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Cross entropy of softmax(data) over the last axis with the classes in label."""
def ctc_loss(
    data: NumpySymbol | None = None,
    label: NumpySymbol | None = None,
    data_lengths: NumpySymbol | None = None,
    label_lengths: NumpySymbol | None = None,
    use_data_lengths: bool | int = False,
    use_label_lengths: bool | int = False,
    blank_label: Literal["first", "last"] | str = "first",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """CTC loss: negative logarithm of the probability of each label sequence, over all its
    alignments with the frames."""
def deconvolution(
    data: NumpySymbol | None = None,
    weight: NumpySymbol | None = None,
    bias: NumpySymbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Transposed convolution: add up num_filter filters, scaled by the data, at every position, and
    add the bias."""
def deformable_convolution(
    data: NumpySymbol | None = None,
    offset: NumpySymbol | None = None,
    weight: NumpySymbol | None = None,
    bias: NumpySymbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Apply deformable convolution: sample the elements of each window at offsets, with bilinear
    interpolation."""
def digamma(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise derivative of log gamma."""
def dropout(
    data: NumpySymbol | None = None,
    p: float = 0.5,
    mode: Literal["always", "training"] | str = "training",
    axes: int | Sequence[int] = (),
    cudnn_off: bool | int | None = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Zero each element with probability p, and multiply the others by 1 / (1 - p)."""
def embedding(
    data: NumpySymbol | None = None,
    weight: NumpySymbol | None = None,
    input_dim: int = ...,
    output_dim: int = ...,
    dtype: DType = ...,
    sparse_grad: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Look up rows of weight by the indices in data."""
def erf(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise error function."""
def erfinv(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise inverse of the error function."""
def fully_connected(
    data: NumpySymbol | None = None,
    weight: NumpySymbol | None = None,
    bias: NumpySymbol | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """data times the transposed weight, plus bias: a dense layer."""
def gamma(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise gamma function."""
def gammaln(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise logarithm of the gamma function's absolute value."""
def gather_nd(
    data: NumpySymbol | None = None,
    indices: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Gather elements of data at points: column j of indices holds the M coordinates of point j."""
def geglu(
    data: NumpySymbol | None = None,
    value: NumpySymbol | None = None,
    approximation: Literal["erf", "tanh", "sigmoid"] | str = "erf",
    axis: int = -1,
    use_value: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """GELU of gate, or an approximation of it, times value, elementwise."""
def instance_norm(
    data: NumpySymbol | None = None,
    gamma: NumpySymbol | None = None,
    beta: NumpySymbol | None = None,
    eps: float = 0.001,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics of each sample and
    channel."""
def interleaved_matmul_encdec_qk(
    queries: NumpySymbol | None = None,
    keys_values: NumpySymbol | None = None,
    heads: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Attention scores: products of queries and keys, divided by sqrt(units)."""
def interleaved_matmul_encdec_valatt(
    keys_values: NumpySymbol | None = None,
    attention: NumpySymbol | None = None,
    heads: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Values weighted by attention, summed over the keys."""
def interleaved_matmul_selfatt_qk(
    queries_keys_values: NumpySymbol | None = None,
    heads: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Self-attention scores: products of queries and keys, divided by sqrt(units)."""
def interleaved_matmul_selfatt_valatt(
    queries_keys_values: NumpySymbol | None = None,
    attention: NumpySymbol | None = None,
    heads: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Values of self-attention weighted by attention, summed over the keys."""
def intgemm_fully_connected(
    data: NumpySymbol | None = None,
    weight: NumpySymbol | None = None,
    scaling: NumpySymbol | None = None,
    bias: NumpySymbol | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    out_type: Literal["float32", "int32"] | DType = "float32",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Multiply prepared data by a prepared weight: ``scaling * data weight^T + bias``."""
def intgemm_maxabsolute(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """The largest absolute value, which `intgemm_prepare_data` takes."""
def intgemm_prepare_data(
    data: NumpySymbol | None = None,
    maxabs: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Convert data to int8: ``round(data * 127 / maxabs)``, clipped to [-127, 127]."""
def intgemm_prepare_weight(
    weight: NumpySymbol | None = None,
    maxabs: NumpySymbol | None = None,
    already_quantized: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Convert a weight to int8, for `intgemm_fully_connected`."""
def intgemm_take_weight(
    weight: NumpySymbol | None = None,
    indices: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Select rows of a prepared weight."""
def layer_norm(
    data: NumpySymbol | None = None,
    gamma: NumpySymbol | None = None,
    beta: NumpySymbol | None = None,
    axis: int = -1,
    eps: float = 1e-05,
    output_mean_var: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics along axis."""
def leaky_relu(
    data: NumpySymbol | None = None,
    gamma: NumpySymbol | None = None,
    act_type: Literal["elu", "gelu", "leaky", "prelu", "rrelu", "selu", "gelu_erf", "gelu_tanh", "gelu_sigmoid"] | str = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Leaky ReLU and its variants, elementwise, by act_type."""
def linear_cross_entropy(
    data: NumpySymbol | None = None,
    weight: NumpySymbol | None = None,
    label: NumpySymbol | None = None,
    bias: NumpySymbol | None = None,
    recompute: bool | int = False,
    use_bias: bool | int = False,
    ignore_label: int | None = None,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    reduction: Literal["none", "mean", "sum"] | str = "none",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Cross entropy of the scores data weight^T + bias with the classes in label."""
def log_softmax(
    data: NumpySymbol | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | int | None = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Logarithm of softmax along axis, of data / temperature."""
def modulated_deformable_convolution(
    data: NumpySymbol | None = None,
    offset: NumpySymbol | None = None,
    mask: NumpySymbol | None = None,
    weight: NumpySymbol | None = None,
    bias: NumpySymbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Apply modulated deformable convolution: sample the elements of each window at offsets, with
    bilinear interpolation, and multiply each element by mask."""
def multibox_detection(
    cls_prob: NumpySymbol | None = None,
    loc_pred: NumpySymbol | None = None,
    anchor: NumpySymbol | None = None,
    clip: bool | int = True,
    threshold: float = 0.01,
    background_id: int = 0,
    nms_threshold: float = 0.5,
    force_suppress: bool | int = False,
    variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    nms_topk: int = -1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Decode the predictions of a detector to rows (class, score, xmin, ymin, xmax, ymax)."""
def multibox_prior(
    data: NumpySymbol | None = None,
    sizes: float | Sequence[float] = (1.0,),
    ratios: float | Sequence[float] = (1.0,),
    clip: bool | int = False,
    steps: float | Sequence[float] = (-1.0, -1.0),
    offsets: float | Sequence[float] = (0.5, 0.5),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Generate anchor boxes centered at every pixel of a feature map, as corners (xmin, ymin, xmax,
    ymax)."""
def multibox_target(
    anchor: NumpySymbol | None = None,
    label: NumpySymbol | None = None,
    cls_pred: NumpySymbol | None = None,
    overlap_threshold: float = 0.5,
    ignore_label: float = -1.0,
    negative_mining_ratio: float = -1.0,
    negative_mining_thresh: float = 0.5,
    minimum_negative_samples: int = 0,
    variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute training targets for anchors: offsets to boxes, a mask of the matched anchors, and
    classes."""
def nonzero(
    x: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Coordinates of the elements that are not 0, a row for each, as int64."""
def norm(
    data: NumpySymbol | None = None,
    ord: int = 2,
    axis: int | Sequence[int] | None = None,
    out_dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the norm along axis, or over all elements: the sum of absolute values (ord=1) or the
    square root of the sum of squares (ord=2)."""
def one_hot(
    indices: NumpySymbol | None = None,
    depth: int = ...,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Return rows of depth values: on_value at the index, off_value elsewhere."""
def pad(
    data: NumpySymbol | None = None,
    mode: Literal["constant", "edge", "reflect"] | str = ...,
    pad_width: int | Sequence[int] = ...,
    constant_value: float = 0.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Pad data."""
def pick(
    data: NumpySymbol | None = None,
    index: NumpySymbol | None = None,
    axis: int | None = -1,
    keepdims: bool | int = False,
    mode: Literal["clip", "wrap"] | str = "clip",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Pick one element of every row along axis, at the position in index."""
def pooling(
    data: NumpySymbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Pooling: the maximum, mean, sum or p-norm of each window of the spatial axes."""
def quantized_act(
    data: NumpySymbol | None = None,
    min_data: NumpySymbol | None = None,
    max_data: NumpySymbol | None = None,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] | str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Apply an activation to a quantized array; act_type must be relu."""
def quantized_conv(
    data: NumpySymbol | None = None,
    weight: NumpySymbol | None = None,
    bias: NumpySymbol | None = None,
    min_data: NumpySymbol | None = None,
    max_data: NumpySymbol | None = None,
    min_weight: NumpySymbol | None = None,
    max_weight: NumpySymbol | None = None,
    min_bias: NumpySymbol | None = None,
    max_bias: NumpySymbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Convolve quantized arrays, with the attributes of Convolution."""
def quantized_elemwise_add(
    lhs: NumpySymbol | None = None,
    rhs: NumpySymbol | None = None,
    lhs_min: NumpySymbol | None = None,
    lhs_max: NumpySymbol | None = None,
    rhs_min: NumpySymbol | None = None,
    rhs_max: NumpySymbol | None = None,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Add two quantized arrays, as int32 with a range that holds all sums."""
def quantized_elemwise_mul(
    lhs: NumpySymbol | None = None,
    rhs: NumpySymbol | None = None,
    lhs_min: NumpySymbol | None = None,
    lhs_max: NumpySymbol | None = None,
    rhs_min: NumpySymbol | None = None,
    rhs_max: NumpySymbol | None = None,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    enable_float_output: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Multiply two quantized arrays, as int32 with its range."""
def quantized_embedding(
    data: NumpySymbol | None = None,
    weight: NumpySymbol | None = None,
    min_weight: NumpySymbol | None = None,
    max_weight: NumpySymbol | None = None,
    input_dim: int = ...,
    output_dim: int = ...,
    dtype: DType = ...,
    sparse_grad: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Look up rows of a quantized weight; the range does not change."""
def quantized_flatten(
    data: NumpySymbol | None = None,
    min_data: NumpySymbol | None = None,
    max_data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Flatten all axes of a quantized array after the first."""
def quantized_fully_connected(
    data: NumpySymbol | None = None,
    weight: NumpySymbol | None = None,
    bias: NumpySymbol | None = None,
    min_data: NumpySymbol | None = None,
    max_data: NumpySymbol | None = None,
    min_weight: NumpySymbol | None = None,
    max_weight: NumpySymbol | None = None,
    min_bias: NumpySymbol | None = None,
    max_bias: NumpySymbol | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Apply the dense layer x W^T + b to quantized arrays."""
def quantized_npi_add(
    lhs: NumpySymbol | None = None,
    rhs: NumpySymbol | None = None,
    lhs_min: NumpySymbol | None = None,
    lhs_max: NumpySymbol | None = None,
    rhs_min: NumpySymbol | None = None,
    rhs_max: NumpySymbol | None = None,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Add two quantized arrays, as int32 with a range that holds all sums."""
def quantized_pooling(
    data: NumpySymbol | None = None,
    min_data: NumpySymbol | None = None,
    max_data: NumpySymbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the maximum or mean over windows of a quantized array; attributes are as in
    Pooling."""
def quantized_reshape(
    data: NumpySymbol | None = None,
    min_data: NumpySymbol | None = None,
    max_data: NumpySymbol | None = None,
    newshape: int | Sequence[int] = ...,
    reverse: bool | int = False,
    order: str = "C",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Reshape a quantized array; attributes are as in npx.reshape."""
def quantized_transpose(
    data: NumpySymbol | None = None,
    min_data: NumpySymbol | None = None,
    max_data: NumpySymbol | None = None,
    axes: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Permute the axes of a quantized array; without axes, reverse them."""
def relu(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise maximum of data and 0."""
def requantize(
    data: NumpySymbol | None = None,
    min_range: NumpySymbol | None = None,
    max_range: NumpySymbol | None = None,
    out_type: Literal["auto", "int8", "uint8"] | str = "int8",
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Convert int32 data to int8 or uint8, and return the new range."""
def reshape(
    a: NumpySymbol | None = None,
    newshape: int | Sequence[int] = ...,
    reverse: bool | int = False,
    order: str = "C",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """The same elements in the same order in another shape."""
def reshape_like(
    lhs: NumpySymbol | None = None,
    rhs: NumpySymbol | None = None,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Reshape lhs to the shape of rhs."""
def rms_norm(
    data: NumpySymbol | None = None,
    gamma: NumpySymbol | None = None,
    axis: int = -1,
    eps: float = 1e-06,
    offset: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """data / sqrt(mean(data^2) + eps) * gamma, with the mean along axis."""
def rnn(
    data: NumpySymbol | None = None,
    parameters: NumpySymbol | None = None,
    state: NumpySymbol | None = None,
    state_cell: NumpySymbol | None = None,
    sequence_length: NumpySymbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Recurrent layers (RNN, LSTM or GRU) over complete sequences."""
def roi_pooling(
    data: NumpySymbol | None = None,
    rois: NumpySymbol | None = None,
    pooled_size: int | Sequence[int] = ...,
    spatial_scale: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Apply region of interest (ROI) pooling: pool each region to a pooled_size grid of maxima."""
def rotary_embedding(
    data: NumpySymbol | None = None,
    positions: NumpySymbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Rotate pairs of elements by the angle position * base^(-2 i / dim) of pair i."""
def round_ste(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Round data to the nearest integer; the gradient passes through unchanged."""
def scaled_dot_product_attention(
    query: NumpySymbol | None = None,
    key: NumpySymbol | None = None,
    value: NumpySymbol | None = None,
    mask: NumpySymbol | None = None,
    valid_length: NumpySymbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Attention: softmax of scaled products of queries and keys, times values."""
def sequence_last(
    data: NumpySymbol | None = None,
    sequence_length: NumpySymbol | None = None,
    use_sequence_length: bool | int = False,
    axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """The last step of every sequence."""
def sequence_mask(
    data: NumpySymbol | None = None,
    sequence_length: NumpySymbol | None = None,
    use_sequence_length: bool | int = False,
    value: float = 0.0,
    axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """data with everything after the end of each sequence set to value."""
def sequence_reverse(
    data: NumpySymbol | None = None,
    sequence_length: NumpySymbol | None = None,
    use_sequence_length: bool | int = False,
    axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Every sequence reversed; the steps after its end are unchanged."""
def shape_array(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Return the shape of data, as int64."""
def sigmoid(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise 1 / (1 + exp(-data))."""
def sign_ste(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the sign of data (-1, 0 or 1); the gradient passes through unchanged."""
def sldwin_atten_context(
    score: NumpySymbol | None = None,
    value: NumpySymbol | None = None,
    dilation: NumpySymbol | None = None,
    w: int = ...,
    symmetric: bool | int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Values in each position's sliding window, weighted by score and summed."""
def sldwin_atten_mask_like(
    score: NumpySymbol | None = None,
    dilation: NumpySymbol | None = None,
    valid_length: NumpySymbol | None = None,
    w: int = ...,
    symmetric: bool | int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """1 where both a position and the entry of its window lie within the sequence, else 0."""
def sldwin_atten_score(
    query: NumpySymbol | None = None,
    key: NumpySymbol | None = None,
    dilation: NumpySymbol | None = None,
    w: int = ...,
    symmetric: bool | int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Products of each query with the keys in its sliding window."""
def slice(
    data: NumpySymbol | None = None,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Slice data from begin up to end in steps of step, as Python slices."""
def slice_channel(
    data: NumpySymbol | None = None,
    num_outputs: int = ...,
    axis: int = 1,
    squeeze_axis: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Split data into num_outputs equal pieces along axis."""
def slice_like(
    data: NumpySymbol | None = None,
    shape_like: NumpySymbol | None = None,
    axes: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Slice the first elements of data along axes (all by default), to the sizes of shape_like."""
def smooth_l1(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the smooth L1 loss elementwise: (scalar * data)^2 / 2 where abs(data) < 1 / scalar^2,
    else abs(data) - 0.5 / scalar^2."""
def softmax(
    data: NumpySymbol | None = None,
    length: NumpySymbol | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | int | None = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """e^x / sum of e^x along axis, of data / temperature."""
def softsign(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data / (1 + abs(data))."""
def stop_gradient(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Return data, and stop the gradient."""
def swiglu(
    data: NumpySymbol | None = None,
    value: NumpySymbol | None = None,
    axis: int = -1,
    use_value: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """gate * sigmoid(gate) times value, elementwise."""
def sync_batch_norm(
    data: NumpySymbol | None = None,
    gamma: NumpySymbol | None = None,
    beta: NumpySymbol | None = None,
    moving_mean: NumpySymbol | None = None,
    moving_var: NumpySymbol | None = None,
    eps: float = 0.001,
    momentum: float = 0.9,
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    output_mean_var: bool | int = False,
    ndev: int = 1,
    key: str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute (data - mean) / sqrt(variance + eps) * gamma + beta, with statistics for each channel
    over all devices."""
def tensor_poisson(
    lam: NumpySymbol | None = None,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw integers from Poisson distributions with mean lam."""
def topk(
    data: NumpySymbol | None = None,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: Literal["both", "indices", "mask", "value"] | str = "indices",
    is_ascend: bool | int = False,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Return the k largest elements along axis in descending order, or with is_ascend the k
    smallest in ascending order."""
def weight_only_dense(
    data: NumpySymbol | None = None,
    weight: NumpySymbol | None = None,
    scale: NumpySymbol | None = None,
    bias: NumpySymbol | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    group_size: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Dense layer with a weight of 8-bit integers: data times the transpose of weight * scale, plus
    bias."""
