# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Sequence
from gluonish.core.dtype import DType
from gluonish.ndarray import _internal as _internal
from gluonish.ndarray import contrib as contrib
from gluonish.ndarray import image as image
from gluonish.ndarray import linalg as linalg
from gluonish.ndarray import methods as _methods
from gluonish.ndarray import op as op
from gluonish.ndarray import random as random
from gluonish.ndarray import sparse as sparse
from gluonish.ndarray import sync_batch_norm as _sync_batch_norm
from gluonish.ndarray.creation import arange as arange
from gluonish.ndarray.creation import array as array
from gluonish.ndarray.creation import concatenate as concatenate
from gluonish.ndarray.creation import empty as empty
from gluonish.ndarray.creation import eye as eye
from gluonish.ndarray.creation import full as full
from gluonish.ndarray.creation import linspace as linspace
from gluonish.ndarray.creation import moveaxis as moveaxis
from gluonish.ndarray.creation import ones as ones
from gluonish.ndarray.creation import zeros as zeros
from gluonish.ndarray.dlpack import from_dlpack as from_dlpack
from gluonish.ndarray.dlpack import from_numpy as from_numpy
from gluonish.ndarray.dlpack import to_dlpack_for_read as to_dlpack_for_read
from gluonish.ndarray.dlpack import to_dlpack_for_write as to_dlpack_for_write
from gluonish.ndarray.functions import add as add
from gluonish.ndarray.functions import divide as divide
from gluonish.ndarray.functions import equal as equal
from gluonish.ndarray.functions import greater as greater
from gluonish.ndarray.functions import greater_equal as greater_equal
from gluonish.ndarray.functions import histogram as histogram
from gluonish.ndarray.functions import imdecode as imdecode
from gluonish.ndarray.functions import lesser as lesser
from gluonish.ndarray.functions import lesser_equal as lesser_equal
from gluonish.ndarray.functions import logical_and as logical_and
from gluonish.ndarray.functions import logical_or as logical_or
from gluonish.ndarray.functions import logical_xor as logical_xor
from gluonish.ndarray.functions import maximum as maximum
from gluonish.ndarray.functions import minimum as minimum
from gluonish.ndarray.functions import modulo as modulo
from gluonish.ndarray.functions import multiply as multiply
from gluonish.ndarray.functions import new_empty_handle as _new_empty_handle
from gluonish.ndarray.functions import not_equal as not_equal
from gluonish.ndarray.functions import onehot_encode as onehot_encode
from gluonish.ndarray.functions import power as power
from gluonish.ndarray.functions import split_v2 as split_v2
from gluonish.ndarray.functions import subtract as subtract
from gluonish.ndarray.functions import true_divide as true_divide
from gluonish.ndarray.functions import waitall as waitall
from gluonish.ndarray.indexing_keys import get_indexing_dispatch_code as get_indexing_dispatch_code
from gluonish.ndarray.indexing_keys import get_oshape_of_gather_nd_op as get_oshape_of_gather_nd_op
from gluonish.ndarray.indexing_keys import indexing_key_expand_implicit_axes as indexing_key_expand_implicit_axes
from gluonish.ndarray.mxnet_numbers import DTYPES as _DTYPE_MX_TO_NP
from gluonish.ndarray.mxnet_numbers import DTYPE_NUMBERS as _DTYPE_NP_TO_MX
from gluonish.ndarray.mxnet_numbers import GRAD_REQS as _GRAD_REQ_MAP
from gluonish.ndarray.mxnet_numbers import STORAGE_TYPES as _STORAGE_TYPE_ID_TO_STR
from gluonish.ndarray.mxnet_numbers import STORAGE_TYPE_NUMBERS as _STORAGE_TYPE_STR_TO_ID
from gluonish.ndarray.mxnet_numbers import integer_types as integer_types
from gluonish.ndarray.mxnet_numbers import py_slice as py_slice
from gluonish.ndarray.ndarray import NDArray as NDArray
from gluonish.ndarray.serialization import load as load
from gluonish.ndarray.serialization import load_frombuffer as load_frombuffer
from gluonish.ndarray.serialization import load_metadata as load_metadata
from gluonish.ndarray.serialization import save as save
from gluonish.numpy_extension.nd_namespaces import np as np
from gluonish.numpy_extension.nd_namespaces import npx as npx
from typing import Any
from typing import Literal
numpy = np
numpy_extension = npx

__all__ = [
    "NDArray",
    "add",
    "arange",
    "array",
    "concatenate",
    "contrib",
    "divide",
    "empty",
    "equal",
    "eye",
    "from_dlpack",
    "from_numpy",
    "full",
    "get_indexing_dispatch_code",
    "get_oshape_of_gather_nd_op",
    "greater",
    "greater_equal",
    "histogram",
    "image",
    "imdecode",
    "indexing_key_expand_implicit_axes",
    "lesser",
    "lesser_equal",
    "linalg",
    "linspace",
    "load",
    "load_frombuffer",
    "load_metadata",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "modulo",
    "moveaxis",
    "multiply",
    "not_equal",
    "onehot_encode",
    "ones",
    "op",
    "power",
    "random",
    "save",
    "sparse",
    "split_v2",
    "subtract",
    "to_dlpack_for_read",
    "to_dlpack_for_write",
    "true_divide",
    "waitall",
    "zeros",
]

