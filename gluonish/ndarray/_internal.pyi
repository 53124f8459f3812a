# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Sequence
from gluonish.core.context import Context
from gluonish.core.dtype import DType
from gluonish.ndarray import Activation as Activation
from gluonish.ndarray import BatchNorm as BatchNorm
from gluonish.ndarray import BatchNorm_v1 as BatchNorm_v1
from gluonish.ndarray import BilinearSampler as BilinearSampler
from gluonish.ndarray import BlockGrad as BlockGrad
from gluonish.ndarray import CTCLoss as CTCLoss
from gluonish.ndarray import Cast as Cast
from gluonish.ndarray import Concat as Concat
from gluonish.ndarray import Convolution as Convolution
from gluonish.ndarray import Convolution_v1 as Convolution_v1
from gluonish.ndarray import Correlation as Correlation
from gluonish.ndarray import Crop as Crop
from gluonish.ndarray import Custom as Custom
from gluonish.ndarray import Deconvolution as Deconvolution
from gluonish.ndarray import Dropout as Dropout
from gluonish.ndarray import ElementWiseSum as ElementWiseSum
from gluonish.ndarray import Embedding as Embedding
from gluonish.ndarray import Flatten as Flatten
from gluonish.ndarray import FullyConnected as FullyConnected
from gluonish.ndarray import GridGenerator as GridGenerator
from gluonish.ndarray import GroupNorm as GroupNorm
from gluonish.ndarray import IdentityAttachKLSparseReg as IdentityAttachKLSparseReg
from gluonish.ndarray import InstanceNorm as InstanceNorm
from gluonish.ndarray import L2Normalization as L2Normalization
from gluonish.ndarray import LRN as LRN
from gluonish.ndarray import LayerNorm as LayerNorm
from gluonish.ndarray import LeakyReLU as LeakyReLU
from gluonish.ndarray import LinearRegressionOutput as LinearRegressionOutput
from gluonish.ndarray import LogisticRegressionOutput as LogisticRegressionOutput
from gluonish.ndarray import MAERegressionOutput as MAERegressionOutput
from gluonish.ndarray import MakeLoss as MakeLoss
from gluonish.ndarray import Pad as Pad
from gluonish.ndarray import Pooling as Pooling
from gluonish.ndarray import Pooling_v1 as Pooling_v1
from gluonish.ndarray import RNN as RNN
from gluonish.ndarray import ROIPooling as ROIPooling
from gluonish.ndarray import Reshape as Reshape
from gluonish.ndarray import SVMOutput as SVMOutput
from gluonish.ndarray import SequenceLast as SequenceLast
from gluonish.ndarray import SequenceMask as SequenceMask
from gluonish.ndarray import SequenceReverse as SequenceReverse
from gluonish.ndarray import SliceChannel as SliceChannel
from gluonish.ndarray import Softmax as Softmax
from gluonish.ndarray import SoftmaxActivation as SoftmaxActivation
from gluonish.ndarray import SoftmaxOutput as SoftmaxOutput
from gluonish.ndarray import SpatialTransformer as SpatialTransformer
from gluonish.ndarray import SwapAxis as SwapAxis
from gluonish.ndarray import UpSampling as UpSampling
from gluonish.ndarray import abs as abs
from gluonish.ndarray import adam_update as adam_update
from gluonish.ndarray import add_n as add_n
from gluonish.ndarray import add_rms_norm as add_rms_norm
from gluonish.ndarray import all_finite as all_finite
from gluonish.ndarray import amp_cast as amp_cast
from gluonish.ndarray import amp_multicast as amp_multicast
from gluonish.ndarray import arccos as arccos
from gluonish.ndarray import arccosh as arccosh
from gluonish.ndarray import arcsin as arcsin
from gluonish.ndarray import arcsinh as arcsinh
from gluonish.ndarray import arctan as arctan
from gluonish.ndarray import arctanh as arctanh
from gluonish.ndarray import argmax as argmax
from gluonish.ndarray import argmax_channel as argmax_channel
from gluonish.ndarray import argmin as argmin
from gluonish.ndarray import argsort as argsort
from gluonish.ndarray import batch_dot as batch_dot
from gluonish.ndarray import batch_take as batch_take
from gluonish.ndarray import broadcast_add as broadcast_add
from gluonish.ndarray import broadcast_axes as broadcast_axes
from gluonish.ndarray import broadcast_axis as broadcast_axis
from gluonish.ndarray import broadcast_div as broadcast_div
from gluonish.ndarray import broadcast_equal as broadcast_equal
from gluonish.ndarray import broadcast_greater as broadcast_greater
from gluonish.ndarray import broadcast_greater_equal as broadcast_greater_equal
from gluonish.ndarray import broadcast_hypot as broadcast_hypot
from gluonish.ndarray import broadcast_lesser as broadcast_lesser
from gluonish.ndarray import broadcast_lesser_equal as broadcast_lesser_equal
from gluonish.ndarray import broadcast_like as broadcast_like
from gluonish.ndarray import broadcast_logical_and as broadcast_logical_and
from gluonish.ndarray import broadcast_logical_or as broadcast_logical_or
from gluonish.ndarray import broadcast_logical_xor as broadcast_logical_xor
from gluonish.ndarray import broadcast_maximum as broadcast_maximum
from gluonish.ndarray import broadcast_minimum as broadcast_minimum
from gluonish.ndarray import broadcast_minus as broadcast_minus
from gluonish.ndarray import broadcast_mod as broadcast_mod
from gluonish.ndarray import broadcast_mul as broadcast_mul
from gluonish.ndarray import broadcast_not_equal as broadcast_not_equal
from gluonish.ndarray import broadcast_plus as broadcast_plus
from gluonish.ndarray import broadcast_power as broadcast_power
from gluonish.ndarray import broadcast_sub as broadcast_sub
from gluonish.ndarray import broadcast_to as broadcast_to
from gluonish.ndarray import cast as cast
from gluonish.ndarray import cast_storage as cast_storage
from gluonish.ndarray import cbrt as cbrt
from gluonish.ndarray import ceil as ceil
from gluonish.ndarray import choose_element_0index as choose_element_0index
from gluonish.ndarray import clip as clip
from gluonish.ndarray import col2im as col2im
from gluonish.ndarray import concat as concat
from gluonish.ndarray import cos as cos
from gluonish.ndarray import cosh as cosh
from gluonish.ndarray import crop as crop
from gluonish.ndarray import cross_entropy as cross_entropy
from gluonish.ndarray import ctc_loss as ctc_loss
from gluonish.ndarray import cumsum as cumsum
from gluonish.ndarray import degrees as degrees
from gluonish.ndarray import depth_to_space as depth_to_space
from gluonish.ndarray import diag as diag
from gluonish.ndarray import digamma as digamma
from gluonish.ndarray import dot as dot
from gluonish.ndarray import elemwise_add as elemwise_add
from gluonish.ndarray import elemwise_div as elemwise_div
from gluonish.ndarray import elemwise_mul as elemwise_mul
from gluonish.ndarray import elemwise_sub as elemwise_sub
from gluonish.ndarray import erf as erf
from gluonish.ndarray import erfinv as erfinv
from gluonish.ndarray import exp as exp
from gluonish.ndarray import expand_dims as expand_dims
from gluonish.ndarray import expm1 as expm1
from gluonish.ndarray import fill_element_0index as fill_element_0index
from gluonish.ndarray import fix as fix
from gluonish.ndarray import flatten as flatten
from gluonish.ndarray import flip as flip
from gluonish.ndarray import floor as floor
from gluonish.ndarray import ftml_update as ftml_update
from gluonish.ndarray import ftrl_update as ftrl_update
from gluonish.ndarray import gamma as gamma
from gluonish.ndarray import gammaln as gammaln
from gluonish.ndarray import gather_nd as gather_nd
from gluonish.ndarray import geglu as geglu
from gluonish.ndarray import hard_sigmoid as hard_sigmoid
from gluonish.ndarray import identity as identity
from gluonish.ndarray import im2col as im2col
from gluonish.ndarray import khatri_rao as khatri_rao
from gluonish.ndarray import lamb_update_phase1 as lamb_update_phase1
from gluonish.ndarray import lamb_update_phase2 as lamb_update_phase2
from gluonish.ndarray import linalg_det as linalg_det
from gluonish.ndarray import linalg_extractdiag as linalg_extractdiag
from gluonish.ndarray import linalg_extracttrian as linalg_extracttrian
from gluonish.ndarray import linalg_gelqf as linalg_gelqf
from gluonish.ndarray import linalg_gemm as linalg_gemm
from gluonish.ndarray import linalg_gemm2 as linalg_gemm2
from gluonish.ndarray import linalg_inverse as linalg_inverse
from gluonish.ndarray import linalg_makediag as linalg_makediag
from gluonish.ndarray import linalg_maketrian as linalg_maketrian
from gluonish.ndarray import linalg_potrf as linalg_potrf
from gluonish.ndarray import linalg_potri as linalg_potri
from gluonish.ndarray import linalg_slogdet as linalg_slogdet
from gluonish.ndarray import linalg_sumlogdiag as linalg_sumlogdiag
from gluonish.ndarray import linalg_syrk as linalg_syrk
from gluonish.ndarray import linalg_trmm as linalg_trmm
from gluonish.ndarray import linalg_trsm as linalg_trsm
from gluonish.ndarray import linear_cross_entropy as linear_cross_entropy
from gluonish.ndarray import log as log
from gluonish.ndarray import log10 as log10
from gluonish.ndarray import log1p as log1p
from gluonish.ndarray import log2 as log2
from gluonish.ndarray import log_sigmoid as log_sigmoid
from gluonish.ndarray import log_softmax as log_softmax
from gluonish.ndarray import logical_not as logical_not
from gluonish.ndarray import make_loss as make_loss
from gluonish.ndarray import max as max
from gluonish.ndarray import max_axis as max_axis
from gluonish.ndarray import mean as mean
from gluonish.ndarray import min as min
from gluonish.ndarray import min_axis as min_axis
from gluonish.ndarray import mish as mish
from gluonish.ndarray import moments as moments
from gluonish.ndarray import mp_lamb_update_phase1 as mp_lamb_update_phase1
from gluonish.ndarray import mp_lamb_update_phase2 as mp_lamb_update_phase2
from gluonish.ndarray import mp_nag_mom_update as mp_nag_mom_update
from gluonish.ndarray import mp_sgd_mom_update as mp_sgd_mom_update
from gluonish.ndarray import mp_sgd_update as mp_sgd_update
from gluonish.ndarray import multi_all_finite as multi_all_finite
from gluonish.ndarray import multi_lars as multi_lars
from gluonish.ndarray import multi_mp_sgd_mom_update as multi_mp_sgd_mom_update
from gluonish.ndarray import multi_mp_sgd_update as multi_mp_sgd_update
from gluonish.ndarray import multi_sgd_mom_update as multi_sgd_mom_update
from gluonish.ndarray import multi_sgd_update as multi_sgd_update
from gluonish.ndarray import multi_sum_sq as multi_sum_sq
from gluonish.ndarray import nag_mom_update as nag_mom_update
from gluonish.ndarray import nanprod as nanprod
from gluonish.ndarray import nansum as nansum
from gluonish.ndarray import negative as negative
from gluonish.ndarray import norm as norm
from gluonish.ndarray import normal as normal
from gluonish.ndarray import one_hot as one_hot
from gluonish.ndarray import ones_like as ones_like
from gluonish.ndarray import pad as pad
from gluonish.ndarray import pick as pick
from gluonish.ndarray import preloaded_multi_mp_sgd_mom_update as preloaded_multi_mp_sgd_mom_update
from gluonish.ndarray import preloaded_multi_mp_sgd_update as preloaded_multi_mp_sgd_update
from gluonish.ndarray import preloaded_multi_sgd_mom_update as preloaded_multi_sgd_mom_update
from gluonish.ndarray import preloaded_multi_sgd_update as preloaded_multi_sgd_update
from gluonish.ndarray import prod as prod
from gluonish.ndarray import radians as radians
from gluonish.ndarray import random_exponential as random_exponential
from gluonish.ndarray import random_gamma as random_gamma
from gluonish.ndarray import random_generalized_negative_binomial as random_generalized_negative_binomial
from gluonish.ndarray import random_negative_binomial as random_negative_binomial
from gluonish.ndarray import random_normal as random_normal
from gluonish.ndarray import random_pdf_dirichlet as random_pdf_dirichlet
from gluonish.ndarray import random_pdf_exponential as random_pdf_exponential
from gluonish.ndarray import random_pdf_gamma as random_pdf_gamma
from gluonish.ndarray import random_pdf_generalized_negative_binomial as random_pdf_generalized_negative_binomial
from gluonish.ndarray import random_pdf_negative_binomial as random_pdf_negative_binomial
from gluonish.ndarray import random_pdf_normal as random_pdf_normal
from gluonish.ndarray import random_pdf_poisson as random_pdf_poisson
from gluonish.ndarray import random_pdf_uniform as random_pdf_uniform
from gluonish.ndarray import random_poisson as random_poisson
from gluonish.ndarray import random_randint as random_randint
from gluonish.ndarray import random_uniform as random_uniform
from gluonish.ndarray import ravel_multi_index as ravel_multi_index
from gluonish.ndarray import rcbrt as rcbrt
from gluonish.ndarray import reciprocal as reciprocal
from gluonish.ndarray import relu as relu
from gluonish.ndarray import repeat as repeat
from gluonish.ndarray import reset_arrays as reset_arrays
from gluonish.ndarray import reshape as reshape
from gluonish.ndarray import reshape_like as reshape_like
from gluonish.ndarray import reverse as reverse
from gluonish.ndarray import rint as rint
from gluonish.ndarray import rms_norm as rms_norm
from gluonish.ndarray import rmsprop_update as rmsprop_update
from gluonish.ndarray import rmspropalex_update as rmspropalex_update
from gluonish.ndarray import rotary_embedding as rotary_embedding
from gluonish.ndarray import round as round
from gluonish.ndarray import rsqrt as rsqrt
from gluonish.ndarray import sample_exponential as sample_exponential
from gluonish.ndarray import sample_gamma as sample_gamma
from gluonish.ndarray import sample_generalized_negative_binomial as sample_generalized_negative_binomial
from gluonish.ndarray import sample_multinomial as sample_multinomial
from gluonish.ndarray import sample_negative_binomial as sample_negative_binomial
from gluonish.ndarray import sample_normal as sample_normal
from gluonish.ndarray import sample_poisson as sample_poisson
from gluonish.ndarray import sample_uniform as sample_uniform
from gluonish.ndarray import scaled_dot_product_attention as scaled_dot_product_attention
from gluonish.ndarray import scatter_nd as scatter_nd
from gluonish.ndarray import sgd_mom_update as sgd_mom_update
from gluonish.ndarray import sgd_update as sgd_update
from gluonish.ndarray import shape_array as shape_array
from gluonish.ndarray import shuffle as shuffle
from gluonish.ndarray import sigmoid as sigmoid
from gluonish.ndarray import sign as sign
from gluonish.ndarray import signsgd_update as signsgd_update
from gluonish.ndarray import signum_update as signum_update
from gluonish.ndarray import sin as sin
from gluonish.ndarray import sinh as sinh
from gluonish.ndarray import size_array as size_array
from gluonish.ndarray import slice as slice
from gluonish.ndarray import slice_axis as slice_axis
from gluonish.ndarray import slice_like as slice_like
from gluonish.ndarray import smooth_l1 as smooth_l1
from gluonish.ndarray import softmax as softmax
from gluonish.ndarray import softmax_cross_entropy as softmax_cross_entropy
from gluonish.ndarray import softmin as softmin
from gluonish.ndarray import softsign as softsign
from gluonish.ndarray import sort as sort
from gluonish.ndarray import space_to_depth as space_to_depth
from gluonish.ndarray import split as split
from gluonish.ndarray import sqrt as sqrt
from gluonish.ndarray import square as square
from gluonish.ndarray import squeeze as squeeze
from gluonish.ndarray import stack as stack
from gluonish.ndarray import stop_gradient as stop_gradient
from gluonish.ndarray import sum as sum
from gluonish.ndarray import sum_axis as sum_axis
from gluonish.ndarray import swapaxes as swapaxes
from gluonish.ndarray import swiglu as swiglu
from gluonish.ndarray import take as take
from gluonish.ndarray import tan as tan
from gluonish.ndarray import tanh as tanh
from gluonish.ndarray import tile as tile
from gluonish.ndarray import topk as topk
from gluonish.ndarray import transpose as transpose
from gluonish.ndarray import trunc as trunc
from gluonish.ndarray import uniform as uniform
from gluonish.ndarray import unravel_index as unravel_index
from gluonish.ndarray import weight_only_dense as weight_only_dense
from gluonish.ndarray import where as where
from gluonish.ndarray import zeros_like as zeros_like
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy_extension.nd_namespaces import np as np
from gluonish.numpy_extension.nd_namespaces import npx as npx
from typing import Any
from typing import Literal
numpy = np
numpy_extension = npx


