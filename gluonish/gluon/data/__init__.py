"""Datasets, samplers and the DataLoader; `mx.gluon.data` is this package."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.core.lazy import lists as _lists
from gluonish.gluon.data import batchify, dataloader, dataset, sampler
from gluonish.gluon.data.batchify import default_batchify_fn, default_mp_batchify_fn
from gluonish.gluon.data.combined import ConcatDataset, Subset, random_split
from gluonish.gluon.data.dataloader import DataLoader
from gluonish.gluon.data.dataset import ArrayDataset, Dataset, RecordFileDataset, SimpleDataset
from gluonish.gluon.data.digits import load_digits
from gluonish.gluon.data.sampler import (
    BatchSampler,
    FilterSampler,
    IntervalSampler,
    RandomSampler,
    RepeatAugSampler,
    Sampler,
    SequentialSampler,
    SplitSampler,
    WeightedRandomSampler,
)
from gluonish.gluon.data.sequences import LengthBatchSampler, segment_mask
from gluonish.gluon.data.stream import IterableDataset
from gluonish.gluon.data.worker_info import WorkerInfo, get_worker_info

if TYPE_CHECKING:
    from gluonish.gluon.data import vision
    from gluonish.gluon.data.shards.parquet_dataset import ParquetDataset
    from gluonish.gluon.data.shards.shard_dataset import ShardDataset
    from gluonish.gluon.data.shards.shard_writer import ShardWriter
else:
    __getattr__ = _attach(
        __name__,
        ("vision",),
        {
            "ParquetDataset": "gluonish.gluon.data.shards.parquet_dataset:ParquetDataset",
            "ShardDataset": "gluonish.gluon.data.shards.shard_dataset:ShardDataset",
            "ShardWriter": "gluonish.gluon.data.shards.shard_writer:ShardWriter",
        },
    )

__all__ = [
    "ArrayDataset",
    "BatchSampler",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "FilterSampler",
    "IntervalSampler",
    "IterableDataset",
    "LengthBatchSampler",
    "ParquetDataset",
    "RandomSampler",
    "RecordFileDataset",
    "RepeatAugSampler",
    "Sampler",
    "SequentialSampler",
    "ShardDataset",
    "ShardWriter",
    "SimpleDataset",
    "SplitSampler",
    "Subset",
    "WeightedRandomSampler",
    "WorkerInfo",
    "batchify",
    "dataloader",
    "dataset",
    "default_batchify_fn",
    "default_mp_batchify_fn",
    "get_worker_info",
    "load_digits",
    "random_split",
    "sampler",
    "segment_mask",
    "vision",
]
__dir__ = _lists(__all__)
