"""oneDNN's kernels of recurrent layers, which loop over many plans."""

from gluonish.core.config import MXNET_USE_MKLDNN_RNN
from gluonish.core.dtype import FLOAT32
from gluonish.kernels.onednn import rnn
from gluonish.kernels.onednn.register import enabled
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.recurrent.fused_rnn import FUSED_RNN, FUSED_RNN_BACKWARD
from gluonish.ops.recurrent.rnn import RNN, RNN_BACKWARD


def _enabled() -> bool:
    return MXNET_USE_MKLDNN_RNN.value and enabled()


# Operator, name, predicate, kernel, and dtypes of outputs saved for the gradient.
KERNELS = tuple(
    (op, FastKernel(BackEnd.ONEDNN, name, supports, run=run, enabled=_enabled, makes=makes))
    for op, name, supports, run, makes in (
        (FUSED_RNN, "fused_rnn", rnn.supports, rnn.fused_rnn, (FLOAT32,)),
        (
            *(FUSED_RNN_BACKWARD, "fused_rnn_backward", rnn.supports_backward),
            *(rnn.fused_rnn_backward, ()),
        ),
        (RNN, "rnn", rnn.supports, rnn.rnn, (FLOAT32,)),
        (RNN_BACKWARD, "rnn_backward", rnn.supports_backward, rnn.rnn_backward, ()),
    )
)