def Activation(
    data: NDArray,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] | str,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise activation function: relu, sigmoid, softrelu log(1 + e^data), softsign data / (1
    + |data|), or tanh."""
def BatchNorm(
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
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics for each index of axis
    (each channel)."""
def BatchNorm_v1(
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
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply the first version of BatchNorm, over axis 1."""
def BilinearSampler(
    data: NDArray,
    grid: NDArray,
    cudnn_off: bool | int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sample images at the positions in a grid with bilinear interpolation."""
def BlockGrad(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return data, and stop the gradient."""
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
def Cast(
    data: NDArray,
    dtype: DType,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Cast data to another dtype."""
def Concat(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    dim: int = 1,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Join arrays along axis dim; their other sizes are equal."""
def Convolution(
    data: NDArray,
    weight: NDArray | None = None,
    bias: NDArray | None = None,
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
) -> NDArray:
    """Convolution: slide num_filter filters over the spatial axes, and add the bias."""
def Convolution_v1(
    data: NDArray,
    weight: NDArray | None = None,
    bias: NDArray | None = None,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply the first version of Convolution, for images."""
def Correlation(
    data1: NDArray,
    data2: NDArray,
    kernel_size: int = 1,
    max_displacement: int = 1,
    stride1: int = 1,
    stride2: int = 1,
    pad_size: int = 0,
    is_multiply: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Correlate patches of two images, for displacements of the second image."""
def Crop(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    offset: int | Sequence[int] = (0, 0),
    h_w: int | Sequence[int] = (0, 0),
    center_crop: bool | int = False,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Crop images at offset, or at their center with center_crop."""
def Custom(
    *args: Any,
    op_type: Any = None,
    name: Any = None,
    attr: Any = None,
    out: Any = None,
    **kwargs: Any,
) -> NDArray:
    """Call an operator that was registered with `mx.operator.register`."""
def Deconvolution(
    data: NDArray,
    weight: NDArray | None = None,
    bias: NDArray | None = None,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Transposed convolution: add up num_filter filters, scaled by the data, at every position, and
    add the bias."""
def Dropout(
    data: NDArray,
    p: float = 0.5,
    mode: Literal["always", "training"] | str = "training",
    axes: int | Sequence[int] = (),
    cudnn_off: bool | int | None = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Zero each element with probability p, and multiply the others by 1 / (1 - p)."""
def ElementWiseSum(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum arrays of the same shape and dtype."""
def Embedding(
    data: NDArray,
    weight: NDArray,
    input_dim: int,
    output_dim: int,
    dtype: DType = ...,
    sparse_grad: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Look up rows of weight by the indices in data."""
def Flatten(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flatten all axes after the first: (N, ...) becomes (N, features)."""
def FullyConnected(
    data: NDArray,
    weight: NDArray | None = None,
    bias: NDArray | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data times the transposed weight, plus bias: a dense layer."""
def GridGenerator(
    data: NDArray,
    transform_type: Literal["affine", "warp"] | str,
    target_shape: int | Sequence[int] = (0, 0),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Generate sampling grids for BilinearSampler."""
def GroupNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    num_groups: int = 1,
    eps: float = 1e-05,
    output_mean_var: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics of each sample and group
    of channels."""
def IdentityAttachKLSparseReg(
    data: NDArray,
    moving_avg: NDArray,
    sparseness_target: float = 0.1,
    penalty: float = 0.001,
    momentum: float = 0.9,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data itself, with the gradient of a penalty on the distance of each channel's average from a
    target."""
def InstanceNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    eps: float = 0.001,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics of each sample and
    channel."""
def L2Normalization(
    data: NDArray,
    eps: float = 1e-10,
    mode: Literal["channel", "instance", "spatial"] | str = "instance",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data divided by its L2 norm: the square root of its sum of squares plus eps."""
def LRN(
    data: NDArray,
    alpha: float = 0.0001,
    beta: float = 0.75,
    knorm: float = 2.0,
    nsize: int = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Local response normalization: data / (knorm + alpha / nsize * sum of squares) ** beta."""
def LayerNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    axis: int = -1,
    eps: float = 1e-05,
    output_mean_var: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics along axis."""
def LeakyReLU(
    data: NDArray,
    gamma: NDArray | None = None,
    act_type: Literal["elu", "gelu", "leaky", "prelu", "rrelu", "selu", "gelu_erf", "gelu_tanh", "gelu_sigmoid"] | str = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Leaky ReLU and its variants, elementwise, by act_type."""
def LinearRegressionOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data itself, with gradient data - label."""
def LogisticRegressionOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """sigmoid of data, with gradient sigmoid - label."""
def MAERegressionOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data itself, with gradient 1 where data > label, else -1."""
def MakeLoss(
    data: NDArray,
    grad_scale: float = 1.0,
    valid_thresh: float = 0.0,
    normalization: Literal["batch", "null", "valid"] | str = "null",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return data as a loss: its gradient is grad_scale, and the gradient of the output is
    ignored."""
def Pad(
    data: NDArray,
    mode: Literal["constant", "edge", "reflect"] | str,
    pad_width: int | Sequence[int],
    constant_value: float = 0.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Pad data."""
def Pooling(
    data: NDArray,
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
) -> NDArray:
    """Pooling: the maximum, mean, sum or p-norm of each window of the spatial axes."""
def Pooling_v1(
    data: NDArray,
    kernel: int | Sequence[int] = (),
    pool_type: Literal["avg", "max", "sum"] | str = "max",
    global_pool: bool | int = False,
    pooling_convention: Literal["full", "valid"] | str = "valid",
    stride: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply the first version of Pooling, for images: the maximum, mean or sum of each window."""
def RNN(
    data: NDArray,
    parameters: NDArray | None = None,
    state: NDArray | None = None,
    state_cell: NDArray | None = None,
    sequence_length: NDArray | None = None,
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
    """Recurrent layers (RNN, LSTM or GRU) over complete sequences."""
def ROIPooling(
    data: NDArray,
    rois: NDArray,
    pooled_size: int | Sequence[int],
    spatial_scale: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply region of interest (ROI) pooling: pool each region to a pooled_size grid of maxima."""
def Reshape(
    data: NDArray,
    shape: int | Sequence[int] = (),
    reverse: bool | int = False,
    target_shape: int | Sequence[int] = (),
    keep_highest: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Reshape data without changing the order of its elements."""
def SVMOutput(
    data: NDArray,
    label: NDArray,
    margin: float = 1.0,
    regularization_coefficient: float = 1.0,
    use_linear: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data itself, with the gradient of a hinge loss; the head gradient is ignored."""
def SequenceLast(
    data: NDArray,
    sequence_length: NDArray | None = None,
    use_sequence_length: bool | int = False,
    axis: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The last step of every sequence."""
def SequenceMask(
    data: NDArray,
    sequence_length: NDArray | None = None,
    use_sequence_length: bool | int = False,
    value: float = 0.0,
    axis: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data with everything after the end of each sequence set to value."""
def SequenceReverse(
    data: NDArray,
    sequence_length: NDArray | None = None,
    use_sequence_length: bool | int = False,
    axis: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Every sequence reversed; the steps after its end are unchanged."""
def SliceChannel(
    data: NDArray,
    num_outputs: int,
    axis: int = 1,
    squeeze_axis: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Split data into num_outputs equal pieces along axis."""
def Softmax(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool | int = False,
    use_ignore: bool | int = False,
    preserve_shape: bool | int = False,
    normalization: Literal["batch", "null", "valid"] | str = "null",
    out_grad: bool | int = False,
    smooth_alpha: float = 0.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """softmax of data, with the gradient of a cross-entropy loss."""
def SoftmaxActivation(
    data: NDArray,
    mode: Literal["channel", "instance"] | str = "instance",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """softmax of data: over the last axis (instance), or over axis 1 at each position (channel)."""
def SoftmaxOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool | int = False,
    use_ignore: bool | int = False,
    preserve_shape: bool | int = False,
    normalization: Literal["batch", "null", "valid"] | str = "null",
    out_grad: bool | int = False,
    smooth_alpha: float = 0.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """softmax of data, with the gradient of a cross-entropy loss."""
def SpatialTransformer(
    data: NDArray,
    loc: NDArray,
    target_shape: int | Sequence[int] = (0, 0),
    transform_type: Literal["affine"] | str = ...,
    sampler_type: Literal["bilinear"] | str = ...,
    cudnn_off: bool | int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply affine transformations to images, with bilinear interpolation."""
def SwapAxis(
    data: NDArray,
    dim1: int = 0,
    dim2: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Swap two axes."""
def UpSampling(
    *data: NDArray | Sequence[NDArray],
    scale: int,
    num_filter: int = 0,
    sample_type: Literal["bilinear", "nearest"] | str,
    multi_input_mode: Literal["concat", "sum"] | str = "concat",
    num_args: int = ...,
    workspace: int = 512,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Enlarge images by the integer factor scale."""
def abs(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise absolute value."""
def adam_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of Adam without bias correction (the caller includes it in lr)."""
def add_n(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum arrays of the same shape and dtype."""
def add_rms_norm(
    data: NDArray,
    residual: NDArray,
    gamma: NDArray,
    axis: int = -1,
    eps: float = 1e-06,
    offset: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """rms_norm of data + residual, and the sum itself, in one pass over memory."""
def all_finite(
    data: NDArray,
    init_output: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return 1 if no element is infinite or NaN, else 0, as float32."""
def amp_cast(
    data: NDArray,
    dtype: DType,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Cast floating-point data to dtype, and the gradient back; return others unchanged."""
def amp_multicast(
    *data: NDArray | Sequence[NDArray],
    num_outputs: int = ...,
    cast_narrow: bool | int = False,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Cast all floating-point arrays to the widest dtype among them, or with cast_narrow to the
    narrowest; return integer arrays unchanged. float16 and bfloat16 together become float32."""
def arccos(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse cosine."""
def arccosh(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse hyperbolic cosine."""
def arcsin(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse sine."""
def arcsinh(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse hyperbolic sine."""
def arctan(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse tangent."""
def arctanh(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse hyperbolic tangent."""
def argmax(
    data: NDArray,
    axis: int | None = None,
    keepdims: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the index of the first maximum along axis, or over all elements in row-major order."""
def argmax_channel(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the index of the first maximum along axis 1, in the dtype of data."""
def argmin(
    data: NDArray,
    axis: int | None = None,
    keepdims: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the index of the first minimum along axis, or over all elements in row-major order."""
def argsort(
    data: NDArray,
    axis: int | None = -1,
    is_ascend: bool | int = True,
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the indices, of type dtype, that sort the elements along axis."""
def batch_dot(
    lhs: NDArray,
    rhs: NDArray,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    forward_stype: Literal[None, "csr", "default", "row_sparse"] | str = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Multiply batched matrices over the last two axes."""
def batch_take(
    a: NDArray,
    indices: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Pick element indices[i] of row i, for every row of a matrix."""
def broadcast_add(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_axes(
    data: NDArray,
    axis: int | Sequence[int] = (),
    size: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Broadcast the axes in axis, all of size 1, to the sizes in size."""
def broadcast_axis(
    data: NDArray,
    axis: int | Sequence[int] = (),
    size: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Broadcast the axes in axis, all of size 1, to the sizes in size."""
def broadcast_div(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def broadcast_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs == rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_greater(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs > rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_greater_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs >= rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_hypot(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise square root of the sum of the squares of lhs and rhs; both arrays have the same
    dtype, and shapes broadcast."""
def broadcast_lesser(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs < rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_lesser_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs <= rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_like(
    lhs: NDArray,
    rhs: NDArray,
    lhs_axes: int | Sequence[int] | None = None,
    rhs_axes: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Broadcast lhs to the shape of rhs: all axes, or lhs_axes to the sizes of rhs_axes."""
def broadcast_logical_and(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs and rhs, as 0 and 1; both arrays have the same dtype, and shapes
    broadcast."""
def broadcast_logical_or(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs or rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_logical_xor(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs xor rhs, as 0 and 1; both arrays have the same dtype, and shapes
    broadcast."""
def broadcast_maximum(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise maximum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_minimum(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise minimum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_minus(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_mod(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs modulo rhs, with the sign of the divisor and 0 for a divisor of 0; both
    arrays have the same dtype, and shapes broadcast."""
def broadcast_mul(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_not_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs != rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def broadcast_plus(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_power(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs to the power of rhs; both arrays have the same dtype, and shapes
    broadcast."""
def broadcast_sub(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_to(
    data: NDArray,
    shape: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Broadcast the axes of size 1 to shape; 0 in shape keeps the size of an axis."""
def cast(
    data: NDArray,
    dtype: DType,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Cast data to another dtype."""
def cast_storage(
    data: NDArray,
    stype: Literal["csr", "default", "row_sparse"] | str,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert data to the storage type stype: default (dense), row_sparse or csr."""
def cbrt(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise cube root."""
def ceil(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise smallest integer not below data."""
def choose_element_0index(
    data: NDArray,
    index: NDArray,
    axis: int | None = -1,
    keepdims: bool | int = False,
    mode: Literal["clip", "wrap"] | str = "clip",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Pick one element of every row along axis, at the position in index."""
def clip(
    data: NDArray,
    a_min: float,
    a_max: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Clip data to [a_min, a_max]."""
def col2im(
    data: NDArray,
    output_size: int | Sequence[int],
    kernel: int | Sequence[int],
    stride: int | Sequence[int] = (),
    dilate: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum columns into images at the positions where im2col reads them: the adjoint of im2col."""
def concat(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    dim: int = 1,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Join arrays along axis dim; their other sizes are equal."""
def cos(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise cosine."""
def cosh(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise hyperbolic cosine."""
def crop(
    data: NDArray,
    begin: int | Sequence[int | None],
    end: int | Sequence[int | None],
    step: int | Sequence[int | None] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Slice data from begin up to end in steps of step, as Python slices."""
def cross_entropy(
    data: NDArray,
    label: NDArray,
    ignore_label: int | None = None,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    reduction: Literal["none", "mean", "sum"] | str = "none",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Cross entropy of softmax(data) over the last axis with the classes in label."""
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
def cumsum(
    a: NDArray,
    axis: int | None = None,
    dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Cumulative sums along axis, or of all elements in row-major order."""
def degrees(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise conversion of radians to degrees."""
def depth_to_space(
    data: NDArray,
    block_size: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Rearrange channels into blocks of pixels."""
def diag(
    data: NDArray,
    k: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Extract diagonal k of the matrices in axes axis1 and axis2, as the last axis."""
def digamma(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise derivative of log gamma."""
def dot(
    lhs: NDArray,
    rhs: NDArray,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    forward_stype: Literal[None, "csr", "default", "row_sparse"] | str = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Multiply matrices: sum products over the last axis of lhs and the first axis of rhs."""
def elemwise_add(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def elemwise_div(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def elemwise_mul(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def elemwise_sub(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def erf(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise error function."""
def erfinv(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse of the error function."""
def exp(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise e to the power of data."""
def expand_dims(
    data: NDArray,
    axis: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Insert an axis of size 1 at position axis."""
def expm1(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise e to the power of data, minus 1."""
def fill_element_0index(
    lhs: NDArray,
    mhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Replace element rhs[i] of row i of lhs by mhs[i]."""
def fix(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise truncation toward zero to an integer."""
def flatten(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flatten all axes after the first: (N, ...) becomes (N, features)."""
def flip(
    data: NDArray,
    axis: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Reverse the order of elements along the axes in axis."""
def floor(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise largest integer not above data."""
def ftml_update(
    weight: NDArray,
    grad: NDArray,
    d: NDArray,
    v: NDArray,
    z: NDArray,
    lr: float,
    beta1: float = 0.6,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    t: int = ...,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_grad: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of Follow the Moving Leader."""
def ftrl_update(
    weight: NDArray,
    grad: NDArray,
    z: NDArray,
    n: NDArray,
    lr: float,
    lamda1: float = 0.01,
    beta: float = 1.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of FTRL-Proximal."""
def gamma(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise gamma function."""
def gammaln(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise logarithm of the gamma function's absolute value."""
def gather_nd(
    data: NDArray,
    indices: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gather elements of data at points: column j of indices holds the M coordinates of point j."""
def geglu(
    data: NDArray,
    value: NDArray | None = None,
    approximation: Literal["erf", "tanh", "sigmoid"] | str = "erf",
    axis: int = -1,
    use_value: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """GELU of gate, or an approximation of it, times value, elementwise."""
def hard_sigmoid(
    data: NDArray,
    alpha: float = 0.2,
    beta: float = 0.5,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """alpha * data + beta, clipped to [0, 1]."""
def identity(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Copy data."""
def im2col(
    data: NDArray,
    kernel: int | Sequence[int],
    stride: int | Sequence[int] = (),
    dilate: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Rearrange the windows of images into columns."""
def khatri_rao(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the Khatri-Rao product: the Kronecker products of the columns of matrices."""
def lamb_update_phase1(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    t: int = ...,
    bias_correction: bool | int = True,
    wd: float = ...,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the first phase of a LAMB step."""
def lamb_update_phase2(
    weight: NDArray,
    g: NDArray,
    r1: NDArray,
    r2: NDArray,
    lr: float,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the second phase of a LAMB step."""
def linalg_det(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the determinant of every matrix."""
def linalg_extractdiag(
    A: NDArray,
    offset: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Extract the diagonal at offset of every square matrix, as vectors."""
def linalg_extracttrian(
    A: NDArray,
    offset: int = 0,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Pack a triangle of every square matrix into a vector: the rows of a lower triangle, the
    columns of an upper one."""
def linalg_gelqf(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the LQ decomposition: Q and L with A = L Q, for matrices of full rank with no more
    rows than columns."""
def linalg_gemm(
    A: NDArray,
    B: NDArray,
    C: NDArray,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    axis: int = -2,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute alpha A B + beta C."""
def linalg_gemm2(
    A: NDArray,
    B: NDArray,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    alpha: float = 1.0,
    axis: int = -2,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute alpha A B, with rows along axis and columns along the last axis."""
def linalg_inverse(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Invert every matrix."""
def linalg_makediag(
    A: NDArray,
    offset: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Build square matrices with vectors on the diagonal at offset, and zeros elsewhere."""
def linalg_maketrian(
    A: NDArray,
    offset: int = 0,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Unpack triangles into square matrices, with zeros elsewhere: the inverse of extracttrian."""
def linalg_potrf(
    A: NDArray,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the Cholesky factor of symmetric positive definite A: lower triangular L with A = L
    L^T, or upper triangular U with A = U^T U if lower is false."""
def linalg_potri(
    A: NDArray,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the inverse of L L^T from the lower triangular L of potrf, or of U^T U if lower is
    false."""
def linalg_slogdet(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the sign of the determinant of every matrix, and the logarithm of its absolute
    value."""
def linalg_sumlogdiag(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum the logarithms of the diagonal of every matrix."""
def linalg_syrk(
    A: NDArray,
    transpose: bool | int = False,
    alpha: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute alpha A A^T, or alpha A^T A with transpose."""
def linalg_trmm(
    A: NDArray,
    B: NDArray,
    transpose: bool | int = False,
    rightside: bool | int = False,
    lower: bool | int = True,
    alpha: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Multiply B by alpha and a triangle of A from the left, or from the right (rightside)."""
def linalg_trsm(
    A: NDArray,
    B: NDArray,
    transpose: bool | int = False,
    rightside: bool | int = False,
    lower: bool | int = True,
    alpha: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Solve A X = alpha B, or X A = alpha B (rightside), for X, with a triangle of A."""
def linear_cross_entropy(
    data: NDArray,
    weight: NDArray | None = None,
    label: NDArray | None = None,
    bias: NDArray | None = None,
    recompute: bool | int = False,
    use_bias: bool | int = False,
    ignore_label: int | None = None,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    reduction: Literal["none", "mean", "sum"] | str = "none",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Cross entropy of the scores data weight^T + bias with the classes in label."""
def log(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise natural logarithm."""
def log10(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise decimal logarithm."""
def log1p(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise natural logarithm of 1 + data."""
def log2(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise binary logarithm."""
def log_sigmoid(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise log of the sigmoid."""
def log_softmax(
    data: NDArray,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | int | None = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Logarithm of softmax along axis, of data / temperature."""
def logical_not(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise 1 where data is 0, else 0."""
def make_loss(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return data as a loss: its gradient is 1, and the gradient of the output is ignored."""
def max(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the maximum along axis, all axes by default; with exclude along all other axes."""
def max_axis(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the maximum along axis, all axes by default; with exclude along all other axes."""
def mean(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the arithmetic mean along axis, all axes by default; with exclude along all other
    axes."""
def min(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the minimum along axis, all axes by default; with exclude along all other axes."""
def min_axis(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the minimum along axis, all axes by default; with exclude along all other axes."""
def mish(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data * tanh(log(1 + exp(data)))."""
def moments(
    data: NDArray,
    axes: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute mean and variance over axes, which is required."""
def mp_lamb_update_phase1(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    weight32: NDArray,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    t: int = ...,
    bias_correction: bool | int = True,
    wd: float = ...,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the first phase of a LAMB step."""
def mp_lamb_update_phase2(
    weight: NDArray,
    g: NDArray,
    r1: NDArray,
    r2: NDArray,
    weight32: NDArray,
    lr: float,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the second phase of a LAMB step."""
def mp_nag_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    weight32: NDArray,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of Nesterov's accelerated gradient, as computed by the optimizer class, in
    mixed precision."""
def mp_sgd_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    weight32: NDArray,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of gradient descent with momentum in mixed precision."""
def mp_sgd_update(
    weight: NDArray,
    grad: NDArray,
    weight32: NDArray,
    lr: float,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of gradient descent in mixed precision."""
def multi_all_finite(
    *data: NDArray | Sequence[NDArray],
    num_arrays: int = ...,
    init_output: bool | int = True,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return 1 if no element of any array is infinite or NaN, else 0, as float32."""
def multi_lars(
    lrs: NDArray,
    weights_sum_sq: NDArray,
    grads_sum_sq: NDArray,
    wds: NDArray,
    eta: float,
    eps: float,
    rescale_grad: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Scale the learning rate of each layer to lr * eta * |w| / (rescale_grad * |g| + wd * |w| +
    eps), or leave it unchanged if a norm is 0."""
def multi_mp_sgd_mom_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of gradient descent with momentum for num_weights weights in mixed
    precision."""
def multi_mp_sgd_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of gradient descent for num_weights weights in mixed precision."""
def multi_sgd_mom_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of gradient descent with momentum for num_weights weights."""
def multi_sgd_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of gradient descent for num_weights weights."""
def multi_sum_sq(
    *data: NDArray | Sequence[NDArray],
    num_arrays: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the sum of squares of each array, in float32."""
def nag_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of Nesterov's accelerated gradient."""
def nanprod(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the product of the elements that are not NaN along axis, all axes by default; with
    exclude along all other axes."""
def nansum(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the sum of the elements that are not NaN along axis, all axes by default; with
    exclude along all other axes."""
def negative(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise -data."""
def norm(
    data: NDArray,
    ord: int = 2,
    axis: int | Sequence[int] | None = None,
    out_dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the norm along axis, or over all elements: the sum of absolute values (ord=1) or the
    square root of the sum of squares (ord=2)."""
def normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the normal distribution with mean loc and standard deviation scale."""
def one_hot(
    indices: NDArray,
    depth: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return rows of depth values: on_value at the index, off_value elsewhere."""
def ones_like(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return an array of 1s with the shape and dtype of data."""
def pad(
    data: NDArray,
    mode: Literal["constant", "edge", "reflect"] | str,
    pad_width: int | Sequence[int],
    constant_value: float = 0.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Pad data."""
def pick(
    data: NDArray,
    index: NDArray,
    axis: int | None = -1,
    keepdims: bool | int = False,
    mode: Literal["clip", "wrap"] | str = "clip",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Pick one element of every row along axis, at the position in index."""
def preloaded_multi_mp_sgd_mom_update(
    *data: NDArray | Sequence[NDArray],
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of gradient descent with momentum for num_weights weights in mixed
    precision."""
def preloaded_multi_mp_sgd_update(
    *data: NDArray | Sequence[NDArray],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of gradient descent for num_weights weights in mixed precision."""
def preloaded_multi_sgd_mom_update(
    *data: NDArray | Sequence[NDArray],
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of gradient descent with momentum for num_weights weights."""
def preloaded_multi_sgd_update(
    *data: NDArray | Sequence[NDArray],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of gradient descent for num_weights weights."""
def prod(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the product along axis, all axes by default; with exclude along all other axes."""
def radians(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise conversion of degrees to radians."""
def random_exponential(
    lam: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the exponential distribution with rate lam."""
def random_gamma(
    alpha: float = 1.0,
    beta: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the gamma distribution with shape alpha and scale beta."""
def random_generalized_negative_binomial(
    mu: float = 1.0,
    alpha: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw integers from the negative binomial distribution with mean mu and dispersion alpha."""
def random_negative_binomial(
    k: int = 1,
    p: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw numbers of failures before the k-th success, where each trial has probability p."""
def random_normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the normal distribution with mean loc and standard deviation scale."""
def random_pdf_dirichlet(
    sample: NDArray,
    alpha: NDArray,
    is_log: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the Dirichlet distribution at sample, or with is_log its
    logarithm."""
def random_pdf_exponential(
    sample: NDArray,
    lam: NDArray,
    is_log: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the exponential distribution with rate lam at sample, or
    with is_log its logarithm."""
def random_pdf_gamma(
    sample: NDArray,
    alpha: NDArray,
    beta: NDArray,
    is_log: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the gamma distribution with shape alpha and rate beta at
    sample, or with is_log its logarithm."""
def random_pdf_generalized_negative_binomial(
    sample: NDArray,
    mu: NDArray,
    alpha: NDArray,
    is_log: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the negative binomial distribution with mean mu and
    dispersion alpha at sample, or with is_log its logarithm."""
def random_pdf_negative_binomial(
    sample: NDArray,
    k: NDArray,
    p: NDArray,
    is_log: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the number of failures before the k-th success of
    probability p at sample, or with is_log its logarithm."""
def random_pdf_normal(
    sample: NDArray,
    mu: NDArray,
    sigma: NDArray,
    is_log: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the normal distribution at sample, or with is_log its
    logarithm."""
def random_pdf_poisson(
    sample: NDArray,
    lam: NDArray,
    is_log: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the Poisson distribution at sample, or with is_log its
    logarithm."""
def random_pdf_uniform(
    sample: NDArray,
    low: NDArray,
    high: NDArray,
    is_log: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the uniform distribution on [low, high) at sample, or with
    is_log its logarithm."""
def random_poisson(
    lam: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw integers from the Poisson distribution with mean lam."""
def random_randint(
    low: int,
    high: int,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw integers uniformly from [low, high)."""
def random_uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the uniform distribution on [low, high)."""
def ravel_multi_index(
    data: NDArray,
    shape: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert coordinates to flat indices of an array of shape, in row-major order."""
def rcbrt(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise 1 / cube root."""
def reciprocal(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise 1 / data."""
def relu(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise maximum of data and 0."""
def repeat(
    data: NDArray,
    repeats: int,
    axis: int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Repeat every element repeats times along axis; without axis, data is flattened first."""
def reset_arrays(
    *data: NDArray | Sequence[NDArray],
    num_arrays: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Set all arrays to zero in place; there is no output."""
def reshape(
    data: NDArray,
    shape: int | Sequence[int] = (),
    reverse: bool | int = False,
    target_shape: int | Sequence[int] = (),
    keep_highest: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Reshape data without changing the order of its elements."""
def reshape_like(
    lhs: NDArray,
    rhs: NDArray,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Reshape lhs to the shape of rhs."""
def reverse(
    data: NDArray,
    axis: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Reverse the order of elements along the axes in axis."""
def rint(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise nearest integer, halves downward."""
def rms_norm(
    data: NDArray,
    gamma: NDArray,
    axis: int = -1,
    eps: float = 1e-06,
    offset: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data / sqrt(mean(data^2) + eps) * gamma, with the mean along axis."""
def rmsprop_update(
    weight: NDArray,
    grad: NDArray,
    n: NDArray,
    lr: float,
    gamma1: float = 0.95,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of RMSProp."""
def rmspropalex_update(
    weight: NDArray,
    grad: NDArray,
    n: NDArray,
    g: NDArray,
    delta: NDArray,
    lr: float,
    gamma1: float = 0.95,
    gamma2: float = 0.9,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of centered RMSProp with momentum."""
def rotary_embedding(
    data: NDArray,
    positions: NDArray | None = None,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Rotate pairs of elements by the angle position * base^(-2 i / dim) of pair i."""
def round(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise nearest integer, halves away from zero."""
def rsqrt(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise 1 / square root."""
def sample_exponential(
    lam: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from exponential distributions with rate lam."""
def sample_gamma(
    alpha: NDArray,
    beta: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from gamma distributions with shape alpha and scale beta."""
def sample_generalized_negative_binomial(
    mu: NDArray,
    alpha: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw integers from negative binomial distributions with mean mu and dispersion alpha."""
def sample_multinomial(
    data: NDArray,
    shape: int | Sequence[int] = (),
    get_prob: bool | int = False,
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw classes with the probabilities along the last axis, an array of shape for each row."""
def sample_negative_binomial(
    k: NDArray,
    p: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw numbers of failures before the k-th success, where each trial has probability p."""
def sample_normal(
    mu: NDArray,
    sigma: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from normal distributions with mean mu and standard deviation sigma."""
def sample_poisson(
    lam: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw integers from Poisson distributions with mean lam."""
def sample_uniform(
    low: NDArray,
    high: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from uniform distributions on [low, high)."""
def scaled_dot_product_attention(
    query: NDArray,
    key: NDArray | None = None,
    value: NDArray | None = None,
    mask: NDArray | None = None,
    valid_length: NDArray | None = None,
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
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Attention: softmax of scaled products of queries and keys, times values."""
def scatter_nd(
    data: NDArray,
    indices: NDArray,
    shape: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Write data to zeros of a shape at the points in indices; the last of equal points wins."""
def sgd_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of gradient descent with momentum."""
def sgd_update(
    weight: NDArray,
    grad: NDArray,
    lr: float,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of gradient descent."""
def shape_array(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the shape of data, as int64."""
def shuffle(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Shuffle the slices along axis 0."""
def sigmoid(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise 1 / (1 + exp(-data))."""
def sign(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise sign: -1, 0 or 1."""
def signsgd_update(
    weight: NDArray,
    grad: NDArray,
    lr: float,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of signSGD: return (1 - lr wd) weight - lr sign(grad)."""
def signum_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    wd_lh: float = 0.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of Signum."""
def sin(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise sine."""
def sinh(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise hyperbolic sine."""
def size_array(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the number of elements of data, as int64."""
def slice(
    data: NDArray,
    begin: int | Sequence[int | None],
    end: int | Sequence[int | None],
    step: int | Sequence[int | None] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Slice data from begin up to end in steps of step, as Python slices."""
def slice_axis(
    data: NDArray,
    axis: int,
    begin: int,
    end: int | None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Slice data from begin up to end along axis; negative positions count from the end, and an end
    of None is the end of the axis."""
def slice_like(
    data: NDArray,
    shape_like: NDArray,
    axes: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Slice the first elements of data along axes (all by default), to the sizes of shape_like."""
def smooth_l1(
    data: NDArray,
    scalar: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the smooth L1 loss elementwise: (scalar * data)^2 / 2 where abs(data) < 1 / scalar^2,
    else abs(data) - 0.5 / scalar^2."""
def softmax(
    data: NDArray,
    length: NDArray | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | int | None = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """e^x / sum of e^x along axis, of data / temperature."""
def softmax_cross_entropy(
    data: NDArray,
    label: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Cross-entropy of softmax(data) with the classes in label, summed over the batch."""
def softmin(
    data: NDArray,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | int | None = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """e^-x / sum of e^-x along axis, of data / temperature."""
def softsign(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data / (1 + abs(data))."""
def sort(
    data: NDArray,
    axis: int | None = -1,
    is_ascend: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sort the elements along axis; without axis, data is flattened first."""
def space_to_depth(
    data: NDArray,
    block_size: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Rearrange blocks of pixels into channels: the inverse of depth_to_space."""
def split(
    data: NDArray,
    num_outputs: int,
    axis: int = 1,
    squeeze_axis: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Split data into num_outputs equal pieces along axis."""
def sqrt(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise square root."""
def square(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise square."""
def squeeze(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Remove the axes of size 1, or only those in axis."""
def stack(
    *data: NDArray | Sequence[NDArray],
    axis: int = 0,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Join arrays of one shape along a new axis."""
def stop_gradient(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return data, and stop the gradient."""
def sum(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the sum along axis, all axes by default; with exclude along all other axes."""
def sum_axis(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the sum along axis, all axes by default; with exclude along all other axes."""
def swapaxes(
    data: NDArray,
    dim1: int = 0,
    dim2: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Swap two axes."""
def swiglu(
    data: NDArray,
    value: NDArray | None = None,
    axis: int = -1,
    use_value: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """gate * sigmoid(gate) times value, elementwise."""
def take(
    a: NDArray,
    indices: NDArray,
    axis: int = 0,
    mode: Literal["clip", "raise", "wrap"] | str = "clip",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take slices of a along axis at the positions in indices, which may have any dtype."""
def tan(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise tangent."""
def tanh(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise hyperbolic tangent."""
def tile(
    data: NDArray,
    reps: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Repeat the array reps[i] times along axis i; the shorter of the shape and reps is prepended
    with 1s."""
def topk(
    data: NDArray,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: Literal["both", "indices", "mask", "value"] | str = "indices",
    is_ascend: bool | int = False,
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the k largest elements along axis in descending order, or with is_ascend the k
    smallest in ascending order."""
def transpose(
    data: NDArray,
    axes: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Permute the axes: axis i of the output is axis axes[i] of data; without axes, reverse their
    order."""
def trunc(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise truncation toward zero to an integer."""
def uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the uniform distribution on [low, high)."""
def unravel_index(
    data: NDArray,
    shape: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert flat indices of an array of shape, in row-major order, to coordinates."""
def weight_only_dense(
    data: NDArray,
    weight: NDArray | None = None,
    scale: NDArray | None = None,
    bias: NDArray | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    group_size: int | None = None,
    bits: object = 8,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Dense layer with a weight of integers: data times the transpose of weight * scale, plus
    bias."""
def where(
    condition: NDArray,
    x: NDArray,
    y: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Select x where condition is not 0, else y; condition has the shape of x, or one element for
    each row."""
def zeros_like(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return an array of 0s with the shape and dtype of data."""
