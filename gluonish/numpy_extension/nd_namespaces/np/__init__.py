"""``nd.np``: the namespace ``F.np`` inside a `hybrid_forward` that computes on arrays."""

from gluonish.numpy_extension.nd_namespaces.np import _internal as _internal
from gluonish.numpy_extension.nd_namespaces.np import linalg, random
from gluonish.numpy_extension.nd_namespaces.np.namespace import find as __getattr__  # noqa: F401
from gluonish.numpy_extension.nd_namespaces.np.namespace import names as __dir__  # noqa: F401

__all__ = ["linalg", "random"]
