"""Datasets, samplers and transforms of `gluon.contrib.data`."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.core.lazy import lists as _lists
from gluonish.gluon.contrib.data import sampler, text
from gluonish.gluon.contrib.data.sampler import IntervalSampler

if TYPE_CHECKING:
    from gluonish.gluon.contrib.data import vision
else:
    __getattr__ = _attach(__name__, ("vision",))

__all__ = ["IntervalSampler", "sampler", "text", "vision"]
__dir__ = _lists(__all__)
