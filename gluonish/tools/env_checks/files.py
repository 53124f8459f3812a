"""Checks of the variables of files and data sets."""

import functools
import tempfile
from pathlib import Path
from typing import NamedTuple

from gluonish.core.config import (
    GLUONISH_MAP_FILES,
    HF_ENDPOINT,
    HF_HOME,
    HF_HUB_CACHE,
    HF_HUB_OFFLINE,
    HF_TOKEN,
    HF_TOKEN_PATH,
    MXNET_GLUON_OTHER_SOURCES,
    MXNET_GLUON_REPO,
    MXNET_HOME,
    MXNET_MP_OPENCV_NUM_THREADS,
    MXNET_MP_WORKER_NTHREADS,
)
from gluonish.core.errors import DownloadError, MissingFileError
from gluonish.core.file_map import private_map
from gluonish.core.operating_system import WINDOWS
from gluonish.gluon.data import DataLoader, SimpleDataset
from gluonish.gluon.download import OtherSource, download, obtain_elsewhere, published_url
from gluonish.kernels import openmp
from gluonish.kernels.compiler import disk_cache
from gluonish.model_zoo.pretrained import hub, hub_cache
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


@observes(MXNET_GLUON_OTHER_SOURCES)
def _other_sources() -> str:
    """Ask for a file that a repository lacks, with other sources and without."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        published = Path(folder, "published")
        published.write_text("content")
        source = OtherSource("a folder", str(published))
        for setting in (True, False):
            with MXNET_GLUON_OTHER_SOURCES.override(setting):
                try:
                    obtain_elsewhere(
                        "file",
                        [source],
                        Path(folder, "target"),
                        DownloadError("the repository lacks the file"),
                        lambda path: found.append(path.read_text()),
                        100,
                    )
                except DownloadError as error:
                    found.append(str(error))
    expected = ["content", "the repository lacks the file"]
    expect(MXNET_GLUON_OTHER_SOURCES, found == expected, f"{expected}", found)
    return "another source served a file when set to 1, and none was asked when set to 0"


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
    expected = [not WINDOWS, False]
    expect(GLUONISH_MAP_FILES, mapped == expected, "a map with 1 only", mapped)
    return "a file of 1 MiB was mapped with 1 (on POSIX), and not with 0"


@observes(HF_HOME)
def _hub_home() -> str:
    """Locate the hub's cache in two homes."""
    found = []
    with HF_HUB_CACHE.override(""):
        for home in ("/first", "/second"):
            with HF_HOME.override(home):
                found.append(hub_cache.cache_folder())
    expected = [Path("/first/hub").absolute(), Path("/second/hub").absolute()]
    expect(HF_HOME, found == expected, "the folder hub in each", found)
    return "the hub's cache was the folder hub in each of two homes"


@observes(HF_HUB_CACHE)
def _hub_cache() -> str:
    """Locate the hub's cache."""
    with HF_HUB_CACHE.override("/cache"):
        found = hub_cache.cache_folder()
    expect(HF_HUB_CACHE, found == Path("/cache"), "that folder", found)
    return "the hub's cache was that folder"


@observes(HF_TOKEN)
def _token() -> str:
    """Read two tokens."""
    found = []
    for text in ("first", "second"):
        with HF_TOKEN.override(text):
            found.append(hub_cache.token())
    expect(HF_TOKEN, found == ["first", "second"], "both tokens", "others")
    return "two tokens were read"


@observes(HF_TOKEN_PATH)
def _token_path() -> str:
    """Read a token from a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "token")
        path.write_text("first")
        with HF_TOKEN.override(""), HF_TOKEN_PATH.override(str(path)):
            found = hub_cache.token()
    expect(HF_TOKEN_PATH, found == "first", "the file's token", "another")
    return "a token was read from the file"


def _refusal(offline: bool, endpoint: str) -> str:
    """Request a network of a hub that does not exist; return the error's class and message."""
    with (
        tempfile.TemporaryDirectory() as folder,
        HF_HUB_CACHE.override(folder),
        HF_HUB_OFFLINE.override(offline),
        HF_ENDPOINT.override(endpoint),
    ):
        try:
            hub.snapshot("org/name")
        except (MissingFileError, DownloadError) as error:
            return f"{type(error).__name__}: {error}"
    return "no error"


@observes(HF_HUB_OFFLINE)
def _offline() -> str:
    """Request a network with and without a connection."""
    endpoint = "http://127.0.0.1:9"
    found = [_refusal(offline, endpoint).split(":")[0] for offline in (True, False)]
    expected = ["MissingFileError", "DownloadError"]
    expect(HF_HUB_OFFLINE, found == expected, "a request with 0 only", found)
    return "a network was looked for in the cache with 1, and requested with 0"


@observes(HF_ENDPOINT)
def _hub_endpoint() -> str:
    """Request a network of two hubs."""
    endpoints = ["http://127.0.0.1:9", "http://127.0.0.1:9/mirror"]
    found = [_refusal(False, endpoint) for endpoint in endpoints]
    requested = [f"{url}/org/name/" in text for url, text in zip(endpoints, found, strict=True)]
    expect(HF_ENDPOINT, all(requested), "a request of each", found)
    return "a network was requested from each of two addresses"


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
