"""Samplers of `gluon.contrib.data`."""

from gluonish.data.sampler import IntervalSampler

__all__ = ["IntervalSampler"]
