"""The CuPy back end made known: importing this registers GPU contexts and hangs the kernels.

CuPy itself is imported when a GPU is first asked for.
"""

from collections.abc import Callable

from gluonish.core.device import register_gpu_support
from gluonish.kernels.cupy import convolution, dense, drawing, gelu, gemm
from gluonish.kernels.cupy.support import CuPySupport
from gluonish.ops.convolution import (
    CONVOLUTION,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHT,
    CONVOLUTION_BACKWARD_WEIGHT_BIAS,
)
from gluonish.ops.deconvolution import DECONVOLUTION
from gluonish.ops.dense import FULLY_CONNECTED
from gluonish.ops.dropout import DROPOUT
from gluonish.ops.leaky_relu import GELU_BACKWARD, LEAKY_RELU
from gluonish.ops.linalg.matrix_product import NPI_MATMUL
from gluonish.ops.matmul import BATCH_DOT, DOT, LINALG_GEMM2
from gluonish.ops.philox import hang_words
from gluonish.ops.product import hang_products
from gluonish.ops.registry import FastKernel, Operator

__all__ = ["hang"]

# All take floating-point arrays.
_KERNELS: tuple[tuple[Operator, str, Callable[..., None]], ...] = (
    (DOT, "dot", gemm.dot),
    (BATCH_DOT, "batch_dot", gemm.batch_dot),
    (NPI_MATMUL, "matmul", gemm.matmul),
    (LINALG_GEMM2, "linalg_gemm2", gemm.gemm2),
    (FULLY_CONNECTED, "fully_connected", dense.fully_connected),
    (CONVOLUTION, "convolution", convolution.forward),
    (CONVOLUTION_BACKWARD_DATA, "convolution_backward_data", convolution.backward_data),
    (CONVOLUTION_BACKWARD_WEIGHT, "convolution_backward_weight", convolution.backward_weight),
    (
        CONVOLUTION_BACKWARD_WEIGHT_BIAS,
        "convolution_backward_weight_bias",
        convolution.backward_weight_bias,
    ),
    (DECONVOLUTION, "deconvolution", convolution.deconvolution),
    (DROPOUT, "dropout", drawing.dropout),
    (GELU_BACKWARD, "gelu_backward", gelu.gelu_backward),
)


def hang() -> None:
    """Hang the kernels on their operators, in front of those that are there."""
    for op, name, kernel in _KERNELS:
        op.hang(FastKernel(f"cupy.{name}", gemm.takes_floats, kernel))
    LEAKY_RELU.hang(FastKernel("cupy.gelu", gelu.takes_gelu, gelu.gelu))
    hang_words(drawing.words)
    hang_products(gemm.matmul)


register_gpu_support(CuPySupport())
hang()