def _CachedOp(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Run the graph of a hybridized block."""
def _CrossDeviceCopy(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Copy data, to another device where a graph is split over devices."""
def _Div(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def _DivScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data / scalar, toward zero for integers, in the dtype of data (int64 for
    bool)."""
def _Equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs == rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _EqualScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data == scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _Greater(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs > rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _GreaterEqualScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data >= scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _GreaterScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data > scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _Greater_Equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs >= rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _Hypot(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise square root of the sum of the squares of lhs and rhs; both arrays have the same
    dtype, and shapes broadcast."""
def _HypotScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise square root of the sum of the squares of data and scalar, in the dtype of data
    (int64 for bool)."""
def _Lesser(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs < rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _LesserEqualScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data <= scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _LesserScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data < scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _Lesser_Equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs <= rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _LogicalAndScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data and scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _LogicalOrScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data or scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _LogicalXorScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data xor scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _Logical_And(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs and rhs, as 0 and 1; both arrays have the same dtype, and shapes
    broadcast."""
def _Logical_Or(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs or rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _Logical_Xor(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs xor rhs, as 0 and 1; both arrays have the same dtype, and shapes
    broadcast."""
def _Maximum(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise maximum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def _MaximumScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise maximum of data and scalar, in the dtype of data (int64 for bool)."""
def _Minimum(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise minimum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def _MinimumScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise minimum of data and scalar, in the dtype of data (int64 for bool)."""
def _Minus(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def _MinusScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data - scalar, in the dtype of data (int64 for bool)."""
def _Mod(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs modulo rhs, with the sign of the divisor and 0 for a divisor of 0; both
    arrays have the same dtype, and shapes broadcast."""
def _ModScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data modulo scalar, with the sign of the divisor and 0 for a divisor of 0, in the
    dtype of data (int64 for bool)."""
def _Mul(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def _MulScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data * scalar, in the dtype of data (int64 for bool)."""
def _NDArray(
    data: NDArray,
    info: str,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """An object of mx.operator.NDArrayOp."""
def _Native(
    data: NDArray,
    info: str,
    need_top_grad: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """An object of mx.operator.NumpyOp."""
def _NotEqualScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data != scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _Not_Equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs != rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _Plus(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def _PlusScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data + scalar, in the dtype of data (int64 for bool)."""
def _Power(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs to the power of rhs; both arrays have the same dtype, and shapes
    broadcast."""
def _PowerScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data to the power of scalar, in the dtype of data (int64 for bool)."""
def _RDivScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise scalar / data, toward zero for integers, in the dtype of data (int64 for
    bool)."""
def _RMinusScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise scalar - data, in the dtype of data (int64 for bool)."""
def _RModScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise scalar modulo data, with the sign of the divisor and 0 for a divisor of 0, in the
    dtype of data (int64 for bool)."""
def _RPowerScalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise scalar to the power of data, in the dtype of data (int64 for bool)."""
def _activation_backward(
    grad: NDArray,
    out: NDArray,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] | str,
    *,
    name: str | None = None,
) -> NDArray:
    """Gradient of Activation's data, from its output and the output's gradient."""
def _adamw_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    rescale_grad: NDArray,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    eta: float = ...,
    clip_gradient: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of Adam with decoupled weight decay, without bias correction (the caller
    includes it in lr)."""
def _adaptive_avg_pooling_backward(
    data: NDArray,
    size: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Adjoint of: Average windows of images."""
def _adaptive_avg_pooling_forward(
    data: NDArray,
    size: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Average windows of images."""
def _add(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def _add_along(
    data: NDArray,
    index: NDArray,
    shape: int | Sequence[int],
    axis: int,
    mode: Literal["clip", "wrap"] | str = "clip",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Add data to zeros of a shape along axis at the positions in index, for each row."""
def _add_layer_norm(
    data: NDArray,
    residual: NDArray,
    gamma: NDArray,
    beta: NDArray,
    p: float = 0.0,
    eps: float = 1e-05,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """LayerNorm, along the last axis, of residual plus data."""
def _arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | int = False,
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Values from start up to stop in steps of step, each repeated repeat times."""
def _attention_hidden(
    query: NDArray,
    mask: NDArray | None = None,
    valid_length: NDArray | None = None,
    shape: int | Sequence[int] = (),
    dtype: DType = ...,
    causal: bool | int = False,
    window: int | None = None,
    use_mask: bool | int = False,
    use_length: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Where a query may attend to a key: an addend for the scores, very low where it may not, and 1
    or 0."""
def _backward_einsum(
    data: NDArray,
    source: str,
    term: str,
    shape: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Write data into zeros along the axes of term: on diagonals for repeated labels, broadcast
    along new ones."""
def _backward_gather_nd(
    data: NDArray,
    indices: NDArray,
    shape: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Add data to zeros of a shape at the points in indices."""
def _backward_trace(
    data: NDArray,
    shape: int | Sequence[int],
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return zeros of a shape, with one number along a diagonal."""
def _batch_norm_apply(
    data: NDArray,
    gamma: NDArray | None = None,
    beta: NDArray | None = None,
    mean: NDArray | None = None,
    inverse_std: NDArray | None = None,
    addend: NDArray | None = None,
    fix_gamma: bool | int = True,
    axis: int = 1,
    add: bool | int = False,
    relu: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """(data - mean) * inverse_std * gamma + beta, then addend added (add), then negative results
    replaced by 0 (relu): the result of BatchNorm with these statistics."""
def _batch_norm_backward(
    grad: NDArray,
    data: NDArray,
    gamma: NDArray,
    mean: NDArray,
    var: NDArray,
    eps: float = 0.001,
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    axis: int = 1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of BatchNorm's data, gamma and beta. var is the inverse standard deviation that
    BatchNorm returns; with use_global_stats the statistics do not depend on the data."""
def _batch_norm_data_gradient(
    grad: NDArray,
    data: NDArray,
    mean: NDArray,
    scale: NDArray,
    beta: NDArray,
    slope: NDArray,
    offset: NDArray,
    bounds: float | Sequence[float] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The gradient of BatchNorm's data from the outputs of _batch_norm_sums."""
def _batch_norm_residual_sums(
    left: NDArray,
    right: NDArray,
    relu: NDArray,
    data: NDArray,
    mean: NDArray,
    var: NDArray,
    scale: NDArray,
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """_batch_norm_sums of a BatchNorm that is added to something before a relu."""
def _batch_norm_statistics(
    data: NDArray,
    gamma: NDArray | None = None,
    moving_mean: NDArray | None = None,
    moving_var: NDArray | None = None,
    bias: NDArray | None = None,
    has_bias: bool | int = False,
    eps: float = 0.001,
    momentum: float = 0.9,
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Mean, inverse standard deviation, and scale of each channel (axis 1) of data, with which
    BatchNorm normalizes: (data - mean) * scale + beta."""
def _batch_norm_sums(
    grad: NDArray,
    data: NDArray,
    mean: NDArray,
    var: NDArray,
    scale: NDArray,
    beta: NDArray,
    bounds: float | Sequence[float] = (),
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of BatchNorm's gamma and beta, and the terms of the gradient of data."""
def _betainc(
    a: NDArray,
    b: NDArray,
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Regularized incomplete beta function I_x(a, b)."""
def _betainc_slopes(
    a: NDArray,
    b: NDArray,
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Derivatives of the regularized incomplete beta function by a, b and x."""
def _betaincinv(
    a: NDArray,
    b: NDArray,
    p: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The x with I_x(a, b) = p, of the regularized incomplete beta function I."""
def _bilinear_corners(
    rows: NDArray,
    columns: NDArray,
    height: int,
    width: int,
    border: Literal["zeros", "inside"] | str,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Return the flat indices of the four pixels around each position, the row and column of the
    first one, and 1 where the weights depend on the row and the column."""
def _bilinear_points(
    data: NDArray,
    rows: NDArray,
    columns: NDArray,
    border: Literal["zeros", "inside"] | str,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sample images (N, C, H, W) bilinearly at rows and columns (N, P), as (N, C, P)."""
def _bilinear_points_backward(
    grad: NDArray,
    data: NDArray,
    rows: NDArray,
    columns: NDArray,
    border: Literal["zeros", "inside"] | str,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the gradients of images, rows and columns in _bilinear_points."""
def _bilinear_resize_backward(
    data: NDArray,
    size: int | Sequence[int],
    align_corners: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Adjoint of: Resize images with bilinear interpolation."""
def _bilinear_resize_forward(
    data: NDArray,
    size: int | Sequence[int],
    align_corners: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Resize images with bilinear interpolation."""
def _boolean_mask_put(
    data: NDArray,
    index: NDArray,
    shape: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Write data to the rows of zeros where index is not 0."""
def _branch(
    data: NDArray,
    num_outputs: int,
    then_input_locs: int | Sequence[int],
    else_input_locs: int | Sequence[int],
    train: bool | int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Run one of two branches, for the gradient of a conditional."""
def _broadcast_exact(
    data: NDArray,
    shape: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Broadcast the axes of size 1 to shape, where 0 means a size of 0."""
def _cached_attention(
    query: NDArray,
    key: NDArray | None = None,
    value: NDArray | None = None,
    key_cache: NDArray | None = None,
    value_cache: NDArray | None = None,
    position: NDArray | None = None,
    mask: NDArray | None = None,
    key_scale: NDArray | None = None,
    value_scale: NDArray | None = None,
    causal: bool | int = True,
    window: int | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    layout: Literal["NHTC", "NTHC", "TNHC"] | str = "NHTC",
    use_mask: bool | int = False,
    use_scales: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Write new keys and values into caches at a position, in place, then attend to all keys up to
    the newest."""
def _cast_weights(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    dtype: DType,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Cast several weights to dtype."""
def _clip_backward(
    grad: NDArray,
    data: NDArray,
    a_min: float,
    a_max: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the gradient of clip: grad, and 0 where data is out of bounds."""
def _cond(
    data: NDArray,
    num_args: int,
    num_outputs: int,
    cond_input_locs: int | Sequence[int],
    then_input_locs: int | Sequence[int],
    else_input_locs: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Run one of two branches, depending on a condition."""
def _contrib_AdaptiveAvgPooling2D(
    data: NDArray,
    output_size: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply adaptive average pooling: means over output_size windows of an image."""
def _contrib_BatchNormWithReLU(
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
def _contrib_BatchNormWithReLU_backward(
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
def _contrib_BilinearResize2D(
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
def _contrib_CTCLoss(
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
def _contrib_DeformableConvolution(
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
def _contrib_DeformablePSROIPooling(
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
def _contrib_ModulatedDeformableConvolution(
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
def _contrib_MultiBoxDetection(
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
def _contrib_MultiBoxPrior(
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
def _contrib_MultiBoxTarget(
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
def _contrib_MultiProposal(
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
def _contrib_PSROIPooling(
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
def _contrib_Proposal(
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
def _contrib_ROIAlign(
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
def _contrib_RROIAlign(
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
def _contrib_SparseEmbedding(
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
def _contrib_SyncBatchNorm(
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
def _contrib_allclose(
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
def _contrib_arange_like(
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
def _contrib_bipartite_matching(
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
def _contrib_boolean_mask(
    data: NDArray,
    index: NDArray,
    axis: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Select the rows of data where index is not 0, in order; axis must be 0."""
def _contrib_box_decode(
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
def _contrib_box_encode(
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
def _contrib_box_iou(
    lhs: NDArray,
    rhs: NDArray,
    format: Literal["center", "corner"] | str = "corner",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the intersection over union (IoU) of all pairs of boxes."""
def _contrib_box_nms(
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
def _contrib_box_non_maximum_suppression(
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
def _contrib_calibrate_entropy(
    hist: NDArray,
    hist_edges: NDArray,
    num_quantized_bins: int = 255,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the threshold with the least relative entropy (information loss) when a histogram is
    quantized, and that entropy."""
def _contrib_count_sketch(
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
def _contrib_ctc_loss(
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
def _contrib_dequantize(
    data: NDArray,
    min_range: NDArray,
    max_range: NDArray,
    out_type: Literal["float32"] | DType = "float32",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert int8 or uint8 data with a range to float32."""
def _contrib_div_sqrt_dim(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data (..., d) divided by sqrt(d); integers are truncated toward zero."""
def _contrib_edge_id(
    data: NDArray,
    u: NDArray,
    v: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Look up the elements of a CSR matrix at rows u and columns v; -1 if not stored."""
def _contrib_fft(
    data: NDArray,
    compute_size: int = 128,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the Fourier transform along the last axis."""
def _contrib_getnnz(
    data: NDArray,
    axis: int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Count the elements stored in a CSR matrix, including zeros, or the nonzero elements of a
    dense matrix, as int64."""
def _contrib_gradientmultiplier(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return data, and multiply the gradient by scalar; a negative scalar reverses it."""
def _contrib_group_adagrad_update(
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
def _contrib_hawkesll(
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
def _contrib_ifft(
    data: NDArray,
    compute_size: int = 128,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the real part of the inverse Fourier transform along the last axis, times the number
    of points."""
def _contrib_index_array(
    data: NDArray,
    axes: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the coordinates of every element along axes (all by default), as int64."""
def _contrib_index_copy(
    old_tensor: NDArray,
    index_vector: NDArray,
    new_tensor: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Replace row index_vector[i] of old_tensor by row i of new_tensor."""
def _contrib_interleaved_matmul_encdec_qk(
    queries: NDArray,
    keys_values: NDArray,
    heads: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Attention scores: products of queries and keys, divided by sqrt(units)."""
def _contrib_interleaved_matmul_encdec_valatt(
    keys_values: NDArray,
    attention: NDArray,
    heads: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Values weighted by attention, summed over the keys."""
def _contrib_interleaved_matmul_selfatt_qk(
    queries_keys_values: NDArray,
    heads: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Self-attention scores: products of queries and keys, divided by sqrt(units)."""
def _contrib_interleaved_matmul_selfatt_valatt(
    queries_keys_values: NDArray,
    attention: NDArray,
    heads: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Values of self-attention weighted by attention, summed over the keys."""
def _contrib_mrcnn_mask_target(
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
def _contrib_quadratic(
    data: NDArray,
    a: float = 0.0,
    b: float = 0.0,
    c: float = 0.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute a * data^2 + b * data + c elementwise; truncate integers toward zero."""
def _contrib_quantize(
    data: NDArray,
    min_range: NDArray,
    max_range: NDArray,
    out_type: Literal["int8", "uint8"] | str = "uint8",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Convert data to int8 or uint8, and return the represented range."""
def _contrib_quantize_asym(
    data: NDArray,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Convert data to uint8 as data * scale + shift, and return scale and shift."""
def _contrib_quantize_v2(
    data: NDArray,
    out_type: Literal["auto", "int8", "uint8"] | str = "int8",
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Convert data to int8 or uint8, and return the represented range."""
def _contrib_quantized_act(
    data: NDArray,
    min_data: NDArray,
    max_data: NDArray,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] | str,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Apply an activation to a quantized array; act_type must be relu."""
def _contrib_quantized_batch_norm(
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
def _contrib_quantized_concat(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    dim: int = 1,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Join quantized arrays along axis dim, in a range that contains all input ranges."""
def _contrib_quantized_conv(
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
def _contrib_quantized_elemwise_add(
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
def _contrib_quantized_elemwise_mul(
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
def _contrib_quantized_embedding(
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
def _contrib_quantized_flatten(
    data: NDArray,
    min_data: NDArray,
    max_data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Flatten all axes of a quantized array after the first."""
def _contrib_quantized_fully_connected(
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
def _contrib_quantized_pooling(
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
def _contrib_quantized_rnn(
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
def _contrib_requantize(
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
def _contrib_round_ste(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Round data to the nearest integer; the gradient passes through unchanged."""
def _contrib_sign_ste(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the sign of data (-1, 0 or 1); the gradient passes through unchanged."""
def _contrib_sldwin_atten_context(
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
def _contrib_sldwin_atten_mask_like(
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
def _contrib_sldwin_atten_score(
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
def _convolution_backward_data(
    grad: NDArray,
    weight: NDArray,
    kernel: int | Sequence[int],
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
    data_shape: int | Sequence[int] = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gradient of Convolution's data, from the weight and the output's gradient."""
def _convolution_backward_weight(
    grad: NDArray,
    data: NDArray,
    kernel: int | Sequence[int],
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
    weight_shape: int | Sequence[int] = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gradient of Convolution's weight, from the data and the output's gradient."""
def _convolution_backward_weight_bias(
    grad: NDArray,
    data: NDArray,
    kernel: int | Sequence[int],
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
    weight_shape: int | Sequence[int] = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of Convolution's weight and bias, from the data and the output's gradient."""
def _copy(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Copy data."""
def _copyto(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Copy data."""
def _correlation_backward(
    grad: NDArray,
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
) -> list[NDArray]:
    """Compute the gradients of the images in Correlation."""
def _count_sketch_places(
    h: NDArray,
    out_dim: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the column of the sketch that each column is added to, -1 for none."""
def _crop_assign(
    lhs: NDArray,
    rhs: NDArray,
    begin: int | Sequence[int | None],
    end: int | Sequence[int | None],
    step: int | Sequence[int | None] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Replace a region of lhs by rhs."""
def _crop_assign_scalar(
    data: NDArray,
    scalar: float = 0.0,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Set a region of data to a number."""
def _cross_entropy_backward(
    grad: NDArray,
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
    """Gradient of cross_entropy's data."""
def _cumsum_reversed(
    data: NDArray,
    axis: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Cumulative sums from the end: the sum of the elements from each one to the last along
    axis."""
def _custom_backward(
    data: NDArray,
    training: bool | int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """The gradient of an operator written by the user."""
def _cvcopyMakeBorder(
    src: NDArray,
    top: int,
    bot: int,
    left: int,
    right: int,
    type: int = 0,
    value: float = 0.0,
    values: float | Sequence[float] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Add a border around an image."""
def _cvimdecode(
    buf: NDArray,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Decode the bytes of an image file."""
def _cvimread(
    filename: str,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    ctx: Context | str | None = None,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Read an image file; flag and to_rgb are as in _cvimdecode."""
def _cvimresize(
    src: NDArray,
    w: int,
    h: int,
    interp: int = 1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Resize an image to width w and height h; interp is as in _image_resize."""
def _deformable_base(
    offset: NDArray,
    offset_groups: int,
    counts: int | Sequence[int],
    kernel: int | Sequence[int],
    stride: int | Sequence[int] = (),
    dilate: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Return the rows and columns of the windows of a convolution without offsets."""
def _deformable_psroi_pixels(
    rows: NDArray,
    columns: NDArray,
    rois: NDArray,
    spatial_scale: float,
    output_dim: int,
    group_size: int,
    pooled_size: int,
    part_size: int = 0,
    sample_per_part: int = 1,
    trans_std: float = 0.0,
    no_trans: bool | int = False,
    data_shape: int | Sequence[int] = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Return the four pixels around each sample, and its weight in the mean."""
def _deformable_psroi_samples(
    rois: NDArray,
    spatial_scale: float,
    output_dim: int,
    group_size: int,
    pooled_size: int,
    part_size: int = 0,
    sample_per_part: int = 1,
    trans_std: float = 0.0,
    no_trans: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Return the positions of the samples of regions without offsets, and the sizes of the
    regions."""
def _diag_put(
    data: NDArray,
    shape: int | Sequence[int],
    k: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Write data to a diagonal of zeros, in axes axis1 and axis2."""
def _div(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def _div_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data / scalar, toward zero for integers, in the dtype of data (int64 for
    bool)."""
def _draw_binomial(
    n: NDArray,
    p: NDArray,
    size: int | Sequence[int] = (),
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw the number of successes in n trials of probability p."""
def _draw_gamma(
    alpha: NDArray,
    size: int | Sequence[int] = (),
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from gamma distributions with shape parameter alpha and scale 1."""
def _draw_negative_binomial(
    n: NDArray,
    p: NDArray,
    size: int | Sequence[int] = (),
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw the number of failures before the n-th success, where a trial has probability p."""
def _draw_poisson(
    lam: NDArray,
    size: int | Sequence[int] = (),
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from Poisson distributions with mean lam."""
def _dropout_factors(
    drawn: NDArray,
    p: float = 0.5,
    shape: int | Sequence[int] = (),
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The factors that Dropout drew with the stored key in drawn (2,)."""
def _dropout_keyed(
    data: NDArray,
    p: float = 0.5,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Dropout in training, without its factors: the second output is the random key (2,), from
    which _dropout_factors computes them again."""
def _embedding_backward(
    grad: NDArray,
    data: NDArray,
    input_dim: int,
    output_dim: int,
    dtype: DType = ...,
    sparse_grad: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gradient of Embedding's weight: each row of grad is added to the row of its index in data."""
def _equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs == rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _equal_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data == scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _eye(
    N: int,
    M: int = 0,
    k: int = 0,
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """A matrix of N rows and M (or N) columns with ones on diagonal k, and zeros elsewhere."""
def _flat_power(
    data: NDArray,
    scalar: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Raise nonnegative data to a power elementwise; it and all derivatives are 0 at 0."""
def _fold_batch_norm(
    weight: NDArray,
    bias: NDArray | None = None,
    gamma: NDArray | None = None,
    beta: NDArray | None = None,
    moving_mean: NDArray | None = None,
    moving_var: NDArray | None = None,
    eps: float = 0.001,
    fix_gamma: bool | int = True,
    no_bias: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Weight and bias of a layer that includes the BatchNorm after it."""
def _foreach(
    data: NDArray,
    num_args: int,
    num_outputs: int,
    num_out_data: int,
    in_state_locs: int | Sequence[int],
    in_data_locs: int | Sequence[int],
    remain_locs: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Run a body for each slice of the data along axis 0, and pass states from one iteration to the
    next."""
def _full(
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType = ...,
    value: float = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """An array filled with one value, which is truncated toward zero for integers."""
def _fully_connected_backward_weight_bias(
    grad: NDArray,
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of FullyConnected's weight and bias, from the output's gradient and the data."""
def _fused_convolution(
    data: NDArray,
    weight: NDArray | None = None,
    bias: NDArray | None = None,
    addend: NDArray | None = None,
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
    activation: Literal[None, "relu", "sigmoid", "softrelu", "tanh", "elu", "gelu", "gelu_tanh", "leaky", "selu", "clip", "hard_sigmoid", "mish", "swish"] | str = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    with_sum: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """activation(Convolution(data, weight, bias) + addend)."""
def _fused_dense(
    data: NDArray,
    weight: NDArray | None = None,
    bias: NDArray | None = None,
    addend: NDArray | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    activation: Literal[None, "relu", "sigmoid", "softrelu", "tanh", "elu", "gelu", "gelu_tanh", "leaky", "selu", "clip", "hard_sigmoid", "mish", "swish"] | str = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    with_sum: bool | int = False,
    packed: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """activation(FullyConnected(data, weight, bias) + addend)."""
def _fused_pointwise(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    program: object,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The elementwise operators of program, with one output."""
def _fused_pointwise_many(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    program: object,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """The elementwise operators of program, with any number of outputs."""
def _fused_pointwise_random(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    program: object,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """_fused_pointwise_many that includes one operator that draws random numbers."""
def _fused_rnn(
    data: NDArray,
    state_size: int,
    num_layers: int,
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
    """RNN with separate parameter arrays."""
def _fused_rnn_backward(
    data: NDArray,
    state_size: int,
    num_layers: int,
    bidirectional: bool | int = False,
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"] | str = ...,
    p: float = 0.0,
    state_outputs: bool | int = False,
    projection_size: int | None = None,
    lstm_state_clip_min: float | None = None,
    lstm_state_clip_max: float | None = None,
    lstm_state_clip_nan: bool | int = False,
    use_sequence_length: bool | int = False,
    heads: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of _fused_rnn's data, states and parameters; see _rnn_backward."""
def _gamma_sample_slope(
    a: NDArray,
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Derivative of a gamma sample x by its shape parameter a, at a constant probability P(a,
    x)."""
def _gammainc(
    a: NDArray,
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Regularized lower incomplete gamma function P(a, x)."""
def _gammainc_slopes(
    a: NDArray,
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Derivatives of the regularized lower incomplete gamma function by a and x."""
def _gammaincinv(
    a: NDArray,
    p: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The x with P(a, x) = p, of the regularized lower incomplete gamma function P."""
def _gated(
    gate: NDArray,
    value: NDArray,
    form: Literal["erf", "tanh", "sigmoid", "silu"] | str = "silu",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """A function of gate, by form, times value."""
def _gated_backward(
    grad: NDArray,
    gate: NDArray,
    value: NDArray,
    form: Literal["erf", "tanh", "sigmoid", "silu"] | str = "silu",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of _gated's gate and value."""
def _gated_halves_backward(
    grad: NDArray,
    data: NDArray,
    axis: int = -1,
    form: Literal["erf", "tanh", "sigmoid", "silu"] | str = "silu",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gradient of the data of swiglu and geglu that holds gate and value."""
def _gather_points(
    data: NDArray,
    index: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gather data[n, :, index[n]] of data (N, C, S), index (N, P); 0 for index < 0."""
def _gelu_backward(
    grad: NDArray,
    data: NDArray,
    form: Literal["erf", "tanh", "sigmoid", "silu"] | str = "erf",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gradient of LeakyReLU's data for the act_types that begin with 'gelu': for form 'erf' grad
    times (the normal distribution function of data, plus data times its density). silu is data *
    sigmoid(data)."""
def _grad_add(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs + rhs, which have one shape and dtype."""
def _greater(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs > rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _greater_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs >= rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _greater_equal_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data >= scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _greater_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data > scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _grid_generator_base(
    like: NDArray,
    target_shape: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return x, y and 1 for every pixel of a grid, for each sample of like."""
def _group_norm_backward(
    grad: NDArray,
    data: NDArray,
    gamma: NDArray,
    mean: NDArray,
    std: NDArray,
    eps: float = 1e-05,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of data, gamma and beta of GroupNorm and InstanceNorm."""
def _grouped_dense(
    data: NDArray,
    weight: NDArray,
    counts: NDArray,
    transpose: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Multiply the rows of each group by the transposed weight of the group."""
def _grouped_outer(
    a: NDArray,
    b: NDArray,
    counts: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Multiply, for each group of rows, a's transpose by b; 0 for groups without rows."""
def _gru_step(
    i2h: NDArray,
    h2h: NDArray,
    hidden: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Hidden state (N, H) of a GRU after one step, from both products (N, 3 * H) and the hidden
    state before."""
def _gru_step_backward(
    d_after: NDArray,
    i2h: NDArray,
    h2h: NDArray,
    hidden: NDArray,
    gates: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of _gru_step's inputs: of each product, and of the hidden state."""
def _hawkes_events(
    lda: NDArray,
    marks: NDArray,
    valid_length: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return 1 where an event of a type occurred, else 0: (T, N, K)."""
def _histogram(
    data: NDArray,
    bins: NDArray | None = None,
    bin_cnt: int | None = None,
    range: float | Sequence[float] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Count the elements of data in each bin, and return the edges of the bins."""
def _hypot(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise square root of the sum of the squares of lhs and rhs; both arrays have the same
    dtype, and shapes broadcast."""
def _hypot_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise square root of the sum of the squares of data and scalar, in the dtype of data
    (int64 for bool)."""
def _identity_with_attr_like_rhs(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return lhs; infer its shape and dtype from rhs."""
def _image_adjust_lighting(
    data: NDArray,
    alpha: float | Sequence[float],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Add light to an image: alpha of each principal color component of ImageNet (PCA lighting)."""
def _image_crop(
    data: NDArray,
    x: int,
    y: int,
    width: int,
    height: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Crop an image, or each image of a batch, to width and height, with the upper left corner at
    column x and row y."""
def _image_flip_left_right(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flip an image left to right."""
def _image_flip_top_bottom(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flip an image top to bottom."""
def _image_normalize(
    data: NDArray,
    mean: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    std: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute (data - mean) / std of an image, or of a batch of images."""
def _image_random_brightness(
    data: NDArray,
    min_factor: float,
    max_factor: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the brightness of an image: multiply it by a random factor from min_factor to
    max_factor."""
def _image_random_color_jitter(
    data: NDArray,
    brightness: float,
    contrast: float,
    saturation: float,
    hue: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the brightness, contrast, saturation and hue of an image by at most these amounts, in
    random order."""
def _image_random_contrast(
    data: NDArray,
    min_factor: float,
    max_factor: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the contrast of an image: multiply its difference from its mean gray by a random
    factor from min_factor to max_factor."""
def _image_random_flip_left_right(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flip an image left to right with probability 1/2."""
def _image_random_flip_top_bottom(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flip an image top to bottom with probability 1/2."""
def _image_random_hue(
    data: NDArray,
    min_factor: float,
    max_factor: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the hue of an image: add to it, as a fraction of the color circle, a random number
    from min_factor to max_factor."""
def _image_random_lighting(
    data: NDArray,
    alpha_std: float = 0.05,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Add random light to an image, along the principal color components of ImageNet (PCA
    lighting)."""
def _image_random_saturation(
    data: NDArray,
    min_factor: float,
    max_factor: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the saturation of an image: multiply its difference from gray by a random factor from
    min_factor to max_factor."""
def _image_resize(
    data: NDArray,
    size: int | Sequence[int] = (),
    keep_ratio: bool | int = False,
    interp: int = 1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Resize an image, or each image of a batch."""
def _image_to_tensor(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert an image (height, width, channels) with values 0 to 255 to float32 (channels, height,
    width) with values 0 to 1."""
def _int8_convolution(
    data: NDArray,
    weight: NDArray | None = None,
    scale: NDArray | None = None,
    bias: NDArray | None = None,
    out_step: NDArray | None = None,
    addend: NDArray | None = None,
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
    activation: Literal[None, "relu", "sigmoid", "softrelu", "tanh", "elu", "gelu", "gelu_tanh", "leaky", "selu", "clip", "hard_sigmoid", "mish", "swish"] | str = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    with_sum: bool | int = False,
    out_type: Literal["float32", "int8", "uint8", "int32"] | DType = "float32",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute activation(Convolution(data, weight) * scale + bias + addend) / out_step, rounded."""
def _int8_dense(
    data: NDArray,
    weight: NDArray | None = None,
    scale: NDArray | None = None,
    bias: NDArray | None = None,
    out_step: NDArray | None = None,
    addend: NDArray | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    activation: Literal[None, "relu", "sigmoid", "softrelu", "tanh", "elu", "gelu", "gelu_tanh", "leaky", "selu", "clip", "hard_sigmoid", "mish", "swish"] | str = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    with_sum: bool | int = False,
    out_type: Literal["float32", "int8", "uint8", "int32"] | DType = "float32",
    packed: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute activation(FullyConnected(data, weight) * scale + bias + addend) / out_step,
    rounded."""
def _int8_pooling(
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
    """Compute the maximum or mean over windows of 8-bit data, rounded; attributes are as in
    Pooling."""
def _int8_quantize(
    data: NDArray,
    scale: NDArray,
    out_type: Literal["int8", "uint8"] | str = "int8",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Multiply data by scale, round to the nearest integers, and clip to the range of the 8-bit
    dtype."""
def _int8_range(
    low: float,
    high: float,
    out_type: Literal["auto", "int8", "uint8"] | str = "int8",
    *,
    ctx: Context | str | None = None,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Return the minimum and maximum of a range, and the factor that converts its numbers to
    out_type."""
def _int8_scales(
    min_data: NDArray,
    max_data: NDArray | None = None,
    steps: NDArray | None = None,
    min_weight: NDArray | None = None,
    max_weight: NDArray | None = None,
    bias: NDArray | None = None,
    min_bias: NDArray | None = None,
    max_bias: NDArray | None = None,
    min_sum: NDArray | None = None,
    max_sum: NDArray | None = None,
    channels: int = ...,
    data_type: Literal["int8", "uint8"] | str = ...,
    sum_type: Literal["int8", "uint8"] | str = "int8",
    out_type: Literal["float32", "int8", "uint8", "int32"] | DType = "float32",
    with_bias: bool | int = False,
    with_sum: bool | int = False,
    offline: bool | int = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the factors of an 8-bit layer, and the range of its result."""
def _int8_weight(
    weight: NDArray,
    channel_wise: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Quantize a weight to int8, and return the step of each channel."""
def _inverse_or_zero(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Invert every matrix; return zeros for a singular one."""
def _l2_normalization_backward(
    grad: NDArray,
    data: NDArray,
    norms: NDArray,
    eps: float = 1e-10,
    mode: Literal["channel", "instance", "spatial"] | str = "instance",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gradient of L2Normalization's data, from the output's gradient, data and the norms."""
def _layer_norm_backward(
    grad: NDArray,
    data: NDArray,
    gamma: NDArray,
    mean: NDArray,
    std: NDArray,
    axis: int = -1,
    eps: float = 1e-05,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of LayerNorm's data, gamma and beta."""
def _layer_norm_backward_sums(
    grad: NDArray,
    other: NDArray | None = None,
    data: NDArray | None = None,
    added: NDArray | None = None,
    gamma: NDArray | None = None,
    mean: NDArray | None = None,
    std: NDArray | None = None,
    drawn: NDArray | None = None,
    two: bool | int = False,
    plus: bool | int = False,
    p: float = 0.0,
    eps: float = 1e-05,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of LayerNorm's data, gamma and beta, along the last axis."""
def _leaky_relu_backward(
    grad: NDArray,
    data: NDArray,
    slope: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gradient of LeakyReLU's data for act_type='leaky'."""
def _lesser(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs < rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _lesser_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs <= rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _lesser_equal_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data <= scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _lesser_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data < scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _linalg_det(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the determinant of every matrix."""
def _linalg_extractdiag(
    A: NDArray,
    offset: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Extract the diagonal at offset of every square matrix, as vectors."""
def _linalg_extracttrian(
    A: NDArray,
    offset: int = 0,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Pack a triangle of every square matrix into a vector: the rows of a lower triangle, the
    columns of an upper one."""
def _linalg_gelqf(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the LQ decomposition: Q and L with A = L Q, for matrices of full rank with no more
    rows than columns."""
def _linalg_gemm(
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
def _linalg_gemm2(
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
def _linalg_inverse(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Invert every matrix."""
def _linalg_makediag(
    A: NDArray,
    offset: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Build square matrices with vectors on the diagonal at offset, and zeros elsewhere."""
def _linalg_maketrian(
    A: NDArray,
    offset: int = 0,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Unpack triangles into square matrices, with zeros elsewhere: the inverse of extracttrian."""
def _linalg_potrf(
    A: NDArray,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the Cholesky factor of symmetric positive definite A: lower triangular L with A = L
    L^T, or upper triangular U with A = U^T U if lower is false."""
def _linalg_potri(
    A: NDArray,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the inverse of L L^T from the lower triangular L of potrf, or of U^T U if lower is
    false."""
def _linalg_slogdet(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the sign of the determinant of every matrix, and the logarithm of its absolute
    value."""
def _linalg_sumlogdiag(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum the logarithms of the diagonal of every matrix."""
def _linalg_syevd(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the eigendecomposition of symmetric A: U and L with A = U^T diag(L) U."""
def _linalg_syrk(
    A: NDArray,
    transpose: bool | int = False,
    alpha: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute alpha A A^T, or alpha A^T A with transpose."""
def _linalg_trmm(
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
def _linalg_trsm(
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
def _linear_cross_entropy_backward(
    grad: NDArray,
    data: NDArray | None = None,
    weight: NDArray | None = None,
    label: NDArray | None = None,
    bias: NDArray | None = None,
    saved: NDArray | None = None,
    saved_data: NDArray | None = None,
    saved_weight: NDArray | None = None,
    saved_bias: NDArray | None = None,
    recompute: bool | int = False,
    use_bias: bool | int = False,
    ignore_label: int | None = None,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    reduction: Literal["none", "mean", "sum"] | str = "none",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of linear_cross_entropy's data, weight and bias."""
def _linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool | int = True,
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """num evenly spaced values from start to stop, including stop if endpoint."""
def _log_softmax_pick(
    data: NDArray,
    index: NDArray,
    axis: int = -1,
    keepdims: bool | int = False,
    mode: Literal["clip", "wrap"] | str = "clip",
    scale: float = 1.0,
    wide: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """One element of log_softmax along axis for every row, at the position in index, times
    scale."""
def _log_softmax_pick_backward(
    grad: NDArray,
    data: NDArray,
    index: NDArray,
    top: NDArray,
    log_total: NDArray,
    axis: int = -1,
    keepdims: bool | int = False,
    mode: Literal["clip", "wrap"] | str = "clip",
    scale: float = 1.0,
    wide: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gradient of _log_softmax_pick's data."""
def _logical_and(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs and rhs, as 0 and 1; both arrays have the same dtype, and shapes
    broadcast."""
def _logical_and_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data and scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _logical_or(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs or rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _logical_or_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data or scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _logical_xor(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs xor rhs, as 0 and 1; both arrays have the same dtype, and shapes
    broadcast."""
def _logical_xor_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data xor scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _lrn_backward(
    grad: NDArray,
    data: NDArray,
    alpha: float = 0.0001,
    beta: float = 0.75,
    knorm: float = 2.0,
    nsize: int = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gradient of LRN's data, from its output's gradient."""
def _lrn_window_sum(
    data: NDArray,
    reach: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum of each channel and of up to reach channels on either side."""
def _lstm_step(
    i2h: NDArray,
    h2h: NDArray,
    cells: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Hidden state and cell (N, H) of an LSTM after one step, from both products (N, 4 * H) and the
    cell before."""
def _lstm_step_backward(
    d_hidden: NDArray,
    d_after: NDArray,
    i2h: NDArray,
    h2h: NDArray,
    cells: NDArray,
    gates: NDArray,
    after: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of _lstm_step's inputs: of both products, and of the cell."""
def _maximum(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise maximum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def _maximum_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise maximum of data and scalar, in the dtype of data (int64 for bool)."""
def _minimum(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise minimum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def _minimum_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise minimum of data and scalar, in the dtype of data (int64 for bool)."""
def _minus(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def _minus_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data - scalar, in the dtype of data (int64 for bool)."""
def _mod(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs modulo rhs, with the sign of the divisor and 0 for a divisor of 0; both
    arrays have the same dtype, and shapes broadcast."""
def _mod_backward_rhs(
    g: NDArray,
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the gradient of the divisor, -g floor(lhs / rhs), and 0 where both are 0; all arrays
    have the same dtype, and shapes broadcast."""
def _mod_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data modulo scalar, with the sign of the divisor and 0 for a divisor of 0, in the
    dtype of data (int64 for bool)."""
def _mp_adamw_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    weight32: NDArray,
    rescale_grad: NDArray,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    eta: float = ...,
    clip_gradient: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of Adam with decoupled weight decay, without bias correction (the caller
    includes it in lr) in mixed precision."""
def _mul(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def _mul_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data * scalar, in the dtype of data (int64 for bool)."""
def _multi_adagrad_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    epsilon: float = 1e-07,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of AdaGrad for num_weights weights."""
def _multi_adam_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of Adam without bias correction (the caller includes it in lr) for num_weights
    weights."""
def _multi_adamw_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wds: float | Sequence[float],
    etas: float | Sequence[float],
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of Adam with decoupled weight decay, without bias correction (the caller
    includes it in lr) for num_weights weights."""
def _multi_lamb_update(
    *data: NDArray | Sequence[NDArray],
    learning_rates: float | Sequence[float],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    wds: float | Sequence[float],
    rescale_grad: float = 1.0,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    clip_gradient: float = -1.0,
    bias_correction: bool | int = True,
    step_count: int | Sequence[int],
    num_tensors: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of LAMB for num_tensors weights."""
def _multi_mp_adagrad_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    epsilon: float = 1e-07,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of AdaGrad for num_weights weights in mixed precision."""
def _multi_mp_adam_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of Adam without bias correction (the caller includes it in lr) for num_weights
    weights in mixed precision."""
def _multi_mp_adamw_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wds: float | Sequence[float],
    etas: float | Sequence[float],
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of Adam with decoupled weight decay, without bias correction (the caller
    includes it in lr) for num_weights weights in mixed precision."""
def _multi_mp_lamb_update(
    *data: NDArray | Sequence[NDArray],
    learning_rates: float | Sequence[float],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    wds: float | Sequence[float],
    rescale_grad: float = 1.0,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    clip_gradient: float = -1.0,
    bias_correction: bool | int = True,
    step_count: int | Sequence[int],
    num_tensors: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of LAMB for num_tensors weights in mixed precision."""
def _multi_mp_nag_update(
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
    """Take one step of Nesterov's accelerated gradient, as computed by the optimizer class, for
    num_weights weights in mixed precision."""
def _multi_mp_rmsprop_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    gamma1: float = 0.95,
    epsilon: float = 1e-08,
    clip_weights: float = -1.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of RMSProp for num_weights weights in mixed precision."""
def _multi_mp_rmspropalex_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    gamma1: float = 0.95,
    gamma2: float = 0.9,
    epsilon: float = 1e-08,
    clip_weights: float = -1.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of centered RMSProp with momentum for num_weights weights in mixed
    precision."""
def _multi_nag_update(
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
    """Take one step of Nesterov's accelerated gradient, as computed by the optimizer class, for
    num_weights weights."""
def _multi_rmsprop_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    gamma1: float = 0.95,
    epsilon: float = 1e-08,
    clip_weights: float = -1.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of RMSProp for num_weights weights."""
def _multi_rmspropalex_update(
    *data: NDArray | Sequence[NDArray],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    gamma1: float = 0.95,
    gamma2: float = 0.9,
    epsilon: float = 1e-08,
    clip_weights: float = -1.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of centered RMSProp with momentum for num_weights weights."""
def _not_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs != rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _not_equal_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data != scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _np_all(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Whether all elements along axis are not 0, all axes by default, as bool."""
def _np_amax(
    a: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Maximum along axis, all axes by default."""
def _np_amin(
    a: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Minimum along axis, all axes by default."""
def _np_any(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Whether any element along axis is not 0, all axes by default, as bool."""
def _np_atleast_1d(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Each array with axes of size 1 added until it has 1, as in NumPy."""
def _np_atleast_2d(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Each array with axes of size 1 added until it has 2, as in NumPy."""
def _np_atleast_3d(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Each array with axes of size 1 added until it has 3, as in NumPy."""
def _np_copy(
    a: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """A copy of a."""
def _np_cumsum(
    a: NDArray,
    axis: int | None = None,
    dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Cumulative sums along axis, or of all elements in row-major order."""
def _np_diag(
    data: NDArray,
    k: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Diagonal k of a matrix; for a vector, the matrix with the vector on diagonal k."""
def _np_diagflat(
    data: NDArray,
    k: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """A matrix with all elements of data, in row-major order, on diagonal k."""
def _np_diagonal(
    data: NDArray,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The diagonal at offset of the matrices in axes axis1 and axis2, which becomes the last
    axis."""
def _np_dot(
    a: NDArray,
    b: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum products over the last axis of a and the second-to-last axis of b, or b's only axis."""
def _np_max(
    a: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Maximum along axis, all axes by default."""
def _np_min(
    a: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Minimum along axis, all axes by default."""
def _np_moveaxis(
    a: NDArray,
    source: int | Sequence[int],
    destination: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Move the axes in source to the positions in destination; the others keep their order."""
def _np_moved(
    data: NDArray,
    name: str,
    position: int,
    shapes: Sequence[object],
    shape: Sequence[object],
    given: Sequence[object],
    indexed: Sequence[object],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
) -> NDArray:
    """The result for one input of an operator that moves elements, with zeros for the other
    inputs."""
def _np_moved_back(
    data: NDArray,
    name: str,
    position: int,
    shapes: Sequence[object],
    shape: Sequence[object],
    given: Sequence[object],
    indexed: Sequence[object],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
) -> NDArray:
    """The adjoint of _np_moved: each element is added at its source index."""
def _np_prod(
    a: NDArray,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Product along axis, all axes by default, in dtype."""
def _np_product(
    a: NDArray,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Product along axis, all axes by default, in dtype."""
def _np_repeat(
    data: NDArray,
    repeats: int,
    axis: int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Repeat every element repeats times along axis; without axis, data is flattened first."""
def _np_reshape(
    a: NDArray,
    newshape: int | Sequence[int],
    order: str = "C",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The same elements in the same order in another shape; one size may be -1, and is then
    inferred."""
def _np_roll(
    data: NDArray,
    shift: int | Sequence[int] | None = None,
    axis: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Shift elements by shift positions along axis; elements shifted past the end wrap around."""
def _np_sometrue(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Whether any element along axis is not 0, all axes by default, as bool."""
def _np_squeeze(
    a: NDArray,
    axis: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Remove the axes of size 1, or only those in axis."""
def _np_sum(
    a: NDArray,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum along axis, all axes by default, in dtype."""
def _np_trace(
    data: NDArray,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum the diagonal at offset over the axes axis1 and axis2."""
def _np_transpose(
    a: NDArray,
    axes: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Permute the axes; without axes their order is reversed."""
def _npi_Custom(
    *args: Any,
    op_type: Any = None,
    name: Any = None,
    attr: Any = None,
    out: Any = None,
    **kwargs: Any,
) -> NDArray:
    """Call an operator that was registered with `mx.operator.register`."""
def _npi_abs(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise absolute value."""
def _npi_absolute(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise absolute value."""
def _npi_add(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs + rhs; shapes broadcast and dtypes promote."""
def _npi_add_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data + scalar."""
def _npi_arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | int = False,
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Values from start up to stop in steps of step; without stop from 0 up to start."""
def _npi_arccos(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse cosine."""
def _npi_arccosh(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse hyperbolic cosine."""
def _npi_arcsin(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse sine."""
def _npi_arcsinh(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse hyperbolic sine."""
def _npi_arctan(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse tangent."""
def _npi_arctan2(
    x1: NDArray,
    x2: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise angle, in radians, of the point (x, y) with y = lhs and x = rhs; shapes broadcast
    and dtypes promote."""
def _npi_arctan2_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise angle, in radians, of the point (x, y) with y = data and x = scalar."""
def _npi_arctanh(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse hyperbolic tangent."""
def _npi_argmax(
    data: NDArray,
    axis: int | None = None,
    keepdims: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the index of the first maximum along axis, or over all elements in row-major order."""
def _npi_argmin(
    data: NDArray,
    axis: int | None = None,
    keepdims: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the index of the first minimum along axis, or over all elements in row-major order."""
def _npi_argsort(
    data: NDArray,
    axis: int | None = -1,
    is_ascend: bool | int = True,
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the indices, of type dtype, that sort the elements along axis."""
def _npi_around(
    x: NDArray,
    decimals: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Round to a number of decimals, halves to the even neighbor."""
def _npi_average(
    a: NDArray,
    weights: NDArray | None = None,
    axis: int | Sequence[int] | None = None,
    returned: bool | int = False,
    weighted: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Average along axis, all axes by default, weighted by weights."""
def _npi_bernoulli(
    input1: NDArray,
    prob: float | None,
    logit: float | None,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    is_logit: bool | int = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw 1 with probability prob, or with is_logit 1 / (1 + exp(-logit)), else 0."""
def _npi_bincount(
    data: NDArray,
    weights: NDArray | None = None,
    minlength: int = 0,
    has_weights: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The number of times that each integer from 0 to the largest occurs in data, with at least
    minlength bins."""
def _npi_bitwise_and(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise bitwise and of lhs and rhs; shapes broadcast."""
def _npi_bitwise_and_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise bitwise and of data and a number, in the dtype of data."""
def _npi_bitwise_not(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise complement of all bits; of bool, the other value."""
def _npi_bitwise_or(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise bitwise or of lhs and rhs; shapes broadcast."""
def _npi_bitwise_or_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise bitwise or of data and a number, in the dtype of data."""
def _npi_bitwise_xor(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise bitwise exclusive or of lhs and rhs; shapes broadcast."""
def _npi_bitwise_xor_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise bitwise exclusive or of data and a number, in the dtype of data."""
def _npi_blackman(
    M: int | None = None,
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The Blackman window of M points."""
def _npi_boolean_mask(
    data: NDArray,
    index: NDArray,
    axis: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Select the rows of data where index is not 0, in order; axis must be 0."""
def _npi_boolean_mask_assign_scalar(
    data: NDArray,
    mask: NDArray,
    value: float,
    start_axis: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data with the number value where mask is true; mask covers the axes of data from start_axis
    on."""
def _npi_boolean_mask_assign_tensor(
    data: NDArray,
    mask: NDArray,
    value: NDArray,
    start_axis: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data with the elements of value where mask is true."""
def _npi_broadcast_to(
    array: NDArray,
    shape: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Broadcast the axes of size 1 to shape; -2 in shape keeps the size of an axis."""
def _npi_cast(
    data: NDArray,
    dtype: DType,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Cast data to another dtype."""
def _npi_cbrt(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise cube root."""
def _npi_ceil(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise smallest integer not below data."""
def _npi_choice(
    input1: NDArray,
    input2: NDArray | None = None,
    a: int | None = ...,
    size: int | Sequence[int] | None = ...,
    ctx: str = "cpu",
    replace: bool | int = True,
    weighted: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw indices below a, or below the number of elements of the first input."""
def _npi_cholesky(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the Cholesky factor of symmetric positive definite A: lower triangular L with A = L
    L^T."""
def _npi_clip(
    data: NDArray,
    a_min: float,
    a_max: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Clip data to [a_min, a_max]."""
def _npi_column_stack(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Join arrays along axis 1; a vector is one column."""
def _npi_concatenate(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    dim: int | None = None,
    axis: int | None = 0,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Join arrays along an existing axis; if axis is None they are flattened first."""
def _npi_copysign(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise absolute value of lhs with the sign of rhs; shapes broadcast and dtypes
    promote."""
def _npi_copysign_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise absolute value of data with the sign of scalar."""
def _npi_copyto(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Copy data."""
def _npi_cos(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise cosine."""
def _npi_cosh(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise hyperbolic cosine."""
def _npi_cvimdecode(
    buf: NDArray,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Decode the bytes of an image file."""
def _npi_cvimread(
    filename: str,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    ctx: Context | str | None = None,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Read an image file; flag and to_rgb are as in _cvimdecode."""
def _npi_cvimresize(
    src: NDArray,
    w: int,
    h: int,
    interp: int = 1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Resize an image to width w and height h; interp is as in _image_resize."""
def _npi_degrees(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise conversion of radians to degrees."""
def _npi_delete(
    arr: NDArray,
    obj: NDArray | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """arr without some positions along axis: int_ind, a slice, or those in obj."""
def _npi_det(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the determinant of every matrix."""
def _npi_diag_indices_from(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Coordinates of the main diagonal of data, a row for each axis, as int64."""
def _npi_diff(
    a: NDArray,
    n: int = 1,
    axis: int = -1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Differences between neighboring elements along axis, taken n times."""
def _npi_dsplit(
    data: NDArray,
    indices: int | Sequence[int],
    axis: int = 1,
    squeeze_axis: bool | int = False,
    sections: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Split data along axis 2."""
def _npi_dstack(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    dim: int = 1,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Stack arrays in depth, along axis 2. dim is ignored."""
def _npi_ediff1d(
    input1: NDArray,
    input2: NDArray | None = None,
    input3: NDArray | None = None,
    to_begin_arr_given: bool | int = False,
    to_end_arr_given: bool | int = False,
    to_begin_scalar: float | None = None,
    to_end_scalar: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Differences between neighboring elements of the flattened array."""
def _npi_eig(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the eigenvalues of square matrices, and eigenvectors of length 1 as columns."""
def _npi_eigh(
    A: NDArray,
    UPLO: Literal["L", "U"] | str = "L",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the eigenvalues of symmetric A in ascending order, and its orthonormal eigenvectors
    as columns."""
def _npi_eigvals(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the eigenvalues of square matrices, in the order of LAPACK."""
def _npi_eigvalsh(
    A: NDArray,
    UPLO: Literal["L", "U"] | str = "L",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the eigenvalues of symmetric A in ascending order."""
def _npi_einsum(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    subscripts: str = "",
    optimize: int = 0,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Evaluate the Einstein summation: the sum of products over axes with equal labels."""
def _npi_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs == rhs, as bool."""
def _npi_equal_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data == scalar, as bool."""
def _npi_exp(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise e to the power of data."""
def _npi_expand_dims(
    data: NDArray,
    axis: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Insert an axis of size 1 at position axis."""
def _npi_expm1(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise e to the power of data, minus 1."""
def _npi_exponential(
    input1: NDArray,
    scale: float | None = 1.0,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the exponential distribution."""
def _npi_eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """A matrix of N rows and M (or N) columns with ones on diagonal k, and zeros elsewhere."""
def _npi_fix(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise truncation toward zero to an integer."""
def _npi_flip(
    data: NDArray,
    axis: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Reverse the order of elements along the axes in axis."""
def _npi_floor(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise largest integer not above data."""
def _npi_full(
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType = ...,
    value: float = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """An array filled with one value, which is truncated toward zero for integers."""
def _npi_full_like(
    a: NDArray,
    fill_value: float,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """An array filled with one value, with the shape of a, and its dtype unless dtype is given."""
def _npi_gamma(
    input1: NDArray,
    input2: NDArray | None = None,
    shape: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the gamma distribution."""
def _npi_gather_nd(
    data: NDArray,
    indices: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gather elements of data at points: column j of indices holds the M coordinates of point j."""
def _npi_greater(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs > rhs, as bool."""
def _npi_greater_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs >= rhs, as bool."""
def _npi_greater_equal_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data >= scalar, as bool."""
def _npi_greater_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data > scalar, as bool."""
def _npi_gumbel(
    input1: NDArray,
    input2: NDArray | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the Gumbel distribution."""
def _npi_hamming(
    M: int | None = None,
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The Hamming window of M points."""
def _npi_hanning(
    M: int | None = None,
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The Hann window of M points."""
def _npi_histogram(
    data: NDArray,
    bins: NDArray | None = None,
    bin_cnt: int | None = None,
    range: float | Sequence[float] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Count the elements of data in each bin, and return the edges of the bins."""
def _npi_hsplit(
    data: NDArray,
    indices: int | Sequence[int],
    axis: int = 1,
    squeeze_axis: bool | int = False,
    sections: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Split data along axis 1, or 0 of a vector."""
def _npi_hstack(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    dim: int = 1,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Stack arrays horizontally: along axis 1, or along axis 0 for vectors. dim is ignored."""
def _npi_hypot(
    x1: NDArray,
    x2: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise square root of the sum of the squares of lhs and rhs; shapes broadcast and dtypes
    promote."""
def _npi_hypot_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise square root of the sum of the squares of data and scalar."""
def _npi_identity(
    shape: int | Sequence[int] = (),
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """A square matrix with ones on its diagonal, zeros elsewhere."""
def _npi_indices(
    dimensions: int | Sequence[int],
    dtype: DType = ...,
    ctx: str = "",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Coordinates of the points of a grid: entry i along the first axis holds coordinate i of each
    point."""
def _npi_insert_scalar(
    arr: NDArray,
    values: NDArray | None = None,
    val: float | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Insert values, or the number val, before position int_ind along axis."""
def _npi_insert_slice(
    arr: NDArray,
    values: NDArray | None = None,
    val: float | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Insert values, or the number val, before the positions of a slice along axis, one for
    each."""
def _npi_insert_tensor(
    arr: NDArray,
    values: NDArray | None = None,
    obj: NDArray | None = None,
    val: float | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Insert values, or the number val, before the positions in obj along axis, one for each."""
def _npi_inv(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Invert every matrix."""
def _npi_isfinite(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Whether each element is finite, as bool."""
def _npi_isinf(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Whether each element is infinite, as bool."""
def _npi_isnan(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Whether each element is NaN, as bool."""
def _npi_isneginf(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Whether each element is negative infinity, as bool."""
def _npi_isposinf(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Whether each element is positive infinity, as bool."""
def _npi_lcm(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise least common multiple of lhs and rhs; shapes broadcast."""
def _npi_lcm_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise least common multiple of data and a number, in the dtype of data."""
def _npi_ldexp(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs times 2 to the power of rhs; shapes broadcast and dtypes promote."""
def _npi_ldexp_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data times 2 to the power of scalar."""
def _npi_less(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs < rhs, as bool."""
def _npi_less_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs <= rhs, as bool."""
def _npi_less_equal_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data <= scalar, as bool."""
def _npi_less_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data < scalar, as bool."""
def _npi_linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool | int = True,
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """num evenly spaced values from start to stop, including stop if endpoint."""
def _npi_log(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise natural logarithm."""
def _npi_log10(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise decimal logarithm."""
def _npi_log1p(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise natural logarithm of 1 + data."""
def _npi_log2(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise binary logarithm."""
def _npi_logical_not(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Whether each element is 0, as bool."""
def _npi_logistic(
    input1: NDArray,
    input2: NDArray | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the logistic distribution."""
def _npi_logspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool | int = True,
    base: float = 10.0,
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """num powers of base, with exponents evenly spaced from start to stop, including stop if
    endpoint."""
def _npi_matmul(
    a: NDArray,
    b: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Multiply matrices in the last two axes; the leading axes broadcast."""
def _npi_maximum(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise maximum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def _npi_maximum_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise maximum of data and scalar."""
def _npi_mean(
    a: NDArray,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Arithmetic mean along axis, all axes by default, in dtype."""
def _npi_minimum(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise minimum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def _npi_minimum_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise minimum of data and scalar."""
def _npi_mod(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs modulo rhs, with the sign of the divisor and 0 for a divisor of 0; shapes
    broadcast and dtypes promote."""
def _npi_mod_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data modulo scalar, with the sign of the divisor and 0 for a divisor of 0."""
def _npi_multinomial(
    a: NDArray,
    n: int,
    pvals: float | Sequence[float] | None = None,
    size: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw how often each class occurs in n trials: an array of counts for each element of size."""
def _npi_multiply(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs * rhs; shapes broadcast and dtypes promote."""
def _npi_multiply_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data * scalar."""
def _npi_nan_to_num(
    data: NDArray,
    copy: bool | int = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Replace NaN and infinities by nan, posinf and neginf."""
def _npi_negative(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise -data."""
def _npi_nonzero(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Coordinates of the elements that are not 0, a row for each, as int64."""
def _npi_norm(
    data: NDArray,
    ord: float = 2.0,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    flag: int = -1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the norm of vectors along one axis, or of matrices along two axes (rows, then
    columns)."""
def _npi_normal(
    input1: NDArray,
    input2: NDArray | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the normal distribution."""
def _npi_normal_n(
    input1: NDArray,
    input2: NDArray | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the normal distribution, an array of shape size for each parameter."""
def _npi_not_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs != rhs, as bool."""
def _npi_not_equal_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data != scalar, as bool."""
def _npi_ones(
    shape: int | Sequence[int] = (),
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """An array of 1s; shape () gives a scalar."""
def _npi_pad(
    data: NDArray,
    pad_width: Sequence[Sequence[int]],
    mode: Literal["constant", "edge", "maximum", "minimum", "reflect", "symmetric"] | str = "constant",
    constant_value: float = 0.0,
    reflect_type: str = "even",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data padded along each axis, with the number of elements before and after in pad_width."""
def _npi_pareto(
    input1: NDArray,
    a: float | None = None,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the Pareto II (Lomax) distribution, which starts at 0."""
def _npi_percentile(
    a: NDArray,
    q: NDArray | None = None,
    axis: int | Sequence[int] | None = None,
    interpolation: Literal["higher", "linear", "lower", "midpoint", "nearest"] | str = "linear",
    keepdims: bool | int = False,
    q_scalar: float | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Percentiles along axis, all axes by default: for each value in q, along a new first axis, or
    for the number q_scalar, in [0, 100]."""
def _npi_pinv(
    A: NDArray,
    rcond: NDArray,
    hermitian: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the pseudo-inverse of every matrix."""
def _npi_pinv_scalar_rcond(
    A: NDArray,
    rcond: float = 1e-15,
    hermitian: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the pseudo-inverse of every matrix."""
def _npi_polyval(
    p: NDArray,
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Evaluate the polynomial with coefficients p, highest power first, at x."""
def _npi_power(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs to the power of rhs; shapes broadcast and dtypes promote."""
def _npi_power_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data to the power of scalar."""
def _npi_powerd(
    input1: NDArray,
    a: float | None = None,
    size: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the power distribution on (0, 1), with density a x^(a - 1)."""
def _npi_radians(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise conversion of degrees to radians."""
def _npi_random_randint(
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
def _npi_rarctan2_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise angle, in radians, of the point (x, y) with y = scalar and x = data."""
def _npi_rayleigh(
    input1: NDArray,
    scale: float | None = 1.0,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the Rayleigh distribution."""
def _npi_rcopysign_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise absolute value of scalar with the sign of data."""
def _npi_reciprocal(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise 1 / data."""
def _npi_repeats(
    data: NDArray,
    repeats: int | Sequence[int],
    axis: int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Repeat each position along axis repeats times, with one number for all or one for each;
    without axis, data is flattened first."""
def _npi_reshape(
    a: NDArray,
    newshape: int | Sequence[int],
    reverse: bool | int = False,
    order: str = "C",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The same elements in the same order in another shape."""
def _npi_rint(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise nearest integer, halves downward."""
def _npi_rldexp_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise scalar times 2 to the power of data."""
def _npi_rmod_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise scalar modulo data, with the sign of the divisor and 0 for a divisor of 0."""
def _npi_rnn_param_concat(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    dim: int = 1,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Join vectors; dim must be 0."""
def _npi_rot90(
    data: NDArray,
    k: int = 1,
    axes: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Rotate by k quarter turns in the plane of two axes, from the first toward the second."""
def _npi_rpower_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise scalar to the power of data."""
def _npi_rsubtract_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise scalar - data."""
def _npi_rtrue_divide_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise scalar / data."""
def _npi_scatter_set_nd(
    lhs: NDArray,
    rhs: NDArray,
    indices: NDArray,
    shape: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Set the points of lhs at indices to rhs; the last of equal points wins."""
def _npi_share_memory(
    a: NDArray,
    b: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Whether two arrays share memory."""
def _npi_shuffle(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Shuffle the slices along axis 0."""
def _npi_sign(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise sign: -1, 0 or 1."""
def _npi_sin(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise sine."""
def _npi_sinh(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise hyperbolic sine."""
def _npi_slice(
    data: NDArray,
    begin: int | Sequence[int | None],
    end: int | Sequence[int | None],
    step: int | Sequence[int | None] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Slice data from begin up to end in steps of step, as Python slices."""
def _npi_slice_assign(
    lhs: NDArray,
    rhs: NDArray,
    begin: int | Sequence[int | None],
    end: int | Sequence[int | None],
    step: int | Sequence[int | None] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Replace a region of lhs by rhs."""
def _npi_slice_assign_scalar(
    data: NDArray,
    scalar: float = 0.0,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Set a region of data to a number."""
def _npi_slogdet(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the sign of the determinant of every matrix, and the logarithm of its absolute
    value."""
def _npi_solve(
    A: NDArray,
    B: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Solve A X = B for X, with square matrices A."""
def _npi_sort(
    data: NDArray,
    axis: int | None = -1,
    is_ascend: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sort the elements along axis; without axis, data is flattened first."""
def _npi_split(
    data: NDArray,
    indices: int | Sequence[int],
    axis: int = 1,
    squeeze_axis: bool | int = False,
    sections: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Split data along axis into sections pieces, or at the positions in indices."""
def _npi_sqrt(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise square root."""
def _npi_square(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise square."""
def _npi_stack(
    *data: NDArray | Sequence[NDArray],
    axis: int = 0,
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Join arrays of one shape along a new axis."""
def _npi_std(
    a: NDArray,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    ddof: int = 0,
    keepdims: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Standard deviation along axis, all axes by default, over count - ddof elements."""
def _npi_subtract(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs - rhs; shapes broadcast and dtypes promote."""
def _npi_subtract_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data - scalar."""
def _npi_svd(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the singular value decomposition: U, s and V with A = U diag(s) V, singular values in
    descending order."""
def _npi_swapaxes(
    data: NDArray,
    dim1: int = 0,
    dim2: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Swap two axes."""
def _npi_take(
    a: NDArray,
    indices: NDArray,
    axis: int = 0,
    mode: Literal["clip", "raise", "wrap"] | str = "clip",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take slices of a along axis at the positions in indices, which may have any dtype."""
def _npi_tan(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise tangent."""
def _npi_tanh(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise hyperbolic tangent."""
def _npi_tensordot(
    a: NDArray,
    b: NDArray,
    a_axes_summed: int | Sequence[int],
    b_axes_summed: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum products over pairs of axes of a and b."""
def _npi_tensordot_int_axes(
    a: NDArray,
    b: NDArray,
    axes: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum products over the last axes of a and the first axes of b; axes is their number."""
def _npi_tensorinv(
    a: NDArray,
    ind: int = 2,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Invert a as a matrix whose rows are the first ind axes."""
def _npi_tensorsolve(
    a: NDArray,
    b: NDArray,
    a_axes: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Solve tensordot(a, x, x.ndim) = b for x; the last axes of a are the axes of x."""
def _npi_tile(
    data: NDArray,
    reps: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Repeat the array reps[i] times along axis i; the shorter of the shape and reps is prepended
    with 1s."""
def _npi_tril(
    data: NDArray,
    k: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Lower triangle of matrices: zeros above diagonal k."""
def _npi_true_divide(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs / rhs, as float32 for integers; shapes broadcast and dtypes promote."""
def _npi_true_divide_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data / scalar."""
def _npi_trunc(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise truncation toward zero to an integer."""
def _npi_uniform(
    input1: NDArray,
    input2: NDArray | None = None,
    low: float | None = ...,
    high: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the uniform distribution on [low, high)."""
def _npi_uniform_n(
    input1: NDArray,
    input2: NDArray | None = None,
    low: float | None = ...,
    high: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the uniform distribution on [low, high), an array of shape size for each
    parameter."""
def _npi_unique(
    data: NDArray,
    return_index: bool | int = False,
    return_inverse: bool | int = False,
    return_counts: bool | int = False,
    axis: int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The unique elements of data, ascending; with axis, its unique slices."""
def _npi_var(
    a: NDArray,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    ddof: int = 0,
    keepdims: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Variance along axis, all axes by default, over count - ddof elements."""
def _npi_vstack(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Stack arrays vertically, along axis 0; a vector is one row."""
def _npi_weibull(
    input1: NDArray,
    a: float | None = None,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the Weibull distribution."""
def _npi_where(
    condition: NDArray,
    x: NDArray,
    y: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """x where condition is not 0, else y; shapes broadcast, and x and y have the same dtype."""
def _npi_where_lscalar(
    condition: NDArray,
    x: NDArray,
    scalar: float = 0.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """scalar where condition is not 0, else x, in the dtype of x."""
def _npi_where_rscalar(
    condition: NDArray,
    y: NDArray,
    scalar: float = 0.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """y where condition is not 0, else scalar, in the dtype of y."""
def _npi_where_scalar2(
    condition: NDArray,
    x: float = 0.0,
    y: float = 0.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The number x where condition is not 0, else the number y, as float32."""
def _npi_zeros(
    shape: int | Sequence[int] = (),
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """An array of 0s; shape () gives a scalar."""
def _npx__image_adjust_lighting(
    data: NDArray,
    alpha: float | Sequence[float],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Add light to an image: alpha of each principal color component of ImageNet (PCA lighting)."""
def _npx__image_crop(
    data: NDArray,
    x: int,
    y: int,
    width: int,
    height: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Crop an image, or each image of a batch, to width and height, with the upper left corner at
    column x and row y."""
def _npx__image_flip_left_right(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flip an image left to right."""
def _npx__image_flip_top_bottom(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flip an image top to bottom."""
def _npx__image_normalize(
    data: NDArray,
    mean: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    std: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute (data - mean) / std of an image, or of a batch of images."""
def _npx__image_random_brightness(
    data: NDArray,
    min_factor: float,
    max_factor: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the brightness of an image: multiply it by a random factor from min_factor to
    max_factor."""
def _npx__image_random_color_jitter(
    data: NDArray,
    brightness: float,
    contrast: float,
    saturation: float,
    hue: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the brightness, contrast, saturation and hue of an image by at most these amounts, in
    random order."""
def _npx__image_random_contrast(
    data: NDArray,
    min_factor: float,
    max_factor: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the contrast of an image: multiply its difference from its mean gray by a random
    factor from min_factor to max_factor."""
def _npx__image_random_flip_left_right(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flip an image left to right with probability 1/2."""
def _npx__image_random_flip_top_bottom(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flip an image top to bottom with probability 1/2."""
def _npx__image_random_hue(
    data: NDArray,
    min_factor: float,
    max_factor: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the hue of an image: add to it, as a fraction of the color circle, a random number
    from min_factor to max_factor."""
def _npx__image_random_lighting(
    data: NDArray,
    alpha_std: float = 0.05,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Add random light to an image, along the principal color components of ImageNet (PCA
    lighting)."""
def _npx__image_random_saturation(
    data: NDArray,
    min_factor: float,
    max_factor: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the saturation of an image: multiply its difference from gray by a random factor from
    min_factor to max_factor."""
def _npx__image_resize(
    data: NDArray,
    size: int | Sequence[int] = (),
    keep_ratio: bool | int = False,
    interp: int = 1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Resize an image, or each image of a batch."""
def _npx__image_to_tensor(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert an image (height, width, channels) with values 0 to 255 to float32 (channels, height,
    width) with values 0 to 1."""
def _npx_activation(
    data: NDArray,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] | str,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise activation function: relu, sigmoid, softrelu log(1 + e^data), softsign data / (1
    + |data|), or tanh."""
def _npx_add_rms_norm(
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
def _npx_arange_like(
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
def _npx_batch_dot(
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
def _npx_batch_flatten(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flatten all axes after the first: (N, ...) becomes (N, features)."""
def _npx_batch_norm(
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
def _npx_cast(
    data: NDArray,
    dtype: DType,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Cast data to another dtype."""
def _npx_constraint_check(
    input: NDArray,
    msg: str = "Constraint violated.",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """True if all elements are true; otherwise an error with the text msg when the result is waited
    for."""
def _npx_convolution(
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
def _npx_cross_entropy(
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
def _npx_deconvolution(
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
def _npx_digamma(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise derivative of log gamma."""
def _npx_dropout(
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
def _npx_embedding(
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
def _npx_erf(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise error function."""
def _npx_erfinv(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse of the error function."""
def _npx_fully_connected(
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
def _npx_gamma(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise gamma function."""
def _npx_gammaln(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise logarithm of the gamma function's absolute value."""
def _npx_gather_nd(
    data: NDArray,
    indices: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gather elements of data at points: column j of indices holds the M coordinates of point j."""
def _npx_geglu(
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
def _npx_layer_norm(
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
def _npx_leaky_relu(
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
def _npx_linear_cross_entropy(
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
def _npx_log_softmax(
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
def _npx_multibox_detection(
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
def _npx_multibox_prior(
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
def _npx_multibox_target(
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
def _npx_nonzero(
    x: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Coordinates of the elements that are not 0, a row for each, as int64."""
def _npx_one_hot(
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
def _npx_pick(
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
def _npx_pooling(
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
def _npx_relu(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise maximum of data and 0."""
def _npx_reshape(
    a: NDArray,
    newshape: int | Sequence[int],
    reverse: bool | int = False,
    order: str = "C",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The same elements in the same order in another shape."""
def _npx_reshape_like(
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
def _npx_rms_norm(
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
def _npx_rnn(
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
def _npx_roi_pooling(
    data: NDArray,
    rois: NDArray,
    pooled_size: int | Sequence[int],
    spatial_scale: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply region of interest (ROI) pooling: pool each region to a pooled_size grid of maxima."""
def _npx_rotary_embedding(
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
def _npx_scaled_dot_product_attention(
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
def _npx_sequence_mask(
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
def _npx_shape_array(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the shape of data, as int64."""
def _npx_sigmoid(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise 1 / (1 + exp(-data))."""
def _npx_sldwin_atten_context(
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
def _npx_sldwin_atten_mask_like(
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
def _npx_sldwin_atten_score(
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
def _npx_slice(
    data: NDArray,
    begin: int | Sequence[int | None],
    end: int | Sequence[int | None],
    step: int | Sequence[int | None] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Slice data from begin up to end in steps of step, as Python slices."""
def _npx_smooth_l1(
    data: NDArray,
    scalar: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the smooth L1 loss elementwise: (scalar * data)^2 / 2 where abs(data) < 1 / scalar^2,
    else abs(data) - 0.5 / scalar^2."""
def _npx_softmax(
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
def _npx_swiglu(
    data: NDArray,
    value: NDArray | None = None,
    axis: int = -1,
    use_value: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """gate * sigmoid(gate) times value, elementwise."""
def _npx_topk(
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
def _npx_weight_only_dense(
    data: NDArray,
    weight: NDArray | None = None,
    scale: NDArray | None = None,
    bias: NDArray | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    group_size: int | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Dense layer with a weight of 8-bit integers: data times the transpose of weight * scale, plus
    bias."""
def _onehot_encode(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return rows of zeros with a 1 at index lhs[i], in the shape and dtype of rhs."""
def _ones(
    shape: int | Sequence[int] = (),
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """An array of 1s."""
def _others_times(
    g: NDArray,
    x: NDArray,
    y: NDArray,
    axis: int | Sequence[int],
    skips_nan: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the gradient of a product y over axis: g times the product of the other elements of
    x; with skips_nan NaN counts as 1 in x, and its gradient is 0."""
def _over_root(
    x: NDArray,
    root: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute x / root, and 0 where root is 0; all arrays have the same dtype, and shapes
    broadcast."""
def _over_square(
    x: NDArray,
    a: NDArray,
    b: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute x / (a a + b b), and 0 where a and b are 0; all arrays have the same dtype, and
    shapes broadcast."""
def _plus(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def _plus_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data + scalar, in the dtype of data (int64 for bool)."""
def _pooling_backward(
    grad: NDArray,
    data: NDArray,
    out: NDArray,
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
) -> NDArray:
    """Gradient of Pooling's data, from its output's gradient; all pool types but 'lp'."""
def _pooling_select(
    values: NDArray,
    data: NDArray,
    out: NDArray,
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
) -> NDArray:
    """The elements of values at the position of the maximum of data in each window."""
def _power(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs to the power of rhs; both arrays have the same dtype, and shapes
    broadcast."""
def _power_backward_lhs(
    g: NDArray,
    lhs: NDArray,
    rhs: NDArray,
    power: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the gradient of a power's base, g rhs power with power lhs^(rhs - 1), and 0 at 0^0;
    all arrays have the same dtype, and shapes broadcast."""
def _power_backward_rhs(
    g: NDArray,
    lhs: NDArray,
    rhs: NDArray,
    y: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the gradient of a power's exponent, g y log(lhs), and 0 where lhs is 0 and rhs >= 0;
    all arrays have the same dtype, and shapes broadcast."""
def _power_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise data to the power of scalar, in the dtype of data (int64 for bool)."""
def _psroi_pooling_backward(
    grad: NDArray,
    rois: NDArray,
    spatial_scale: float,
    output_dim: int,
    pooled_size: int,
    group_size: int = 0,
    data_shape: int | Sequence[int] = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the gradient of the images of pooled regions."""
def _random_exponential(
    lam: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the exponential distribution with rate lam."""
def _random_exponential_like(
    data: NDArray,
    lam: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the exponential distribution with rate lam, in the dtype of data."""
def _random_gamma(
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
def _random_gamma_like(
    data: NDArray,
    alpha: float = 1.0,
    beta: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the gamma distribution with shape alpha and scale beta, in the dtype of data."""
def _random_generalized_negative_binomial(
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
def _random_generalized_negative_binomial_like(
    data: NDArray,
    mu: float = 1.0,
    alpha: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw integers from the negative binomial distribution with mean mu and dispersion alpha, in
    the dtype of data."""
def _random_negative_binomial(
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
def _random_negative_binomial_like(
    data: NDArray,
    k: int = 1,
    p: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw numbers of failures before the k-th success, where each trial has probability p, in the
    dtype of data."""
def _random_normal(
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
def _random_normal_like(
    data: NDArray,
    loc: float = 0.0,
    scale: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the normal distribution with mean loc and standard deviation scale, in the dtype of
    data."""
def _random_pdf_dirichlet(
    sample: NDArray,
    alpha: NDArray,
    is_log: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the Dirichlet distribution at sample, or with is_log its
    logarithm."""
def _random_pdf_exponential(
    sample: NDArray,
    lam: NDArray,
    is_log: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the exponential distribution with rate lam at sample, or
    with is_log its logarithm."""
def _random_pdf_gamma(
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
def _random_pdf_generalized_negative_binomial(
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
def _random_pdf_negative_binomial(
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
def _random_pdf_normal(
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
def _random_pdf_poisson(
    sample: NDArray,
    lam: NDArray,
    is_log: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the Poisson distribution at sample, or with is_log its
    logarithm."""
def _random_pdf_uniform(
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
def _random_poisson(
    lam: float = 1.0,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw integers from the Poisson distribution with mean lam."""
def _random_poisson_like(
    data: NDArray,
    lam: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw integers from the Poisson distribution with mean lam, in the dtype of data."""
def _random_randint(
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
def _random_uniform(
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
def _random_uniform_like(
    data: NDArray,
    low: float = 0.0,
    high: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from the uniform distribution on [low, high), in the dtype of data."""
def _ravel_multi_index(
    data: NDArray,
    shape: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert coordinates to flat indices of an array of shape, in row-major order."""
def _rdiv_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise scalar / data, toward zero for integers, in the dtype of data (int64 for
    bool)."""
def _regression_output_backward(
    out: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    kind: Literal["difference", "sign"] | str = ...,
    *,
    name: str | None = None,
) -> NDArray:
    """The gradient of a regression output's data."""
def _relu_slope(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise slope of relu: NaN at NaN, 1 above 0, else 0."""
def _reserved_rnn(
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
    reserve: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """RNN with a reserve in the private format of a device's kernel."""
def _reserved_rnn_backward(
    grad_output: NDArray,
    grad_state: NDArray | None = None,
    grad_state_cell: NDArray | None = None,
    data: NDArray | None = None,
    parameters: NDArray | None = None,
    state: NDArray | None = None,
    state_cell: NDArray | None = None,
    sequence_length: NDArray | None = None,
    output: NDArray | None = None,
    reserve: NDArray | None = None,
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
    heads: int | Sequence[int] = (),
    drops: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of _reserved_rnn's data, parameters and states; see _rnn_backward."""
def _reshape_exact(
    data: NDArray,
    shape: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Reshape data to exactly this shape, where 0 means a size of 0."""
def _rminus_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise scalar - data, in the dtype of data (int64 for bool)."""
def _rmod_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise scalar modulo data, with the sign of the divisor and 0 for a divisor of 0, in the
    dtype of data (int64 for bool)."""
def _rms_norm_backward(
    grad: NDArray,
    data: NDArray | None = None,
    gamma: NDArray | None = None,
    inverse: NDArray | None = None,
    added: NDArray | None = None,
    axis: int = -1,
    eps: float = 1e-06,
    offset: bool | int = False,
    plus: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of rms_norm's data and gamma; with plus an array is added to the first, which is
    that of add_rms_norm's terms."""
def _rnn_backward(
    grad_output: NDArray,
    grad_state: NDArray | None = None,
    grad_state_cell: NDArray | None = None,
    data: NDArray | None = None,
    parameters: NDArray | None = None,
    state: NDArray | None = None,
    state_cell: NDArray | None = None,
    sequence_length: NDArray | None = None,
    reserve: NDArray | None = None,
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
    heads: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Gradients of RNN's data, parameters and states."""
def _rnn_param_concat(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    dim: int = 1,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Join vectors; dim must be 0."""
def _rnn_param_pack(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Join the elements of arrays in one vector, as RNN reads its parameters."""
def _rnn_param_unpack(
    vector: NDArray,
    data: NDArray | None = None,
    num_args: int = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Split a vector that _rnn_param_pack made; the arrays give the shapes only."""
def _roi_align_backward(
    grad: NDArray,
    rois: NDArray,
    pooled_size: int | Sequence[int],
    spatial_scale: float,
    sample_ratio: int = -1,
    position_sensitive: bool | int = False,
    aligned: bool | int = False,
    data_shape: int | Sequence[int] = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the gradient of the images of pooled regions."""
def _rpower_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise scalar to the power of data, in the dtype of data (int64 for bool)."""
def _run_sums(
    data: NDArray,
    lengths: int | Sequence[int],
    axis: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sums of successive runs of given lengths along axis: the gradient of repeats."""
def _sample_exponential(
    lam: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from exponential distributions with rate lam."""
def _sample_gamma(
    alpha: NDArray,
    beta: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from gamma distributions with shape alpha and scale beta."""
def _sample_generalized_negative_binomial(
    mu: NDArray,
    alpha: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw integers from negative binomial distributions with mean mu and dispersion alpha."""
def _sample_multinomial(
    data: NDArray,
    shape: int | Sequence[int] = (),
    get_prob: bool | int = False,
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw classes with the probabilities along the last axis, an array of shape for each row."""
def _sample_negative_binomial(
    k: NDArray,
    p: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw numbers of failures before the k-th success, where each trial has probability p."""
def _sample_normal(
    mu: NDArray,
    sigma: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from normal distributions with mean mu and standard deviation sigma."""
def _sample_poisson(
    lam: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw integers from Poisson distributions with mean lam."""
def _sample_uniform(
    low: NDArray,
    high: NDArray,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Draw from uniform distributions on [low, high)."""
def _sample_unique_zipfian(
    range_max: int,
    shape: int | Sequence[int] | None = None,
    *,
    ctx: Context | str | None = None,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Draw rows of integers below range_max, without repeats in a row."""
def _sample_weight(
    sample_weight: NDArray,
    loss: NDArray,
    batch_axis: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sample weights of a loss, reshaped to broadcast to it."""
def _scaled_dot_product_attention_backward(
    grad: NDArray,
    query: NDArray | None = None,
    key: NDArray | None = None,
    value: NDArray | None = None,
    out: NDArray | None = None,
    log_sum: NDArray | None = None,
    drawn: NDArray | None = None,
    mask: NDArray | None = None,
    valid_length: NDArray | None = None,
    dropout: float = 0.0,
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
) -> list[NDArray]:
    """Gradients of scaled_dot_product_attention's query, key and value."""
def _scan(
    data: NDArray,
    num_data: int,
    num_states: int,
    num_outs: int,
    reverse: bool | int,
    counted: bool | int,
    training: bool | int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Run a body for each slice of arrays, for the gradient of a loop."""
def _scatter_elemwise_div(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute lhs / rhs elementwise; in a sparse array only stored elements change."""
def _scatter_minus_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute data - scalar elementwise; in a sparse array only stored elements change."""
def _scatter_plus_scalar(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute data + scalar elementwise; in a sparse array only stored elements change."""
def _scatter_points(
    data: NDArray,
    index: NDArray,
    size: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Add data (N, C, P) to zeros (N, C, size) at index (N, P); negative indices are skipped."""
def _scatter_set_nd(
    lhs: NDArray,
    rhs: NDArray,
    indices: NDArray,
    shape: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Set the points of lhs at indices to rhs; the last of equal points wins."""
def _sequence_put_last(
    data: NDArray,
    sequence_length: NDArray | None = None,
    shape: int | Sequence[int] = ...,
    use_sequence_length: bool | int = False,
    axis: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Zeros of a shape, with data at the last step of every sequence."""
def _sg_mkldnn_conv(
    data: NDArray,
    quantized: bool | int = False,
    enable_float_output: bool | int = False,
    with_sum: bool | int = False,
    with_bn: bool | int = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    with_act: bool | int = False,
    with_postsum_act: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply a Convolution fused with a BatchNorm, an activation and a sum, as a subgraph."""
def _sg_mkldnn_fully_connected(
    data: NDArray,
    quantized: bool | int = False,
    enable_float_output: bool | int = False,
    with_sum: bool | int = False,
    with_bn: bool | int = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    with_eltwise: bool | int = False,
    channel_wise_quantize: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Apply a FullyConnected fused with an activation, as a subgraph."""
def _shuffle(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Shuffle the slices along axis 0."""
def _singular_cofactors(
    A: NDArray,
    det: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the cofactors of singular matrices (det 0); zeros for regular ones."""
def _singular_cofactors_backward(
    g: NDArray,
    A: NDArray,
    det: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the gradient of the cofactors of singular matrices."""
def _sldwin_spread(
    score: NDArray,
    query: NDArray,
    dilation: NDArray,
    w: int,
    symmetric: bool | int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Contribution of each position to the keys in its window: sums of score * query."""
def _slice_assign(
    lhs: NDArray,
    rhs: NDArray,
    begin: int | Sequence[int | None],
    end: int | Sequence[int | None],
    step: int | Sequence[int | None] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Replace a region of lhs by rhs."""
def _slice_assign_scalar(
    data: NDArray,
    scalar: float = 0.0,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Set a region of data to a number."""
def _slice_put(
    data: NDArray,
    shape: int | Sequence[int],
    begin: int | Sequence[int | None],
    end: int | Sequence[int | None],
    step: int | Sequence[int | None] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Write data to a region of zeros."""
def _softmax_backward(
    grad: NDArray,
    out: NDArray,
    axis: int = -1,
    factor: float = 1.0,
    log: bool | int = False,
    dtype: DType = ...,
    *,
    name: str | None = None,
) -> NDArray:
    """Gradient of the data of softmax, or with log of log_softmax, from the output and its
    gradient; factor is the factor of the data, dtype its dtype."""
def _softmax_output_backward(
    out: NDArray,
    label: NDArray | None = None,
    head: NDArray | None = None,
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
) -> NDArray:
    """The gradient of SoftmaxOutput's data."""
def _softplus(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise log(1 + exp(data))."""
def _sparse_ElementWiseSum(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum arrays of the same shape and dtype."""
def _sparse_Embedding(
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
def _sparse_FullyConnected(
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
def _sparse_LinearRegressionOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data itself, with gradient data - label."""
def _sparse_LogisticRegressionOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """sigmoid of data, with gradient sigmoid - label."""
def _sparse_MAERegressionOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """data itself, with gradient 1 where data > label, else -1."""
def _sparse__contrib_round_ste(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Round data to the nearest integer; the gradient passes through unchanged."""
def _sparse__contrib_sign_ste(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the sign of data (-1, 0 or 1); the gradient passes through unchanged."""
def _sparse_abs(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise absolute value."""
def _sparse_adagrad_update(
    weight: NDArray,
    grad: NDArray,
    history: NDArray,
    lr: float,
    epsilon: float = 1e-07,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Take one step of AdaGrad: return the new weight, and update history in place."""
def _sparse_adam_update(
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
def _sparse_add_n(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum arrays of the same shape and dtype."""
def _sparse_arccos(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse cosine."""
def _sparse_arccosh(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse hyperbolic cosine."""
def _sparse_arcsin(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse sine."""
def _sparse_arcsinh(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse hyperbolic sine."""
def _sparse_arctan(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse tangent."""
def _sparse_arctanh(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise inverse hyperbolic tangent."""
def _sparse_broadcast_add(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_broadcast_div(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def _sparse_broadcast_minus(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_broadcast_mul(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_broadcast_plus(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_broadcast_sub(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_cast_storage(
    data: NDArray,
    stype: Literal["csr", "default", "row_sparse"] | str,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert data to the storage type stype: default (dense), row_sparse or csr."""
def _sparse_cbrt(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise cube root."""
def _sparse_ceil(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise smallest integer not below data."""
def _sparse_clip(
    data: NDArray,
    a_min: float,
    a_max: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Clip data to [a_min, a_max]."""
def _sparse_concat(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    dim: int = 1,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Join arrays along axis dim; their other sizes are equal."""
def _sparse_cos(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise cosine."""
def _sparse_cosh(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise hyperbolic cosine."""
def _sparse_csr_dot(
    values: NDArray,
    columns: NDArray,
    pointers: NDArray,
    rhs: NDArray,
    transpose: bool | int = False,
    rows: int = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Multiply a CSR matrix, or its transpose, by a dense array."""
def _sparse_csr_sums(
    values: NDArray,
    columns: NDArray,
    pointers: NDArray,
    axis: int,
    count: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum a CSR matrix over an axis: (columns,) over axis 0, (rows,) over axis 1; count is the size
    of the output."""
def _sparse_csr_to_dense(
    values: NDArray,
    columns: NDArray,
    pointers: NDArray,
    shape: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert a CSR matrix to a dense matrix of shape (rows, columns)."""
def _sparse_degrees(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise conversion of radians to degrees."""
def _sparse_dot(
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
def _sparse_elemwise_add(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_elemwise_div(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def _sparse_elemwise_mul(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_elemwise_sub(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_exp(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise e to the power of data."""
def _sparse_expm1(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise e to the power of data, minus 1."""
def _sparse_fix(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise truncation toward zero to an integer."""
def _sparse_floor(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise largest integer not above data."""
def _sparse_ftrl_update(
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
def _sparse_gamma(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise gamma function."""
def _sparse_gammaln(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise logarithm of the gamma function's absolute value."""
def _sparse_log(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise natural logarithm."""
def _sparse_log10(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise decimal logarithm."""
def _sparse_log1p(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise natural logarithm of 1 + data."""
def _sparse_log2(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise binary logarithm."""
def _sparse_make_loss(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return data as a loss: its gradient is 1, and the gradient of the output is ignored."""
def _sparse_mean(
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
def _sparse_negative(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise -data."""
def _sparse_norm(
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
def _sparse_radians(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise conversion of degrees to radians."""
def _sparse_relu(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise maximum of data and 0."""
def _sparse_retain(
    data: NDArray,
    indices: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Retain the rows of data listed in indices; all other rows are zero."""
def _sparse_rint(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise nearest integer, halves downward."""
def _sparse_round(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise nearest integer, halves away from zero."""
def _sparse_rows_to_dense(
    values: NDArray,
    rows: NDArray,
    shape: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Write rows to zeros of a shape."""
def _sparse_rsqrt(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise 1 / square root."""
def _sparse_sgd_mom_update(
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
def _sparse_sgd_update(
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
def _sparse_sigmoid(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise 1 / (1 + exp(-data))."""
def _sparse_sign(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise sign: -1, 0 or 1."""
def _sparse_sin(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise sine."""
def _sparse_sinh(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise hyperbolic sine."""
def _sparse_slice(
    data: NDArray,
    begin: int | Sequence[int | None],
    end: int | Sequence[int | None],
    step: int | Sequence[int | None] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Slice data from begin up to end in steps of step, as Python slices."""
def _sparse_sqrt(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise square root."""
def _sparse_square(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise square."""
def _sparse_stop_gradient(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return data, and stop the gradient."""
def _sparse_sum(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the sum along axis, all axes by default; with exclude along all other axes."""
def _sparse_tan(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise tangent."""
def _sparse_tanh(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise hyperbolic tangent."""
def _sparse_trunc(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise truncation toward zero to an integer."""
def _sparse_where(
    condition: NDArray,
    x: NDArray,
    y: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Select x where condition is not 0, else y; condition has the shape of x, or one element for
    each row."""
def _sparse_zeros_like(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return an array of 0s with the shape and dtype of data."""
def _split_v2(
    data: NDArray,
    indices: int | Sequence[int],
    axis: int = 1,
    squeeze_axis: bool | int = False,
    sections: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Split data along axis into sections pieces, or at the positions in indices."""
def _square_sum(
    data: NDArray,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum the squares of data over axes; the arguments are as in sum."""
def _sub(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def _sum_to_shape(
    data: NDArray,
    shape: int | Sequence[int] = (),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum over the axes along which shape broadcasts to the shape of data."""
def _sum_under_mask(
    data: NDArray,
    mask: NDArray,
    start_axis: int = 0,
    shape: int | Sequence[int] = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The elements of data where mask is true, summed to the shape that they were broadcast
    from."""
def _svm_output_backward(
    data: NDArray,
    label: NDArray,
    margin: float = 1.0,
    regularization_coefficient: float = 1.0,
    use_linear: bool | int = False,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The gradient of SVMOutput's data."""
def _take_add(
    data: NDArray,
    indices: NDArray,
    shape: int | Sequence[int],
    axis: int,
    mode: Literal["clip", "raise", "wrap"] | str = "clip",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Add slices to zeros of a shape along axis: the adjoint of take."""
def _take_along(
    data: NDArray,
    index: NDArray,
    axis: int,
    mode: Literal["clip", "wrap"] | str = "clip",
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gather elements of data along axis at the positions in index, for each row."""
def _times_over_root(
    g: NDArray,
    x: NDArray,
    root: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute g x / root, and 0 where root is 0; all arrays have the same dtype, and shapes
    broadcast."""
def _triangle(
    data: NDArray,
    lower: bool | int = True,
    offset: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Set the elements above (lower) or below the diagonal at offset to zero."""
def _trigamma(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Elementwise second derivative of log gamma."""
def _unpad(
    data: NDArray,
    shape: int | Sequence[int],
    mode: Literal["constant", "edge", "reflect"] | str,
    pad_width: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Crop the padding of an array, and add it to the elements that Pad copied it from."""
def _unravel_index(
    data: NDArray,
    shape: int | Sequence[int] | None = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert flat indices of an array of shape, in row-major order, to coordinates."""
def _upsampling_backward(
    grad: NDArray,
    scale: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sums over blocks of scale x scale pixels: the gradient of nearest upsampling."""
def _weight_only_dense_backward_data(
    grad: NDArray,
    weight: NDArray,
    scale: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gradient of weight_only_dense's data: grad times weight * scale."""
def _weight_only_dense_backward_scale(
    grad: NDArray,
    data: NDArray,
    weight: NDArray,
    scale: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Gradient of weight_only_dense's scale: sums of (grad^T data) * weight over the elements that
    share a scale."""
def _while_loop(
    data: NDArray,
    num_args: int,
    num_outputs: int,
    num_out_data: int,
    max_iterations: int,
    cond_input_locs: int | Sequence[int],
    func_input_locs: int | Sequence[int],
    func_var_locs: int | Sequence[int],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Run a function repeatedly on its results while a condition holds."""
def _wide_dot(
    lhs: NDArray,
    rhs: NDArray,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    forward_stype: Literal[None, "csr", "default", "row_sparse"] | str = None,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute dot in the accumulator's dtype: 16-bit floats give float32."""
def _zeros(
    shape: int | Sequence[int] = (),
    ctx: str = "",
    dtype: DType = ...,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """An array of 0s."""
def _zeros_like_many(
    *data: NDArray | Sequence[NDArray],
    num_args: int = ...,
    dtype: DType,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Zeros of dtype in the shapes of several arrays."""
def _zeros_without_dtype(
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: int = -1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Return an array of zeros; dtype is the dtype's number in files, -1 for float32."""
