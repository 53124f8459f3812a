"""Datasets and samplers of `gluon.contrib.data`."""

from gluonish.contrib.data import sampler, text
from gluonish.contrib.data.sampler import IntervalSampler

__all__ = ["IntervalSampler", "sampler", "text"]
