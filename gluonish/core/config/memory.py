"""Memory: how graphs share it, and what is kept."""

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import boolean, integer

__all__ = [
    "MXNET_BACKWARD_DO_MIRROR",
    "MXNET_EXEC_ENABLE_INPLACE",
    "MXNET_EXEC_NUM_TEMP",
    "MXNET_MEMORY_OPT",
    "NNVM_EXEC_MATCH_RANGE",
]

MXNET_EXEC_ENABLE_INPLACE = Flag(
    "MXNET_EXEC_ENABLE_INPLACE",
    boolean(),
    True,
    "Let a graph's memory plan write an output over an input that is not needed any more.",
)
NNVM_EXEC_MATCH_RANGE = Flag(
    "NNVM_EXEC_MATCH_RANGE",
    integer(0),
    16,
    "Share blocks up to so many times larger or smaller; 0 shares none. "
    "What is kept for backward is one block.",
)
MXNET_EXEC_NUM_TEMP = Flag(
    "MXNET_EXEC_NUM_TEMP",
    integer(1),
    1,
    "Large scratch buffers kept for each CPU device, and for each graph; what comes beyond them "
    "allocates its own.",
)
MXNET_BACKWARD_DO_MIRROR = Flag(
    "MXNET_BACKWARD_DO_MIRROR",
    boolean(),
    False,
    "Compute cheap values of a graph's forward pass again in the backward pass to save memory.",
)
MXNET_MEMORY_OPT = Flag(
    "MXNET_MEMORY_OPT",
    boolean(),
    False,
    "Keep only about sqrt(N) of a graph's N forward values, and compute the others again.",
)
