"""Files that are read from a server while they arrive, and hosts that are not found."""

import io
import itertools
import logging
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from gluonish.core.errors import DownloadError
from gluonish.gluon.download import http_fetch, read_ahead
from gluonish.gluon.download.checked_file import download
from gluonish.gluon.download.http_stream import open_url, open_url_ranges
from gluonish.gluon.download.probe import Prober
from tests.answering_server import OK, answering
from tests.gluon_repository import Repository

CONTENT = np.random.default_rng(0).bytes(1_000_000)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)


@pytest.fixture
def url(repository: Repository) -> str:
    repository.files["/x"] = CONTENT
    return f"{repository.url}/x"


@pytest.mark.parametrize("cuts", [[], [0, 0, 0, 0, 0], [1, 500_000, 2, 3, 4, 5, 6, 7]])
@pytest.mark.parametrize("known", [True, False], ids=["length", "no length"])
def test_all_bytes_arrive_once(
    url: str, repository: Repository, cuts: list[int], known: bool
) -> None:
    repository.tells_length = known
    if not known:  # no cut can be told from the end then
        cuts = []
    repository.cuts = list(cuts)
    sizes = itertools.cycle([1, 512, 100_000, 7])
    with open_url(url) as file:
        assert file.length == (len(CONTENT) if known else None)
        pieces = iter(lambda: file.read(next(sizes)), b"")
        assert b"".join(pieces) == CONTENT
    assert len(repository.asked) == 1 + len(cuts)


def test_attempts_that_bring_nothing_end(url: str, repository: Repository) -> None:
    repository.cuts = [200_000] + [0] * 20
    with open_url(url, retries=3) as file:
        file.read(2 << 16)
        with pytest.raises(DownloadError, match=r"expected to read http.*/x from byte 200000, got"):
            file.read()
    assert len(repository.asked) == 1 + 3


def test_closing_does_not_wait_for_the_next_attempt(
    url: str,
    repository: Repository,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 60.0)
    monkeypatch.setattr(http_fetch, "_LONGEST_PAUSE_S", 60.0)
    monkeypatch.setattr(read_ahead, "_JOIN_TIMEOUT_S", 60.0)
    repository.cuts = [200_000] + [0] * 20
    with caplog.at_level(logging.WARNING), open_url(url) as file:
        file.read(1)
        end = time.monotonic() + 20
        while "attempt 2 of" not in caplog.text and time.monotonic() < end:
            time.sleep(0.01)  # a thread receives the rest
        assert "attempt 2 of" in caplog.text
        begin = time.monotonic()
    assert time.monotonic() - begin < 20


def test_a_server_that_stalls_is_left_and_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_fetch, "STALL_S", 0.3)
    calls = itertools.count()

    def answer() -> Iterator[bytes]:
        yield OK + b"Content-Length: 6\r\n\r\nabc"
        if not next(calls):
            time.sleep(0.4)
        yield b"def"

    with answering(answer) as url, open_url(url) as file:
        assert file.read() == b"abcdef"


def test_a_program_that_takes_long_between_reads_keeps_its_connection(
    url: str, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_fetch, "STALL_S", 0.1)
    with open_url(url) as file:
        found = file.read(10)
        time.sleep(0.5)
        found += file.read()
    assert found == CONTENT
    assert len(repository.asked) == 1


def test_compressed_content_is_refused() -> None:
    answer = OK + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"
    with answering(answer) as url, pytest.raises(DownloadError, match="that the server has compr"):
        open_url(url)


@pytest.mark.parametrize("status", [b"206 Partial Content", b"416 Range Not Satisfiable"])
def test_a_first_answer_with_a_part_is_named_as_it_came(status: bytes) -> None:
    answer = b"HTTP/1.1 " + status + b"\r\nContent-Length: 3\r\n\r\nabc"
    with answering(answer) as url, pytest.raises(DownloadError, match=f"got {status.decode()}"):
        open_url(url)


def test_places_are_read_by_requests_for_them(url: str, repository: Repository) -> None:
    with open_url_ranges(url) as file:
        assert file.seek(0, io.SEEK_END) == len(CONTENT)
        for start, nbytes in ((5, 10), (900_000, 100_000), (999_999, 5), (0, 1), (1_000_000, 3)):
            assert file.seek(start) == file.tell() == start
            assert file.read(nbytes) == CONTENT[start : start + nbytes]
        repository.cuts = [3, 0, 4]
        file.seek(-20, io.SEEK_END)
        file.seek(2, io.SEEK_CUR)
        assert file.read(10) == CONTENT[-18:-8]
    assert repository.asked[1][1] == "bytes=5-14"


def test_a_file_that_changes_between_requests_is_an_error(url: str, repository: Repository) -> None:
    with open_url_ranges(url) as file:
        repository.files["/x"] = CONTENT[::-1]
        with pytest.raises(DownloadError, match=r"from byte 0, got a (file that ch|server)"):
            file.read(10)


class Names:
    """Stands for the resolver: no name is found."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, host: str, *_: object, **__: object) -> NoReturn:
        self.asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    names = Names()
    monkeypatch.setattr(socket, "getaddrinfo", names)
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 30)
    for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    return names


@pytest.mark.parametrize("how", ["download", "stream", "probe"])
def test_a_name_that_does_not_resolve_is_tried_once_more_at_once(
    how: str, names: Names, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    start = time.monotonic()
    url = "https://nowhere.invalid/x"

    def ask() -> None:
        if how == "download":
            download(url, tmp_path)
        elif how == "stream":
            open_url(url)
        else:
            with Prober("", "") as prober:
                prober.head(url)

    message = r"got no connection to nowhere\.invalid \(Name or service not known\)"
    with caplog.at_level(logging.WARNING, "gluonish"), pytest.raises(DownloadError, match=message):
        ask()
    assert time.monotonic() - start < 10
    assert names.asked == ["nowhere.invalid"] * 2
    assert [record.getMessage() for record in caplog.records] == [
        "download: no connection to nowhere.invalid (Name or service not known); attempt 2 of 2"
    ]


def test_no_retries_means_none(names: Names, tmp_path: Path) -> None:
    with pytest.raises(DownloadError):
        download("https://nowhere.invalid/x", tmp_path, retries=0)
    assert len(names.asked) == 1
