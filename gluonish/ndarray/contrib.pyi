# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Sequence
from gluonish.core.dtype import DType
from gluonish.ndarray.adam_updates import adamw_update as adamw_update
from gluonish.ndarray.adam_updates import mp_adamw_update as mp_adamw_update
from gluonish.ndarray.adam_updates import multi_adamw_update as multi_adamw_update
from gluonish.ndarray.adam_updates import multi_lamb_update as multi_lamb_update
from gluonish.ndarray.adam_updates import multi_mp_adamw_update as multi_mp_adamw_update
from gluonish.ndarray.adam_updates import multi_mp_lamb_update as multi_mp_lamb_update
from gluonish.ndarray.control_flow import cond as cond
from gluonish.ndarray.control_flow import foreach as foreach
from gluonish.ndarray.control_flow import isfinite as isfinite
from gluonish.ndarray.control_flow import isinf as isinf
from gluonish.ndarray.control_flow import isnan as isnan
from gluonish.ndarray.control_flow import rand_zipfian as rand_zipfian
from gluonish.ndarray.control_flow import while_loop as while_loop
from gluonish.ndarray.graph_sampling import dgl_adjacency as dgl_adjacency
from gluonish.ndarray.graph_sampling import dgl_csr_neighbor_non_uniform_sample as dgl_csr_neighbor_non_uniform_sample
from gluonish.ndarray.graph_sampling import dgl_csr_neighbor_uniform_sample as dgl_csr_neighbor_uniform_sample
from gluonish.ndarray.graph_sampling import dgl_graph_compact as dgl_graph_compact
from gluonish.ndarray.graph_sampling import dgl_subgraph as dgl_subgraph
from gluonish.ndarray.namespace import make_operator_function as make_operator_function
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.frontend import prefixed as prefixed
from typing import Literal
from typing import NoReturn

__all__ = [
    "adamw_update",
    "cond",
    "dgl_adjacency",
    "dgl_csr_neighbor_non_uniform_sample",
    "dgl_csr_neighbor_uniform_sample",
    "dgl_graph_compact",
    "dgl_subgraph",
    "foreach",
    "isfinite",
    "isinf",
    "isnan",
    "mp_adamw_update",
    "multi_adamw_update",
    "multi_lamb_update",
    "multi_mp_adamw_update",
    "multi_mp_lamb_update",
    "rand_zipfian",
    "while_loop",
]

