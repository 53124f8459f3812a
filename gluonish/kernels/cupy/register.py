"""The kernels of the CuPy back end, and functions that reference kernels on GPUs use."""

from collections.abc import Callable
from typing import Any

from gluonish.core.dtype import FLOAT32, INT64
from gluonish.kernels.cupy import (
    convolution,
    cudnn_attention,
    cudnn_convolution,
    cudnn_rnn,
    dense,
    gelu,
    gemm,
    random_numbers,
)
from gluonish.ops.attention.scaled_dot_product import ATTENTION, ATTENTION_BACKWARD
from gluonish.ops.fused.operator import FUSED_CONVOLUTION, FUSED_DENSE
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.linalg.matmul import BATCH_DOT, DOT, LINALG_GEMM2
from gluonish.ops.linalg.matrix_product import NPI_MATMUL
from gluonish.ops.nn.convolution import (
    CONVOLUTION,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHT,
    CONVOLUTION_BACKWARD_WEIGHT_BIAS,
)
from gluonish.ops.nn.deconvolution import DECONVOLUTION
from gluonish.ops.nn.dense import FULLY_CONNECTED, FULLY_CONNECTED_BACKWARD_WEIGHT_BIAS
from gluonish.ops.nn.dropout import DROPOUT
from gluonish.ops.nn.gelu import GELU_BACKWARD
from gluonish.ops.nn.leaky_relu import LEAKY_RELU
from gluonish.ops.recurrent.reserved_rnn import (
    RESERVED_RNN,
    RESERVED_RNN_BACKWARD,
    set_reserve_rule,
)
from gluonish.ops.registry import Operator
from gluonish.ops.support.philox import set_device_bits, set_device_keys
from gluonish.ops.support.precision import set_device_products


def _fast(name: str, run: Callable[..., None], **more: Any) -> FastKernel:
    return FastKernel(BackEnd.CUPY, name, gemm.supports_floats, run=run, **more)


def _by_cudnn(name: str, run: Callable[..., None]) -> FastKernel:
    return FastKernel(BackEnd.CUPY, f"cudnn_{name}", cudnn_convolution.supports, run=run)


KERNELS: tuple[tuple[Operator, FastKernel], ...] = (
    (DOT, _fast("dot", gemm.dot, attach=gemm.attach_dot, packs=False)),
    (
        BATCH_DOT,
        FastKernel(
            *(BackEnd.CUPY, "batch_dot", gemm.supports_floats),
            run=gemm.batch_dot,
            attach=gemm.attach_batch_dot,
            packs=False,
            reads_strides=lambda position, shape, strides: gemm.is_even(shape, strides),
            writes_strides=lambda position, shape, strides: (
                strides[-1] == 1 and gemm.is_even(shape, strides)
            ),
        ),
    ),
    (NPI_MATMUL, _fast("matmul", gemm.matmul)),
    (LINALG_GEMM2, _fast("linalg_gemm2", gemm.gemm2)),
    (FULLY_CONNECTED, _fast("fully_connected", dense.fully_connected)),
    (
        FULLY_CONNECTED_BACKWARD_WEIGHT_BIAS,
        _fast("fully_connected_backward_weight_bias", dense.weight_and_bias_gradient),
    ),
    (
        FUSED_DENSE,
        FastKernel(
            BackEnd.CUPY, "fused_dense", dense.supports_activation, run=dense.fully_connected
        ),
    ),
    # cuDNN's kernels come first; calls that cuDNN does not support go to the other kernels.
    (CONVOLUTION, _by_cudnn("convolution", cudnn_convolution.forward)),
    (
        CONVOLUTION_BACKWARD_DATA,
        _by_cudnn("convolution_backward_data", cudnn_convolution.backward_data),
    ),
    (
        CONVOLUTION_BACKWARD_WEIGHT,
        _by_cudnn("convolution_backward_weight", cudnn_convolution.backward_weight),
    ),
    (
        CONVOLUTION_BACKWARD_WEIGHT_BIAS,
        _by_cudnn("convolution_backward_weight_bias", cudnn_convolution.backward_weight_bias),
    ),
    (DECONVOLUTION, _by_cudnn("deconvolution", cudnn_convolution.deconvolution)),
    (
        FUSED_CONVOLUTION,
        FastKernel(
            *(BackEnd.CUPY, "cudnn_fused_convolution", cudnn_convolution.supports),
            run=cudnn_convolution.fused,
            overwrites=False,  # cuDNN does not promise to read elements before it writes them
        ),
    ),
    (CONVOLUTION, _fast("convolution", convolution.forward)),
    (CONVOLUTION_BACKWARD_DATA, _fast("convolution_backward_data", convolution.backward_data)),
    (
        CONVOLUTION_BACKWARD_WEIGHT,
        _fast("convolution_backward_weight", convolution.backward_weight),
    ),
    (
        CONVOLUTION_BACKWARD_WEIGHT_BIAS,
        _fast("convolution_backward_weight_bias", convolution.backward_weight_bias),
    ),
    (DECONVOLUTION, _fast("deconvolution", convolution.deconvolution)),
    (
        ATTENTION,
        FastKernel(
            BackEnd.CUPY,
            "cudnn_attention",
            cudnn_attention.supports,
            run=cudnn_attention.attention,
            makes=(FLOAT32, INT64),
            reads_strides=lambda position, shape, strides: position < 3 and strides[-1] == 1,
            writes_strides=lambda position, shape, strides: position == 0 and strides[-1] == 1,
        ),
    ),
    (
        ATTENTION_BACKWARD,
        FastKernel(
            BackEnd.CUPY,
            "cudnn_attention_backward",
            cudnn_attention.supports_backward,
            run=cudnn_attention.backward,
            reads_strides=lambda position, shape, strides: position < 5 and strides[-1] == 1,
            writes_strides=lambda position, shape, strides: strides[-1] == 1,
        ),
    ),
    (FUSED_CONVOLUTION, _fast("fused_convolution", convolution.fused)),
    (DROPOUT, _fast("dropout", random_numbers.dropout)),
    (
        GELU_BACKWARD,
        FastKernel(BackEnd.CUPY, "gelu_backward", gelu.supports_gelu, run=gelu.gelu_backward),
    ),
    (
        RESERVED_RNN,
        FastKernel(
            *(BackEnd.CUPY, "cudnn_rnn", cudnn_rnn.supports),
            run=cudnn_rnn.forward,
            makes=(FLOAT32,),
        ),
    ),
    (
        RESERVED_RNN_BACKWARD,
        FastKernel(
            *(BackEnd.CUPY, "cudnn_rnn_backward", cudnn_rnn.supports_backward),
            run=cudnn_rnn.backward,
        ),
    ),
    (LEAKY_RELU, FastKernel(BackEnd.CUPY, "gelu", gelu.supports_gelu, run=gelu.gelu)),
)


def serve_reference_kernels() -> None:
    """Register this back end's random bits and products for reference kernels on GPUs."""
    set_device_bits(random_numbers.random_bits)
    set_device_keys(random_numbers.store_key, random_numbers.load_key)
    set_device_products(gemm.matmul)
    set_reserve_rule(cudnn_rnn.private_reserve)
