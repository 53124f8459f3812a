"""The layers of this package, under the name of the module that Gluon has them in."""

from gluonish.gluon.contrib.nn.pixel_shuffle import PixelShuffle1D, PixelShuffle2D, PixelShuffle3D
from gluonish.gluon.contrib.nn.sparse_embedding import SparseEmbedding
from gluonish.gluon.contrib.nn.sync_batch_norm import SyncBatchNorm
from gluonish.gluon.nn.concurrent import Concurrent, HybridConcurrent, Identity

__all__ = [
    "Concurrent",
    "HybridConcurrent",
    "Identity",
    "PixelShuffle1D",
    "PixelShuffle2D",
    "PixelShuffle3D",
    "SparseEmbedding",
    "SyncBatchNorm",
]
