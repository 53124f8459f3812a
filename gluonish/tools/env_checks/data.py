"""Checks of the variables that size the worker processes of a DataLoader."""

import functools
from typing import NamedTuple

from gluonish.core.config import MXNET_MP_OPENCV_NUM_THREADS, MXNET_MP_WORKER_NTHREADS
from gluonish.gluon.data import DataLoader, SimpleDataset
from gluonish.kernels import openmp
from gluonish.tools.env_checks.check import NotHereError, expect, observes

__all__: list[str] = []


class _Threads(NamedTuple):
    """Threads in a worker process: of OpenMP, and of OpenCV, -1 where that is missing."""

    openmp: int
    opencv: int


def _threads_here(_: int) -> _Threads:
    """Ask the libraries of the process that loads a sample."""
    try:
        import cv2
    except ImportError:
        return _Threads(openmp.team().threads(), -1)
    return _Threads(openmp.team().threads(), cv2.getNumThreads())


def _only(samples: list[_Threads]) -> _Threads:
    (sample,) = samples
    return sample


@functools.cache
def _threads_of_worker(workers: int, opencv: int) -> _Threads:
    with (
        MXNET_MP_WORKER_NTHREADS.override(workers),
        MXNET_MP_OPENCV_NUM_THREADS.override(opencv),
    ):
        dataset = SimpleDataset([0]).transform(_threads_here)
        return _Threads(*next(iter(DataLoader(dataset, 1, batchify_fn=_only, num_workers=1))))


@observes(MXNET_MP_WORKER_NTHREADS)
def _workers() -> str:
    if not openmp.team().parallel:
        raise NotHereError("needs libgomp, which comes with oneDNN")
    seen = [_threads_of_worker(number, 0).openmp for number in (1, 3)]
    expect(MXNET_MP_WORKER_NTHREADS, seen == [1, 3], "teams of 1 and of 3 threads", seen)
    return "OpenMP's team in a worker process had 1 thread, then 3"


@observes(MXNET_MP_OPENCV_NUM_THREADS)
def _opencv() -> str:
    seen = [_threads_of_worker(1, number).opencv for number in (0, 2)]
    if -1 in seen:
        raise NotHereError("needs OpenCV: pip install gluonish[image]")
    expect(MXNET_MP_OPENCV_NUM_THREADS, seen == [1, 2], "none but its caller, then 2", seen)
    return "OpenCV in a worker process ran in its caller alone, then in 2 threads"
