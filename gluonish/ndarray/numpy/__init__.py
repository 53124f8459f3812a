"""``nd.np``: what ``F.np`` is inside a `hybrid_forward` that computes on arrays."""

from gluonish.ndarray.numpy import _internal as _internal
from gluonish.ndarray.numpy import linalg, random
from gluonish.ndarray.numpy.namespace import find as __getattr__  # noqa: F401
from gluonish.ndarray.numpy.namespace import names as __dir__  # noqa: F401

__all__ = ["linalg", "random"]
