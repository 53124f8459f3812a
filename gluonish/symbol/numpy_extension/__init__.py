"""``sym.npx``: what ``F.npx`` is inside a `hybrid_forward` that is traced."""

from gluonish.symbol.numpy_extension import image, random
from gluonish.symbol.numpy_extension.namespace import find as __getattr__  # noqa: F401
from gluonish.symbol.numpy_extension.namespace import names as __dir__  # noqa: F401

__all__ = ["image", "random"]
