"""A thread receives what is read next, and ends with its reader, however that ends."""

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from gluonish.core.errors import DownloadError
from gluonish.gluon.download import http_fetch
from gluonish.gluon.download.http_stream import _CHUNK_NBYTES, open_url
from gluonish.gluon.download.read_ahead import ReadAhead
from tests.answering_server import OK, answering
from tests.gluon_repository import Repository

CONTENT = np.random.default_rng(0).bytes(10 * _CHUNK_NBYTES + 77)


def _threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name in ("read-ahead", "download-watch")]


def _has_ended(limit_s: float = 10.0) -> bool:
    end = time.monotonic() + limit_s
    while _threads() and time.monotonic() < end:
        time.sleep(0.01)
    return not _threads()


@pytest.fixture
def url(repository: Repository) -> str:
    repository.files["/x"] = CONTENT
    return f"{repository.url}/x"


class Chunks:
    """A source of numbered chunks, after which an error or the end comes."""

    def __init__(self, count: int, last: Exception | None = None) -> None:
        self.received = 0
        self.closed = threading.Event()
        self.go_on = threading.Event()
        self._count = count
        self._last = last

    def receive(self) -> bytes:
        if self.received == self._count:
            if self._last is not None:
                raise self._last
            return b""
        self.received += 1
        if self._count < 0:
            assert self.go_on.wait(30)
            raise OSError("stopped")
        return str(self.received).encode()

    def stop(self) -> None:
        self.go_on.set()

    def close(self) -> None:
        self.closed.set()


def test_chunks_come_in_order_to_the_end() -> None:
    source = Chunks(50)
    ahead = ReadAhead(source, 3)
    assert [ahead.read() for _ in range(50)] == [str(i + 1).encode() for i in range(50)]
    assert [ahead.read() for _ in range(3)] == [b""] * 3
    assert source.closed.wait(30)
    ahead.close()
    assert _has_ended()


def test_no_more_than_the_depth_is_received() -> None:
    source = Chunks(100)
    ahead = ReadAhead(source, 3)
    for read in range(1, 6):
        ahead.read()
        time.sleep(0.1)
        assert read <= source.received <= read + 3
    assert source.received >= 6
    ahead.close()
    assert source.closed.is_set()
    assert _has_ended()


def test_an_error_comes_after_what_was_received_and_again() -> None:
    ahead = ReadAhead(Chunks(2, DownloadError("broken")), 5)
    assert ahead.read() + ahead.read() == b"12"
    for _ in range(3):
        with pytest.raises(DownloadError, match="broken"):
            ahead.read()
    ahead.close()
    assert _has_ended()


def test_closing_interrupts_what_waits() -> None:
    source = Chunks(-1)
    ahead = ReadAhead(source, 2)
    start = time.monotonic()
    ahead.close()
    assert time.monotonic() - start < 20  # else as long as the server waits
    assert source.closed.is_set()


@pytest.mark.parametrize("how", ["closed", "dropped", "read"])
def test_no_thread_is_left(url: str, how: str) -> None:
    file = open_url(url)
    assert file.read(5) == CONTENT[:5]
    assert [each.name for each in _threads()].count("read-ahead") == 1
    if how == "read":
        assert file.read() == CONTENT[5:]
        assert file.read(3) == b""
    if how == "dropped":
        del file
        gc.collect()
    else:
        file.close()
        with pytest.raises(ValueError, match="closed"):
            file.read(1)
    assert _has_ended()


def test_a_short_file_needs_no_thread(url: str, repository: Repository) -> None:
    repository.files["/x"] = CONTENT[:1000]
    with open_url(url) as file:
        assert file.read(10) == CONTENT[:10]
        assert "read-ahead" not in [each.name for each in _threads()]
        assert file.read() == CONTENT[10:1000]
        assert file.read() == b""
    assert _has_ended()


def test_a_server_that_stalls_does_not_keep_the_program() -> None:
    ended = threading.Event()

    def answer() -> Iterator[bytes]:
        yield OK + b"Content-Length: 10000000\r\n\r\n" + CONTENT[: _CHUNK_NBYTES + 5]
        ended.wait(30)

    with answering(answer) as url:
        file = open_url(url)
        assert file.read(5) == CONTENT[:5]
        time.sleep(0.1)
        start = time.monotonic()
        file.close()
        assert time.monotonic() - start < 20  # else as long as the server waits
        assert _has_ended(20.0)
        ended.set()


def test_errors_come_where_they_occur(
    url: str, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)
    nbytes = 3 * _CHUNK_NBYTES + 11
    repository.cuts = [nbytes] + [0] * 20
    with open_url(url, retries=2) as file:
        assert file.read(nbytes) == CONTENT[:nbytes]
        for _ in range(2):
            with pytest.raises(DownloadError, match=f"from byte {nbytes}, got"):
                file.read(1)
    assert _has_ended()


def _code_of_forked_process(run: Callable[[], bool]) -> int:
    """Return 0 if a function is true in a forked process, 2 if it is false, 1 if it fails."""
    child = os.fork()
    if not child:
        code = 1
        try:
            code = 0 if run() else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


@needs_fork
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("nbytes", [5, len(CONTENT) - 1, len(CONTENT)])
def test_a_forked_process_reads_on_by_itself(url: str, nbytes: int) -> None:
    with open_url(url) as file:
        first = file.read(nbytes)

        def reads_rest() -> bool:
            rest = file.read()
            ended = file.read(1) == b""
            file.close()
            return first + rest == CONTENT and ended

        assert _code_of_forked_process(reads_rest) == 0
        assert first + file.read() == CONTENT
    assert _has_ended()


@needs_fork
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_does_not_mix_two_versions_of_a_file(
    url: str, repository: Repository
) -> None:
    with open_url(url) as file:
        file.read(5)
        repository.files["/x"] = CONTENT[::-1]

        def refuses() -> bool:
            with pytest.raises(DownloadError, match="a file that changed while it was read"):
                file.read()
            return True

        assert _code_of_forked_process(refuses) == 0
