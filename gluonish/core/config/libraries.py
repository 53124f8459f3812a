"""Kernels and the libraries they come from."""

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import TEXT, boolean, integer

__all__ = [
    "MXNET_LIBRARY_PATH",
    "MXNET_MKLDNN_CACHE_NUM",
    "MXNET_MKLDNN_ENABLED",
    "MXNET_STORAGE_FALLBACK_LOG_VERBOSE",
    "MXNET_WINOGRAD_CONVOLUTION",
]

MXNET_WINOGRAD_CONVOLUTION = Flag(
    "MXNET_WINOGRAD_CONVOLUTION",
    boolean(),
    True,
    "Compute large float32 convolutions of 3 x 3 windows by Winograd's products, on the CPU.",
)
MXNET_STORAGE_FALLBACK_LOG_VERBOSE = Flag(
    "MXNET_STORAGE_FALLBACK_LOG_VERBOSE",
    boolean(),
    True,
    "Log, once each, which operators run on dense copies of sparse arrays.",
)
MXNET_MKLDNN_ENABLED = Flag(
    "MXNET_MKLDNN_ENABLED", boolean(), True, "Use oneDNN kernels on the CPU; else NumPy's."
)
MXNET_MKLDNN_CACHE_NUM = Flag(
    "MXNET_MKLDNN_CACHE_NUM",
    integer(-1),
    -1,
    "Largest number of oneDNN primitives kept for reuse; -1 keeps all.",
)
MXNET_LIBRARY_PATH = Flag(
    "MXNET_LIBRARY_PATH",
    TEXT,
    "",
    "Path of the oneDNN shared library to load; empty looks for the installed wheel.",
)
