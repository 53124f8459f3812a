"""``sym.npx.image``: ``mx.npx.image`` on Symbols."""

from gluonish.symbol.numpy_extension.namespace import find_image as __getattr__
from gluonish.symbol.numpy_extension.namespace import image_names as __dir__

__all__ = ["__dir__", "__getattr__"]
