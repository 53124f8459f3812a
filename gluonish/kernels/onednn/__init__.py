"""Kernels of oneDNN 3 through ctypes.

`load` comes first. A module a primitive makes plans for arrays that it is given; what the library
does not take is refused with `RefusedError`, and then belongs to the reference kernel. Any other
`OneDNNError` is a failure. Reorder is a function that fills an array at once, with a ``supports_``
predicate.
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
