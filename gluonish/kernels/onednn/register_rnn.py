"""The kernels of recurrent layers, for `gluonish.kernels.onednn.register`: loops over many plans
and generated kernels, so none of them is one plan."""

from collections.abc import Callable

from gluonish.kernels.onednn import rnn
from gluonish.ops.registry import Kernel, Operator
from gluonish.ops.rnn import RNN, RNN_BACKWARD

__all__ = ["KERNELS"]

# Operator, name of the kernel, what it takes, and the kernel.
KERNELS: tuple[tuple[Operator, str, Callable[..., bool], Kernel], ...] = (
    (RNN, "rnn", rnn.takes, rnn.rnn),
    (RNN_BACKWARD, "rnn_backward", rnn.takes_backward, rnn.rnn_backward),
)
