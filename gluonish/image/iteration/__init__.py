"""Iterators over batches of images with labels; the one of boxes is in `image.detection`."""

from gluonish.image.iteration.image_iter import ImageIter

__all__ = ["ImageIter"]
