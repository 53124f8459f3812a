"""Iterators over batches of images, with a label or with boxes."""

from gluonish.image.iteration.image_det_iter import ImageDetIter
from gluonish.image.iteration.image_iter import ImageIter

__all__ = ["ImageDetIter", "ImageIter"]
