"""Iterators over batches: ``mx.io``, with MXNet's names."""

from gluonish.io.csv_iter import CSVIter
from gluonish.io.data_iter import DataBatch, DataDesc, DataIter, ResizeIter
from gluonish.io.image_record import (
    ImageDetRecordIter,
    ImageRecordInt8Iter,
    ImageRecordIter,
    ImageRecordIter_v1,
    ImageRecordUInt8Iter,
    ImageRecordUInt8Iter_v1,
)
from gluonish.io.libsvm_iter import LibSVMIter
from gluonish.io.mnist_iter import MNISTIter
from gluonish.io.native_iter import MXDataIter
from gluonish.io.ndarray_iter import NDArrayIter
from gluonish.io.prefetching_iter import PrefetchingIter

__all__ = [
    "CSVIter",
    "DataBatch",
    "DataDesc",
    "DataIter",
    "ImageDetRecordIter",
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordIter_v1",
    "ImageRecordUInt8Iter",
    "ImageRecordUInt8Iter_v1",
    "LibSVMIter",
    "MNISTIter",
    "MXDataIter",
    "NDArrayIter",
    "PrefetchingIter",
    "ResizeIter",
]
