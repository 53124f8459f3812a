"""The kernels that are no single plan, for `gluonish.kernels.onednn.register`: recurrent layers,
which loop over many plans, and the library's BLAS call."""

from collections.abc import Callable

from gluonish.kernels.onednn import pointwise_convolution, rnn, sgemm
from gluonish.ops.convolution import CONVOLUTION_BACKWARD_WEIGHT
from gluonish.ops.kernel import Kernel
from gluonish.ops.matmul import DOT
from gluonish.ops.recurrent.fused_rnn import FUSED_RNN, FUSED_RNN_BACKWARD
from gluonish.ops.recurrent.rnn import RNN, RNN_BACKWARD
from gluonish.ops.registry import Operator

__all__ = ["KERNELS", "RECURRENT"]

# Operators whose kernels have a switch of their own, ``MXNET_USE_MKLDNN_RNN``.
RECURRENT = (FUSED_RNN, FUSED_RNN_BACKWARD, RNN, RNN_BACKWARD)

# Operator, name of the kernel, what it takes, and the kernel.
KERNELS: tuple[tuple[Operator, str, Callable[..., bool], Kernel], ...] = (
    (
        CONVOLUTION_BACKWARD_WEIGHT,
        "blas_convolution_backward_weight",
        pointwise_convolution.takes,
        pointwise_convolution.weight_gradient,
    ),
    (DOT, "blas_dot", sgemm.takes_dot, sgemm.dot),
    (FUSED_RNN, "fused_rnn", rnn.takes, rnn.fused_rnn),
    (
        FUSED_RNN_BACKWARD,
        "fused_rnn_backward",
        rnn.takes_backward,
        rnn.fused_rnn_backward,
    ),
    (RNN, "rnn", rnn.takes, rnn.rnn),
    (RNN_BACKWARD, "rnn_backward", rnn.takes_backward, rnn.rnn_backward),
)
