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
def relu(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise maximum of data and 0."""
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
    bits: object = 8,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Dense layer with a weight of integers: data times the transpose of weight * scale, plus
    bias."""
