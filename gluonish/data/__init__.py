"""Datasets, samplers and the DataLoader; `mx.gluon.data` is this package."""

from gluonish.data.batchify import default_batchify_fn, default_mp_batchify_fn
from gluonish.data.dataloader import DataLoader
from gluonish.data.dataset import ArrayDataset, Dataset, SimpleDataset
from gluonish.data.digits import load_digits
from gluonish.data.sampler import (
    BatchSampler,
    FilterSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
)

__all__ = [
    "ArrayDataset",
    "BatchSampler",
    "DataLoader",
    "Dataset",
    "FilterSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SimpleDataset",
    "default_batchify_fn",
    "default_mp_batchify_fn",
    "load_digits",
]
