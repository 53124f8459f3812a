"""Image operators: sizes, colours, borders, files."""

from gluonish.ops.image.border import MAKE_BORDER
from gluonish.ops.image.color import ADJUST_LIGHTING, RANDOM_COLORS
from gluonish.ops.image.decoding import IMDECODE, IMREAD
from gluonish.ops.image.geometry import CROP, FLIPS, RANDOM_FLIPS
from gluonish.ops.image.resize import CV_RESIZE, RESIZE
from gluonish.ops.image.tensor import NORMALIZE, TO_TENSOR

__all__ = [
    "ADJUST_LIGHTING",
    "CROP",
    "CV_RESIZE",
    "FLIPS",
    "IMDECODE",
    "IMREAD",
    "MAKE_BORDER",
    "NORMALIZE",
    "RANDOM_COLORS",
    "RANDOM_FLIPS",
    "RESIZE",
    "TO_TENSOR",
]
