"""Checks of the variables of files and data sets."""

import functools
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

from gluonish.core.config import (
    GLUONISH_MAP_FILES,
    MXNET_GLUON_REPO,
    MXNET_HOME,
    MXNET_MP_OPENCV_NUM_THREADS,
    MXNET_MP_WORKER_NTHREADS,
)
from gluonish.core.file_map import private_map
from gluonish.gluon.data import DataLoader, SimpleDataset
from gluonish.gluon.download import download, published_url
from gluonish.kernels import openmp
from gluonish.kernels.compiler import disk_cache
from gluonish.tools.env_checks.process import NotHereError, expect, observes


@observes(MXNET_HOME)
def _home() -> str:
    """Cache a compiled kernel under two home folders, and locate the files."""
    key = b"a check of MXNET_HOME"
    with tempfile.TemporaryDirectory() as folder:
        homes = [Path(folder, name) for name in ("first", "second")]
        cached: list[list[Path]] = []
        for home in homes:
            with MXNET_HOME.override(str(home)):
                disk_cache.save(key, home.name.encode())
                found = disk_cache.find(key)
            expect(MXNET_HOME, found == home.name.encode(), f"{home.name}'s own file", found)
            cached.append([path for path in home.rglob("*") if path.is_file()])
        counts = [len(files) for files in cached]
        expect(MXNET_HOME, counts == [1, 1], "one file in each of two homes", counts)
    return "a kernel was written to, and read from, each of two homes"


@observes(MXNET_GLUON_REPO)
def _repository() -> str:
    """Fetch a file of the same name from two repositories, which are folders."""
    name = "gluon/check.txt"
    fetched = []
    with tempfile.TemporaryDirectory() as folder:
        for text in ("first", "second"):
            published = Path(folder, text, name)
            published.parent.mkdir(parents=True)
            published.write_text(text)
            target = Path(folder, f"{text}.txt")
            with MXNET_GLUON_REPO.override(str(Path(folder, text))):
                download(published_url(name), target)
            fetched.append(target.read_text())
    expect(MXNET_GLUON_REPO, fetched == ["first", "second"], "each folder's file", fetched)
    with MXNET_GLUON_REPO.override("https://example.org/mirror/"):
        url = published_url(name)
    mirror = f"https://example.org/mirror/{name}"
    expect(MXNET_GLUON_REPO, url == mirror, f"the address {mirror}", url)
    return "a file was fetched from each of two folders, and URLs begin with the mirror's"


@observes(GLUONISH_MAP_FILES)
def _map() -> str:
    """Map a file with mapping enabled and disabled."""
    with tempfile.TemporaryFile() as file:
        file.write(bytes(1 << 20))
        file.flush()
        mapped = []
        for setting in (True, False):
            with GLUONISH_MAP_FILES.override(setting):
                mapped.append(private_map(file) is not None)
    expected = [os.name == "posix", False]
    expect(GLUONISH_MAP_FILES, mapped == expected, "a map with 1 only", mapped)
    return "a file of 1 MiB was mapped with 1 (on POSIX), and not with 0"


class _Threads(NamedTuple):
    """Thread counts in a worker process; -1 if OpenCV is missing."""

    openmp: int
    opencv: int


def _count_threads(_: int) -> _Threads:
    """Count the threads of libraries in the process that loads a sample."""
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
        dataset = SimpleDataset([0]).transform(_count_threads)
        return _Threads(*next(iter(DataLoader(dataset, 1, batchify_fn=_only, num_workers=1))))


@observes(MXNET_MP_WORKER_NTHREADS)
def _workers() -> str:
    if not openmp.team().parallel:
        raise NotHereError("needs libgomp, which is installed with oneDNN")
    seen = [_threads_of_worker(number, 0).openmp for number in (1, 3)]
    expect(MXNET_MP_WORKER_NTHREADS, seen == [1, 3], "teams of 1 and of 3 threads", seen)
    return "OpenMP's team in a worker process had 1 and 3 threads"


@observes(MXNET_MP_OPENCV_NUM_THREADS)
def _opencv() -> str:
    seen = [_threads_of_worker(1, number).opencv for number in (0, 2)]
    if -1 in seen:
        raise NotHereError("needs OpenCV: pip install gluonish[image]")
    expect(MXNET_MP_OPENCV_NUM_THREADS, seen == [1, 2], "the caller only, then 2 threads", seen)
    return "OpenCV in a worker process ran in 1 and 2 threads"
