# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Mapping
from collections.abc import Sequence
from gluonish.core.dtype import DType
from gluonish.symbol import _internal as _internal
from gluonish.symbol import contrib as contrib
from gluonish.symbol import image as image
from gluonish.symbol import linalg as linalg
from gluonish.symbol import methods as _methods
from gluonish.symbol import numpy as numpy
from gluonish.symbol import numpy_extension as numpy_extension
from gluonish.symbol import op as op
from gluonish.symbol import random as random
from gluonish.symbol import sparse as sparse
from gluonish.symbol.composition import Group as Group
from gluonish.symbol.creation import arange as arange
from gluonish.symbol.creation import eye as eye
from gluonish.symbol.creation import full as full
from gluonish.symbol.creation import histogram as histogram
from gluonish.symbol.creation import hypot as hypot
from gluonish.symbol.creation import linspace as linspace
from gluonish.symbol.creation import maximum as maximum
from gluonish.symbol.creation import minimum as minimum
from gluonish.symbol.creation import ones as ones
from gluonish.symbol.creation import pow as pow
from gluonish.symbol.creation import power as power
from gluonish.symbol.creation import split_v2 as split_v2
from gluonish.symbol.creation import zeros as zeros
from gluonish.symbol.files import fromjson as fromjson
from gluonish.symbol.files import load as load
from gluonish.symbol.files import load_json as load_json
from gluonish.symbol.name import AttrScope as AttrScope
from gluonish.symbol.name import NameManager as NameManager
from gluonish.symbol.name import Prefix as Prefix
from gluonish.symbol.namespace import Variable as Variable
from gluonish.symbol.namespace import var as var
from gluonish.symbol.numpy_symbol import NumpySymbol as NumpySymbol
from gluonish.symbol.subgraph import OperatorNode as OperatorNode
from gluonish.symbol.subgraph import Subgraph as Subgraph
from gluonish.symbol.subgraph import SubgraphBackend as SubgraphBackend
from gluonish.symbol.subgraph import register_backend as register_backend
from gluonish.symbol.symbol import Symbol as Symbol
from typing import Any
from typing import Literal
np = numpy
npx = numpy_extension

__all__ = [
    "AttrScope",
    "Group",
    "NameManager",
    "NumpySymbol",
    "OperatorNode",
    "Prefix",
    "Subgraph",
    "SubgraphBackend",
    "Symbol",
    "Variable",
    "arange",
    "contrib",
    "eye",
    "fromjson",
    "full",
    "histogram",
    "hypot",
    "image",
    "linalg",
    "linspace",
    "load",
    "load_json",
    "maximum",
    "minimum",
    "ones",
    "op",
    "pow",
    "power",
    "random",
    "register_backend",
    "sparse",
    "split_v2",
    "var",
    "zeros",
]

def Activation(
    data: Symbol | None = None,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] | str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise activation function: relu, sigmoid, softrelu log(1 + e^data), softsign data / (1
    + |data|), or tanh."""
def BatchNorm(
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
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics for each index of axis
    (each channel)."""
