"""oneDNN's kernels that are the library's BLAS calls."""

from gluonish.kernels.onednn import pointwise_convolution, sgemm
from gluonish.kernels.onednn.register import enabled
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.linalg.matmul import DOT
from gluonish.ops.nn.convolution import CONVOLUTION_BACKWARD_WEIGHT

KERNELS = (
    (
        CONVOLUTION_BACKWARD_WEIGHT,
        FastKernel(
            BackEnd.ONEDNN,
            "blas_convolution_backward_weight",
            pointwise_convolution.supports,
            run=pointwise_convolution.weight_gradient,
            enabled=enabled,
        ),
    ),
    (
        DOT,
        FastKernel(BackEnd.ONEDNN, "blas_dot", sgemm.supports_dot, run=sgemm.dot, enabled=enabled),
    ),
)
