"""The functions of ``sym.npx``: operators on Symbols with NumPy's semantics."""

from gluonish.numpy.views import operator_view
from gluonish.numpy_extension.operators import IMAGE_NAMES, NAMES
from gluonish.symbol.numpy_symbol import make_np_function

__all__ = ["find", "find_image", "image_names", "names"]

find, names = operator_view(NAMES, make_np_function, "gluonish.symbol.numpy_extension")
find_image, image_names = operator_view(
    IMAGE_NAMES, make_np_function, "gluonish.symbol.numpy_extension.image"
)
