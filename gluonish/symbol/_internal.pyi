# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Mapping
from collections.abc import Sequence
from gluonish.core.dtype import DType
from gluonish.symbol import Activation as Activation
from gluonish.symbol import BatchNorm as BatchNorm
from gluonish.symbol import BatchNorm_v1 as BatchNorm_v1
from gluonish.symbol import BilinearSampler as BilinearSampler
from gluonish.symbol import BlockGrad as BlockGrad
from gluonish.symbol import CTCLoss as CTCLoss
from gluonish.symbol import Cast as Cast
from gluonish.symbol import Concat as Concat
from gluonish.symbol import Convolution as Convolution
from gluonish.symbol import Convolution_v1 as Convolution_v1
from gluonish.symbol import Correlation as Correlation
from gluonish.symbol import Crop as Crop
from gluonish.symbol import Custom as Custom
from gluonish.symbol import Deconvolution as Deconvolution
from gluonish.symbol import Dropout as Dropout
from gluonish.symbol import ElementWiseSum as ElementWiseSum
from gluonish.symbol import Embedding as Embedding
from gluonish.symbol import Flatten as Flatten
from gluonish.symbol import FullyConnected as FullyConnected
from gluonish.symbol import GridGenerator as GridGenerator
from gluonish.symbol import GroupNorm as GroupNorm
from gluonish.symbol import IdentityAttachKLSparseReg as IdentityAttachKLSparseReg
from gluonish.symbol import InstanceNorm as InstanceNorm
from gluonish.symbol import L2Normalization as L2Normalization
from gluonish.symbol import LRN as LRN
from gluonish.symbol import LayerNorm as LayerNorm
from gluonish.symbol import LeakyReLU as LeakyReLU
from gluonish.symbol import LinearRegressionOutput as LinearRegressionOutput
from gluonish.symbol import LogisticRegressionOutput as LogisticRegressionOutput
from gluonish.symbol import MAERegressionOutput as MAERegressionOutput
from gluonish.symbol import MakeLoss as MakeLoss
from gluonish.symbol import Pad as Pad
from gluonish.symbol import Pooling as Pooling
from gluonish.symbol import Pooling_v1 as Pooling_v1
from gluonish.symbol import RNN as RNN
from gluonish.symbol import ROIPooling as ROIPooling
from gluonish.symbol import Reshape as Reshape
from gluonish.symbol import SVMOutput as SVMOutput
from gluonish.symbol import SequenceLast as SequenceLast
from gluonish.symbol import SequenceMask as SequenceMask
from gluonish.symbol import SequenceReverse as SequenceReverse
from gluonish.symbol import SliceChannel as SliceChannel
from gluonish.symbol import Softmax as Softmax
from gluonish.symbol import SoftmaxActivation as SoftmaxActivation
from gluonish.symbol import SoftmaxOutput as SoftmaxOutput
from gluonish.symbol import SpatialTransformer as SpatialTransformer
from gluonish.symbol import SwapAxis as SwapAxis
from gluonish.symbol import UpSampling as UpSampling
from gluonish.symbol import abs as abs
from gluonish.symbol import adam_update as adam_update
from gluonish.symbol import add_n as add_n
from gluonish.symbol import add_rms_norm as add_rms_norm
from gluonish.symbol import all_finite as all_finite
from gluonish.symbol import amp_cast as amp_cast
from gluonish.symbol import amp_multicast as amp_multicast
from gluonish.symbol import arccos as arccos
from gluonish.symbol import arccosh as arccosh
from gluonish.symbol import arcsin as arcsin
from gluonish.symbol import arcsinh as arcsinh
from gluonish.symbol import arctan as arctan
from gluonish.symbol import arctanh as arctanh
from gluonish.symbol import argmax as argmax
from gluonish.symbol import argmax_channel as argmax_channel
from gluonish.symbol import argmin as argmin
from gluonish.symbol import argsort as argsort
from gluonish.symbol import batch_dot as batch_dot
from gluonish.symbol import batch_take as batch_take
from gluonish.symbol import broadcast_add as broadcast_add
from gluonish.symbol import broadcast_axes as broadcast_axes
from gluonish.symbol import broadcast_axis as broadcast_axis
from gluonish.symbol import broadcast_div as broadcast_div
from gluonish.symbol import broadcast_equal as broadcast_equal
from gluonish.symbol import broadcast_greater as broadcast_greater
from gluonish.symbol import broadcast_greater_equal as broadcast_greater_equal
from gluonish.symbol import broadcast_hypot as broadcast_hypot
from gluonish.symbol import broadcast_lesser as broadcast_lesser
from gluonish.symbol import broadcast_lesser_equal as broadcast_lesser_equal
from gluonish.symbol import broadcast_like as broadcast_like
from gluonish.symbol import broadcast_logical_and as broadcast_logical_and
from gluonish.symbol import broadcast_logical_or as broadcast_logical_or
from gluonish.symbol import broadcast_logical_xor as broadcast_logical_xor
from gluonish.symbol import broadcast_maximum as broadcast_maximum
from gluonish.symbol import broadcast_minimum as broadcast_minimum
from gluonish.symbol import broadcast_minus as broadcast_minus
from gluonish.symbol import broadcast_mod as broadcast_mod
from gluonish.symbol import broadcast_mul as broadcast_mul
from gluonish.symbol import broadcast_not_equal as broadcast_not_equal
from gluonish.symbol import broadcast_plus as broadcast_plus
from gluonish.symbol import broadcast_power as broadcast_power
from gluonish.symbol import broadcast_sub as broadcast_sub
from gluonish.symbol import broadcast_to as broadcast_to
from gluonish.symbol import cast as cast
from gluonish.symbol import cast_storage as cast_storage
from gluonish.symbol import cbrt as cbrt
from gluonish.symbol import ceil as ceil
from gluonish.symbol import choose_element_0index as choose_element_0index
from gluonish.symbol import clip as clip
from gluonish.symbol import col2im as col2im
from gluonish.symbol import concat as concat
from gluonish.symbol import cos as cos
from gluonish.symbol import cosh as cosh
from gluonish.symbol import crop as crop
from gluonish.symbol import cross_entropy as cross_entropy
from gluonish.symbol import ctc_loss as ctc_loss
from gluonish.symbol import cumsum as cumsum
from gluonish.symbol import degrees as degrees
from gluonish.symbol import depth_to_space as depth_to_space
from gluonish.symbol import diag as diag
from gluonish.symbol import digamma as digamma
from gluonish.symbol import dot as dot
from gluonish.symbol import elemwise_add as elemwise_add
from gluonish.symbol import elemwise_div as elemwise_div
from gluonish.symbol import elemwise_mul as elemwise_mul
from gluonish.symbol import elemwise_sub as elemwise_sub
from gluonish.symbol import erf as erf
from gluonish.symbol import erfinv as erfinv
from gluonish.symbol import exp as exp
from gluonish.symbol import expand_dims as expand_dims
from gluonish.symbol import expm1 as expm1
from gluonish.symbol import fill_element_0index as fill_element_0index
from gluonish.symbol import fix as fix
from gluonish.symbol import flatten as flatten
from gluonish.symbol import flip as flip
from gluonish.symbol import floor as floor
from gluonish.symbol import ftml_update as ftml_update
from gluonish.symbol import ftrl_update as ftrl_update
from gluonish.symbol import gamma as gamma
from gluonish.symbol import gammaln as gammaln
from gluonish.symbol import gather_nd as gather_nd
from gluonish.symbol import geglu as geglu
from gluonish.symbol import hard_sigmoid as hard_sigmoid
from gluonish.symbol import identity as identity
from gluonish.symbol import im2col as im2col
from gluonish.symbol import khatri_rao as khatri_rao
from gluonish.symbol import lamb_update_phase1 as lamb_update_phase1
from gluonish.symbol import lamb_update_phase2 as lamb_update_phase2
from gluonish.symbol import linalg_det as linalg_det
from gluonish.symbol import linalg_extractdiag as linalg_extractdiag
from gluonish.symbol import linalg_extracttrian as linalg_extracttrian
from gluonish.symbol import linalg_gelqf as linalg_gelqf
from gluonish.symbol import linalg_gemm as linalg_gemm
from gluonish.symbol import linalg_gemm2 as linalg_gemm2
from gluonish.symbol import linalg_inverse as linalg_inverse
from gluonish.symbol import linalg_makediag as linalg_makediag
from gluonish.symbol import linalg_maketrian as linalg_maketrian
from gluonish.symbol import linalg_potrf as linalg_potrf
from gluonish.symbol import linalg_potri as linalg_potri
from gluonish.symbol import linalg_slogdet as linalg_slogdet
from gluonish.symbol import linalg_sumlogdiag as linalg_sumlogdiag
from gluonish.symbol import linalg_syrk as linalg_syrk
from gluonish.symbol import linalg_trmm as linalg_trmm
from gluonish.symbol import linalg_trsm as linalg_trsm
from gluonish.symbol import linear_cross_entropy as linear_cross_entropy
from gluonish.symbol import log as log
from gluonish.symbol import log10 as log10
from gluonish.symbol import log1p as log1p
from gluonish.symbol import log2 as log2
from gluonish.symbol import log_sigmoid as log_sigmoid
from gluonish.symbol import log_softmax as log_softmax
from gluonish.symbol import logical_not as logical_not
from gluonish.symbol import make_loss as make_loss
from gluonish.symbol import max as max
from gluonish.symbol import max_axis as max_axis
from gluonish.symbol import mean as mean
from gluonish.symbol import min as min
from gluonish.symbol import min_axis as min_axis
from gluonish.symbol import mish as mish
from gluonish.symbol import moments as moments
from gluonish.symbol import mp_lamb_update_phase1 as mp_lamb_update_phase1
from gluonish.symbol import mp_lamb_update_phase2 as mp_lamb_update_phase2
from gluonish.symbol import mp_nag_mom_update as mp_nag_mom_update
from gluonish.symbol import mp_sgd_mom_update as mp_sgd_mom_update
from gluonish.symbol import mp_sgd_update as mp_sgd_update
from gluonish.symbol import multi_all_finite as multi_all_finite
from gluonish.symbol import multi_lars as multi_lars
from gluonish.symbol import multi_mp_sgd_mom_update as multi_mp_sgd_mom_update
from gluonish.symbol import multi_mp_sgd_update as multi_mp_sgd_update
from gluonish.symbol import multi_sgd_mom_update as multi_sgd_mom_update
from gluonish.symbol import multi_sgd_update as multi_sgd_update
from gluonish.symbol import multi_sum_sq as multi_sum_sq
from gluonish.symbol import nag_mom_update as nag_mom_update
from gluonish.symbol import nanprod as nanprod
from gluonish.symbol import nansum as nansum
from gluonish.symbol import negative as negative
from gluonish.symbol import norm as norm
from gluonish.symbol import normal as normal
from gluonish.symbol import numpy as numpy
from gluonish.symbol import numpy_extension as numpy_extension
from gluonish.symbol import one_hot as one_hot
from gluonish.symbol import ones_like as ones_like
from gluonish.symbol import pad as pad
from gluonish.symbol import pick as pick
from gluonish.symbol import preloaded_multi_mp_sgd_mom_update as preloaded_multi_mp_sgd_mom_update
from gluonish.symbol import preloaded_multi_mp_sgd_update as preloaded_multi_mp_sgd_update
from gluonish.symbol import preloaded_multi_sgd_mom_update as preloaded_multi_sgd_mom_update
from gluonish.symbol import preloaded_multi_sgd_update as preloaded_multi_sgd_update
from gluonish.symbol import prod as prod
from gluonish.symbol import radians as radians
from gluonish.symbol import random_exponential as random_exponential
from gluonish.symbol import random_gamma as random_gamma
from gluonish.symbol import random_generalized_negative_binomial as random_generalized_negative_binomial
from gluonish.symbol import random_negative_binomial as random_negative_binomial
from gluonish.symbol import random_normal as random_normal
from gluonish.symbol import random_pdf_dirichlet as random_pdf_dirichlet
from gluonish.symbol import random_pdf_exponential as random_pdf_exponential
from gluonish.symbol import random_pdf_gamma as random_pdf_gamma
from gluonish.symbol import random_pdf_generalized_negative_binomial as random_pdf_generalized_negative_binomial
from gluonish.symbol import random_pdf_negative_binomial as random_pdf_negative_binomial
from gluonish.symbol import random_pdf_normal as random_pdf_normal
from gluonish.symbol import random_pdf_poisson as random_pdf_poisson
from gluonish.symbol import random_pdf_uniform as random_pdf_uniform
from gluonish.symbol import random_poisson as random_poisson
from gluonish.symbol import random_randint as random_randint
from gluonish.symbol import random_uniform as random_uniform
from gluonish.symbol import ravel_multi_index as ravel_multi_index
from gluonish.symbol import rcbrt as rcbrt
from gluonish.symbol import reciprocal as reciprocal
from gluonish.symbol import relu as relu
from gluonish.symbol import repeat as repeat
from gluonish.symbol import reset_arrays as reset_arrays
from gluonish.symbol import reshape as reshape
from gluonish.symbol import reshape_like as reshape_like
from gluonish.symbol import reverse as reverse
from gluonish.symbol import rint as rint
from gluonish.symbol import rms_norm as rms_norm
from gluonish.symbol import rmsprop_update as rmsprop_update
from gluonish.symbol import rmspropalex_update as rmspropalex_update
from gluonish.symbol import rotary_embedding as rotary_embedding
from gluonish.symbol import round as round
from gluonish.symbol import rsqrt as rsqrt
from gluonish.symbol import sample_exponential as sample_exponential
from gluonish.symbol import sample_gamma as sample_gamma
from gluonish.symbol import sample_generalized_negative_binomial as sample_generalized_negative_binomial
from gluonish.symbol import sample_multinomial as sample_multinomial
from gluonish.symbol import sample_negative_binomial as sample_negative_binomial
from gluonish.symbol import sample_normal as sample_normal
from gluonish.symbol import sample_poisson as sample_poisson
from gluonish.symbol import sample_uniform as sample_uniform
from gluonish.symbol import scaled_dot_product_attention as scaled_dot_product_attention
from gluonish.symbol import scatter_nd as scatter_nd
from gluonish.symbol import sgd_mom_update as sgd_mom_update
from gluonish.symbol import sgd_update as sgd_update
from gluonish.symbol import shape_array as shape_array
from gluonish.symbol import shuffle as shuffle
from gluonish.symbol import sigmoid as sigmoid
from gluonish.symbol import sign as sign
from gluonish.symbol import signsgd_update as signsgd_update
from gluonish.symbol import signum_update as signum_update
from gluonish.symbol import sin as sin
from gluonish.symbol import sinh as sinh
from gluonish.symbol import size_array as size_array
from gluonish.symbol import slice as slice
from gluonish.symbol import slice_axis as slice_axis
from gluonish.symbol import slice_like as slice_like
from gluonish.symbol import smooth_l1 as smooth_l1
from gluonish.symbol import softmax as softmax
from gluonish.symbol import softmax_cross_entropy as softmax_cross_entropy
from gluonish.symbol import softmin as softmin
from gluonish.symbol import softsign as softsign
from gluonish.symbol import sort as sort
from gluonish.symbol import space_to_depth as space_to_depth
from gluonish.symbol import split as split
from gluonish.symbol import sqrt as sqrt
from gluonish.symbol import square as square
from gluonish.symbol import squeeze as squeeze
from gluonish.symbol import stack as stack
from gluonish.symbol import stop_gradient as stop_gradient
from gluonish.symbol import sum as sum
from gluonish.symbol import sum_axis as sum_axis
from gluonish.symbol import swapaxes as swapaxes
from gluonish.symbol import swiglu as swiglu
from gluonish.symbol import take as take
from gluonish.symbol import tan as tan
from gluonish.symbol import tanh as tanh
from gluonish.symbol import tile as tile
from gluonish.symbol import topk as topk
from gluonish.symbol import transpose as transpose
from gluonish.symbol import trunc as trunc
from gluonish.symbol import uniform as uniform
from gluonish.symbol import unravel_index as unravel_index
from gluonish.symbol import weight_only_dense as weight_only_dense
from gluonish.symbol import where as where
from gluonish.symbol import zeros_like as zeros_like
from gluonish.symbol.symbol import Symbol
from typing import Any
from typing import Literal
np = numpy
npx = numpy_extension


