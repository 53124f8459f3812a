"""Iterators over batches of images with labels; see `image.detection` for boxes."""

from gluonish.image.iteration.image_iter import ImageIter

__all__ = ["ImageIter"]
