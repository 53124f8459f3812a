"""`npx.image`: operators on images, (H, W, C) or (N, H, W, C)."""

from gluonish.numpy.views import operator_view
from gluonish.numpy_extension.operators import IMAGE_NAMES, make_function

__all__ = ["__dir__", "__getattr__"]

__getattr__, __dir__ = operator_view(IMAGE_NAMES, make_function, __name__)
