"""``nd.npx.image``: ``mx.npx.image``."""

from gluonish.numpy_extension.image import __dir__, __getattr__

__all__ = ["__dir__", "__getattr__"]
