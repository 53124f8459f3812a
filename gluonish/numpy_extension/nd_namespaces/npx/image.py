"""``nd.npx.image``: ``mx.npx.image``."""

from gluonish.numpy_extension.operators import image_function as __getattr__
from gluonish.numpy_extension.operators import image_names as __dir__

__all__ = ["__dir__", "__getattr__"]
