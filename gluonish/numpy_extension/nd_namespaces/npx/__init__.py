"""``nd.npx``: the namespace ``F.npx`` inside a `hybrid_forward` that computes on arrays."""

from gluonish.numpy_extension.nd_namespaces.npx import image, random
from gluonish.numpy_extension.operators import operator_function as __getattr__  # noqa: F401
from gluonish.numpy_extension.operators import operator_names as __dir__  # noqa: F401

__all__ = ["image", "random"]
