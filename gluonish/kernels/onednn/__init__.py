"""Kernels of oneDNN 3 through ctypes: convolution, pooling, dense, matrix product, batch norm,
reorder.

`load` comes first. Each kernel fills the arrays that it is given, and has a ``supports_``
predicate; what the predicate takes may still be refused by the library, with `RefusedError`, and
then belongs to the reference kernel. Any other `OneDNNError` is a failure.
"""

from gluonish.kernels.onednn.api import OneDNNError, RefusedError
from gluonish.kernels.onednn.backend import (
    DEFAULT_CACHE_CAPACITY,
    Backend,
    Loaded,
    current,
    install,
    load,
    status,
    supported,
)
from gluonish.kernels.onednn.batch_norm import (
    batch_norm_backward,
    batch_norm_inference,
    batch_norm_train,
    supports_batch_norm,
)
from gluonish.kernels.onednn.convolution import (
    convolution,
    convolution_backward_data,
    convolution_backward_weight,
    supports_convolution,
)
from gluonish.kernels.onednn.inner_product import fully_connected, supports_fully_connected
from gluonish.kernels.onednn.matmul import matmul, supports_matmul
from gluonish.kernels.onednn.pooling import pooling, pooling_backward, supports_pooling
from gluonish.kernels.onednn.reorder import reorder, supports_reorder

__all__ = [
    "DEFAULT_CACHE_CAPACITY",
    "Backend",
    "Loaded",
    "OneDNNError",
    "RefusedError",
    "batch_norm_backward",
    "batch_norm_inference",
    "batch_norm_train",
    "convolution",
    "convolution_backward_data",
    "convolution_backward_weight",
    "current",
    "fully_connected",
    "install",
    "load",
    "matmul",
    "pooling",
    "pooling_backward",
    "reorder",
    "status",
    "supported",
    "supports_batch_norm",
    "supports_convolution",
    "supports_fully_connected",
    "supports_matmul",
    "supports_pooling",
    "supports_reorder",
]
