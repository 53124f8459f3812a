"""`npx.image`: operators on images, (H, W, C) or (N, H, W, C)."""

from gluonish.numpy.views import operator_view
from gluonish.numpy_extension.operators import IMAGE_NAMES, make_function
from gluonish.numpy_extension.random_crops import random_crop, random_resized_crop

__all__ = ["__dir__", "__getattr__", "random_crop", "random_resized_crop"]

_operator, _names = operator_view(IMAGE_NAMES, make_function, __name__)
__getattr__ = _operator


def __dir__() -> list[str]:
    return sorted([*_names(), "random_crop", "random_resized_crop"])