def AdaptiveAvgPooling2D(
    data: NDArray,
    output_size: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply adaptive average pooling: means over output_size windows of an image."""
def BatchNormWithReLU(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    moving_mean: NDArray,
    moving_var: NDArray,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """BatchNorm followed by relu: negative results become 0."""
def BatchNormWithReLU_backward(
    grad: NDArray,
    data: NDArray,
    gamma: NDArray,
    mean: NDArray,
    var: NDArray,
    output: NDArray,
    mask: NDArray,
    eps: float = 0.001,
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    axis: int = 1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of _contrib_BatchNormWithReLU's data, gamma and beta, from its inputs, its outputs
    and the output's gradient."""
def BilinearResize2D(
    data: NDArray,
    like: NDArray | None = None,
    height: int = 1,
    width: int = 1,
    scale_height: float | None = None,
    scale_width: float | None = None,
    mode: Literal["like", "odd_scale", "size", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up"] | str = "size",
    align_corners: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Resize images with bilinear interpolation."""
def CTCLoss(
    data: NDArray,
    label: NDArray | None = None,
    data_lengths: NDArray | None = None,
    label_lengths: NDArray | None = None,
    use_data_lengths: bool | int = False,
    use_label_lengths: bool | int = False,
    blank_label: Literal["first", "last"] | str = "first",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """CTC loss: negative logarithm of the probability of each label sequence, over all its
    alignments with the frames."""
def DeformableConvolution(
    data: NDArray,
    offset: NDArray | None = None,
    weight: NDArray | None = None,
    bias: NDArray | None = None,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply deformable convolution: sample the elements of each window at offsets, with bilinear
    interpolation."""
def DeformablePSROIPooling(
    data: NDArray,
    rois: NDArray | None = None,
    trans: NDArray | None = None,
    spatial_scale: float = ...,
    output_dim: int = ...,
    group_size: int = ...,
    pooled_size: int = ...,
    part_size: int = 0,
    sample_per_part: int = 1,
    trans_std: float = 0.0,
    no_trans: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply deformable position-sensitive ROI pooling: each cell of the grid is shifted by an
    offset."""
def ModulatedDeformableConvolution(
    data: NDArray,
    offset: NDArray | None = None,
    mask: NDArray | None = None,
    weight: NDArray | None = None,
    bias: NDArray | None = None,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply modulated deformable convolution: sample the elements of each window at offsets, with
    bilinear interpolation, and multiply each element by mask."""
def MultiBoxDetection(
    cls_prob: NDArray,
    loc_pred: NDArray,
    anchor: NDArray,
    clip: bool | int = True,
    threshold: float = 0.01,
    background_id: int = 0,
    nms_threshold: float = 0.5,
    force_suppress: bool | int = False,
    variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    nms_topk: int = -1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Decode the predictions of a detector to rows (class, score, xmin, ymin, xmax, ymax)."""
def MultiBoxPrior(
    data: NDArray,
    sizes: float | Sequence[float] = (1.0,),
    ratios: float | Sequence[float] = (1.0,),
    clip: bool | int = False,
    steps: float | Sequence[float] = (-1.0, -1.0),
    offsets: float | Sequence[float] = (0.5, 0.5),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Generate anchor boxes centered at every pixel of a feature map, as corners (xmin, ymin, xmax,
    ymax)."""
def MultiBoxTarget(
    anchor: NDArray,
    label: NDArray,
    cls_pred: NDArray,
    overlap_threshold: float = 0.5,
    ignore_label: float = -1.0,
    negative_mining_ratio: float = -1.0,
    negative_mining_thresh: float = 0.5,
    minimum_negative_samples: int = 0,
    variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute training targets for anchors: offsets to boxes, a mask of the matched anchors, and
    classes."""
def MultiProposal(
    cls_prob: NDArray,
    bbox_pred: NDArray,
    im_info: NDArray,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute region proposals for images from region proposal network outputs."""
def PSROIPooling(
    data: NDArray,
    rois: NDArray,
    spatial_scale: float,
    output_dim: int,
    pooled_size: int,
    group_size: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply position-sensitive ROI pooling: pool each region to a grid of means, where each cell
    reads its own channel."""
def Proposal(
    cls_prob: NDArray,
    bbox_pred: NDArray,
    im_info: NDArray,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute region proposals for one image from region proposal network outputs."""
def ROIAlign(
    data: NDArray,
    rois: NDArray,
    pooled_size: int | Sequence[int],
    spatial_scale: float,
    sample_ratio: int = -1,
    position_sensitive: bool | int = False,
    aligned: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply region of interest (ROI) align: pool each region to a pooled_size grid of means of
    bilinear samples."""
def RROIAlign(
    data: NDArray,
    rois: NDArray,
    pooled_size: int | Sequence[int],
    spatial_scale: float,
    sampling_ratio: int = -1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Pool rotated regions to a pooled_size grid of means of bilinear samples."""
def SparseEmbedding(
    data: NDArray,
    weight: NDArray,
    input_dim: int,
    output_dim: int,
    dtype: DType = ...,
    sparse_grad: bool | int = False,
    deterministic: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Look up rows of weight by the indices in data; the gradient of weight is row-sparse."""
def SyncBatchNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    moving_mean: NDArray,
    moving_var: NDArray,
    eps: float = 0.001,
    momentum: float = 0.9,
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    output_mean_var: bool | int = False,
    ndev: int = 1,
    key: str = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute (data - mean) / sqrt(variance + eps) * gamma + beta, with statistics for each channel
    over all devices."""
def allclose(
    a: NDArray,
    b: NDArray,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return 1 if all |a - b| <= atol + rtol * |b|, else 0, as uint8."""
def arange_like(
    data: NDArray,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: str = "",
    axis: int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
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
    data: NDArray,
    is_ascend: bool | int = False,
    threshold: float = ...,
    topk: int = -1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Match rows with columns greedily: the pair with the best score first, then the best remaining
    pair."""
def boolean_mask(
    data: NDArray,
    index: NDArray,
    axis: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Select the rows of data where index is not 0, in order; axis must be 0."""
def box_decode(
    data: NDArray,
    anchors: NDArray,
    std0: float = 1.0,
    std1: float = 1.0,
    std2: float = 1.0,
    std3: float = 1.0,
    clip: float = -1.0,
    format: Literal["center", "corner"] | str = "center",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Decode predicted offsets from anchors to boxes, as corners (xmin, ymin, xmax, ymax)."""
def box_encode(
    samples: NDArray,
    matches: NDArray,
    anchors: NDArray,
    refs: NDArray,
    means: NDArray,
    stds: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute training targets: the offsets from anchors to their matched boxes, and a mask."""
def box_iou(
    lhs: NDArray,
    rhs: NDArray,
    format: Literal["center", "corner"] | str = "corner",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the intersection over union (IoU) of all pairs of boxes."""
def box_nms(
    data: NDArray,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply non-maximum suppression: remove boxes that overlap a better box too much."""
def box_non_maximum_suppression(
    data: NDArray,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply non-maximum suppression: remove boxes that overlap a better box too much."""
def calibrate_entropy(
    hist: NDArray,
    hist_edges: NDArray,
    num_quantized_bins: int = 255,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the threshold with the least relative entropy (information loss) when a histogram is
    quantized, and that entropy."""
def count_sketch(
    data: NDArray,
    h: NDArray,
    s: NDArray,
    out_dim: int,
    processing_batch_size: int = 32,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the count sketch: multiply each column of data by its sign in s, and add it to the
    column of the output with the index in h."""
def ctc_loss(
    data: NDArray,
    label: NDArray | None = None,
    data_lengths: NDArray | None = None,
    label_lengths: NDArray | None = None,
    use_data_lengths: bool | int = False,
    use_label_lengths: bool | int = False,
    blank_label: Literal["first", "last"] | str = "first",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """CTC loss: negative logarithm of the probability of each label sequence, over all its
    alignments with the frames."""
def dequantize(
    data: NDArray,
    min_range: NDArray,
    max_range: NDArray,
    out_type: Literal["float32"] | DType = "float32",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert int8 or uint8 data with a range to float32."""
def div_sqrt_dim(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data (..., d) divided by sqrt(d); integers are truncated toward zero."""
def edge_id(
    data: NDArray,
    u: NDArray,
    v: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Look up the elements of a CSR matrix at rows u and columns v; -1 if not stored."""
def fft(
    data: NDArray,
    compute_size: int = 128,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the Fourier transform along the last axis."""
def getnnz(
    data: NDArray,
    axis: int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Count the elements stored in a CSR matrix, including zeros, or the nonzero elements of a
    dense matrix, as int64."""
def gradientmultiplier(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return data, and multiply the gradient by scalar; a negative scalar reverses it."""
def group_adagrad_update(
    weight: NDArray,
    grad: NDArray,
    history: NDArray,
    lr: float,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    epsilon: float = 1e-05,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of AdaGrad with one history value for each row: return the new weight, and
    update history in place."""
def hawkesll(
    lda: NDArray,
    alpha: NDArray,
    beta: NDArray,
    state: NDArray,
    lags: NDArray,
    marks: NDArray,
    valid_length: NDArray,
    max_time: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the log-likelihood of event sequences under a Hawkes process, in which each event
    temporarily raises the rate of its type."""
def ifft(
    data: NDArray,
    compute_size: int = 128,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the real part of the inverse Fourier transform along the last axis, times the number
    of points."""
def index_array(
    data: NDArray,
    axes: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the coordinates of every element along axes (all by default), as int64."""
def index_copy(
    old_tensor: NDArray,
    index_vector: NDArray,
    new_tensor: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Replace row index_vector[i] of old_tensor by row i of new_tensor."""
def interleaved_matmul_encdec_qk(
    queries: NDArray,
    keys_values: NDArray,
    heads: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Attention scores: products of queries and keys, divided by sqrt(units)."""
def interleaved_matmul_encdec_valatt(
    keys_values: NDArray,
    attention: NDArray,
    heads: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Values weighted by attention, summed over the keys."""
def interleaved_matmul_selfatt_qk(
    queries_keys_values: NDArray,
    heads: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Self-attention scores: products of queries and keys, divided by sqrt(units)."""
def interleaved_matmul_selfatt_valatt(
    queries_keys_values: NDArray,
    attention: NDArray,
    heads: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Values of self-attention weighted by attention, summed over the keys."""
def intgemm_fully_connected(
    data: NDArray,
    weight: NDArray | None = None,
    scaling: NDArray | None = None,
    bias: NDArray | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    out_type: Literal["float32", "int32"] | DType = "float32",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Multiply prepared data by a prepared weight: ``scaling * data weight^T + bias``."""
def intgemm_maxabsolute(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The largest absolute value, which `intgemm_prepare_data` takes."""
def intgemm_prepare_data(
    data: NDArray,
    maxabs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert data to int8: ``round(data * 127 / maxabs)``, clipped to [-127, 127]."""
def intgemm_prepare_weight(
    weight: NDArray,
    maxabs: NDArray | None = None,
    already_quantized: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert a weight to int8, for `intgemm_fully_connected`."""
def intgemm_take_weight(
    weight: NDArray,
    indices: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Select rows of a prepared weight."""
def mrcnn_mask_target(
    rois: NDArray,
    gt_masks: NDArray,
    matches: NDArray,
    cls_targets: NDArray,
    num_rois: int,
    num_classes: int,
    mask_size: int | Sequence[int],
    sample_ratio: int = 2,
    aligned: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute training targets of Mask R-CNN's mask branch: the mask of each region, and a mask of
    the classes to train."""
def quadratic(
    data: NDArray,
    a: float = 0.0,
    b: float = 0.0,
    c: float = 0.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute a * data^2 + b * data + c elementwise; truncate integers toward zero."""
def quantize(
    data: NDArray,
    min_range: NDArray,
    max_range: NDArray,
    out_type: Literal["int8", "uint8"] | str = "uint8",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Convert data to int8 or uint8, and return the represented range."""
def quantize_asym(
    data: NDArray,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Convert data to uint8 as data * scale + shift, and return scale and shift."""
def quantize_v2(
    data: NDArray,
    out_type: Literal["auto", "int8", "uint8"] | str = "int8",
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Convert data to int8 or uint8, and return the represented range."""
def quantized_act(
    data: NDArray,
    min_data: NDArray,
    max_data: NDArray,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] | str,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Apply an activation to a quantized array; act_type must be relu."""
def quantized_batch_norm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    moving_mean: NDArray,
    moving_var: NDArray,
    min_data: NDArray,
    max_data: NDArray,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Normalize a quantized array with the moving statistics, to int8 in the range min_calib_range
    to max_calib_range, which are required."""
def quantized_concat(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    dim: int = 1,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Join quantized arrays along axis dim, in a range that contains all input ranges."""
def quantized_conv(
    data: NDArray,
    weight: NDArray | None = None,
    bias: NDArray | None = None,
    min_data: NDArray | None = None,
    max_data: NDArray | None = None,
    min_weight: NDArray | None = None,
    max_weight: NDArray | None = None,
    min_bias: NDArray | None = None,
    max_bias: NDArray | None = None,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Convolve quantized arrays, with the attributes of Convolution."""
def quantized_elemwise_add(
    lhs: NDArray,
    rhs: NDArray,
    lhs_min: NDArray,
    lhs_max: NDArray,
    rhs_min: NDArray,
    rhs_max: NDArray,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Add two quantized arrays, as int32 with a range that holds all sums."""
def quantized_elemwise_mul(
    lhs: NDArray,
    rhs: NDArray,
    lhs_min: NDArray,
    lhs_max: NDArray,
    rhs_min: NDArray,
    rhs_max: NDArray,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    enable_float_output: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Multiply two quantized arrays, as int32 with its range."""
def quantized_embedding(
    data: NDArray,
    weight: NDArray,
    min_weight: NDArray,
    max_weight: NDArray,
    input_dim: int,
    output_dim: int,
    dtype: DType = ...,
    sparse_grad: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Look up rows of a quantized weight; the range does not change."""
def quantized_flatten(
    data: NDArray,
    min_data: NDArray,
    max_data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Flatten all axes of a quantized array after the first."""
def quantized_fully_connected(
    data: NDArray,
    weight: NDArray | None = None,
    bias: NDArray | None = None,
    min_data: NDArray | None = None,
    max_data: NDArray | None = None,
    min_weight: NDArray | None = None,
    max_weight: NDArray | None = None,
    min_bias: NDArray | None = None,
    max_bias: NDArray | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Apply the dense layer x W^T + b to quantized arrays."""
def quantized_pooling(
    data: NDArray,
    min_data: NDArray,
    max_data: NDArray,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the maximum or mean over windows of a quantized array; attributes are as in
    Pooling."""
def quantized_rnn(
    data: NDArray,
    parameters: NDArray | None = None,
    state: NDArray | None = None,
    state_cell: NDArray | None = None,
    data_scale: NDArray | None = None,
    data_shift: NDArray | None = None,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply recurrent layers to data from _contrib_quantize_asym, with its scale and shift."""
def requantize(
    data: NDArray,
    min_range: NDArray,
    max_range: NDArray,
    out_type: Literal["auto", "int8", "uint8"] | str = "int8",
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Convert int32 data to int8 or uint8, and return the new range."""
def round_ste(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Round data to the nearest integer; the gradient passes through unchanged."""
def sign_ste(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the sign of data (-1, 0 or 1); the gradient passes through unchanged."""
def sldwin_atten_context(
    score: NDArray,
    value: NDArray,
    dilation: NDArray,
    w: int,
    symmetric: bool | int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Values in each position's sliding window, weighted by score and summed."""
def sldwin_atten_mask_like(
    score: NDArray,
    dilation: NDArray,
    valid_length: NDArray,
    w: int,
    symmetric: bool | int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """1 where both a position and the entry of its window lie within the sequence, else 0."""
def sldwin_atten_score(
    query: NDArray,
    key: NDArray,
    dilation: NDArray,
    w: int,
    symmetric: bool | int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Products of each query with the keys in its sliding window."""