def _CachedOp(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Run the graph of a hybridized block."""
def _CrossDeviceCopy(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Copy data, to another device where a graph is split over devices."""
def _Div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def _DivScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data / scalar, toward zero for integers, in the dtype of data (int64 for
    bool)."""
def _Equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs == rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _EqualScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data == scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _Greater(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs > rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _GreaterEqualScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data >= scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _GreaterScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data > scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _Greater_Equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs >= rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _Hypot(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square root of the sum of the squares of lhs and rhs; both arrays have the same
    dtype, and shapes broadcast."""
def _HypotScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square root of the sum of the squares of data and scalar, in the dtype of data
    (int64 for bool)."""
def _Lesser(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs < rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _LesserEqualScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data <= scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _LesserScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data < scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _Lesser_Equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs <= rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _LogicalAndScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data and scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _LogicalOrScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data or scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _LogicalXorScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data xor scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _Logical_And(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs and rhs, as 0 and 1; both arrays have the same dtype, and shapes
    broadcast."""
def _Logical_Or(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs or rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _Logical_Xor(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs xor rhs, as 0 and 1; both arrays have the same dtype, and shapes
    broadcast."""
def _Maximum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise maximum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def _MaximumScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise maximum of data and scalar, in the dtype of data (int64 for bool)."""
def _Minimum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise minimum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def _MinimumScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise minimum of data and scalar, in the dtype of data (int64 for bool)."""
def _Minus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def _MinusScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data - scalar, in the dtype of data (int64 for bool)."""
def _Mod(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs modulo rhs, with the sign of the divisor and 0 for a divisor of 0; both
    arrays have the same dtype, and shapes broadcast."""
def _ModScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data modulo scalar, with the sign of the divisor and 0 for a divisor of 0, in the
    dtype of data (int64 for bool)."""
def _Mul(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def _MulScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data * scalar, in the dtype of data (int64 for bool)."""
def _NDArray(
    data: Symbol | None = None,
    info: str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """An object of mx.operator.NDArrayOp."""
def _Native(
    data: Symbol | None = None,
    info: str = ...,
    need_top_grad: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """An object of mx.operator.NumpyOp."""
def _NotEqualScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data != scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _Not_Equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs != rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _Plus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def _PlusScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data + scalar, in the dtype of data (int64 for bool)."""
def _Power(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs to the power of rhs; both arrays have the same dtype, and shapes
    broadcast."""
def _PowerScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data to the power of scalar, in the dtype of data (int64 for bool)."""
def _RDivScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise scalar / data, toward zero for integers, in the dtype of data (int64 for
    bool)."""
def _RMinusScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise scalar - data, in the dtype of data (int64 for bool)."""
def _RModScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise scalar modulo data, with the sign of the divisor and 0 for a divisor of 0, in the
    dtype of data (int64 for bool)."""
def _RPowerScalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise scalar to the power of data, in the dtype of data (int64 for bool)."""
def _activation_backward(
    grad: Symbol | None = None,
    out: Symbol | None = None,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] | str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
) -> Symbol:
    """Gradient of Activation's data, from its output and the output's gradient."""
def _adamw_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    rescale_grad: Symbol | None = None,
    lr: float = ...,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    eta: float = ...,
    clip_gradient: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of Adam with decoupled weight decay, without bias correction (the caller
    includes it in lr)."""
def _adaptive_avg_pooling_backward(
    data: Symbol | None = None,
    size: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Adjoint of: Average windows of images."""
def _adaptive_avg_pooling_forward(
    data: Symbol | None = None,
    size: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Average windows of images."""
def _add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def _add_along(
    data: Symbol | None = None,
    index: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    axis: int = ...,
    mode: Literal["clip", "wrap"] | str = "clip",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Add data to zeros of a shape along axis at the positions in index, for each row."""
def _add_layer_norm(
    data: Symbol | None = None,
    residual: Symbol | None = None,
    gamma: Symbol | None = None,
    beta: Symbol | None = None,
    p: float = 0.0,
    eps: float = 1e-05,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Values from start up to stop in steps of step, each repeated repeat times."""
def _attention_hidden(
    query: Symbol | None = None,
    mask: Symbol | None = None,
    valid_length: Symbol | None = None,
    shape: int | Sequence[int] = (),
    dtype: DType = ...,
    causal: bool | int = False,
    window: int | None = None,
    use_mask: bool | int = False,
    use_length: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Where a query may attend to a key: an addend for the scores, very low where it may not, and 1
    or 0."""
def _backward_einsum(
    data: Symbol | None = None,
    source: str = ...,
    term: str = ...,
    shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Write data into zeros along the axes of term: on diagonals for repeated labels, broadcast
    along new ones."""
def _backward_gather_nd(
    data: Symbol | None = None,
    indices: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Add data to zeros of a shape at the points in indices."""
def _backward_trace(
    data: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return zeros of a shape, with one number along a diagonal."""
def _batch_norm_apply(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    beta: Symbol | None = None,
    mean: Symbol | None = None,
    inverse_std: Symbol | None = None,
    addend: Symbol | None = None,
    fix_gamma: bool | int = True,
    axis: int = 1,
    add: bool | int = False,
    relu: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """(data - mean) * inverse_std * gamma + beta, then addend added (add), then negative results
    replaced by 0 (relu): the result of BatchNorm with these statistics."""
def _batch_norm_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    eps: float = 0.001,
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    axis: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of BatchNorm's data, gamma and beta. var is the inverse standard deviation that
    BatchNorm returns; with use_global_stats the statistics do not depend on the data."""
def _batch_norm_data_gradient(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    mean: Symbol | None = None,
    scale: Symbol | None = None,
    beta: Symbol | None = None,
    slope: Symbol | None = None,
    offset: Symbol | None = None,
    bounds: float | Sequence[float] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The gradient of BatchNorm's data from the outputs of _batch_norm_sums."""
def _batch_norm_residual_sums(
    left: Symbol | None = None,
    right: Symbol | None = None,
    relu: Symbol | None = None,
    data: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    scale: Symbol | None = None,
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """_batch_norm_sums of a BatchNorm that is added to something before a relu."""
def _batch_norm_statistics(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    moving_mean: Symbol | None = None,
    moving_var: Symbol | None = None,
    bias: Symbol | None = None,
    has_bias: bool | int = False,
    eps: float = 0.001,
    momentum: float = 0.9,
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Mean, inverse standard deviation, and scale of each channel (axis 1) of data, with which
    BatchNorm normalizes: (data - mean) * scale + beta."""
def _batch_norm_sums(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    scale: Symbol | None = None,
    beta: Symbol | None = None,
    bounds: float | Sequence[float] = (),
    fix_gamma: bool | int = True,
    use_global_stats: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of BatchNorm's gamma and beta, and the terms of the gradient of data."""
def _betainc(
    a: Symbol | None = None,
    b: Symbol | None = None,
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Regularized incomplete beta function I_x(a, b)."""
def _betainc_slopes(
    a: Symbol | None = None,
    b: Symbol | None = None,
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Derivatives of the regularized incomplete beta function by a, b and x."""
def _betaincinv(
    a: Symbol | None = None,
    b: Symbol | None = None,
    p: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The x with I_x(a, b) = p, of the regularized incomplete beta function I."""
def _bilinear_corners(
    rows: Symbol | None = None,
    columns: Symbol | None = None,
    height: int = ...,
    width: int = ...,
    border: Literal["zeros", "inside"] | str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the flat indices of the four pixels around each position, the row and column of the
    first one, and 1 where the weights depend on the row and the column."""
def _bilinear_points(
    data: Symbol | None = None,
    rows: Symbol | None = None,
    columns: Symbol | None = None,
    border: Literal["zeros", "inside"] | str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sample images (N, C, H, W) bilinearly at rows and columns (N, P), as (N, C, P)."""
def _bilinear_points_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    rows: Symbol | None = None,
    columns: Symbol | None = None,
    border: Literal["zeros", "inside"] | str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the gradients of images, rows and columns in _bilinear_points."""
def _bilinear_resize_backward(
    data: Symbol | None = None,
    size: int | Sequence[int] = ...,
    align_corners: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Adjoint of: Resize images with bilinear interpolation."""
def _bilinear_resize_forward(
    data: Symbol | None = None,
    size: int | Sequence[int] = ...,
    align_corners: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Resize images with bilinear interpolation."""
def _boolean_mask_put(
    data: Symbol | None = None,
    index: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Write data to the rows of zeros where index is not 0."""
def _branch(
    data: Symbol | None = None,
    num_outputs: int = ...,
    then_input_locs: int | Sequence[int] = ...,
    else_input_locs: int | Sequence[int] = ...,
    train: bool | int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Run one of two branches, for the gradient of a conditional."""
def _broadcast_exact(
    data: Symbol | None = None,
    shape: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Broadcast the axes of size 1 to shape, where 0 means a size of 0."""
def _cached_attention(
    query: Symbol | None = None,
    key: Symbol | None = None,
    value: Symbol | None = None,
    key_cache: Symbol | None = None,
    value_cache: Symbol | None = None,
    position: Symbol | None = None,
    mask: Symbol | None = None,
    key_scale: Symbol | None = None,
    value_scale: Symbol | None = None,
    causal: bool | int = True,
    window: int | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    layout: Literal["NHTC", "NTHC", "TNHC"] | str = "NHTC",
    use_mask: bool | int = False,
    use_scales: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Write new keys and values into caches at a position, in place, then attend to all keys up to
    the newest."""
def _cast_weights(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    dtype: DType,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Cast several weights to dtype."""
def _clip_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    a_min: float = ...,
    a_max: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the gradient of clip: grad, and 0 where data is out of bounds."""
def _cond(
    data: Symbol | None = None,
    num_args: int = ...,
    num_outputs: int = ...,
    cond_input_locs: int | Sequence[int] = ...,
    then_input_locs: int | Sequence[int] = ...,
    else_input_locs: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Run one of two branches, depending on a condition."""
def _contrib_AdaptiveAvgPooling2D(
    data: Symbol | None = None,
    output_size: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply adaptive average pooling: means over output_size windows of an image."""
def _contrib_BatchNormWithReLU(
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
def _contrib_BatchNormWithReLU_backward(
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
def _contrib_BilinearResize2D(
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
def _contrib_CTCLoss(
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
def _contrib_DeformableConvolution(
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
def _contrib_DeformablePSROIPooling(
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
def _contrib_ModulatedDeformableConvolution(
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
def _contrib_MultiBoxDetection(
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
def _contrib_MultiBoxPrior(
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
def _contrib_MultiBoxTarget(
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
def _contrib_MultiProposal(
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
def _contrib_PSROIPooling(
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
def _contrib_Proposal(
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
def _contrib_ROIAlign(
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
def _contrib_RROIAlign(
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
def _contrib_SparseEmbedding(
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
def _contrib_SyncBatchNorm(
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
def _contrib_allclose(
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
def _contrib_arange_like(
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
def _contrib_bipartite_matching(
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
def _contrib_boolean_mask(
    data: Symbol | None = None,
    index: Symbol | None = None,
    axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Select the rows of data where index is not 0, in order; axis must be 0."""
def _contrib_box_decode(
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
def _contrib_box_encode(
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
def _contrib_box_iou(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    format: Literal["center", "corner"] | str = "corner",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the intersection over union (IoU) of all pairs of boxes."""
def _contrib_box_nms(
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
def _contrib_box_non_maximum_suppression(
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
def _contrib_calibrate_entropy(
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
def _contrib_count_sketch(
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
def _contrib_ctc_loss(
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
def _contrib_dequantize(
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
def _contrib_div_sqrt_dim(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data (..., d) divided by sqrt(d); integers are truncated toward zero."""
def _contrib_edge_id(
    data: Symbol | None = None,
    u: Symbol | None = None,
    v: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Look up the elements of a CSR matrix at rows u and columns v; -1 if not stored."""
def _contrib_fft(
    data: Symbol | None = None,
    compute_size: int = 128,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the Fourier transform along the last axis."""
def _contrib_getnnz(
    data: Symbol | None = None,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Count the elements stored in a CSR matrix, including zeros, or the nonzero elements of a
    dense matrix, as int64."""
def _contrib_gradientmultiplier(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return data, and multiply the gradient by scalar; a negative scalar reverses it."""
def _contrib_group_adagrad_update(
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
def _contrib_hawkesll(
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
def _contrib_ifft(
    data: Symbol | None = None,
    compute_size: int = 128,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the real part of the inverse Fourier transform along the last axis, times the number
    of points."""
def _contrib_index_array(
    data: Symbol | None = None,
    axes: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the coordinates of every element along axes (all by default), as int64."""
def _contrib_index_copy(
    old_tensor: Symbol | None = None,
    index_vector: Symbol | None = None,
    new_tensor: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Replace row index_vector[i] of old_tensor by row i of new_tensor."""
def _contrib_interleaved_matmul_encdec_qk(
    queries: Symbol | None = None,
    keys_values: Symbol | None = None,
    heads: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Attention scores: products of queries and keys, divided by sqrt(units)."""
def _contrib_interleaved_matmul_encdec_valatt(
    keys_values: Symbol | None = None,
    attention: Symbol | None = None,
    heads: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Values weighted by attention, summed over the keys."""
def _contrib_interleaved_matmul_selfatt_qk(
    queries_keys_values: Symbol | None = None,
    heads: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Self-attention scores: products of queries and keys, divided by sqrt(units)."""
def _contrib_interleaved_matmul_selfatt_valatt(
    queries_keys_values: Symbol | None = None,
    attention: Symbol | None = None,
    heads: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Values of self-attention weighted by attention, summed over the keys."""
def _contrib_mrcnn_mask_target(
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
def _contrib_quadratic(
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
def _contrib_quantize(
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
def _contrib_quantize_asym(
    data: Symbol | None = None,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert data to uint8 as data * scale + shift, and return scale and shift."""
def _contrib_quantize_v2(
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
def _contrib_quantized_act(
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
def _contrib_quantized_batch_norm(
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
def _contrib_quantized_concat(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    dim: int = 1,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Join quantized arrays along axis dim, in a range that contains all input ranges."""
def _contrib_quantized_conv(
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
def _contrib_quantized_elemwise_add(
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
def _contrib_quantized_elemwise_mul(
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
def _contrib_quantized_embedding(
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
def _contrib_quantized_flatten(
    data: Symbol | None = None,
    min_data: Symbol | None = None,
    max_data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flatten all axes of a quantized array after the first."""
def _contrib_quantized_fully_connected(
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
def _contrib_quantized_pooling(
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
def _contrib_quantized_rnn(
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
def _contrib_requantize(
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
def _contrib_round_ste(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Round data to the nearest integer; the gradient passes through unchanged."""
def _contrib_sign_ste(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the sign of data (-1, 0 or 1); the gradient passes through unchanged."""
def _contrib_sldwin_atten_context(
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
def _contrib_sldwin_atten_mask_like(
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
def _contrib_sldwin_atten_score(
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
def _convolution_backward_data(
    grad: Symbol | None = None,
    weight: Symbol | None = None,
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
    data_shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradient of Convolution's data, from the weight and the output's gradient."""
def _convolution_backward_weight(
    grad: Symbol | None = None,
    data: Symbol | None = None,
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
    weight_shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradient of Convolution's weight, from the data and the output's gradient."""
def _convolution_backward_weight_bias(
    grad: Symbol | None = None,
    data: Symbol | None = None,
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
    weight_shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of Convolution's weight and bias, from the data and the output's gradient."""
def _copy(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Copy data."""
def _copyto(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Copy data."""
def _correlation_backward(
    grad: Symbol | None = None,
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
    """Compute the gradients of the images in Correlation."""
def _count_sketch_places(
    h: Symbol | None = None,
    out_dim: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the column of the sketch that each column is added to, -1 for none."""
def _crop_assign(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Replace a region of lhs by rhs."""
def _crop_assign_scalar(
    data: Symbol | None = None,
    scalar: float = 0.0,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Set a region of data to a number."""
def _cross_entropy_backward(
    grad: Symbol | None = None,
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
    """Gradient of cross_entropy's data."""
def _cumsum_reversed(
    data: Symbol | None = None,
    axis: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Cumulative sums from the end: the sum of the elements from each one to the last along
    axis."""
def _custom_backward(
    data: Symbol | None = None,
    training: bool | int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The gradient of an operator written by the user."""
def _cvcopyMakeBorder(
    src: Symbol | None = None,
    top: int = ...,
    bot: int = ...,
    left: int = ...,
    right: int = ...,
    type: int = 0,
    value: float = 0.0,
    values: float | Sequence[float] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Add a border around an image."""
def _cvimdecode(
    buf: Symbol | None = None,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Decode the bytes of an image file."""
def _cvimread(
    filename: str,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Read an image file; flag and to_rgb are as in _cvimdecode."""
def _cvimresize(
    src: Symbol | None = None,
    w: int = ...,
    h: int = ...,
    interp: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Resize an image to width w and height h; interp is as in _image_resize."""
def _deformable_base(
    offset: Symbol | None = None,
    offset_groups: int = ...,
    counts: int | Sequence[int] = ...,
    kernel: int | Sequence[int] = ...,
    stride: int | Sequence[int] = (),
    dilate: int | Sequence[int] = (),
    pad: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the rows and columns of the windows of a convolution without offsets."""
def _deformable_psroi_pixels(
    rows: Symbol | None = None,
    columns: Symbol | None = None,
    rois: Symbol | None = None,
    spatial_scale: float = ...,
    output_dim: int = ...,
    group_size: int = ...,
    pooled_size: int = ...,
    part_size: int = 0,
    sample_per_part: int = 1,
    trans_std: float = 0.0,
    no_trans: bool | int = False,
    data_shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the four pixels around each sample, and its weight in the mean."""
def _deformable_psroi_samples(
    rois: Symbol | None = None,
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
    """Return the positions of the samples of regions without offsets, and the sizes of the
    regions."""
def _diag_put(
    data: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    k: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Write data to a diagonal of zeros, in axes axis1 and axis2."""
def _div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def _div_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data / scalar, toward zero for integers, in the dtype of data (int64 for
    bool)."""
def _draw_binomial(
    n: Symbol | None = None,
    p: Symbol | None = None,
    size: int | Sequence[int] = (),
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw the number of successes in n trials of probability p."""
def _draw_gamma(
    alpha: Symbol | None = None,
    size: int | Sequence[int] = (),
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from gamma distributions with shape parameter alpha and scale 1."""
def _draw_negative_binomial(
    n: Symbol | None = None,
    p: Symbol | None = None,
    size: int | Sequence[int] = (),
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw the number of failures before the n-th success, where a trial has probability p."""
def _draw_poisson(
    lam: Symbol | None = None,
    size: int | Sequence[int] = (),
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from Poisson distributions with mean lam."""
def _dropout_factors(
    drawn: Symbol | None = None,
    p: float = 0.5,
    shape: int | Sequence[int] = (),
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The factors that Dropout drew with the stored key in drawn (2,)."""
def _dropout_keyed(
    data: Symbol | None = None,
    p: float = 0.5,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Dropout in training, without its factors: the second output is the random key (2,), from
    which _dropout_factors computes them again."""
def _embedding_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    input_dim: int = ...,
    output_dim: int = ...,
    dtype: DType = ...,
    sparse_grad: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradient of Embedding's weight: each row of grad is added to the row of its index in data."""
def _equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs == rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _equal_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data == scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _eye(
    N: int,
    M: int = 0,
    k: int = 0,
    ctx: str = "",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """A matrix of N rows and M (or N) columns with ones on diagonal k, and zeros elsewhere."""
def _flat_power(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Raise nonnegative data to a power elementwise; it and all derivatives are 0 at 0."""
def _fold_batch_norm(
    weight: Symbol | None = None,
    bias: Symbol | None = None,
    gamma: Symbol | None = None,
    beta: Symbol | None = None,
    moving_mean: Symbol | None = None,
    moving_var: Symbol | None = None,
    eps: float = 0.001,
    fix_gamma: bool | int = True,
    no_bias: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Weight and bias of a layer that includes the BatchNorm after it."""
def _foreach(
    data: Symbol | None = None,
    num_args: int = ...,
    num_outputs: int = ...,
    num_out_data: int = ...,
    in_state_locs: int | Sequence[int] = ...,
    in_data_locs: int | Sequence[int] = ...,
    remain_locs: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Run a body for each slice of the data along axis 0, and pass states from one iteration to the
    next."""
def _full(
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType = ...,
    value: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """An array filled with one value, which is truncated toward zero for integers."""
def _fully_connected_backward_weight_bias(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of FullyConnected's weight and bias, from the output's gradient and the data."""
def _fused_convolution(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    bias: Symbol | None = None,
    addend: Symbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """activation(Convolution(data, weight, bias) + addend)."""
def _fused_dense(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    bias: Symbol | None = None,
    addend: Symbol | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    activation: Literal[None, "relu", "sigmoid", "softrelu", "tanh", "elu", "gelu", "gelu_tanh", "leaky", "selu", "clip", "hard_sigmoid", "mish", "swish"] | str = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    with_sum: bool | int = False,
    packed: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """activation(FullyConnected(data, weight, bias) + addend)."""
def _fused_pointwise(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    program: object,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The elementwise operators of program, with one output."""
def _fused_pointwise_many(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    program: object,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The elementwise operators of program, with any number of outputs."""
def _fused_pointwise_random(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    program: object,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """_fused_pointwise_many that includes one operator that draws random numbers."""
def _fused_rnn(
    data: Symbol | None = None,
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
    """RNN with separate parameter arrays."""
def _fused_rnn_backward(
    data: Symbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of _fused_rnn's data, states and parameters; see _rnn_backward."""
def _gamma_sample_slope(
    a: Symbol | None = None,
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Derivative of a gamma sample x by its shape parameter a, at a constant probability P(a,
    x)."""
def _gammainc(
    a: Symbol | None = None,
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Regularized lower incomplete gamma function P(a, x)."""
def _gammainc_slopes(
    a: Symbol | None = None,
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Derivatives of the regularized lower incomplete gamma function by a and x."""
def _gammaincinv(
    a: Symbol | None = None,
    p: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The x with P(a, x) = p, of the regularized lower incomplete gamma function P."""
def _gated(
    gate: Symbol | None = None,
    value: Symbol | None = None,
    form: Literal["erf", "tanh", "sigmoid", "silu"] | str = "silu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """A function of gate, by form, times value."""
def _gated_backward(
    grad: Symbol | None = None,
    gate: Symbol | None = None,
    value: Symbol | None = None,
    form: Literal["erf", "tanh", "sigmoid", "silu"] | str = "silu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of _gated's gate and value."""
def _gated_halves_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    axis: int = -1,
    form: Literal["erf", "tanh", "sigmoid", "silu"] | str = "silu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradient of the data of swiglu and geglu that holds gate and value."""
def _gather_points(
    data: Symbol | None = None,
    index: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gather data[n, :, index[n]] of data (N, C, S), index (N, P); 0 for index < 0."""
def _gelu_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    form: Literal["erf", "tanh", "sigmoid", "silu"] | str = "erf",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradient of LeakyReLU's data for the act_types that begin with 'gelu': for form 'erf' grad
    times (the normal distribution function of data, plus data times its density). silu is data *
    sigmoid(data)."""
def _grad_add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs, which have one shape and dtype."""
def _greater(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs > rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _greater_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs >= rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _greater_equal_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data >= scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _greater_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data > scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _grid_generator_base(
    like: Symbol | None = None,
    target_shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return x, y and 1 for every pixel of a grid, for each sample of like."""
def _group_norm_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    mean: Symbol | None = None,
    std: Symbol | None = None,
    eps: float = 1e-05,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of data, gamma and beta of GroupNorm and InstanceNorm."""
def _grouped_dense(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    counts: Symbol | None = None,
    transpose: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Multiply the rows of each group by the transposed weight of the group."""
def _grouped_outer(
    a: Symbol | None = None,
    b: Symbol | None = None,
    counts: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Multiply, for each group of rows, a's transpose by b; 0 for groups without rows."""
def _gru_step(
    i2h: Symbol | None = None,
    h2h: Symbol | None = None,
    hidden: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Hidden state (N, H) of a GRU after one step, from both products (N, 3 * H) and the hidden
    state before."""
def _gru_step_backward(
    d_after: Symbol | None = None,
    i2h: Symbol | None = None,
    h2h: Symbol | None = None,
    hidden: Symbol | None = None,
    gates: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of _gru_step's inputs: of each product, and of the hidden state."""
def _hawkes_events(
    lda: Symbol | None = None,
    marks: Symbol | None = None,
    valid_length: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return 1 where an event of a type occurred, else 0: (T, N, K)."""
def _histogram(
    data: Symbol | None = None,
    bins: Symbol | None = None,
    bin_cnt: int | None = None,
    range: float | Sequence[float] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Count the elements of data in each bin, and return the edges of the bins."""
def _hypot(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square root of the sum of the squares of lhs and rhs; both arrays have the same
    dtype, and shapes broadcast."""
def _hypot_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square root of the sum of the squares of data and scalar, in the dtype of data
    (int64 for bool)."""
def _identity_with_attr_like_rhs(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return lhs; infer its shape and dtype from rhs."""
def _image_adjust_lighting(
    data: Symbol | None = None,
    alpha: float | Sequence[float] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Add light to an image: alpha of each principal color component of ImageNet (PCA lighting)."""
def _image_crop(
    data: Symbol | None = None,
    x: int = ...,
    y: int = ...,
    width: int = ...,
    height: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Crop an image, or each image of a batch, to width and height, with the upper left corner at
    column x and row y."""
def _image_flip_left_right(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flip an image left to right."""
def _image_flip_top_bottom(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flip an image top to bottom."""
def _image_normalize(
    data: Symbol | None = None,
    mean: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    std: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute (data - mean) / std of an image, or of a batch of images."""
def _image_random_brightness(
    data: Symbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the brightness of an image: multiply it by a random factor from min_factor to
    max_factor."""
def _image_random_color_jitter(
    data: Symbol | None = None,
    brightness: float = ...,
    contrast: float = ...,
    saturation: float = ...,
    hue: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the brightness, contrast, saturation and hue of an image by at most these amounts, in
    random order."""
def _image_random_contrast(
    data: Symbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the contrast of an image: multiply its difference from its mean gray by a random
    factor from min_factor to max_factor."""
def _image_random_flip_left_right(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flip an image left to right with probability 1/2."""
def _image_random_flip_top_bottom(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flip an image top to bottom with probability 1/2."""
def _image_random_hue(
    data: Symbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the hue of an image: add to it, as a fraction of the color circle, a random number
    from min_factor to max_factor."""
def _image_random_lighting(
    data: Symbol | None = None,
    alpha_std: float = 0.05,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Add random light to an image, along the principal color components of ImageNet (PCA
    lighting)."""
def _image_random_saturation(
    data: Symbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the saturation of an image: multiply its difference from gray by a random factor from
    min_factor to max_factor."""
def _image_resize(
    data: Symbol | None = None,
    size: int | Sequence[int] = (),
    keep_ratio: bool | int = False,
    interp: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Resize an image, or each image of a batch."""
def _image_to_tensor(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert an image (height, width, channels) with values 0 to 255 to float32 (channels, height,
    width) with values 0 to 1."""
def _int8_convolution(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    scale: Symbol | None = None,
    bias: Symbol | None = None,
    out_step: Symbol | None = None,
    addend: Symbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute activation(Convolution(data, weight) * scale + bias + addend) / out_step, rounded."""
def _int8_dense(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    scale: Symbol | None = None,
    bias: Symbol | None = None,
    out_step: Symbol | None = None,
    addend: Symbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute activation(FullyConnected(data, weight) * scale + bias + addend) / out_step,
    rounded."""
def _int8_pooling(
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
    """Compute the maximum or mean over windows of 8-bit data, rounded; attributes are as in
    Pooling."""
def _int8_quantize(
    data: Symbol | None = None,
    scale: Symbol | None = None,
    out_type: Literal["int8", "uint8"] | str = "int8",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Multiply data by scale, round to the nearest integers, and clip to the range of the 8-bit
    dtype."""
def _int8_range(
    low: float,
    high: float,
    out_type: Literal["auto", "int8", "uint8"] | str = "int8",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the minimum and maximum of a range, and the factor that converts its numbers to
    out_type."""
def _int8_scales(
    min_data: Symbol | None = None,
    max_data: Symbol | None = None,
    steps: Symbol | None = None,
    min_weight: Symbol | None = None,
    max_weight: Symbol | None = None,
    bias: Symbol | None = None,
    min_bias: Symbol | None = None,
    max_bias: Symbol | None = None,
    min_sum: Symbol | None = None,
    max_sum: Symbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the factors of an 8-bit layer, and the range of its result."""
def _int8_weight(
    weight: Symbol | None = None,
    channel_wise: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Quantize a weight to int8, and return the step of each channel."""
def _inverse_or_zero(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Invert every matrix; return zeros for a singular one."""
def _l2_normalization_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    norms: Symbol | None = None,
    eps: float = 1e-10,
    mode: Literal["channel", "instance", "spatial"] | str = "instance",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradient of L2Normalization's data, from the output's gradient, data and the norms."""
def _layer_norm_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    mean: Symbol | None = None,
    std: Symbol | None = None,
    axis: int = -1,
    eps: float = 1e-05,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of LayerNorm's data, gamma and beta."""
def _layer_norm_backward_sums(
    grad: Symbol | None = None,
    other: Symbol | None = None,
    data: Symbol | None = None,
    added: Symbol | None = None,
    gamma: Symbol | None = None,
    mean: Symbol | None = None,
    std: Symbol | None = None,
    drawn: Symbol | None = None,
    two: bool | int = False,
    plus: bool | int = False,
    p: float = 0.0,
    eps: float = 1e-05,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of LayerNorm's data, gamma and beta, along the last axis."""
def _leaky_relu_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    slope: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradient of LeakyReLU's data for act_type='leaky'."""
def _lesser(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs < rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _lesser_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs <= rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _lesser_equal_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data <= scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _lesser_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data < scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _linalg_det(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the determinant of every matrix."""
def _linalg_extractdiag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Extract the diagonal at offset of every square matrix, as vectors."""
def _linalg_extracttrian(
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
def _linalg_gelqf(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the LQ decomposition: Q and L with A = L Q, for matrices of full rank with no more
    rows than columns."""
def _linalg_gemm(
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
def _linalg_gemm2(
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
def _linalg_inverse(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Invert every matrix."""
def _linalg_makediag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Build square matrices with vectors on the diagonal at offset, and zeros elsewhere."""
def _linalg_maketrian(
    A: Symbol | None = None,
    offset: int = 0,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Unpack triangles into square matrices, with zeros elsewhere: the inverse of extracttrian."""
def _linalg_potrf(
    A: Symbol | None = None,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the Cholesky factor of symmetric positive definite A: lower triangular L with A = L
    L^T, or upper triangular U with A = U^T U if lower is false."""
def _linalg_potri(
    A: Symbol | None = None,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the inverse of L L^T from the lower triangular L of potrf, or of U^T U if lower is
    false."""
def _linalg_slogdet(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the sign of the determinant of every matrix, and the logarithm of its absolute
    value."""
def _linalg_sumlogdiag(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum the logarithms of the diagonal of every matrix."""
def _linalg_syevd(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the eigendecomposition of symmetric A: U and L with A = U^T diag(L) U."""
def _linalg_syrk(
    A: Symbol | None = None,
    transpose: bool | int = False,
    alpha: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute alpha A A^T, or alpha A^T A with transpose."""
def _linalg_trmm(
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
def _linalg_trsm(
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
def _linear_cross_entropy_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    weight: Symbol | None = None,
    label: Symbol | None = None,
    bias: Symbol | None = None,
    saved: Symbol | None = None,
    saved_data: Symbol | None = None,
    saved_weight: Symbol | None = None,
    saved_bias: Symbol | None = None,
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
    """Gradients of linear_cross_entropy's data, weight and bias."""
def _linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool | int = True,
    ctx: str = "",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """num evenly spaced values from start to stop, including stop if endpoint."""
def _log_softmax_pick(
    data: Symbol | None = None,
    index: Symbol | None = None,
    axis: int = -1,
    keepdims: bool | int = False,
    mode: Literal["clip", "wrap"] | str = "clip",
    scale: float = 1.0,
    wide: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """One element of log_softmax along axis for every row, at the position in index, times
    scale."""
def _log_softmax_pick_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    index: Symbol | None = None,
    top: Symbol | None = None,
    log_total: Symbol | None = None,
    axis: int = -1,
    keepdims: bool | int = False,
    mode: Literal["clip", "wrap"] | str = "clip",
    scale: float = 1.0,
    wide: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradient of _log_softmax_pick's data."""
def _logical_and(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs and rhs, as 0 and 1; both arrays have the same dtype, and shapes
    broadcast."""
def _logical_and_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data and scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _logical_or(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs or rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _logical_or_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data or scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _logical_xor(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs xor rhs, as 0 and 1; both arrays have the same dtype, and shapes
    broadcast."""
def _logical_xor_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data xor scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _lrn_backward(
    grad: Symbol | None = None,
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
    """Gradient of LRN's data, from its output's gradient."""
def _lrn_window_sum(
    data: Symbol | None = None,
    reach: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum of each channel and of up to reach channels on either side."""
def _lstm_step(
    i2h: Symbol | None = None,
    h2h: Symbol | None = None,
    cells: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Hidden state and cell (N, H) of an LSTM after one step, from both products (N, 4 * H) and the
    cell before."""
def _lstm_step_backward(
    d_hidden: Symbol | None = None,
    d_after: Symbol | None = None,
    i2h: Symbol | None = None,
    h2h: Symbol | None = None,
    cells: Symbol | None = None,
    gates: Symbol | None = None,
    after: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of _lstm_step's inputs: of both products, and of the cell."""
def _maximum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise maximum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def _maximum_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise maximum of data and scalar, in the dtype of data (int64 for bool)."""
def _minimum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise minimum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def _minimum_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise minimum of data and scalar, in the dtype of data (int64 for bool)."""
def _minus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def _minus_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data - scalar, in the dtype of data (int64 for bool)."""
def _mod(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs modulo rhs, with the sign of the divisor and 0 for a divisor of 0; both
    arrays have the same dtype, and shapes broadcast."""
def _mod_backward_rhs(
    g: Symbol | None = None,
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the gradient of the divisor, -g floor(lhs / rhs), and 0 where both are 0; all arrays
    have the same dtype, and shapes broadcast."""
def _mod_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data modulo scalar, with the sign of the divisor and 0 for a divisor of 0, in the
    dtype of data (int64 for bool)."""
def _mp_adamw_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    weight32: Symbol | None = None,
    rescale_grad: Symbol | None = None,
    lr: float = ...,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    eta: float = ...,
    clip_gradient: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of Adam with decoupled weight decay, without bias correction (the caller
    includes it in lr) in mixed precision."""
def _mul(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def _mul_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data * scalar, in the dtype of data (int64 for bool)."""
def _multi_adagrad_update(
    *data: Symbol | Sequence[Symbol],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    epsilon: float = 1e-07,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of AdaGrad for num_weights weights."""
def _multi_adam_update(
    *data: Symbol | Sequence[Symbol],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of Adam without bias correction (the caller includes it in lr) for num_weights
    weights."""
def _multi_adamw_update(
    *data: Symbol | Sequence[Symbol],
    lrs: float | Sequence[float],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wds: float | Sequence[float],
    etas: float | Sequence[float],
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of Adam with decoupled weight decay, without bias correction (the caller
    includes it in lr) for num_weights weights."""
def _multi_lamb_update(
    *data: Symbol | Sequence[Symbol],
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of LAMB for num_tensors weights."""
def _multi_mp_adagrad_update(
    *data: Symbol | Sequence[Symbol],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    epsilon: float = 1e-07,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of AdaGrad for num_weights weights in mixed precision."""
def _multi_mp_adam_update(
    *data: Symbol | Sequence[Symbol],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of Adam without bias correction (the caller includes it in lr) for num_weights
    weights in mixed precision."""
def _multi_mp_adamw_update(
    *data: Symbol | Sequence[Symbol],
    lrs: float | Sequence[float],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wds: float | Sequence[float],
    etas: float | Sequence[float],
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of Adam with decoupled weight decay, without bias correction (the caller
    includes it in lr) for num_weights weights in mixed precision."""
def _multi_mp_lamb_update(
    *data: Symbol | Sequence[Symbol],
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of LAMB for num_tensors weights in mixed precision."""
def _multi_mp_nag_update(
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
    """Take one step of Nesterov's accelerated gradient, as computed by the optimizer class, for
    num_weights weights in mixed precision."""
def _multi_mp_rmsprop_update(
    *data: Symbol | Sequence[Symbol],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    gamma1: float = 0.95,
    epsilon: float = 1e-08,
    clip_weights: float = -1.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of RMSProp for num_weights weights in mixed precision."""
def _multi_mp_rmspropalex_update(
    *data: Symbol | Sequence[Symbol],
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of centered RMSProp with momentum for num_weights weights in mixed
    precision."""
def _multi_nag_update(
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
    """Take one step of Nesterov's accelerated gradient, as computed by the optimizer class, for
    num_weights weights."""
def _multi_rmsprop_update(
    *data: Symbol | Sequence[Symbol],
    lrs: float | Sequence[float],
    wds: float | Sequence[float],
    gamma1: float = 0.95,
    epsilon: float = 1e-08,
    clip_weights: float = -1.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of RMSProp for num_weights weights."""
def _multi_rmspropalex_update(
    *data: Symbol | Sequence[Symbol],
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of centered RMSProp with momentum for num_weights weights."""
def _not_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs != rhs, as 0 and 1; both arrays have the same dtype, and shapes broadcast."""
def _not_equal_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data != scalar, as 0 and 1, in the dtype of data (int64 for bool)."""
def _np_all(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Whether all elements along axis are not 0, all axes by default, as bool."""
def _np_amax(
    a: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Maximum along axis, all axes by default."""
def _np_amin(
    a: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Minimum along axis, all axes by default."""
def _np_any(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Whether any element along axis is not 0, all axes by default, as bool."""
def _np_atleast_1d(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Each array with axes of size 1 added until it has 1, as in NumPy."""
def _np_atleast_2d(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Each array with axes of size 1 added until it has 2, as in NumPy."""
def _np_atleast_3d(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Each array with axes of size 1 added until it has 3, as in NumPy."""
def _np_copy(
    a: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """A copy of a."""
def _np_cumsum(
    a: Symbol | None = None,
    axis: int | None = None,
    dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Cumulative sums along axis, or of all elements in row-major order."""
def _np_diag(
    data: Symbol | None = None,
    k: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Diagonal k of a matrix; for a vector, the matrix with the vector on diagonal k."""
def _np_diagflat(
    data: Symbol | None = None,
    k: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """A matrix with all elements of data, in row-major order, on diagonal k."""
def _np_diagonal(
    data: Symbol | None = None,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The diagonal at offset of the matrices in axes axis1 and axis2, which becomes the last
    axis."""
def _np_dot(
    a: Symbol | None = None,
    b: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum products over the last axis of a and the second-to-last axis of b, or b's only axis."""
def _np_max(
    a: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Maximum along axis, all axes by default."""
def _np_min(
    a: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Minimum along axis, all axes by default."""
def _np_moveaxis(
    a: Symbol | None = None,
    source: int | Sequence[int] = ...,
    destination: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Move the axes in source to the positions in destination; the others keep their order."""
def _np_moved(
    data: Symbol | None = None,
    name: str = ...,
    position: int = ...,
    shapes: Sequence[object] = ...,
    shape: Sequence[object] = ...,
    given: Sequence[object] = ...,
    indexed: Sequence[object] = ...,
    *,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The result for one input of an operator that moves elements, with zeros for the other
    inputs."""
def _np_moved_back(
    data: Symbol | None = None,
    name: str = ...,
    position: int = ...,
    shapes: Sequence[object] = ...,
    shape: Sequence[object] = ...,
    given: Sequence[object] = ...,
    indexed: Sequence[object] = ...,
    *,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The adjoint of _np_moved: each element is added at its source index."""
def _np_prod(
    a: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Product along axis, all axes by default, in dtype."""
def _np_product(
    a: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Product along axis, all axes by default, in dtype."""
def _np_repeat(
    data: Symbol | None = None,
    repeats: int = ...,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Repeat every element repeats times along axis; without axis, data is flattened first."""
def _np_reshape(
    a: Symbol | None = None,
    newshape: int | Sequence[int] = ...,
    order: str = "C",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The same elements in the same order in another shape; one size may be -1, and is then
    inferred."""
def _np_roll(
    data: Symbol | None = None,
    shift: int | Sequence[int] | None = None,
    axis: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Shift elements by shift positions along axis; elements shifted past the end wrap around."""
def _np_sometrue(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Whether any element along axis is not 0, all axes by default, as bool."""
def _np_squeeze(
    a: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Remove the axes of size 1, or only those in axis."""
def _np_sum(
    a: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum along axis, all axes by default, in dtype."""
def _np_trace(
    data: Symbol | None = None,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum the diagonal at offset over the axes axis1 and axis2."""
def _np_transpose(
    a: Symbol | None = None,
    axes: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Permute the axes; without axes their order is reversed."""
def _npi_Custom(
    *args: Any,
    op_type: Any = None,
    name: Any = None,
    attr: Any = None,
    out: Any = None,
    **kwargs: Any,
) -> Symbol:
    """Call an operator that was registered with `mx.operator.register`."""
def _npi_abs(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise absolute value."""
def _npi_absolute(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise absolute value."""
def _npi_add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs; shapes broadcast and dtypes promote."""
def _npi_add_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Values from start up to stop in steps of step; without stop from 0 up to start."""
def _npi_arccos(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse cosine."""
def _npi_arccosh(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse hyperbolic cosine."""
def _npi_arcsin(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse sine."""
def _npi_arcsinh(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse hyperbolic sine."""
def _npi_arctan(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse tangent."""
def _npi_arctan2(
    x1: Symbol | None = None,
    x2: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise angle, in radians, of the point (x, y) with y = lhs and x = rhs; shapes broadcast
    and dtypes promote."""
def _npi_arctan2_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise angle, in radians, of the point (x, y) with y = data and x = scalar."""
def _npi_arctanh(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse hyperbolic tangent."""
def _npi_argmax(
    data: Symbol | None = None,
    axis: int | None = None,
    keepdims: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the index of the first maximum along axis, or over all elements in row-major order."""
def _npi_argmin(
    data: Symbol | None = None,
    axis: int | None = None,
    keepdims: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the index of the first minimum along axis, or over all elements in row-major order."""
def _npi_argsort(
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
def _npi_around(
    x: Symbol | None = None,
    decimals: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Round to a number of decimals, halves to the even neighbor."""
def _npi_average(
    a: Symbol | None = None,
    weights: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    returned: bool | int = False,
    weighted: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Average along axis, all axes by default, weighted by weights."""
def _npi_bernoulli(
    input1: Symbol | None = None,
    prob: float | None = ...,
    logit: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    is_logit: bool | int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw 1 with probability prob, or with is_logit 1 / (1 + exp(-logit)), else 0."""
def _npi_bincount(
    data: Symbol | None = None,
    weights: Symbol | None = None,
    minlength: int = 0,
    has_weights: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The number of times that each integer from 0 to the largest occurs in data, with at least
    minlength bins."""
def _npi_bitwise_and(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise bitwise and of lhs and rhs; shapes broadcast."""
def _npi_bitwise_and_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise bitwise and of data and a number, in the dtype of data."""
def _npi_bitwise_not(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise complement of all bits; of bool, the other value."""
def _npi_bitwise_or(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise bitwise or of lhs and rhs; shapes broadcast."""
def _npi_bitwise_or_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise bitwise or of data and a number, in the dtype of data."""
def _npi_bitwise_xor(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise bitwise exclusive or of lhs and rhs; shapes broadcast."""
def _npi_bitwise_xor_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise bitwise exclusive or of data and a number, in the dtype of data."""
def _npi_blackman(
    M: int | None = None,
    ctx: str = "",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The Blackman window of M points."""
def _npi_boolean_mask(
    data: Symbol | None = None,
    index: Symbol | None = None,
    axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Select the rows of data where index is not 0, in order; axis must be 0."""
def _npi_boolean_mask_assign_scalar(
    data: Symbol | None = None,
    mask: Symbol | None = None,
    value: float = ...,
    start_axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data with the number value where mask is true; mask covers the axes of data from start_axis
    on."""
def _npi_boolean_mask_assign_tensor(
    data: Symbol | None = None,
    mask: Symbol | None = None,
    value: Symbol | None = None,
    start_axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data with the elements of value where mask is true."""
def _npi_broadcast_to(
    array: Symbol | None = None,
    shape: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Broadcast the axes of size 1 to shape; -2 in shape keeps the size of an axis."""
def _npi_cast(
    data: Symbol | None = None,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Cast data to another dtype."""
def _npi_cbrt(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise cube root."""
def _npi_ceil(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise smallest integer not below data."""
def _npi_choice(
    input1: Symbol | None = None,
    input2: Symbol | None = None,
    a: int | None = ...,
    size: int | Sequence[int] | None = ...,
    ctx: str = "cpu",
    replace: bool | int = True,
    weighted: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw indices below a, or below the number of elements of the first input."""
def _npi_cholesky(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the Cholesky factor of symmetric positive definite A: lower triangular L with A = L
    L^T."""
def _npi_clip(
    data: Symbol | None = None,
    a_min: float = ...,
    a_max: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Clip data to [a_min, a_max]."""
def _npi_column_stack(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Join arrays along axis 1; a vector is one column."""
def _npi_concatenate(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    dim: int | None = None,
    axis: int | None = 0,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Join arrays along an existing axis; if axis is None they are flattened first."""
def _npi_copysign(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise absolute value of lhs with the sign of rhs; shapes broadcast and dtypes
    promote."""
def _npi_copysign_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise absolute value of data with the sign of scalar."""
def _npi_copyto(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Copy data."""
def _npi_cos(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise cosine."""
def _npi_cosh(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise hyperbolic cosine."""
def _npi_cvimdecode(
    buf: Symbol | None = None,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Decode the bytes of an image file."""
def _npi_cvimread(
    filename: str,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Read an image file; flag and to_rgb are as in _cvimdecode."""
def _npi_cvimresize(
    src: Symbol | None = None,
    w: int = ...,
    h: int = ...,
    interp: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Resize an image to width w and height h; interp is as in _image_resize."""
def _npi_degrees(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise conversion of radians to degrees."""
def _npi_delete(
    arr: Symbol | None = None,
    obj: Symbol | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """arr without some positions along axis: int_ind, a slice, or those in obj."""
def _npi_det(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the determinant of every matrix."""
def _npi_diag_indices_from(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Coordinates of the main diagonal of data, a row for each axis, as int64."""
def _npi_diff(
    a: Symbol | None = None,
    n: int = 1,
    axis: int = -1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Differences between neighboring elements along axis, taken n times."""
def _npi_dsplit(
    data: Symbol | None = None,
    indices: int | Sequence[int] = ...,
    axis: int = 1,
    squeeze_axis: bool | int = False,
    sections: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Split data along axis 2."""
def _npi_dstack(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    dim: int = 1,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Stack arrays in depth, along axis 2. dim is ignored."""
def _npi_ediff1d(
    input1: Symbol | None = None,
    input2: Symbol | None = None,
    input3: Symbol | None = None,
    to_begin_arr_given: bool | int = False,
    to_end_arr_given: bool | int = False,
    to_begin_scalar: float | None = None,
    to_end_scalar: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Differences between neighboring elements of the flattened array."""
def _npi_eig(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the eigenvalues of square matrices, and eigenvectors of length 1 as columns."""
def _npi_eigh(
    A: Symbol | None = None,
    UPLO: Literal["L", "U"] | str = "L",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the eigenvalues of symmetric A in ascending order, and its orthonormal eigenvectors
    as columns."""
def _npi_eigvals(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the eigenvalues of square matrices, in the order of LAPACK."""
def _npi_eigvalsh(
    A: Symbol | None = None,
    UPLO: Literal["L", "U"] | str = "L",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the eigenvalues of symmetric A in ascending order."""
def _npi_einsum(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    subscripts: str = "",
    optimize: int = 0,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Evaluate the Einstein summation: the sum of products over axes with equal labels."""
def _npi_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs == rhs, as bool."""
def _npi_equal_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data == scalar, as bool."""
def _npi_exp(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise e to the power of data."""
def _npi_expand_dims(
    data: Symbol | None = None,
    axis: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Insert an axis of size 1 at position axis."""
def _npi_expm1(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise e to the power of data, minus 1."""
def _npi_exponential(
    input1: Symbol | None = None,
    scale: float | None = 1.0,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the exponential distribution."""
def _npi_eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    ctx: str = "",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """A matrix of N rows and M (or N) columns with ones on diagonal k, and zeros elsewhere."""
def _npi_fix(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise truncation toward zero to an integer."""
def _npi_flip(
    data: Symbol | None = None,
    axis: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Reverse the order of elements along the axes in axis."""
def _npi_floor(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise largest integer not above data."""
def _npi_full(
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType = ...,
    value: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """An array filled with one value, which is truncated toward zero for integers."""
def _npi_full_like(
    a: Symbol | None = None,
    fill_value: float = ...,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """An array filled with one value, with the shape of a, and its dtype unless dtype is given."""
def _npi_gamma(
    input1: Symbol | None = None,
    input2: Symbol | None = None,
    shape: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the gamma distribution."""
def _npi_gather_nd(
    data: Symbol | None = None,
    indices: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gather elements of data at points: column j of indices holds the M coordinates of point j."""
def _npi_greater(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs > rhs, as bool."""
def _npi_greater_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs >= rhs, as bool."""
def _npi_greater_equal_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data >= scalar, as bool."""
def _npi_greater_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data > scalar, as bool."""
def _npi_gumbel(
    input1: Symbol | None = None,
    input2: Symbol | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the Gumbel distribution."""
def _npi_hamming(
    M: int | None = None,
    ctx: str = "",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The Hamming window of M points."""
def _npi_hanning(
    M: int | None = None,
    ctx: str = "",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The Hann window of M points."""
def _npi_histogram(
    data: Symbol | None = None,
    bins: Symbol | None = None,
    bin_cnt: int | None = None,
    range: float | Sequence[float] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Count the elements of data in each bin, and return the edges of the bins."""
def _npi_hsplit(
    data: Symbol | None = None,
    indices: int | Sequence[int] = ...,
    axis: int = 1,
    squeeze_axis: bool | int = False,
    sections: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Split data along axis 1, or 0 of a vector."""
def _npi_hstack(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    dim: int = 1,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Stack arrays horizontally: along axis 1, or along axis 0 for vectors. dim is ignored."""
def _npi_hypot(
    x1: Symbol | None = None,
    x2: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square root of the sum of the squares of lhs and rhs; shapes broadcast and dtypes
    promote."""
def _npi_hypot_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square root of the sum of the squares of data and scalar."""
def _npi_identity(
    shape: int | Sequence[int] = (),
    ctx: str = "",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """A square matrix with ones on its diagonal, zeros elsewhere."""
def _npi_indices(
    dimensions: int | Sequence[int],
    dtype: DType = ...,
    ctx: str = "",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Coordinates of the points of a grid: entry i along the first axis holds coordinate i of each
    point."""
def _npi_insert_scalar(
    arr: Symbol | None = None,
    values: Symbol | None = None,
    val: float | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Insert values, or the number val, before position int_ind along axis."""
def _npi_insert_slice(
    arr: Symbol | None = None,
    values: Symbol | None = None,
    val: float | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Insert values, or the number val, before the positions of a slice along axis, one for
    each."""
def _npi_insert_tensor(
    arr: Symbol | None = None,
    values: Symbol | None = None,
    obj: Symbol | None = None,
    val: float | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Insert values, or the number val, before the positions in obj along axis, one for each."""
def _npi_inv(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Invert every matrix."""
def _npi_isfinite(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Whether each element is finite, as bool."""
def _npi_isinf(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Whether each element is infinite, as bool."""
def _npi_isnan(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Whether each element is NaN, as bool."""
def _npi_isneginf(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Whether each element is negative infinity, as bool."""
def _npi_isposinf(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Whether each element is positive infinity, as bool."""
def _npi_lcm(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise least common multiple of lhs and rhs; shapes broadcast."""
def _npi_lcm_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise least common multiple of data and a number, in the dtype of data."""
def _npi_ldexp(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs times 2 to the power of rhs; shapes broadcast and dtypes promote."""
def _npi_ldexp_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data times 2 to the power of scalar."""
def _npi_less(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs < rhs, as bool."""
def _npi_less_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs <= rhs, as bool."""
def _npi_less_equal_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data <= scalar, as bool."""
def _npi_less_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data < scalar, as bool."""
def _npi_linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool | int = True,
    ctx: str = "",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """num evenly spaced values from start to stop, including stop if endpoint."""
def _npi_log(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise natural logarithm."""
def _npi_log10(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise decimal logarithm."""
def _npi_log1p(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise natural logarithm of 1 + data."""
def _npi_log2(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise binary logarithm."""
def _npi_logical_not(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Whether each element is 0, as bool."""
def _npi_logistic(
    input1: Symbol | None = None,
    input2: Symbol | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """num powers of base, with exponents evenly spaced from start to stop, including stop if
    endpoint."""
def _npi_matmul(
    a: Symbol | None = None,
    b: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Multiply matrices in the last two axes; the leading axes broadcast."""
def _npi_maximum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise maximum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def _npi_maximum_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise maximum of data and scalar."""
def _npi_mean(
    a: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Arithmetic mean along axis, all axes by default, in dtype."""
def _npi_minimum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise minimum of lhs and rhs; both arrays have the same dtype, and shapes broadcast."""
def _npi_minimum_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise minimum of data and scalar."""
def _npi_mod(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs modulo rhs, with the sign of the divisor and 0 for a divisor of 0; shapes
    broadcast and dtypes promote."""
def _npi_mod_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data modulo scalar, with the sign of the divisor and 0 for a divisor of 0."""
def _npi_multinomial(
    a: Symbol | None = None,
    n: int = ...,
    pvals: float | Sequence[float] | None = None,
    size: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw how often each class occurs in n trials: an array of counts for each element of size."""
def _npi_multiply(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs * rhs; shapes broadcast and dtypes promote."""
def _npi_multiply_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data * scalar."""
def _npi_nan_to_num(
    data: Symbol | None = None,
    copy: bool | int = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Replace NaN and infinities by nan, posinf and neginf."""
def _npi_negative(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise -data."""
def _npi_nonzero(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Coordinates of the elements that are not 0, a row for each, as int64."""
def _npi_norm(
    data: Symbol | None = None,
    ord: float = 2.0,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    flag: int = -1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the norm of vectors along one axis, or of matrices along two axes (rows, then
    columns)."""
def _npi_normal(
    input1: Symbol | None = None,
    input2: Symbol | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the normal distribution."""
def _npi_normal_n(
    input1: Symbol | None = None,
    input2: Symbol | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the normal distribution, an array of shape size for each parameter."""
def _npi_not_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs != rhs, as bool."""
def _npi_not_equal_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data != scalar, as bool."""
def _npi_ones(
    shape: int | Sequence[int] = (),
    ctx: str = "",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """An array of 1s; shape () gives a scalar."""
def _npi_pad(
    data: Symbol | None = None,
    pad_width: Sequence[Sequence[int]] = ...,
    mode: Literal["constant", "edge", "maximum", "minimum", "reflect", "symmetric"] | str = "constant",
    constant_value: float = 0.0,
    reflect_type: str = "even",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data padded along each axis, with the number of elements before and after in pad_width."""
def _npi_pareto(
    input1: Symbol | None = None,
    a: float | None = None,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the Pareto II (Lomax) distribution, which starts at 0."""
def _npi_percentile(
    a: Symbol | None = None,
    q: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    interpolation: Literal["higher", "linear", "lower", "midpoint", "nearest"] | str = "linear",
    keepdims: bool | int = False,
    q_scalar: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Percentiles along axis, all axes by default: for each value in q, along a new first axis, or
    for the number q_scalar, in [0, 100]."""
def _npi_pinv(
    A: Symbol | None = None,
    rcond: Symbol | None = None,
    hermitian: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the pseudo-inverse of every matrix."""
def _npi_pinv_scalar_rcond(
    A: Symbol | None = None,
    rcond: float = 1e-15,
    hermitian: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the pseudo-inverse of every matrix."""
def _npi_polyval(
    p: Symbol | None = None,
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Evaluate the polynomial with coefficients p, highest power first, at x."""
def _npi_power(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs to the power of rhs; shapes broadcast and dtypes promote."""
def _npi_power_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data to the power of scalar."""
def _npi_powerd(
    input1: Symbol | None = None,
    a: float | None = None,
    size: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the power distribution on (0, 1), with density a x^(a - 1)."""
def _npi_radians(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise conversion of degrees to radians."""
def _npi_random_randint(
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
def _npi_rarctan2_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise angle, in radians, of the point (x, y) with y = scalar and x = data."""
def _npi_rayleigh(
    input1: Symbol | None = None,
    scale: float | None = 1.0,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the Rayleigh distribution."""
def _npi_rcopysign_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise absolute value of scalar with the sign of data."""
def _npi_reciprocal(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise 1 / data."""
def _npi_repeats(
    data: Symbol | None = None,
    repeats: int | Sequence[int] = ...,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Repeat each position along axis repeats times, with one number for all or one for each;
    without axis, data is flattened first."""
def _npi_reshape(
    a: Symbol | None = None,
    newshape: int | Sequence[int] = ...,
    reverse: bool | int = False,
    order: str = "C",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The same elements in the same order in another shape."""
def _npi_rint(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise nearest integer, halves downward."""
def _npi_rldexp_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise scalar times 2 to the power of data."""
def _npi_rmod_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise scalar modulo data, with the sign of the divisor and 0 for a divisor of 0."""
def _npi_rnn_param_concat(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    dim: int = 1,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Join vectors; dim must be 0."""
def _npi_rot90(
    data: Symbol | None = None,
    k: int = 1,
    axes: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Rotate by k quarter turns in the plane of two axes, from the first toward the second."""
def _npi_rpower_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise scalar to the power of data."""
def _npi_rsubtract_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise scalar - data."""
def _npi_rtrue_divide_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise scalar / data."""
def _npi_scatter_set_nd(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    indices: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Set the points of lhs at indices to rhs; the last of equal points wins."""
def _npi_share_memory(
    a: Symbol | None = None,
    b: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Whether two arrays share memory."""
def _npi_shuffle(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Shuffle the slices along axis 0."""
def _npi_sign(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise sign: -1, 0 or 1."""
def _npi_sin(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise sine."""
def _npi_sinh(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise hyperbolic sine."""
def _npi_slice(
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
def _npi_slice_assign(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Replace a region of lhs by rhs."""
def _npi_slice_assign_scalar(
    data: Symbol | None = None,
    scalar: float = 0.0,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Set a region of data to a number."""
def _npi_slogdet(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the sign of the determinant of every matrix, and the logarithm of its absolute
    value."""
def _npi_solve(
    A: Symbol | None = None,
    B: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Solve A X = B for X, with square matrices A."""
def _npi_sort(
    data: Symbol | None = None,
    axis: int | None = -1,
    is_ascend: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sort the elements along axis; without axis, data is flattened first."""
def _npi_split(
    data: Symbol | None = None,
    indices: int | Sequence[int] = ...,
    axis: int = 1,
    squeeze_axis: bool | int = False,
    sections: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Split data along axis into sections pieces, or at the positions in indices."""
def _npi_sqrt(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square root."""
def _npi_square(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square."""
def _npi_stack(
    *data: Symbol | Sequence[Symbol],
    axis: int = 0,
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Join arrays of one shape along a new axis."""
def _npi_std(
    a: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    ddof: int = 0,
    keepdims: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Standard deviation along axis, all axes by default, over count - ddof elements."""
def _npi_subtract(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs - rhs; shapes broadcast and dtypes promote."""
def _npi_subtract_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data - scalar."""
def _npi_svd(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the singular value decomposition: U, s and V with A = U diag(s) V, singular values in
    descending order."""
def _npi_swapaxes(
    data: Symbol | None = None,
    dim1: int = 0,
    dim2: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Swap two axes."""
def _npi_take(
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
def _npi_tan(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise tangent."""
def _npi_tanh(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise hyperbolic tangent."""
def _npi_tensordot(
    a: Symbol | None = None,
    b: Symbol | None = None,
    a_axes_summed: int | Sequence[int] = ...,
    b_axes_summed: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum products over pairs of axes of a and b."""
def _npi_tensordot_int_axes(
    a: Symbol | None = None,
    b: Symbol | None = None,
    axes: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum products over the last axes of a and the first axes of b; axes is their number."""
def _npi_tensorinv(
    a: Symbol | None = None,
    ind: int = 2,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Invert a as a matrix whose rows are the first ind axes."""
def _npi_tensorsolve(
    a: Symbol | None = None,
    b: Symbol | None = None,
    a_axes: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Solve tensordot(a, x, x.ndim) = b for x; the last axes of a are the axes of x."""
def _npi_tile(
    data: Symbol | None = None,
    reps: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Repeat the array reps[i] times along axis i; the shorter of the shape and reps is prepended
    with 1s."""
def _npi_tril(
    data: Symbol | None = None,
    k: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Lower triangle of matrices: zeros above diagonal k."""
def _npi_true_divide(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs / rhs, as float32 for integers; shapes broadcast and dtypes promote."""
def _npi_true_divide_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data / scalar."""
def _npi_trunc(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise truncation toward zero to an integer."""
def _npi_uniform(
    input1: Symbol | None = None,
    input2: Symbol | None = None,
    low: float | None = ...,
    high: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the uniform distribution on [low, high)."""
def _npi_uniform_n(
    input1: Symbol | None = None,
    input2: Symbol | None = None,
    low: float | None = ...,
    high: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the uniform distribution on [low, high), an array of shape size for each
    parameter."""
def _npi_unique(
    data: Symbol | None = None,
    return_index: bool | int = False,
    return_inverse: bool | int = False,
    return_counts: bool | int = False,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The unique elements of data, ascending; with axis, its unique slices."""
def _npi_var(
    a: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    ddof: int = 0,
    keepdims: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Variance along axis, all axes by default, over count - ddof elements."""
def _npi_vstack(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Stack arrays vertically, along axis 0; a vector is one row."""
def _npi_weibull(
    input1: Symbol | None = None,
    a: float | None = None,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the Weibull distribution."""
def _npi_where(
    condition: Symbol | None = None,
    x: Symbol | None = None,
    y: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """x where condition is not 0, else y; shapes broadcast, and x and y have the same dtype."""
def _npi_where_lscalar(
    condition: Symbol | None = None,
    x: Symbol | None = None,
    scalar: float = 0.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """scalar where condition is not 0, else x, in the dtype of x."""
def _npi_where_rscalar(
    condition: Symbol | None = None,
    y: Symbol | None = None,
    scalar: float = 0.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """y where condition is not 0, else scalar, in the dtype of y."""
def _npi_where_scalar2(
    condition: Symbol | None = None,
    x: float = 0.0,
    y: float = 0.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The number x where condition is not 0, else the number y, as float32."""
def _npi_zeros(
    shape: int | Sequence[int] = (),
    ctx: str = "",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """An array of 0s; shape () gives a scalar."""
def _npx__image_adjust_lighting(
    data: Symbol | None = None,
    alpha: float | Sequence[float] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Add light to an image: alpha of each principal color component of ImageNet (PCA lighting)."""
def _npx__image_crop(
    data: Symbol | None = None,
    x: int = ...,
    y: int = ...,
    width: int = ...,
    height: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Crop an image, or each image of a batch, to width and height, with the upper left corner at
    column x and row y."""
def _npx__image_flip_left_right(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flip an image left to right."""
def _npx__image_flip_top_bottom(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flip an image top to bottom."""
def _npx__image_normalize(
    data: Symbol | None = None,
    mean: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    std: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute (data - mean) / std of an image, or of a batch of images."""
def _npx__image_random_brightness(
    data: Symbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the brightness of an image: multiply it by a random factor from min_factor to
    max_factor."""
def _npx__image_random_color_jitter(
    data: Symbol | None = None,
    brightness: float = ...,
    contrast: float = ...,
    saturation: float = ...,
    hue: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the brightness, contrast, saturation and hue of an image by at most these amounts, in
    random order."""
def _npx__image_random_contrast(
    data: Symbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the contrast of an image: multiply its difference from its mean gray by a random
    factor from min_factor to max_factor."""
def _npx__image_random_flip_left_right(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flip an image left to right with probability 1/2."""
def _npx__image_random_flip_top_bottom(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flip an image top to bottom with probability 1/2."""
def _npx__image_random_hue(
    data: Symbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the hue of an image: add to it, as a fraction of the color circle, a random number
    from min_factor to max_factor."""
def _npx__image_random_lighting(
    data: Symbol | None = None,
    alpha_std: float = 0.05,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Add random light to an image, along the principal color components of ImageNet (PCA
    lighting)."""
def _npx__image_random_saturation(
    data: Symbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the saturation of an image: multiply its difference from gray by a random factor from
    min_factor to max_factor."""
def _npx__image_resize(
    data: Symbol | None = None,
    size: int | Sequence[int] = (),
    keep_ratio: bool | int = False,
    interp: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Resize an image, or each image of a batch."""
def _npx__image_to_tensor(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert an image (height, width, channels) with values 0 to 255 to float32 (channels, height,
    width) with values 0 to 1."""
def _npx_activation(
    data: Symbol | None = None,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] | str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise activation function: relu, sigmoid, softrelu log(1 + e^data), softsign data / (1
    + |data|), or tanh."""
def _npx_add_rms_norm(
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
def _npx_arange_like(
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
def _npx_batch_dot(
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
def _npx_batch_flatten(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flatten all axes after the first: (N, ...) becomes (N, features)."""
def _npx_batch_norm(
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
def _npx_cast(
    data: Symbol | None = None,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Cast data to another dtype."""
def _npx_constraint_check(
    input: Symbol | None = None,
    msg: str = "Constraint violated.",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """True if all elements are true; otherwise an error with the text msg when the result is waited
    for."""
def _npx_convolution(
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
def _npx_cross_entropy(
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
def _npx_deconvolution(
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
def _npx_digamma(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise derivative of log gamma."""
def _npx_dropout(
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
def _npx_embedding(
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
def _npx_erf(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise error function."""
def _npx_erfinv(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse of the error function."""
def _npx_fully_connected(
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
def _npx_gamma(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise gamma function."""
def _npx_gammaln(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise logarithm of the gamma function's absolute value."""
def _npx_gather_nd(
    data: Symbol | None = None,
    indices: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gather elements of data at points: column j of indices holds the M coordinates of point j."""
def _npx_geglu(
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
def _npx_layer_norm(
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
def _npx_leaky_relu(
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
def _npx_linear_cross_entropy(
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
def _npx_log_softmax(
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
def _npx_multibox_detection(
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
def _npx_multibox_prior(
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
def _npx_multibox_target(
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
def _npx_nonzero(
    x: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Coordinates of the elements that are not 0, a row for each, as int64."""
def _npx_one_hot(
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
def _npx_pick(
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
def _npx_pooling(
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
def _npx_relu(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise maximum of data and 0."""
def _npx_reshape(
    a: Symbol | None = None,
    newshape: int | Sequence[int] = ...,
    reverse: bool | int = False,
    order: str = "C",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The same elements in the same order in another shape."""
def _npx_reshape_like(
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
def _npx_rms_norm(
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
def _npx_rnn(
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
def _npx_roi_pooling(
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
def _npx_rotary_embedding(
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
def _npx_scaled_dot_product_attention(
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
def _npx_sequence_mask(
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
def _npx_shape_array(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return the shape of data, as int64."""
def _npx_sigmoid(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise 1 / (1 + exp(-data))."""
def _npx_sldwin_atten_context(
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
def _npx_sldwin_atten_mask_like(
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
def _npx_sldwin_atten_score(
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
def _npx_slice(
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
def _npx_smooth_l1(
    data: Symbol | None = None,
    scalar: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the smooth L1 loss elementwise: (scalar * data)^2 / 2 where abs(data) < 1 / scalar^2,
    else abs(data) - 0.5 / scalar^2."""
def _npx_softmax(
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
def _npx_swiglu(
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
def _npx_topk(
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
def _npx_weight_only_dense(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    scale: Symbol | None = None,
    bias: Symbol | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    group_size: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Dense layer with a weight of 8-bit integers: data times the transpose of weight * scale, plus
    bias."""
def _onehot_encode(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return rows of zeros with a 1 at index lhs[i], in the shape and dtype of rhs."""
def _ones(
    shape: int | Sequence[int] = (),
    ctx: str = "",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """An array of 1s."""
def _others_times(
    g: Symbol | None = None,
    x: Symbol | None = None,
    y: Symbol | None = None,
    axis: int | Sequence[int] = ...,
    skips_nan: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the gradient of a product y over axis: g times the product of the other elements of
    x; with skips_nan NaN counts as 1 in x, and its gradient is 0."""
def _over_root(
    x: Symbol | None = None,
    root: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute x / root, and 0 where root is 0; all arrays have the same dtype, and shapes
    broadcast."""
def _over_square(
    x: Symbol | None = None,
    a: Symbol | None = None,
    b: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute x / (a a + b b), and 0 where a and b are 0; all arrays have the same dtype, and
    shapes broadcast."""
def _plus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def _plus_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data + scalar, in the dtype of data (int64 for bool)."""
def _pooling_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    out: Symbol | None = None,
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
) -> Symbol:
    """Gradient of Pooling's data, from its output's gradient; all pool types but 'lp'."""
def _pooling_select(
    values: Symbol | None = None,
    data: Symbol | None = None,
    out: Symbol | None = None,
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
) -> Symbol:
    """The elements of values at the position of the maximum of data in each window."""
def _power(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs to the power of rhs; both arrays have the same dtype, and shapes
    broadcast."""
def _power_backward_lhs(
    g: Symbol | None = None,
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    power: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the gradient of a power's base, g rhs power with power lhs^(rhs - 1), and 0 at 0^0;
    all arrays have the same dtype, and shapes broadcast."""
def _power_backward_rhs(
    g: Symbol | None = None,
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    y: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the gradient of a power's exponent, g y log(lhs), and 0 where lhs is 0 and rhs >= 0;
    all arrays have the same dtype, and shapes broadcast."""
def _power_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise data to the power of scalar, in the dtype of data (int64 for bool)."""
def _psroi_pooling_backward(
    grad: Symbol | None = None,
    rois: Symbol | None = None,
    spatial_scale: float = ...,
    output_dim: int = ...,
    pooled_size: int = ...,
    group_size: int = 0,
    data_shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the gradient of the images of pooled regions."""
def _random_exponential(
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
def _random_exponential_like(
    data: Symbol | None = None,
    lam: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the exponential distribution with rate lam, in the dtype of data."""
def _random_gamma(
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
def _random_gamma_like(
    data: Symbol | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the gamma distribution with shape alpha and scale beta, in the dtype of data."""
def _random_generalized_negative_binomial(
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
def _random_generalized_negative_binomial_like(
    data: Symbol | None = None,
    mu: float = 1.0,
    alpha: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw integers from the negative binomial distribution with mean mu and dispersion alpha, in
    the dtype of data."""
def _random_negative_binomial(
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
def _random_negative_binomial_like(
    data: Symbol | None = None,
    k: int = 1,
    p: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw numbers of failures before the k-th success, where each trial has probability p, in the
    dtype of data."""
def _random_normal(
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
def _random_normal_like(
    data: Symbol | None = None,
    loc: float = 0.0,
    scale: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the normal distribution with mean loc and standard deviation scale, in the dtype of
    data."""
def _random_pdf_dirichlet(
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
def _random_pdf_exponential(
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
def _random_pdf_gamma(
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
def _random_pdf_generalized_negative_binomial(
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
def _random_pdf_negative_binomial(
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
def _random_pdf_normal(
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
def _random_pdf_poisson(
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
def _random_pdf_uniform(
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
def _random_poisson(
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
def _random_poisson_like(
    data: Symbol | None = None,
    lam: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw integers from the Poisson distribution with mean lam, in the dtype of data."""
def _random_randint(
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
def _random_uniform(
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
def _random_uniform_like(
    data: Symbol | None = None,
    low: float = 0.0,
    high: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from the uniform distribution on [low, high), in the dtype of data."""
def _ravel_multi_index(
    data: Symbol | None = None,
    shape: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert coordinates to flat indices of an array of shape, in row-major order."""
def _rdiv_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise scalar / data, toward zero for integers, in the dtype of data (int64 for
    bool)."""
def _regression_output_backward(
    out: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    kind: Literal["difference", "sign"] | str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
) -> Symbol:
    """The gradient of a regression output's data."""
def _relu_slope(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise slope of relu: NaN at NaN, 1 above 0, else 0."""
def _reserved_rnn(
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
    reserve: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """RNN with a reserve in the private format of a device's kernel."""
def _reserved_rnn_backward(
    grad_output: Symbol | None = None,
    grad_state: Symbol | None = None,
    grad_state_cell: Symbol | None = None,
    data: Symbol | None = None,
    parameters: Symbol | None = None,
    state: Symbol | None = None,
    state_cell: Symbol | None = None,
    sequence_length: Symbol | None = None,
    output: Symbol | None = None,
    reserve: Symbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of _reserved_rnn's data, parameters and states; see _rnn_backward."""
def _reshape_exact(
    data: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Reshape data to exactly this shape, where 0 means a size of 0."""
def _rminus_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise scalar - data, in the dtype of data (int64 for bool)."""
def _rmod_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise scalar modulo data, with the sign of the divisor and 0 for a divisor of 0, in the
    dtype of data (int64 for bool)."""
def _rms_norm_backward(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    inverse: Symbol | None = None,
    added: Symbol | None = None,
    axis: int = -1,
    eps: float = 1e-06,
    offset: bool | int = False,
    plus: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of rms_norm's data and gamma; with plus an array is added to the first, which is
    that of add_rms_norm's terms."""
def _rnn_backward(
    grad_output: Symbol | None = None,
    grad_state: Symbol | None = None,
    grad_state_cell: Symbol | None = None,
    data: Symbol | None = None,
    parameters: Symbol | None = None,
    state: Symbol | None = None,
    state_cell: Symbol | None = None,
    sequence_length: Symbol | None = None,
    reserve: Symbol | None = None,
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
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradients of RNN's data, parameters and states."""
def _rnn_param_concat(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    dim: int = 1,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Join vectors; dim must be 0."""
def _rnn_param_pack(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Join the elements of arrays in one vector, as RNN reads its parameters."""
def _rnn_param_unpack(
    vector: Symbol | None = None,
    data: Symbol | None = None,
    num_args: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Split a vector that _rnn_param_pack made; the arrays give the shapes only."""
def _roi_align_backward(
    grad: Symbol | None = None,
    rois: Symbol | None = None,
    pooled_size: int | Sequence[int] = ...,
    spatial_scale: float = ...,
    sample_ratio: int = -1,
    position_sensitive: bool | int = False,
    aligned: bool | int = False,
    data_shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the gradient of the images of pooled regions."""
def _rpower_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise scalar to the power of data, in the dtype of data (int64 for bool)."""
def _run_sums(
    data: Symbol | None = None,
    lengths: int | Sequence[int] = ...,
    axis: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sums of successive runs of given lengths along axis: the gradient of repeats."""
def _sample_exponential(
    lam: Symbol | None = None,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw from exponential distributions with rate lam."""
def _sample_gamma(
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
def _sample_generalized_negative_binomial(
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
def _sample_multinomial(
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
def _sample_negative_binomial(
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
def _sample_normal(
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
def _sample_poisson(
    lam: Symbol | None = None,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw integers from Poisson distributions with mean lam."""
def _sample_uniform(
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
def _sample_unique_zipfian(
    range_max: int,
    shape: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Draw rows of integers below range_max, without repeats in a row."""
def _sample_weight(
    sample_weight: Symbol | None = None,
    loss: Symbol | None = None,
    batch_axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sample weights of a loss, reshaped to broadcast to it."""
def _scaled_dot_product_attention_backward(
    grad: Symbol | None = None,
    query: Symbol | None = None,
    key: Symbol | None = None,
    value: Symbol | None = None,
    out: Symbol | None = None,
    log_sum: Symbol | None = None,
    drawn: Symbol | None = None,
    mask: Symbol | None = None,
    valid_length: Symbol | None = None,
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
    attr: Mapping[str, str] | None = None,
) -> Symbol:
    """Gradients of scaled_dot_product_attention's query, key and value."""
def _scan(
    data: Symbol | None = None,
    num_data: int = ...,
    num_states: int = ...,
    num_outs: int = ...,
    reverse: bool | int = ...,
    counted: bool | int = ...,
    training: bool | int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Run a body for each slice of arrays, for the gradient of a loop."""
def _scatter_elemwise_div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute lhs / rhs elementwise; in a sparse array only stored elements change."""
def _scatter_minus_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute data - scalar elementwise; in a sparse array only stored elements change."""
def _scatter_plus_scalar(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute data + scalar elementwise; in a sparse array only stored elements change."""
def _scatter_points(
    data: Symbol | None = None,
    index: Symbol | None = None,
    size: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Add data (N, C, P) to zeros (N, C, size) at index (N, P); negative indices are skipped."""
def _scatter_set_nd(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    indices: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Set the points of lhs at indices to rhs; the last of equal points wins."""
def _sequence_put_last(
    data: Symbol | None = None,
    sequence_length: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    use_sequence_length: bool | int = False,
    axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Zeros of a shape, with data at the last step of every sequence."""
def _sg_mkldnn_conv(
    data: Symbol | None = None,
    quantized: bool | int = False,
    enable_float_output: bool | int = False,
    with_sum: bool | int = False,
    with_bn: bool | int = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    with_act: bool | int = False,
    with_postsum_act: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply a Convolution fused with a BatchNorm, an activation and a sum, as a subgraph."""
def _sg_mkldnn_fully_connected(
    data: Symbol | None = None,
    quantized: bool | int = False,
    enable_float_output: bool | int = False,
    with_sum: bool | int = False,
    with_bn: bool | int = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    with_eltwise: bool | int = False,
    channel_wise_quantize: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Apply a FullyConnected fused with an activation, as a subgraph."""
def _shuffle(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Shuffle the slices along axis 0."""
def _singular_cofactors(
    A: Symbol | None = None,
    det: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the cofactors of singular matrices (det 0); zeros for regular ones."""
def _singular_cofactors_backward(
    g: Symbol | None = None,
    A: Symbol | None = None,
    det: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the gradient of the cofactors of singular matrices."""
def _sldwin_spread(
    score: Symbol | None = None,
    query: Symbol | None = None,
    dilation: Symbol | None = None,
    w: int = ...,
    symmetric: bool | int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Contribution of each position to the keys in its window: sums of score * query."""
def _slice_assign(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Replace a region of lhs by rhs."""
def _slice_assign_scalar(
    data: Symbol | None = None,
    scalar: float = 0.0,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Set a region of data to a number."""
def _slice_put(
    data: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Write data to a region of zeros."""
def _softmax_backward(
    grad: Symbol | None = None,
    out: Symbol | None = None,
    axis: int = -1,
    factor: float = 1.0,
    log: bool | int = False,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
) -> Symbol:
    """Gradient of the data of softmax, or with log of log_softmax, from the output and its
    gradient; factor is the factor of the data, dtype its dtype."""
def _softmax_output_backward(
    out: Symbol | None = None,
    label: Symbol | None = None,
    head: Symbol | None = None,
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
) -> Symbol:
    """The gradient of SoftmaxOutput's data."""
def _softplus(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise log(1 + exp(data))."""
def _sparse_ElementWiseSum(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum arrays of the same shape and dtype."""
def _sparse_Embedding(
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
def _sparse_FullyConnected(
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
def _sparse_LinearRegressionOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data itself, with gradient data - label."""
def _sparse_LogisticRegressionOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """sigmoid of data, with gradient sigmoid - label."""
def _sparse_MAERegressionOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data itself, with gradient 1 where data > label, else -1."""
def _sparse__contrib_round_ste(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Round data to the nearest integer; the gradient passes through unchanged."""
def _sparse__contrib_sign_ste(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the sign of data (-1, 0 or 1); the gradient passes through unchanged."""
def _sparse_abs(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise absolute value."""
def _sparse_adagrad_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    history: Symbol | None = None,
    lr: float = ...,
    epsilon: float = 1e-07,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of AdaGrad: return the new weight, and update history in place."""
def _sparse_adam_update(
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
def _sparse_add_n(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum arrays of the same shape and dtype."""
def _sparse_arccos(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse cosine."""
def _sparse_arccosh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse hyperbolic cosine."""
def _sparse_arcsin(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse sine."""
def _sparse_arcsinh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse hyperbolic sine."""
def _sparse_arctan(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse tangent."""
def _sparse_arctanh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse hyperbolic tangent."""
def _sparse_broadcast_add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_broadcast_div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def _sparse_broadcast_minus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_broadcast_mul(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_broadcast_plus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_broadcast_sub(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_cast_storage(
    data: Symbol | None = None,
    stype: Literal["csr", "default", "row_sparse"] | str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert data to the storage type stype: default (dense), row_sparse or csr."""
def _sparse_cbrt(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise cube root."""
def _sparse_ceil(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise smallest integer not below data."""
def _sparse_clip(
    data: Symbol | None = None,
    a_min: float = ...,
    a_max: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Clip data to [a_min, a_max]."""
def _sparse_concat(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    dim: int = 1,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Join arrays along axis dim; their other sizes are equal."""
def _sparse_cos(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise cosine."""
def _sparse_cosh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise hyperbolic cosine."""
def _sparse_csr_dot(
    values: Symbol | None = None,
    columns: Symbol | None = None,
    pointers: Symbol | None = None,
    rhs: Symbol | None = None,
    transpose: bool | int = False,
    rows: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Multiply a CSR matrix, or its transpose, by a dense array."""
def _sparse_csr_sums(
    values: Symbol | None = None,
    columns: Symbol | None = None,
    pointers: Symbol | None = None,
    axis: int = ...,
    count: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum a CSR matrix over an axis: (columns,) over axis 0, (rows,) over axis 1; count is the size
    of the output."""
def _sparse_csr_to_dense(
    values: Symbol | None = None,
    columns: Symbol | None = None,
    pointers: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert a CSR matrix to a dense matrix of shape (rows, columns)."""
def _sparse_degrees(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise conversion of radians to degrees."""
def _sparse_dot(
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
def _sparse_elemwise_add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_elemwise_div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def _sparse_elemwise_mul(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_elemwise_sub(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def _sparse_exp(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise e to the power of data."""
def _sparse_expm1(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise e to the power of data, minus 1."""
def _sparse_fix(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise truncation toward zero to an integer."""
def _sparse_floor(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise largest integer not above data."""
def _sparse_ftrl_update(
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
def _sparse_gamma(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise gamma function."""
def _sparse_gammaln(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise logarithm of the gamma function's absolute value."""
def _sparse_log(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise natural logarithm."""
def _sparse_log10(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise decimal logarithm."""
def _sparse_log1p(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise natural logarithm of 1 + data."""
def _sparse_log2(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise binary logarithm."""
def _sparse_make_loss(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return data as a loss: its gradient is 1, and the gradient of the output is ignored."""
def _sparse_mean(
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
def _sparse_negative(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise -data."""
def _sparse_norm(
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
def _sparse_radians(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise conversion of degrees to radians."""
def _sparse_relu(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise maximum of data and 0."""
def _sparse_retain(
    data: Symbol | None = None,
    indices: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Retain the rows of data listed in indices; all other rows are zero."""
def _sparse_rint(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise nearest integer, halves downward."""
def _sparse_round(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise nearest integer, halves away from zero."""
def _sparse_rows_to_dense(
    values: Symbol | None = None,
    rows: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Write rows to zeros of a shape."""
def _sparse_rsqrt(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise 1 / square root."""
def _sparse_sgd_mom_update(
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
def _sparse_sgd_update(
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
def _sparse_sigmoid(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise 1 / (1 + exp(-data))."""
def _sparse_sign(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise sign: -1, 0 or 1."""
def _sparse_sin(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise sine."""
def _sparse_sinh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise hyperbolic sine."""
def _sparse_slice(
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
def _sparse_sqrt(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square root."""
def _sparse_square(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square."""
def _sparse_stop_gradient(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return data, and stop the gradient."""
def _sparse_sum(
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
def _sparse_tan(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise tangent."""
def _sparse_tanh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise hyperbolic tangent."""
def _sparse_trunc(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise truncation toward zero to an integer."""
def _sparse_where(
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
def _sparse_zeros_like(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return an array of 0s with the shape and dtype of data."""
def _split_v2(
    data: Symbol | None = None,
    indices: int | Sequence[int] = ...,
    axis: int = 1,
    squeeze_axis: bool | int = False,
    sections: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Split data along axis into sections pieces, or at the positions in indices."""
def _square_sum(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum the squares of data over axes; the arguments are as in sum."""
def _sub(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def _sum_to_shape(
    data: Symbol | None = None,
    shape: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum over the axes along which shape broadcasts to the shape of data."""
def _sum_under_mask(
    data: Symbol | None = None,
    mask: Symbol | None = None,
    start_axis: int = 0,
    shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The elements of data where mask is true, summed to the shape that they were broadcast
    from."""
def _svm_output_backward(
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
    """The gradient of SVMOutput's data."""
def _take_add(
    data: Symbol | None = None,
    indices: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    axis: int = ...,
    mode: Literal["clip", "raise", "wrap"] | str = "clip",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Add slices to zeros of a shape along axis: the adjoint of take."""
def _take_along(
    data: Symbol | None = None,
    index: Symbol | None = None,
    axis: int = ...,
    mode: Literal["clip", "wrap"] | str = "clip",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gather elements of data along axis at the positions in index, for each row."""
def _times_over_root(
    g: Symbol | None = None,
    x: Symbol | None = None,
    root: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute g x / root, and 0 where root is 0; all arrays have the same dtype, and shapes
    broadcast."""
def _triangle(
    data: Symbol | None = None,
    lower: bool | int = True,
    offset: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Set the elements above (lower) or below the diagonal at offset to zero."""
def _trigamma(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise second derivative of log gamma."""
def _unpad(
    data: Symbol | None = None,
    shape: int | Sequence[int] = ...,
    mode: Literal["constant", "edge", "reflect"] | str = ...,
    pad_width: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Crop the padding of an array, and add it to the elements that Pad copied it from."""
def _unravel_index(
    data: Symbol | None = None,
    shape: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert flat indices of an array of shape, in row-major order, to coordinates."""
def _upsampling_backward(
    grad: Symbol | None = None,
    scale: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sums over blocks of scale x scale pixels: the gradient of nearest upsampling."""
def _weight_only_dense_backward_data(
    grad: Symbol | None = None,
    weight: Symbol | None = None,
    scale: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradient of weight_only_dense's data: grad times weight * scale."""
def _weight_only_dense_backward_scale(
    grad: Symbol | None = None,
    data: Symbol | None = None,
    weight: Symbol | None = None,
    scale: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Gradient of weight_only_dense's scale: sums of (grad^T data) * weight over the elements that
    share a scale."""
def _while_loop(
    data: Symbol | None = None,
    num_args: int = ...,
    num_outputs: int = ...,
    num_out_data: int = ...,
    max_iterations: int = ...,
    cond_input_locs: int | Sequence[int] = ...,
    func_input_locs: int | Sequence[int] = ...,
    func_var_locs: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Run a function repeatedly on its results while a condition holds."""
def _wide_dot(
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
    """Compute dot in the accumulator's dtype: 16-bit floats give float32."""
def _zeros(
    shape: int | Sequence[int] = (),
    ctx: str = "",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """An array of 0s."""
def _zeros_like_many(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    dtype: DType,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Zeros of dtype in the shapes of several arrays."""
def _zeros_without_dtype(
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: int = -1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return an array of zeros; dtype is the dtype's number in files, -1 for float32."""
