"""Servers that answer what no server should, or more than they may."""

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gluonish.core.errors import ArgumentError, DownloadError
from gluonish.gluon.download import http_fetch, target
from gluonish.gluon.download.checked_file import download, obtain
from tests.answering_server import OK, answering, redirect

CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ODD = {
    "a redirect to half an address": redirect(b"http://[::1/x"),
    "a redirect to an address of letters": redirect(b"http://[zz]/x"),
    "a redirect to an empty label": redirect(b"http://a..b/x"),
    "a redirect to a long label": redirect(b"http://" + b"a" * 300 + b".com/x"),
    "a redirect in no encoding": redirect(b"http://\xff\xfe/x"),
    "a redirect to a port beyond all": redirect(b"http://127.0.0.1:99999/x"),
    "a chunk of negative length": CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n",
    "a chunk of no length": CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n",
    "lengths that differ": OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "no HTTP": b"hello\r\n\r\n",
}


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)


@pytest.mark.parametrize("what", ODD)
def test_an_odd_answer_is_refused_with_the_url(what: str, tmp_path: Path) -> None:
    with answering(ODD[what]) as url, pytest.raises(DownloadError) as caught:
        obtain(url, tmp_path / "x", retries=1, advice="do this")
    assert str(caught.value).startswith(f"download: expected to fetch {url}, got ")
    assert str(caught.value).endswith("; do this")
    assert not (tmp_path / "x").exists()


def test_redirects_in_a_circle_are_not_repeated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        answering(redirect(b"/x")) as url,
        pytest.raises(DownloadError, match="Exceeded 30 redirects"),
    ):
        obtain(url, tmp_path / "x", retries=3)
    assert not caplog.records


@pytest.mark.parametrize(
    "url", ["http://[::1/x", "http://[zz]/x", "file://[/x", "a\0b", "file:///a%00b"]
)
def test_what_is_no_url_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="expected a URL, got "):
        download(url, tmp_path)


@pytest.mark.parametrize("host", ["a..b", "a" * 300])
def test_a_host_that_cannot_be_is_told_with_the_url(host: str, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=f"expected to fetch http://{host}/x, got"):
        download(f"http://{host}/x", tmp_path)


def test_a_name_too_long_for_a_file_is_refused(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/" + "a" * 300
    with pytest.raises(ArgumentError, match="ends in a file name"):
        download(url, tmp_path)


def test_what_a_server_says_cannot_steer_a_terminal(tmp_path: Path) -> None:
    with (
        answering(b"HTTP/1.1 404 \x1b[31m" + b"A" * 3000 + b"\r\n\r\n") as url,
        pytest.raises(DownloadError, match=r"404 \\x1b\[31mAAA") as caught,
    ):
        download(url, tmp_path)
    assert len(str(caught.value)) < 700


def endless(head: bytes, piece: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: itertools.chain([head], itertools.repeat(piece))


def test_a_body_of_untold_length_ends_at_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "UNANNOUNCED_NBYTES", 1 << 20)
    body = endless(OK + b"\r\n", bytes(1 << 16))
    with (
        answering(body) as url,
        pytest.raises(DownloadError, match=f"more than {1 << 20} bytes, a size that"),
    ):
        download(url, tmp_path, sha1_hash="0" * 40)
    assert not (tmp_path / "x.part").exists()


def test_a_body_of_untold_length_leaves_room_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 1 << 20})
    monkeypatch.setattr(target.shutil, "disk_usage", lambda folder: usage)  # type: ignore[attr-defined]
    body = endless(OK + b"\r\n", bytes(1 << 16))
    with (
        answering(body) as url,
        pytest.raises(DownloadError, match=f"more than {(1 << 20) - (1 << 20) // 10} bytes"),
    ):
        download(url, tmp_path)


def test_more_chunks_than_were_told_are_refused(tmp_path: Path) -> None:
    chunk = b"10000\r\n" + bytes(1 << 16) + b"\r\n"
    head = OK + b"Content-Length: 100000\r\nTransfer-Encoding: chunked\r\n\r\n"
    with (
        answering(endless(head, chunk)) as url,
        pytest.raises(DownloadError, match="sent more than the announced 100000 bytes"),
    ):
        download(url, tmp_path, retries=1)
    assert not (tmp_path / "x.part").exists()


def test_more_than_the_disk_has_is_refused_before_it_is_fetched(tmp_path: Path) -> None:
    with (
        answering(OK + b"Content-Length: 999999999999999999\r\n\r\nhello") as url,
        pytest.raises(DownloadError, match=r"bytes free for 999999999999999999; free some space"),
    ):
        download(url, tmp_path)
    assert not (tmp_path / "x.part").exists()


def test_a_part_of_untold_length_is_continued(tmp_path: Path, repository) -> None:
    content = repository.files["/f"] = bytes(range(256)) * 1000
    repository.tells_length = False
    url = f"{repository.url}/f"
    tag = f'"{hashlib.sha1(content).hexdigest()}"'
    (tmp_path / "f.part").write_bytes(content[:1000])
    known = {"url": url, "length": None, "validator": tag}
    (tmp_path / "f.part.json").write_text(json.dumps(known))
    assert Path(download(url, tmp_path)).read_bytes() == content
    assert repository.asked == [("/f", "bytes=1000-")]


@pytest.mark.parametrize("source", ["/dev/zero", "."])
def test_what_is_no_file_is_not_copied(source: str, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"expected to copy .*, got a path that is not a file"):
        download(source, tmp_path / "x")


def test_a_file_over_the_bound_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(1001))
    with pytest.raises(DownloadError, match="got 1001 bytes, more than 1000"):
        obtain(str(tmp_path / "a"), tmp_path / "x", max_nbytes=1000)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DownloadError, match=r"a writable folder, got .*MXNET_HOME"):
        download("http://127.0.0.1:9/f", tmp_path / "file" / "f")
