"""Samplers of `gluon.contrib.data`."""

from gluonish.gluon.data.sampler import IntervalSampler

__all__ = ["IntervalSampler"]
