"""Servers that send a byte now and then: the fetch gives up, and says so."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gluonish.core.errors import DownloadError
from gluonish.gluon.download import http_fetch
from gluonish.gluon.download.checked_file import obtain
from tests.answering_server import OK, answering

STALL_S = 0.3
PAUSE_S = 0.03
CHUNK = 1 << 16
# What comes at once, and what comes byte by byte for 3 seconds, ten times as long as is waited.
TRICKLING = {
    "a head": (OK, b"X-Padding: " + b"a" * 100),
    "a status": (b"HTTP/1.1 ", b"200 " + b"O" * 100),
    "a body of told length": (OK + b"Content-Length: 5000\r\n\r\n", b"a" * 100),
    "a body without end": (OK + b"\r\n", b"a" * 100),
    "a chunk": (OK + b"Transfer-Encoding: chunked\r\n\r\n1000\r\n", b"a" * 100),
    "a chunk's length": (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 100),
    "a trailer": (OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", b"X: " + b"a" * 100),
    "a redirect's body": (
        b"HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 5000\r\n\r\n",
        b"a" * 100,
    ),
    "an interim answer": (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n" * 4),
}


@pytest.fixture(autouse=True)
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(http_fetch, "STALL_S", STALL_S)


def trickling(at_once: bytes, slowly: bytes) -> Callable[[], Iterator[bytes]]:
    def pieces() -> Iterator[bytes]:
        yield at_once
        for number in range(len(slowly)):
            time.sleep(PAUSE_S)
            yield slowly[number : number + 1]

    return pieces


def check_gives_up(url: str, folder: Path) -> None:
    began = time.monotonic()
    with pytest.raises(DownloadError) as caught:
        obtain(url, folder / "x", retries=1, verify_ssl=False, advice="do this")
    assert 2 * STALL_S < time.monotonic() - began < 5.0  # of 6 seconds that it takes
    assert str(caught.value) == (
        f"download: expected to fetch {url}, got {url} sent less than {CHUNK} bytes in "
        f"{STALL_S} seconds; do this"
    )
    assert not (folder / "x").exists()
    assert not [t for t in threading.enumerate() if t.name == "download-watch"]


@pytest.mark.parametrize("what", TRICKLING)
def test_what_comes_byte_by_byte_is_given_up(what: str, tmp_path: Path) -> None:
    with answering(trickling(*TRICKLING[what])) as url:
        check_gives_up(url, tmp_path)


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_an_agreement_on_keys_that_comes_byte_by_byte_is_given_up(tmp_path: Path) -> None:
    # A record of TLS that says it has 16,384 bytes.
    with answering(trickling(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xf0\x03\x03", bytes(100))) as url:
        check_gives_up(url.replace("http:", "https:"), tmp_path)


def test_what_a_proxy_sends_byte_by_byte_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(trickling(*TRICKLING["a head"])) as url:
        monkeypatch.setenv("http_proxy", url.removesuffix("/x"))
        check_gives_up("http://example.invalid/x", tmp_path)


def test_what_comes_slowly_but_steadily_is_waited_for(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield OK + b"Content-Length: %d\r\n\r\n" % (8 * CHUNK)
        for number in range(8):
            time.sleep(STALL_S / 3)
            yield bytes([number]) * CHUNK

    began = time.monotonic()
    with answering(pieces) as url:
        found = obtain(url, tmp_path / "x", retries=0)
    assert time.monotonic() - began > 2 * STALL_S
    assert found.read_bytes() == b"".join(bytes([number]) * CHUNK for number in range(8))
