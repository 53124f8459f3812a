"""`mx.image`: images from files, in other sizes, cut out, turned."""

from gluonish.image.crop import center_crop, fixed_crop, random_crop, random_size_crop, scale_down
from gluonish.image.decode import imdecode, imread
from gluonish.image.pixels import color_normalize, copyMakeBorder
from gluonish.image.resize import imresize, resize_short
from gluonish.image.rotate import imrotate, random_rotate

__all__ = [
    "center_crop",
    "color_normalize",
    "copyMakeBorder",
    "fixed_crop",
    "imdecode",
    "imread",
    "imresize",
    "imrotate",
    "random_crop",
    "random_rotate",
    "random_size_crop",
    "resize_short",
    "scale_down",
]
