# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Mapping
from collections.abc import Sequence
from gluonish.core.dtype import DType
from gluonish.ops.frontend import prefixed as prefixed
from gluonish.symbol.control_flow import cond as cond
from gluonish.symbol.control_flow import foreach as foreach
from gluonish.symbol.control_flow import rand_zipfian as rand_zipfian
from gluonish.symbol.control_flow import while_loop as while_loop
from gluonish.symbol.creation import adamw_update as adamw_update
from gluonish.symbol.creation import mp_adamw_update as mp_adamw_update
from gluonish.symbol.namespace import make_operator_function as make_operator_function
from gluonish.symbol.symbol import Symbol
from typing import Literal
from typing import NoReturn

__all__ = [
    "adamw_update",
    "cond",
    "foreach",
    "mp_adamw_update",
    "rand_zipfian",
    "while_loop",
]

def AdaptiveAvgPooling2D(
    data: Symbol | None = None,
    output_size: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply adaptive average pooling: means over output_size windows of an image."""
def BatchNormWithReLU(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    beta: Symbol | None = None,
    moving_mean: Symbol | None = None,
    moving_var: Symbol | None = None,
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
) -> Symbol:
    """BatchNorm followed by relu: negative results become 0."""
def BatchNormWithReLU_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    output: Symbol | None = None,
    mask: Symbol | None = None,
    eps: float = 0.001,
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    axis: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of _contrib_BatchNormWithReLU's data, gamma and beta, from its inputs, its outputs
    and the output's gradient."""
def BilinearResize2D(
    data: Symbol | None = None,
    like: Symbol | None = None,
    height: int = 1,
    width: int = 1,
    scale_height: float | None = None,
    scale_width: float | None = None,
    mode: Literal["like", "odd_scale", "size", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up"] | str = "size",
    align_corners: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Resize images with bilinear interpolation."""
def CTCLoss(
    data: Symbol | None = None,
    label: Symbol | None = None,
    data_lengths: Symbol | None = None,
    label_lengths: Symbol | None = None,
    use_data_lengths: bool | int = False,
    use_label_lengths: bool | int = False,
    blank_label: Literal["first", "last"] | str = "first",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """CTC loss: negative logarithm of the probability of each label sequence, over all its
    alignments with the frames."""
def DeformableConvolution(
    data: Symbol | None = None,
    offset: Symbol | None = None,
    weight: Symbol | None = None,
    bias: Symbol | None = None,
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
) -> Symbol:
    """Apply deformable convolution: sample the elements of each window at offsets, with bilinear
    interpolation."""
def DeformablePSROIPooling(
    data: Symbol | None = None,
    rois: Symbol | None = None,
    trans: Symbol | None = None,
    spatial_scale: float = ...,
    output_dim: int = ...,
    group_size: int = ...,
    pooled_size: int = ...,
    part_size: int = 0,
    sample_per_part: int = 1,
    trans_std: float = 0.0,
    no_trans: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply deformable position-sensitive ROI pooling: each cell of the grid is shifted by an
    offset."""
def ModulatedDeformableConvolution(
    data: Symbol | None = None,
    offset: Symbol | None = None,
    mask: Symbol | None = None,
    weight: Symbol | None = None,
    bias: Symbol | None = None,
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
) -> Symbol:
    """Apply modulated deformable convolution: sample the elements of each window at offsets, with
    bilinear interpolation, and multiply each element by mask."""
def MultiBoxDetection(
    cls_prob: Symbol | None = None,
    loc_pred: Symbol | None = None,
    anchor: Symbol | None = None,
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
) -> Symbol:
    """Decode the predictions of a detector to rows (class, score, xmin, ymin, xmax, ymax)."""
def MultiBoxPrior(
    data: Symbol | None = None,
    sizes: float | Sequence[float] = (1.0,),
    ratios: float | Sequence[float] = (1.0,),
    clip: bool | int = False,
    steps: float | Sequence[float] = (-1.0, -1.0),
    offsets: float | Sequence[float] = (0.5, 0.5),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Generate anchor boxes centered at every pixel of a feature map, as corners (xmin, ymin, xmax,
    ymax)."""
def MultiBoxTarget(
    anchor: Symbol | None = None,
    label: Symbol | None = None,
    cls_pred: Symbol | None = None,
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
) -> Symbol:
    """Compute training targets for anchors: offsets to boxes, a mask of the matched anchors, and
    classes."""
def MultiProposal(
    cls_prob: Symbol | None = None,
    bbox_pred: Symbol | None = None,
    im_info: Symbol | None = None,
    rpn_pre_nms_top_n: int = 6000,
    rpn_post_nms_top_n: int = 300,
    threshold: float = 0.7,
    rpn_min_size: int = 16,
    scales: float | Sequence[float] = (4.0, 8.0, 16.0, 32.0),
    ratios: float | Sequence[float] = (0.5, 1.0, 2.0),
    feature_stride: int = 16,
    output_score: bool | int = False,
    iou_loss: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute region proposals for images from region proposal network outputs."""
def PSROIPooling(
    data: Symbol | None = None,
    rois: Symbol | None = None,
    spatial_scale: float = ...,
    output_dim: int = ...,
    pooled_size: int = ...,
    group_size: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply position-sensitive ROI pooling: pool each region to a grid of means, where each cell
    reads its own channel."""
def Proposal(
    cls_prob: Symbol | None = None,
    bbox_pred: Symbol | None = None,
    im_info: Symbol | None = None,
    rpn_pre_nms_top_n: int = 6000,
    rpn_post_nms_top_n: int = 300,
    threshold: float = 0.7,
    rpn_min_size: int = 16,
    scales: float | Sequence[float] = (4.0, 8.0, 16.0, 32.0),
    ratios: float | Sequence[float] = (0.5, 1.0, 2.0),
    feature_stride: int = 16,
    output_score: bool | int = False,
    iou_loss: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute region proposals for one image from region proposal network outputs."""
def ROIAlign(
    data: Symbol | None = None,
    rois: Symbol | None = None,
    pooled_size: int | Sequence[int] = ...,
    spatial_scale: float = ...,
    sample_ratio: int = -1,
    position_sensitive: bool | int = False,
    aligned: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply region of interest (ROI) align: pool each region to a pooled_size grid of means of
    bilinear samples."""
def RROIAlign(
    data: Symbol | None = None,
    rois: Symbol | None = None,
    pooled_size: int | Sequence[int] = ...,
    spatial_scale: float = ...,
    sampling_ratio: int = -1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Pool rotated regions to a pooled_size grid of means of bilinear samples."""
def SparseEmbedding(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    input_dim: int = ...,
    output_dim: int = ...,
    dtype: DType = ...,
    sparse_grad: bool | int = False,
    deterministic: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Look up rows of weight by the indices in data; the gradient of weight is row-sparse."""
def SyncBatchNorm(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    beta: Symbol | None = None,
    moving_mean: Symbol | None = None,
    moving_var: Symbol | None = None,
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
) -> Symbol:
    """Compute (data - mean) / sqrt(variance + eps) * gamma + beta, with statistics for each channel
    over all devices."""
def allclose(
    a: Symbol | None = None,
    b: Symbol | None = None,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return 1 if all |a - b| <= atol + rtol * |b|, else 0, as uint8."""
def arange_like(
    data: Symbol | None = None,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: str = "",
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return values from start in steps of step, each repeated repeat times, in the dtype of
    data."""
def backward_gradientmultiplier(*args: object, **kwargs: object) -> NoReturn:
    """Not available: it is the gradient of another operator: use autograd."""
def backward_hawkesll(*args: object, **kwargs: object) -> NoReturn:
    """Not available: it is the gradient of another operator: use autograd."""
def backward_index_copy(*args: object, **kwargs: object) -> NoReturn:
    """Not available: it is the gradient of another operator: use autograd."""
def backward_quadratic(*args: object, **kwargs: object) -> NoReturn:
    """Not available: it is the gradient of another operator: use autograd."""
def bipartite_matching(
    data: Symbol | None = None,
    is_ascend: bool | int = False,
    threshold: float = ...,
    topk: int = -1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Match rows with columns greedily: the pair with the best score first, then the best remaining
    pair."""
def boolean_mask(
    data: Symbol | None = None,
    index: Symbol | None = None,
    axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Select the rows of data where index is not 0, in order; axis must be 0."""
def box_decode(
    data: Symbol | None = None,
    anchors: Symbol | None = None,
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
) -> Symbol:
    """Decode predicted offsets from anchors to boxes, as corners (xmin, ymin, xmax, ymax)."""
def box_encode(
    samples: Symbol | None = None,
    matches: Symbol | None = None,
    anchors: Symbol | None = None,
    refs: Symbol | None = None,
    means: Symbol | None = None,
    stds: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute training targets: the offsets from anchors to their matched boxes, and a mask."""
def box_iou(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    format: Literal["center", "corner"] | str = "corner",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the intersection over union (IoU) of all pairs of boxes."""
def box_nms(
    data: Symbol | None = None,
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
) -> Symbol:
    """Apply non-maximum suppression: remove boxes that overlap a better box too much."""
def box_non_maximum_suppression(
    data: Symbol | None = None,
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
) -> Symbol:
    """Apply non-maximum suppression: remove boxes that overlap a better box too much."""
def calibrate_entropy(
    hist: Symbol | None = None,
    hist_edges: Symbol | None = None,
    num_quantized_bins: int = 255,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the threshold with the least relative entropy (information loss) when a histogram is
    quantized, and that entropy."""
def count_sketch(
    data: Symbol | None = None,
    h: Symbol | None = None,
    s: Symbol | None = None,
    out_dim: int = ...,
    processing_batch_size: int = 32,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the count sketch: multiply each column of data by its sign in s, and add it to the
    column of the output with the index in h."""
def ctc_loss(
    data: Symbol | None = None,
    label: Symbol | None = None,
    data_lengths: Symbol | None = None,
    label_lengths: Symbol | None = None,
    use_data_lengths: bool | int = False,
    use_label_lengths: bool | int = False,
    blank_label: Literal["first", "last"] | str = "first",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """CTC loss: negative logarithm of the probability of each label sequence, over all its
    alignments with the frames."""
def dequantize(
    data: Symbol | None = None,
    min_range: Symbol | None = None,
    max_range: Symbol | None = None,
    out_type: Literal["float32"] | DType = "float32",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert int8 or uint8 data with a range to float32."""
def dgl_adjacency(*args: object, **kwargs: object) -> NoReturn:
    """Not available: the number of edges depends on values: call it on arrays, through
    mx.nd.contrib."""
def dgl_csr_neighbor_non_uniform_sample(*args: object, **kwargs: object) -> NoReturn:
    """Not available: the number of edges depends on values: call it on arrays, through
    mx.nd.contrib."""
def dgl_csr_neighbor_uniform_sample(*args: object, **kwargs: object) -> NoReturn:
    """Not available: the number of edges depends on values: call it on arrays, through
    mx.nd.contrib."""
def dgl_graph_compact(*args: object, **kwargs: object) -> NoReturn:
    """Not available: the number of edges depends on values: call it on arrays, through
    mx.nd.contrib."""
def dgl_subgraph(*args: object, **kwargs: object) -> NoReturn:
    """Not available: the number of edges depends on values: call it on arrays, through
    mx.nd.contrib."""
def div_sqrt_dim(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data (..., d) divided by sqrt(d); integers are truncated toward zero."""
def edge_id(
    data: Symbol | None = None,
    u: Symbol | None = None,
    v: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Look up the elements of a CSR matrix at rows u and columns v; -1 if not stored."""
def fft(
    data: Symbol | None = None,
    compute_size: int = 128,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the Fourier transform along the last axis."""
def getnnz(
    data: Symbol | None = None,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Count the elements stored in a CSR matrix, including zeros, or the nonzero elements of a
    dense matrix, as int64."""
def gradientmultiplier(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return data, and multiply the gradient by scalar; a negative scalar reverses it."""
def group_adagrad_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    history: Symbol | None = None,
    lr: float = ...,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    epsilon: float = 1e-05,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of AdaGrad with one history value for each row: return the new weight, and
    update history in place."""
def hawkesll(
    lda: Symbol | None = None,
    alpha: Symbol | None = None,
    beta: Symbol | None = None,
    state: Symbol | None = None,
    lags: Symbol | None = None,
    marks: Symbol | None = None,
    valid_length: Symbol | None = None,
    max_time: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the log-likelihood of event sequences under a Hawkes process, in which each event
    temporarily raises the rate of its type."""
def ifft(
    data: Symbol | None = None,
    compute_size: int = 128,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the real part of the inverse Fourier transform along the last axis, times the number
    of points."""
def index_array(
    data: Symbol | None = None,
    axes: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the coordinates of every element along axes (all by default), as int64."""
def index_copy(
    old_tensor: Symbol | None = None,
    index_vector: Symbol | None = None,
    new_tensor: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Replace row index_vector[i] of old_tensor by row i of new_tensor."""
def interleaved_matmul_encdec_qk(
    queries: Symbol | None = None,
    keys_values: Symbol | None = None,
    heads: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Attention scores: products of queries and keys, divided by sqrt(units)."""
def interleaved_matmul_encdec_valatt(
    keys_values: Symbol | None = None,
    attention: Symbol | None = None,
    heads: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Values weighted by attention, summed over the keys."""
def interleaved_matmul_selfatt_qk(
    queries_keys_values: Symbol | None = None,
    heads: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Self-attention scores: products of queries and keys, divided by sqrt(units)."""
def interleaved_matmul_selfatt_valatt(
    queries_keys_values: Symbol | None = None,
    attention: Symbol | None = None,
    heads: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Values of self-attention weighted by attention, summed over the keys."""
def intgemm_fully_connected(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    scaling: Symbol | None = None,
    bias: Symbol | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    out_type: Literal["float32", "int32"] | DType = "float32",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Multiply prepared data by a prepared weight: ``scaling * data weight^T + bias``."""
def intgemm_maxabsolute(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The largest absolute value, which `intgemm_prepare_data` takes."""
def intgemm_prepare_data(
    data: Symbol | None = None,
    maxabs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert data to int8: ``round(data * 127 / maxabs)``, clipped to [-127, 127]."""
def intgemm_prepare_weight(
    weight: Symbol | None = None,
    maxabs: Symbol | None = None,
    already_quantized: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert a weight to int8, for `intgemm_fully_connected`."""
def intgemm_take_weight(
    weight: Symbol | None = None,
    indices: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Select rows of a prepared weight."""
def mrcnn_mask_target(
    rois: Symbol | None = None,
    gt_masks: Symbol | None = None,
    matches: Symbol | None = None,
    cls_targets: Symbol | None = None,
    num_rois: int = ...,
    num_classes: int = ...,
    mask_size: int | Sequence[int] = ...,
    sample_ratio: int = 2,
    aligned: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute training targets of Mask R-CNN's mask branch: the mask of each region, and a mask of
    the classes to train."""
def quadratic(
    data: Symbol | None = None,
    a: float = 0.0,
    b: float = 0.0,
    c: float = 0.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute a * data^2 + b * data + c elementwise; truncate integers toward zero."""
def quantize(
    data: Symbol | None = None,
    min_range: Symbol | None = None,
    max_range: Symbol | None = None,
    out_type: Literal["int8", "uint8"] | str = "uint8",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert data to int8 or uint8, and return the represented range."""
def quantize_asym(
    data: Symbol | None = None,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert data to uint8 as data * scale + shift, and return scale and shift."""
def quantize_v2(
    data: Symbol | None = None,
    out_type: Literal["auto", "int8", "uint8"] | str = "int8",
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert data to int8 or uint8, and return the represented range."""
def quantized_act(
    data: Symbol | None = None,
    min_data: Symbol | None = None,
    max_data: Symbol | None = None,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] | str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply an activation to a quantized array; act_type must be relu."""
def quantized_batch_norm(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    beta: Symbol | None = None,
    moving_mean: Symbol | None = None,
    moving_var: Symbol | None = None,
    min_data: Symbol | None = None,
    max_data: Symbol | None = None,
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
) -> Symbol:
    """Normalize a quantized array with the moving statistics, to int8 in the range min_calib_range
    to max_calib_range, which are required."""
def quantized_concat(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    dim: int = 1,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Join quantized arrays along axis dim, in a range that contains all input ranges."""
def quantized_conv(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    bias: Symbol | None = None,
    min_data: Symbol | None = None,
    max_data: Symbol | None = None,
    min_weight: Symbol | None = None,
    max_weight: Symbol | None = None,
    min_bias: Symbol | None = None,
    max_bias: Symbol | None = None,
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
) -> Symbol:
    """Convolve quantized arrays, with the attributes of Convolution."""
def quantized_elemwise_add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    lhs_min: Symbol | None = None,
    lhs_max: Symbol | None = None,
    rhs_min: Symbol | None = None,
    rhs_max: Symbol | None = None,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Add two quantized arrays, as int32 with a range that holds all sums."""
def quantized_elemwise_mul(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    lhs_min: Symbol | None = None,
    lhs_max: Symbol | None = None,
    rhs_min: Symbol | None = None,
    rhs_max: Symbol | None = None,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    enable_float_output: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Multiply two quantized arrays, as int32 with its range."""
def quantized_embedding(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    min_weight: Symbol | None = None,
    max_weight: Symbol | None = None,
    input_dim: int = ...,
    output_dim: int = ...,
    dtype: DType = ...,
    sparse_grad: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Look up rows of a quantized weight; the range does not change."""
def quantized_flatten(
    data: Symbol | None = None,
    min_data: Symbol | None = None,
    max_data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flatten all axes of a quantized array after the first."""
def quantized_fully_connected(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    bias: Symbol | None = None,
    min_data: Symbol | None = None,
    max_data: Symbol | None = None,
    min_weight: Symbol | None = None,
    max_weight: Symbol | None = None,
    min_bias: Symbol | None = None,
    max_bias: Symbol | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply the dense layer x W^T + b to quantized arrays."""
def quantized_pooling(
    data: Symbol | None = None,
    min_data: Symbol | None = None,
    max_data: Symbol | None = None,
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
) -> Symbol:
    """Compute the maximum or mean over windows of a quantized array; attributes are as in
    Pooling."""
def quantized_rnn(
    data: Symbol | None = None,
    parameters: Symbol | None = None,
    state: Symbol | None = None,
    state_cell: Symbol | None = None,
    data_scale: Symbol | None = None,
    data_shift: Symbol | None = None,
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
) -> Symbol:
    """Apply recurrent layers to data from _contrib_quantize_asym, with its scale and shift."""
def requantize(
    data: Symbol | None = None,
    min_range: Symbol | None = None,
    max_range: Symbol | None = None,
    out_type: Literal["auto", "int8", "uint8"] | str = "int8",
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert int32 data to int8 or uint8, and return the new range."""
def round_ste(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Round data to the nearest integer; the gradient passes through unchanged."""
def sign_ste(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the sign of data (-1, 0 or 1); the gradient passes through unchanged."""
def sldwin_atten_context(
    score: Symbol | None = None,
    value: Symbol | None = None,
    dilation: Symbol | None = None,
    w: int = ...,
    symmetric: bool | int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Values in each position's sliding window, weighted by score and summed."""
def sldwin_atten_mask_like(
    score: Symbol | None = None,
    dilation: Symbol | None = None,
    valid_length: Symbol | None = None,
    w: int = ...,
    symmetric: bool | int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """1 where both a position and the entry of its window lie within the sequence, else 0."""
def sldwin_atten_score(
    query: Symbol | None = None,
    key: Symbol | None = None,
    dilation: Symbol | None = None,
    w: int = ...,
    symmetric: bool | int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Products of each query with the keys in its sliding window."""
