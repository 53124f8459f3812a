"""oneDNN's convolutions, dense layers and matrix products."""

from typing import Any

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.numpy.dense import SMALL_PRODUCT
from gluonish.kernels.onednn.binding import is_supported
from gluonish.kernels.onednn.convolution import (
    convolution,
    convolution_backward_data,
    convolution_backward_weight,
)
from gluonish.kernels.onednn.inner_product import fully_connected
from gluonish.kernels.onednn.matmul import batch_dot, dot
from gluonish.kernels.onednn.register import enabled, planned
from gluonish.ops.fused.operator import FUSED_CONVOLUTION, FUSED_DENSE
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.linalg.matmul import BATCH_DOT, DOT, WIDE_DOT
from gluonish.ops.nn.convolution import (
    CONVOLUTION,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHT,
    CONVOLUTION_BACKWARD_WEIGHT_BIAS,
)
from gluonish.ops.nn.dense import FULLY_CONNECTED, has_vector_bias


def _supports_convolution(*specs: Spec, **attrs: Any) -> bool:
    return is_supported(*specs)


def _supports_dense(*specs: Spec, **attrs: Any) -> bool:
    data, weight = specs[:2]
    rows = data.size // max(1, weight.shape[1])
    bias = () if attrs["no_bias"] else specs[2:3]
    if not has_vector_bias(data, weight, *bias):
        return False
    return is_supported(*specs) and rows * weight.size > SMALL_PRODUCT


def _supports_dot(
    lhs: Spec, rhs: Spec, *, transpose_a: bool, transpose_b: bool, **attrs: Any
) -> bool:
    if not is_supported(lhs, rhs) or len(lhs.shape) < 2 or len(rhs.shape) < 2:
        return False
    inner = rhs.shape[-1 if transpose_b else 0]
    return lhs.size * rhs.size // inner > SMALL_PRODUCT


def _supports_batch_dot(
    lhs: Spec, rhs: Spec, *, transpose_a: bool, transpose_b: bool, **attrs: Any
) -> bool:
    if not is_supported(lhs, rhs):
        return False
    return lhs.size * rhs.shape[-2 if transpose_b else -1] > SMALL_PRODUCT


# Operator, name of the kernel, predicate, and plan.
KERNELS = (
    *planned(
        (CONVOLUTION, "convolution", _supports_convolution, convolution),
        (FUSED_CONVOLUTION, "fused_convolution", _supports_convolution, convolution),
        (
            CONVOLUTION_BACKWARD_DATA,
            "convolution_backward_data",
            _supports_convolution,
            convolution_backward_data,
        ),
        (
            CONVOLUTION_BACKWARD_WEIGHT,
            "convolution_backward_weight",
            _supports_convolution,
            convolution_backward_weight,
        ),
        (
            CONVOLUTION_BACKWARD_WEIGHT_BIAS,
            "convolution_backward_weight_bias",
            _supports_convolution,
            convolution_backward_weight,
        ),
        (FULLY_CONNECTED, "fully_connected", _supports_dense, fully_connected),
        (FUSED_DENSE, "fused_dense", _supports_dense, fully_connected),
        (DOT, "matmul", _supports_dot, dot),
        (WIDE_DOT, "wide_matmul", _supports_dot, dot, (FLOAT32,)),
    ),
    (
        BATCH_DOT,
        FastKernel(
            *(BackEnd.ONEDNN, "batch_matmul", _supports_batch_dot),
            plan=batch_dot,
            enabled=enabled,
            # oneDNN needs a stride of 1 in one axis of each matrix.
            reads_strides=lambda position, shape, strides: 1 in strides[-2:],
            writes_strides=lambda position, shape, strides: strides[-1] == 1,
        ),
    ),
)
