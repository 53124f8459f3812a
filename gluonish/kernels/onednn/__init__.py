"""Kernels of oneDNN 3 through ctypes.

Call `load` first. Each primitive has a module that makes plans for arrays. Arrays that the library
does not support raise `RefusedError`; the reference kernel then runs. Any other `OneDNNError` is a
failure. `reorder` copies an array immediately; `supports_reorder` is its predicate.
"""

from gluonish.kernels.onednn.api import OneDNNError
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
from gluonish.kernels.onednn.concat import reorder, supports_reorder
from gluonish.ops.kernel import RefusedError

__all__ = [
    "DEFAULT_CACHE_CAPACITY",
    "Backend",
    "Loaded",
    "OneDNNError",
    "RefusedError",
    "current",
    "install",
    "load",
    "reorder",
    "status",
    "supported",
    "supports_reorder",
]