def BatchNorm_v1(
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
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply the first version of BatchNorm, over axis 1."""
def BilinearSampler(
    data: Symbol | None = None,
    grid: Symbol | None = None,
    cudnn_off: bool | int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sample images at the positions in a grid with bilinear interpolation."""
def BlockGrad(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return data, and stop the gradient."""
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
def Cast(
    data: Symbol | None = None,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Cast data to another dtype."""
def Concat(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    dim: int = 1,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Join arrays along axis dim; their other sizes are equal."""
def Convolution(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    bias: Symbol | None = None,
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
    """Convolution: slide num_filter filters over the spatial axes, and add the bias."""
def Convolution_v1(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    bias: Symbol | None = None,
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
    layout: Literal[None, "NCDHW", "NCHW", "NDHWC", "NHWC"] | str = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply the first version of Convolution, for images."""
def Correlation(
    data1: Symbol | None = None,
    data2: Symbol | None = None,
    kernel_size: int = 1,
    max_displacement: int = 1,
    stride1: int = 1,
    stride2: int = 1,
    pad_size: int = 0,
    is_multiply: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Correlate patches of two images, for displacements of the second image."""
def Crop(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    offset: int | Sequence[int] = (0, 0),
    h_w: int | Sequence[int] = (0, 0),
    center_crop: bool | int = False,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Crop images at offset, or at their center with center_crop."""
def Custom(
    *args: Any,
    op_type: Any = None,
    name: Any = None,
    attr: Any = None,
    out: Any = None,
    **kwargs: Any,
) -> Symbol:
    """Call an operator that was registered with `mx.operator.register`."""
def Deconvolution(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    bias: Symbol | None = None,
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
) -> Symbol:
    """Transposed convolution: add up num_filter filters, scaled by the data, at every position, and
    add the bias."""
def Dropout(
    data: Symbol | None = None,
    p: float = 0.5,
    mode: Literal["always", "training"] | str = "training",
    axes: int | Sequence[int] = (),
    cudnn_off: bool | int | None = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Zero each element with probability p, and multiply the others by 1 / (1 - p)."""
def ElementWiseSum(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum arrays of the same shape and dtype."""
def Embedding(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    input_dim: int = ...,
    output_dim: int = ...,
    dtype: DType = ...,
    sparse_grad: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Look up rows of weight by the indices in data."""
def Flatten(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flatten all axes after the first: (N, ...) becomes (N, features)."""
def FullyConnected(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    bias: Symbol | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data times the transposed weight, plus bias: a dense layer."""
def GridGenerator(
    data: Symbol | None = None,
    transform_type: Literal["affine", "warp"] | str = ...,
    target_shape: int | Sequence[int] = (0, 0),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Generate sampling grids for BilinearSampler."""
def GroupNorm(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    beta: Symbol | None = None,
    num_groups: int = 1,
    eps: float = 1e-05,
    output_mean_var: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics of each sample and group
    of channels."""
def IdentityAttachKLSparseReg(
    data: Symbol | None = None,
    moving_avg: Symbol | None = None,
    sparseness_target: float = 0.1,
    penalty: float = 0.001,
    momentum: float = 0.9,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data itself, with the gradient of a penalty on the distance of each channel's average from a
    target."""
def InstanceNorm(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    beta: Symbol | None = None,
    eps: float = 0.001,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics of each sample and
    channel."""
def L2Normalization(
    data: Symbol | None = None,
    eps: float = 1e-10,
    mode: Literal["channel", "instance", "spatial"] | str = "instance",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data divided by its L2 norm: the square root of its sum of squares plus eps."""
def LRN(
    data: Symbol | None = None,
    alpha: float = 0.0001,
    beta: float = 0.75,
    knorm: float = 2.0,
    nsize: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Local response normalization: data / (knorm + alpha / nsize * sum of squares) ** beta."""
def LayerNorm(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    beta: Symbol | None = None,
    axis: int = -1,
    eps: float = 1e-05,
    output_mean_var: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics along axis."""
def LeakyReLU(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    act_type: Literal["elu", "gelu", "leaky", "prelu", "rrelu", "selu", "gelu_erf", "gelu_tanh", "gelu_sigmoid"] | str = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Leaky ReLU and its variants, elementwise, by act_type."""
def LinearRegressionOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data itself, with gradient data - label."""
def LogisticRegressionOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """sigmoid of data, with gradient sigmoid - label."""
def MAERegressionOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data itself, with gradient 1 where data > label, else -1."""
def MakeLoss(
    data: Symbol | None = None,
    grad_scale: float = 1.0,
    valid_thresh: float = 0.0,
    normalization: Literal["batch", "null", "valid"] | str = "null",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return data as a loss: its gradient is grad_scale, and the gradient of the output is
    ignored."""
def Pad(
    data: Symbol | None = None,
    mode: Literal["constant", "edge", "reflect"] | str = ...,
    pad_width: int | Sequence[int] = ...,
    constant_value: float = 0.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Pad data."""
def Pooling(
    data: Symbol | None = None,
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
    """Pooling: the maximum, mean, sum or p-norm of each window of the spatial axes."""
def Pooling_v1(
    data: Symbol | None = None,
    kernel: int | Sequence[int] = (),
    pool_type: Literal["avg", "max", "sum"] | str = "max",
    global_pool: bool | int = False,
    pooling_convention: Literal["full", "valid"] | str = "valid",
    stride: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply the first version of Pooling, for images: the maximum, mean or sum of each window."""
def RNN(
    data: Symbol | None = None,
    parameters: Symbol | None = None,
    state: Symbol | None = None,
    state_cell: Symbol | None = None,
    sequence_length: Symbol | None = None,
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
    """Recurrent layers (RNN, LSTM or GRU) over complete sequences."""
def ROIPooling(
    data: Symbol | None = None,
    rois: Symbol | None = None,
    pooled_size: int | Sequence[int] = ...,
    spatial_scale: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply region of interest (ROI) pooling: pool each region to a pooled_size grid of maxima."""
def Reshape(
    data: Symbol | None = None,
    shape: int | Sequence[int] = (),
    reverse: bool | int = False,
    target_shape: int | Sequence[int] = (),
    keep_highest: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Reshape data without changing the order of its elements."""
def SVMOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    margin: float = 1.0,
    regularization_coefficient: float = 1.0,
    use_linear: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data itself, with the gradient of a hinge loss; the head gradient is ignored."""
def SequenceLast(
    data: Symbol | None = None,
    sequence_length: Symbol | None = None,
    use_sequence_length: bool | int = False,
    axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The last step of every sequence."""
def SequenceMask(
    data: Symbol | None = None,
    sequence_length: Symbol | None = None,
    use_sequence_length: bool | int = False,
    value: float = 0.0,
    axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data with everything after the end of each sequence set to value."""
def SequenceReverse(
    data: Symbol | None = None,
    sequence_length: Symbol | None = None,
    use_sequence_length: bool | int = False,
    axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Every sequence reversed; the steps after its end are unchanged."""
def SliceChannel(
    data: Symbol | None = None,
    num_outputs: int = ...,
    axis: int = 1,
    squeeze_axis: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Split data into num_outputs equal pieces along axis."""
def Softmax(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool | int = False,
    use_ignore: bool | int = False,
    preserve_shape: bool | int = False,
    normalization: Literal["batch", "null", "valid"] | str = "null",
    out_grad: bool | int = False,
    smooth_alpha: float = 0.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """softmax of data, with the gradient of a cross-entropy loss."""
def SoftmaxActivation(
    data: Symbol | None = None,
    mode: Literal["channel", "instance"] | str = "instance",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """softmax of data: over the last axis (instance), or over axis 1 at each position (channel)."""
def SoftmaxOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool | int = False,
    use_ignore: bool | int = False,
    preserve_shape: bool | int = False,
    normalization: Literal["batch", "null", "valid"] | str = "null",
    out_grad: bool | int = False,
    smooth_alpha: float = 0.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """softmax of data, with the gradient of a cross-entropy loss."""
def SpatialTransformer(
    data: Symbol | None = None,
    loc: Symbol | None = None,
    target_shape: int | Sequence[int] = (0, 0),
    transform_type: Literal["affine"] | str = ...,
    sampler_type: Literal["bilinear"] | str = ...,
    cudnn_off: bool | int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply affine transformations to images, with bilinear interpolation."""
def SwapAxis(
    data: Symbol | None = None,
    dim1: int = 0,
    dim2: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Swap two axes."""
def UpSampling(
    *data: Symbol | Sequence[Symbol],
    scale: int,
    num_filter: int = 0,
    sample_type: Literal["bilinear", "nearest"] | str,
    multi_input_mode: Literal["concat", "sum"] | str = "concat",
    num_args: int = ...,
    workspace: int = 512,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Enlarge images by the integer factor scale."""
def abs(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise absolute value."""
def adam_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    lr: float = ...,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of Adam without bias correction (the caller includes it in lr)."""
def add_n(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum arrays of the same shape and dtype."""
def add_rms_norm(
    data: Symbol | None = None,
    residual: Symbol | None = None,
    gamma: Symbol | None = None,
    axis: int = -1,
    eps: float = 1e-06,
    offset: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """rms_norm of data + residual, and the sum itself, in one pass over memory."""
def all_finite(
    data: Symbol | None = None,
    init_output: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return 1 if no element is infinite or NaN, else 0, as float32."""
def amp_cast(
    data: Symbol | None = None,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Cast floating-point data to dtype, and the gradient back; return others unchanged."""
def amp_multicast(
    *data: Symbol | Sequence[Symbol],
    num_outputs: int = ...,
    cast_narrow: bool | int = False,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Cast all floating-point arrays to the widest dtype among them, or with cast_narrow to the
    narrowest; return integer arrays unchanged. float16 and bfloat16 together become float32."""
def arccos(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse cosine."""
def arccosh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse hyperbolic cosine."""
def arcsin(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse sine."""
def arcsinh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse hyperbolic sine."""
def arctan(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse tangent."""
def arctanh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse hyperbolic tangent."""
def argmax(
    data: Symbol | None = None,
    axis: int | None = None,
    keepdims: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the index of the first maximum along axis, or over all elements in row-major order."""
def argmax_channel(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the index of the first maximum along axis 1, in the dtype of data."""
def argmin(
    data: Symbol | None = None,
    axis: int | None = None,
    keepdims: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the index of the first minimum along axis, or over all elements in row-major order."""
def argsort(
    data: Symbol | None = None,
    axis: int | None = -1,
    is_ascend: bool | int = True,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the indices, of type dtype, that sort the elements along axis."""
def batch_dot(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    forward_stype: Literal[None, "csr", "default", "row_sparse"] | str = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Multiply batched matrices over the last two axes."""
def batch_take(
    a: Symbol | None = None,
    indices: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Pick element indices[i] of row i, for every row of a matrix."""
def broadcast_add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_axes(
    data: Symbol | None = None,
    axis: int | Sequence[int] = (),
    size: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Broadcast the axes in axis, all of size 1, to the sizes in size."""
def broadcast_axis(
    data: Symbol | None = None,
    axis: int | Sequence[int] = (),
    size: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Broadcast the axes in axis, all of size 1, to the sizes in size."""
def broadcast_div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def broadcast_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs == rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_greater(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs > rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_greater_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs >= rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_hypot(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square root of the sum of the squares of lhs and rhs; both arrays have the same
    dtype, and shapes broadcast."""
def broadcast_lesser(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs < rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_lesser_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs <= rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_like(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    lhs_axes: int | Sequence[int] | None = None,
    rhs_axes: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Broadcast lhs to the shape of rhs: all axes, or lhs_axes to the sizes of rhs_axes."""
def broadcast_logical_and(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs and rhs, as 0 and 1; both arrays have the same dtype, and shapes
    broadcast."""
def broadcast_logical_or(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs or rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_logical_xor(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs xor rhs, as 0 and 1; both arrays have the same dtype, and shapes
    broadcast."""
def broadcast_maximum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise maximum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_minimum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise minimum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_minus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_mod(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs modulo rhs, with the sign of the divisor and 0 for a divisor of 0; both
    arrays have the same dtype, and shapes broadcast."""
def broadcast_mul(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_not_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs != rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_plus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_power(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs to the power of rhs; both arrays have the same dtype, and shapes
    broadcast."""
def broadcast_sub(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_to(
    data: Symbol | None = None,
    shape: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Broadcast the axes of size 1 to shape; 0 in shape keeps the size of an axis."""
def cast(
    data: Symbol | None = None,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Cast data to another dtype."""
def cast_storage(
    data: Symbol | None = None,
    stype: Literal["csr", "default", "row_sparse"] | str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert data to the storage type stype: default (dense), row_sparse or csr."""
def cbrt(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise cube root."""
def ceil(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise smallest integer not below data."""
def choose_element_0index(
    data: Symbol | None = None,
    index: Symbol | None = None,
    axis: int | None = -1,
    keepdims: bool | int = False,
    mode: Literal["clip", "wrap"] | str = "clip",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Pick one element of every row along axis, at the position in index."""
def clip(
    data: Symbol | None = None,
    a_min: float = ...,
    a_max: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Clip data to [a_min, a_max]."""
def col2im(
    data: Symbol | None = None,
    output_size: int | Sequence[int] = ...,
    kernel: int | Sequence[int] = ...,
    stride: int | Sequence[int] = (),
    dilate: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum columns into images at the positions where im2col reads them: the adjoint of im2col."""
def concat(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    dim: int = 1,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Join arrays along axis dim; their other sizes are equal."""
def cos(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise cosine."""
def cosh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise hyperbolic cosine."""
def crop(
    data: Symbol | None = None,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Slice data from begin up to end in steps of step, as Python slices."""
def cross_entropy(
    data: Symbol | None = None,
    label: Symbol | None = None,
    ignore_label: int | None = None,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    reduction: Literal["none", "mean", "sum"] | str = "none",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Cross entropy of softmax(data) over the last axis with the classes in label."""
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
def cumsum(
    a: Symbol | None = None,
    axis: int | None = None,
    dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Cumulative sums along axis, or of all elements in row-major order."""
def degrees(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise conversion of radians to degrees."""
def depth_to_space(
    data: Symbol | None = None,
    block_size: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Rearrange channels into blocks of pixels."""
def diag(
    data: Symbol | None = None,
    k: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Extract diagonal k of the matrices in axes axis1 and axis2, as the last axis."""
def digamma(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise derivative of log gamma."""
def dot(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    forward_stype: Literal[None, "csr", "default", "row_sparse"] | str = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Multiply matrices: sum products over the last axis of lhs and the first axis of rhs."""
def elemwise_add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def elemwise_div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def elemwise_mul(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def elemwise_sub(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def erf(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise error function."""
def erfinv(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse of the error function."""
def exp(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise e to the power of data."""
def expand_dims(
    data: Symbol | None = None,
    axis: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Insert an axis of size 1 at position axis."""
def expm1(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise e to the power of data, minus 1."""
def fill_element_0index(
    lhs: Symbol | None = None,
    mhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Replace element rhs[i] of row i of lhs by mhs[i]."""
def fix(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise truncation toward zero to an integer."""
def flatten(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flatten all axes after the first: (N, ...) becomes (N, features)."""
def flip(
    data: Symbol | None = None,
    axis: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Reverse the order of elements along the axes in axis."""
def floor(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise largest integer not above data."""
def ftml_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    d: Symbol | None = None,
    v: Symbol | None = None,
    z: Symbol | None = None,
    lr: float = ...,
    beta1: float = 0.6,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    t: int = ...,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_grad: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of Follow the Moving Leader."""
def ftrl_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    z: Symbol | None = None,
    n: Symbol | None = None,
    lr: float = ...,
    lamda1: float = 0.01,
    beta: float = 1.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of FTRL-Proximal."""
def gamma(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise gamma function."""
def gammaln(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise logarithm of the gamma function's absolute value."""
def gather_nd(
    data: Symbol | None = None,
    indices: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gather elements of data at points: column j of indices holds the M coordinates of point j."""
def geglu(
    data: Symbol | None = None,
    value: Symbol | None = None,
    approximation: Literal["erf", "tanh", "sigmoid"] | str = "erf",
    axis: int = -1,
    use_value: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """GELU of gate, or an approximation of it, times value, elementwise."""
def hard_sigmoid(
    data: Symbol | None = None,
    alpha: float = 0.2,
    beta: float = 0.5,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """alpha * data + beta, clipped to [0, 1]."""
def identity(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Copy data."""
def im2col(
    data: Symbol | None = None,
    kernel: int | Sequence[int] = ...,
    stride: int | Sequence[int] = (),
    dilate: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Rearrange the windows of images into columns."""
def khatri_rao(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the Khatri-Rao product: the Kronecker products of the columns of matrices."""
def lamb_update_phase1(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    t: int = ...,
    bias_correction: bool | int = True,
    wd: float = ...,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the first phase of a LAMB step."""
def lamb_update_phase2(
    weight: Symbol | None = None,
    g: Symbol | None = None,
    r1: Symbol | None = None,
    r2: Symbol | None = None,
    lr: float = ...,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the second phase of a LAMB step."""
def linalg_det(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the determinant of every matrix."""
def linalg_extractdiag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Extract the diagonal at offset of every square matrix, as vectors."""
def linalg_extracttrian(
    A: Symbol | None = None,
    offset: int = 0,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Pack a triangle of every square matrix into a vector: the rows of a lower triangle, the
    columns of an upper one."""
def linalg_gelqf(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the LQ decomposition: Q and L with A = L Q, for matrices of full rank with no more
    rows than columns."""
def linalg_gemm(
    A: Symbol | None = None,
    B: Symbol | None = None,
    C: Symbol | None = None,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    axis: int = -2,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute alpha A B + beta C."""
def linalg_gemm2(
    A: Symbol | None = None,
    B: Symbol | None = None,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    alpha: float = 1.0,
    axis: int = -2,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute alpha A B, with rows along axis and columns along the last axis."""
def linalg_inverse(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Invert every matrix."""
def linalg_makediag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Build square matrices with vectors on the diagonal at offset, and zeros elsewhere."""
def linalg_maketrian(
    A: Symbol | None = None,
    offset: int = 0,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Unpack triangles into square matrices, with zeros elsewhere: the inverse of extracttrian."""
def linalg_potrf(
    A: Symbol | None = None,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the Cholesky factor of symmetric positive definite A: lower triangular L with A = L
    L^T, or upper triangular U with A = U^T U if lower is false."""
def linalg_potri(
    A: Symbol | None = None,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the inverse of L L^T from the lower triangular L of potrf, or of U^T U if lower is
    false."""
def linalg_slogdet(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the sign of the determinant of every matrix, and the logarithm of its absolute
    value."""
def linalg_sumlogdiag(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum the logarithms of the diagonal of every matrix."""
def linalg_syrk(
    A: Symbol | None = None,
    transpose: bool | int = False,
    alpha: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute alpha A A^T, or alpha A^T A with transpose."""
def linalg_trmm(
    A: Symbol | None = None,
    B: Symbol | None = None,
    transpose: bool | int = False,
    rightside: bool | int = False,
    lower: bool | int = True,
    alpha: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Multiply B by alpha and a triangle of A from the left, or from the right (rightside)."""
def linalg_trsm(
    A: Symbol | None = None,
    B: Symbol | None = None,
    transpose: bool | int = False,
    rightside: bool | int = False,
    lower: bool | int = True,
    alpha: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Solve A X = alpha B, or X A = alpha B (rightside), for X, with a triangle of A."""
def linear_cross_entropy(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    label: Symbol | None = None,
    bias: Symbol | None = None,
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
) -> Symbol:
    """Cross entropy of the scores data weight^T + bias with the classes in label."""
def log(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise natural logarithm."""
def log10(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise decimal logarithm."""
def log1p(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise natural logarithm of 1 + data."""
def log2(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise binary logarithm."""
def log_sigmoid(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise log of the sigmoid."""
def log_softmax(
    data: Symbol | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | int | None = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Logarithm of softmax along axis, of data / temperature."""
def logical_not(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise 1 where data is 0, else 0."""
def make_loss(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return data as a loss: its gradient is 1, and the gradient of the output is ignored."""
def max(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the maximum along axis, all axes by default; with exclude along all other axes."""
def max_axis(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the maximum along axis, all axes by default; with exclude along all other axes."""
def mean(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the arithmetic mean along axis, all axes by default; with exclude along all other
    axes."""
def min(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the minimum along axis, all axes by default; with exclude along all other axes."""
def min_axis(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the minimum along axis, all axes by default; with exclude along all other axes."""
def mish(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data * tanh(log(1 + exp(data)))."""
def moments(
    data: Symbol | None = None,
    axes: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute mean and variance over axes, which is required."""
def mp_lamb_update_phase1(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    weight32: Symbol | None = None,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    t: int = ...,
    bias_correction: bool | int = True,
    wd: float = ...,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the first phase of a LAMB step."""
def mp_lamb_update_phase2(
    weight: Symbol | None = None,
    g: Symbol | None = None,
    r1: Symbol | None = None,
    r2: Symbol | None = None,
    weight32: Symbol | None = None,
    lr: float = ...,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the second phase of a LAMB step."""
def mp_nag_mom_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mom: Symbol | None = None,
    weight32: Symbol | None = None,
    lr: float = ...,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of Nesterov's accelerated gradient, as computed by the optimizer class, in
    mixed precision."""
def mp_sgd_mom_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mom: Symbol | None = None,
    weight32: Symbol | None = None,
    lr: float = ...,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent with momentum in mixed precision."""
def mp_sgd_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    weight32: Symbol | None = None,
    lr: float = ...,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent in mixed precision."""
def multi_all_finite(
    *data: Symbol | Sequence[Symbol],
    num_arrays: int = ...,
    init_output: bool | int = True,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return 1 if no element of any array is infinite or NaN, else 0, as float32."""
def multi_lars(
    lrs: Symbol | None = None,
    weights_sum_sq: Symbol | None = None,
    grads_sum_sq: Symbol | None = None,
    wds: Symbol | None = None,
    eta: float = ...,
    eps: float = ...,
    rescale_grad: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Scale the learning rate of each layer to lr * eta * |w| / (rescale_grad * |g| + wd * |w| +
    eps), or leave it unchanged if a norm is 0."""
def multi_mp_sgd_mom_update(
    *data: Symbol | Sequence[Symbol],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent with momentum for num_weights weights in mixed
    precision."""
def multi_mp_sgd_update(
    *data: Symbol | Sequence[Symbol],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent for num_weights weights in mixed precision."""
def multi_sgd_mom_update(
    *data: Symbol | Sequence[Symbol],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent with momentum for num_weights weights."""
def multi_sgd_update(
    *data: Symbol | Sequence[Symbol],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent for num_weights weights."""
def multi_sum_sq(
    *data: Symbol | Sequence[Symbol],
    num_arrays: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the sum of squares of each array, in float32."""
def nag_mom_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mom: Symbol | None = None,
    lr: float = ...,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of Nesterov's accelerated gradient."""
def nanprod(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the product of the elements that are not NaN along axis, all axes by default; with
    exclude along all other axes."""
def nansum(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the sum of the elements that are not NaN along axis, all axes by default; with
    exclude along all other axes."""
def negative(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise -data."""
def norm(
    data: Symbol | None = None,
    ord: int = 2,
    axis: int | Sequence[int] | None = None,
    out_dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the norm along axis, or over all elements: the sum of absolute values (ord=1) or the
    square root of the sum of squares (ord=2)."""
def normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the normal distribution with mean loc and standard deviation scale."""
def one_hot(
    indices: Symbol | None = None,
    depth: int = ...,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return rows of depth values: on_value at the index, off_value elsewhere."""
def ones_like(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return an array of 1s with the shape and dtype of data."""
def pad(
    data: Symbol | None = None,
    mode: Literal["constant", "edge", "reflect"] | str = ...,
    pad_width: int | Sequence[int] = ...,
    constant_value: float = 0.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Pad data."""
def pick(
    data: Symbol | None = None,
    index: Symbol | None = None,
    axis: int | None = -1,
    keepdims: bool | int = False,
    mode: Literal["clip", "wrap"] | str = "clip",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Pick one element of every row along axis, at the position in index."""
def preloaded_multi_mp_sgd_mom_update(
    *data: Symbol | Sequence[Symbol],
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent with momentum for num_weights weights in mixed
    precision."""
def preloaded_multi_mp_sgd_update(
    *data: Symbol | Sequence[Symbol],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent for num_weights weights in mixed precision."""
def preloaded_multi_sgd_mom_update(
    *data: Symbol | Sequence[Symbol],
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent with momentum for num_weights weights."""
def preloaded_multi_sgd_update(
    *data: Symbol | Sequence[Symbol],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent for num_weights weights."""
def prod(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the product along axis, all axes by default; with exclude along all other axes."""
def radians(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise conversion of degrees to radians."""
def random_exponential(
    lam: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the exponential distribution with rate lam."""
def random_gamma(
    alpha: float = 1.0,
    beta: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the gamma distribution with shape alpha and scale beta."""
def random_generalized_negative_binomial(
    mu: float = 1.0,
    alpha: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw integers from the negative binomial distribution with mean mu and dispersion alpha."""
def random_negative_binomial(
    k: int = 1,
    p: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw numbers of failures before the k-th success, where each trial has probability p."""
def random_normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the normal distribution with mean loc and standard deviation scale."""
def random_pdf_dirichlet(
    sample: Symbol | None = None,
    alpha: Symbol | None = None,
    is_log: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the probability density of the Dirichlet distribution at sample, or with is_log its
    logarithm."""
def random_pdf_exponential(
    sample: Symbol | None = None,
    lam: Symbol | None = None,
    is_log: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the probability density of the exponential distribution with rate lam at sample, or
    with is_log its logarithm."""
def random_pdf_gamma(
    sample: Symbol | None = None,
    alpha: Symbol | None = None,
    beta: Symbol | None = None,
    is_log: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the probability density of the gamma distribution with shape alpha and rate beta at
    sample, or with is_log its logarithm."""
def random_pdf_generalized_negative_binomial(
    sample: Symbol | None = None,
    mu: Symbol | None = None,
    alpha: Symbol | None = None,
    is_log: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the probability density of the negative binomial distribution with mean mu and
    dispersion alpha at sample, or with is_log its logarithm."""
def random_pdf_negative_binomial(
    sample: Symbol | None = None,
    k: Symbol | None = None,
    p: Symbol | None = None,
    is_log: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the probability density of the number of failures before the k-th success of
    probability p at sample, or with is_log its logarithm."""
def random_pdf_normal(
    sample: Symbol | None = None,
    mu: Symbol | None = None,
    sigma: Symbol | None = None,
    is_log: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the probability density of the normal distribution at sample, or with is_log its
    logarithm."""
def random_pdf_poisson(
    sample: Symbol | None = None,
    lam: Symbol | None = None,
    is_log: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the probability density of the Poisson distribution at sample, or with is_log its
    logarithm."""
def random_pdf_uniform(
    sample: Symbol | None = None,
    low: Symbol | None = None,
    high: Symbol | None = None,
    is_log: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the probability density of the uniform distribution on [low, high) at sample, or with
    is_log its logarithm."""
def random_poisson(
    lam: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw integers from the Poisson distribution with mean lam."""
def random_randint(
    low: int,
    high: int,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw integers uniformly from [low, high)."""
def random_uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the uniform distribution on [low, high)."""
def ravel_multi_index(
    data: Symbol | None = None,
    shape: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert coordinates to flat indices of an array of shape, in row-major order."""
def rcbrt(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise 1 / cube root."""
def reciprocal(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise 1 / data."""
def relu(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise maximum of data and 0."""
def repeat(
    data: Symbol | None = None,
    repeats: int = ...,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Repeat every element repeats times along axis; without axis, data is flattened first."""
def reset_arrays(
    *data: Symbol | Sequence[Symbol],
    num_arrays: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Set all arrays to zero in place; there is no output."""
def reshape(
    data: Symbol | None = None,
    shape: int | Sequence[int] = (),
    reverse: bool | int = False,
    target_shape: int | Sequence[int] = (),
    keep_highest: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Reshape data without changing the order of its elements."""
def reshape_like(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Reshape lhs to the shape of rhs."""
def reverse(
    data: Symbol | None = None,
    axis: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Reverse the order of elements along the axes in axis."""
def rint(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise nearest integer, halves downward."""
def rms_norm(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    axis: int = -1,
    eps: float = 1e-06,
    offset: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data / sqrt(mean(data^2) + eps) * gamma, with the mean along axis."""
def rmsprop_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    n: Symbol | None = None,
    lr: float = ...,
    gamma1: float = 0.95,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of RMSProp."""
def rmspropalex_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    n: Symbol | None = None,
    g: Symbol | None = None,
    delta: Symbol | None = None,
    lr: float = ...,
    gamma1: float = 0.95,
    gamma2: float = 0.9,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of centered RMSProp with momentum."""
def rotary_embedding(
    data: Symbol | None = None,
    positions: Symbol | None = None,
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
) -> Symbol:
    """Rotate pairs of elements by the angle position * base^(-2 i / dim) of pair i."""
def round(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise nearest integer, halves away from zero."""
def rsqrt(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise 1 / square root."""
def sample_exponential(
    lam: Symbol | None = None,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from exponential distributions with rate lam."""
def sample_gamma(
    alpha: Symbol | None = None,
    beta: Symbol | None = None,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from gamma distributions with shape alpha and scale beta."""
def sample_generalized_negative_binomial(
    mu: Symbol | None = None,
    alpha: Symbol | None = None,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw integers from negative binomial distributions with mean mu and dispersion alpha."""
def sample_multinomial(
    data: Symbol | None = None,
    shape: int | Sequence[int] = (),
    get_prob: bool | int = False,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw classes with the probabilities along the last axis, an array of shape for each row."""
def sample_negative_binomial(
    k: Symbol | None = None,
    p: Symbol | None = None,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw numbers of failures before the k-th success, where each trial has probability p."""
def sample_normal(
    mu: Symbol | None = None,
    sigma: Symbol | None = None,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from normal distributions with mean mu and standard deviation sigma."""
def sample_poisson(
    lam: Symbol | None = None,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw integers from Poisson distributions with mean lam."""
def sample_uniform(
    low: Symbol | None = None,
    high: Symbol | None = None,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from uniform distributions on [low, high)."""
def scaled_dot_product_attention(
    query: Symbol | None = None,
    key: Symbol | None = None,
    value: Symbol | None = None,
    mask: Symbol | None = None,
    valid_length: Symbol | None = None,
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
) -> Symbol:
    """Attention: softmax of scaled products of queries and keys, times values."""
def scatter_nd(
    data: Symbol | None = None,
    indices: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Write data to zeros of a shape at the points in indices; the last of equal points wins."""
def sgd_mom_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mom: Symbol | None = None,
    lr: float = ...,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent with momentum."""
def sgd_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    lr: float = ...,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent."""
def shape_array(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the shape of data, as int64."""
def shuffle(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Shuffle the slices along axis 0."""
def sigmoid(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise 1 / (1 + exp(-data))."""
def sign(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise sign: -1, 0 or 1."""
def signsgd_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    lr: float = ...,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of signSGD: return (1 - lr wd) weight - lr sign(grad)."""
def signum_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mom: Symbol | None = None,
    lr: float = ...,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    wd_lh: float = 0.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of Signum."""
def sin(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise sine."""
def sinh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise hyperbolic sine."""
def size_array(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the number of elements of data, as int64."""
def slice(
    data: Symbol | None = None,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Slice data from begin up to end in steps of step, as Python slices."""
def slice_axis(
    data: Symbol | None = None,
    axis: int = ...,
    begin: int = ...,
    end: int | None = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Slice data from begin up to end along axis; negative positions count from the end, and an end
    of None is the end of the axis."""
def slice_like(
    data: Symbol | None = None,
    shape_like: Symbol | None = None,
    axes: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Slice the first elements of data along axes (all by default), to the sizes of shape_like."""
def smooth_l1(
    data: Symbol | None = None,
    scalar: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the smooth L1 loss elementwise: (scalar * data)^2 / 2 where abs(data) < 1 / scalar^2,
    else abs(data) - 0.5 / scalar^2."""
def softmax(
    data: Symbol | None = None,
    length: Symbol | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | int | None = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """e^x / sum of e^x along axis, of data / temperature."""
def softmax_cross_entropy(
    data: Symbol | None = None,
    label: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Cross-entropy of softmax(data) with the classes in label, summed over the batch."""
def softmin(
    data: Symbol | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | int | None = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """e^-x / sum of e^-x along axis, of data / temperature."""
def softsign(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data / (1 + abs(data))."""
def sort(
    data: Symbol | None = None,
    axis: int | None = -1,
    is_ascend: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sort the elements along axis; without axis, data is flattened first."""
def space_to_depth(
    data: Symbol | None = None,
    block_size: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Rearrange blocks of pixels into channels: the inverse of depth_to_space."""
def split(
    data: Symbol | None = None,
    num_outputs: int = ...,
    axis: int = 1,
    squeeze_axis: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Split data into num_outputs equal pieces along axis."""
def sqrt(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square root."""
def square(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square."""
def squeeze(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Remove the axes of size 1, or only those in axis."""
def stack(
    *data: Symbol | Sequence[Symbol],
    axis: int = 0,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Join arrays of one shape along a new axis."""
def stop_gradient(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return data, and stop the gradient."""
def sum(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the sum along axis, all axes by default; with exclude along all other axes."""
def sum_axis(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the sum along axis, all axes by default; with exclude along all other axes."""
def swapaxes(
    data: Symbol | None = None,
    dim1: int = 0,
    dim2: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Swap two axes."""
def swiglu(
    data: Symbol | None = None,
    value: Symbol | None = None,
    axis: int = -1,
    use_value: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """gate * sigmoid(gate) times value, elementwise."""
def take(
    a: Symbol | None = None,
    indices: Symbol | None = None,
    axis: int = 0,
    mode: Literal["clip", "raise", "wrap"] | str = "clip",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take slices of a along axis at the positions in indices, which may have any dtype."""
def tan(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise tangent."""
def tanh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise hyperbolic tangent."""
def tile(
    data: Symbol | None = None,
    reps: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Repeat the array reps[i] times along axis i; the shorter of the shape and reps is prepended
    with 1s."""
def topk(
    data: Symbol | None = None,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: Literal["both", "indices", "mask", "value"] | str = "indices",
    is_ascend: bool | int = False,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the k largest elements along axis in descending order, or with is_ascend the k
    smallest in ascending order."""
def transpose(
    data: Symbol | None = None,
    axes: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Permute the axes: axis i of the output is axis axes[i] of data; without axes, reverse their
    order."""
def trunc(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise truncation toward zero to an integer."""
def uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the uniform distribution on [low, high)."""
def unravel_index(
    data: Symbol | None = None,
    shape: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert flat indices of an array of shape, in row-major order, to coordinates."""
def weight_only_dense(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    scale: Symbol | None = None,
    bias: Symbol | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    group_size: int | None = None,
    bits: object = 8,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Dense layer with a weight of integers: data times the transpose of weight * scale, plus
    bias."""
def where(
    condition: Symbol | None = None,
    x: Symbol | None = None,
    y: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Select x where condition is not 0, else y; condition has the shape of x, or one element for
    each row."""
def zeros_like(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return an array of 0s with the shape and dtype of data."""
