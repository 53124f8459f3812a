"""Servers that answer what no server should, addresses that are none, folders that take nothing."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gluonish.core.errors import GluonishError
from gluonish.gluon.download import download, http_fetch
from tests.answering_server import OK, answering, redirect

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "port 99999": redirect(b"http://127.0.0.1:99999/x"),
    "port abc": redirect(b"http://127.0.0.1:abc/x"),
    "port neg": redirect(b"http://127.0.0.1:-1/x"),
    "brackets": redirect(b"http://[::1/x"),
    "brackets2": redirect(b"http://[zz]/x"),
    "empty host": redirect(b"http:///x"),
    "scheme ftp": redirect(b"ftp://127.0.0.1/x"),
    "scheme file": redirect(b"file:///etc/passwd"),
    "idna": redirect("http://\u2024.\u2488com/x".encode()),
    "idna2": redirect(b"http://" + b"a" * 300 + b".com/x"),
    "dots": redirect(b"http://a..b/x"),
    "nul": redirect(b"http://a\0b/x"),
    "badutf8": redirect(b"http://\xff\xfe/x"),
    "percent": redirect(b"http://127.0.0.1:%d/%zz%"),
    "long": redirect(b"http://127.0.0.1/" + b"a" * 70000),
    "star": redirect(b"http://*/x"),
    "empty loc": redirect(b""),
    "chunk neg": CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n",
    "chunk zz": CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n",
    "chunk huge": CHUNKED + b"f" * 400 + b"\r\nhello\r\n0\r\n\r\n",
    "chunk 2^63": CHUNKED + b"8000000000000000\r\nhello\r\n",
    "chunk 2^62": CHUNKED + b"4000000000000000\r\nhello\r\n",
    "chunk empty": CHUNKED + b"\r\nhello\r\n0\r\n\r\n",
    "chunk under": CHUNKED + b"1_0\r\nhello\r\n0\r\n\r\n",
    "chunk nonascii": CHUNKED + b"\xd9\xa1\r\nh\r\n0\r\n\r\n",
    "chunk cut": CHUNKED + b"5\r\nhel",
    "chunk nonl": CHUNKED + b"5",
    "len neg": OK + b"Content-Length: -5\r\n\r\nhello",
    "len two": OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "len comma": OK + b"Content-Length: 5, 5\r\n\r\nhello",
    "len comma2": OK + b"Content-Length: 5, 6\r\n\r\nhello",
    "len abc": OK + b"Content-Length: abc\r\n\r\nhello",
    "len huge": OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nhello",
    "len 2^70": OK + b"Content-Length: " + str(1 << 70).encode() + b"\r\n\r\nhello",
    "status text": b"HTTP/1.1 abc OK\r\n\r\n",
    "status 99999": b"HTTP/1.1 99999 OK\r\n\r\n",
    "status -1": b"HTTP/1.1 -1 OK\r\n\r\n",
    "not http": b"hello\r\n\r\n",
    "http/9": b"HTTP/9.9 200 OK\r\n\r\nhello",
    "nothing": b"",
    "half status": b"HTTP/1.1 200",
    "many headers": OK + b"".join(b"X-%d: a\r\n" % i for i in range(5000)) + b"\r\n",
    "long header": OK + b"X: " + b"a" * 100000 + b"\r\n\r\n",
    "bad header": OK + b"no colon\r\nContent-Length: 5\r\n\r\nhello",
    "gzip bad": OK + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    "deflate bad": OK + b"Content-Encoding: deflate\r\nContent-Length: 5\r\n\r\nhello",
    "br": OK + b"Content-Encoding: br\r\nContent-Length: 5\r\n\r\nhello",
    "many enc": OK
    + b"Content-Encoding: "
    + b"gzip," * 50
    + b"gzip\r\nContent-Length: 5\r\n\r\nhello",
    "range lie": b"HTTP/1.1 206 P\r\nContent-Range: bytes 0-4/5\r\nContent-Length: 5\r\n\r\nhello",
    "416": b"HTTP/1.1 416 P\r\nContent-Range: bytes */5\r\nContent-Length: 0\r\n\r\n",
    "100s": b"HTTP/1.1 100 Continue\r\n\r\n" * 200 + OK + b"Content-Length: 5\r\n\r\nhello",
    "cookie": OK
    + b"Set-Cookie: a=b; expires=\xff; domain=..; path=/\x00\r\nContent-Length: 5\r\n\r\nhello",
    "304": b"HTTP/1.1 304 Not\r\n\r\n",
    "204": b"HTTP/1.1 204 No\r\n\r\n",
    "300": b"HTTP/1.1 300 Many\r\nContent-Length: 0\r\n\r\n",
    "401 digest": b"HTTP/1.1 401 No\r\nWWW-Authenticate: Digest \xff\r\nContent-Length: 0\r\n\r\n",
    "reason bin": b"HTTP/1.1 404 \xff\xfe\x1b[31m" + b"A" * 3000 + b"\r\nContent-Length: 0\r\n\r\n",
}

HOST = "http://127.0.0.1:1"
ADDRESSES = (
    *("http://127.0.0.1:99999/x", "http://[::1/x", "http://", "http://a b/x", "http://[zz]/x"),
    *("http://a:b/x", "https://\0/x", f"{HOST}/a\nb", f"{HOST}/%2e%2e", f"{HOST}/..", f"{HOST}/."),
    *(f"{HOST}/x?y=/../../etc", f"{HOST}/a?b=c", f"{HOST}/a\\..\\b", f"{HOST}/a\0b", f"{HOST}/"),
    *(f"{HOST}/" + "a" * 300, f"{HOST}/\x1b[31m", "ftp://x/y", "file://[/x", "file:///a%00b"),
    *("http://" + "a" * 300 + "/x", "http://a..b/x", "//x/y", "a\0b", "file:///etc/", "", "."),
    *("file:///dev/zero", "/dev/zero", "file://host/x", "http://\udcff/x", f"{HOST}/\udcff"),
    *("file:///dev/stdin", "gopher://x/y", "data:text/plain,x", "javascript:1", "http:///x"),
)


def problem_of(url: str, folder: Path) -> str:
    """Return what is wrong after an attempt to fetch an address, or nothing."""
    start = time.monotonic()
    problem = ""
    (folder / "inside").mkdir(parents=True)
    try:
        download(url, folder / "inside", retries=1)
    except GluonishError as error:
        # Addresses stand in messages; what servers say is cut.
        if len(str(error)) > 1500:
            problem = f"a message of {len(str(error))} characters"
    except Exception as error:  # all others are what the attack looks for
        problem = repr(error)[:200]
    if time.monotonic() - start > 10:
        problem = f"{time.monotonic() - start} s"
    if [path.name for path in folder.iterdir()] != ["inside"]:
        problem = "something outside the folder"
    return problem


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)


def test_odd_answers_are_refused(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    failed = {}
    for number, (what, answer) in enumerate(ANSWERS.items()):
        with answering(answer) as url:
            problem = problem_of(url, tmp_path / str(number))
        if problem:
            failed[what] = problem
    record_property("answers tried", len(ANSWERS))
    assert not failed


def test_odd_addresses_are_refused(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    failed = {}
    for number, url in enumerate(ADDRESSES):
        problem = problem_of(url, tmp_path / str(number))
        if problem:
            failed[url] = problem
    record_property("addresses tried", len(ADDRESSES))
    assert not failed


def test_a_server_that_leads_in_circles_is_left(tmp_path: Path) -> None:
    with answering(redirect(b"/x")) as url:
        assert problem_of(url, tmp_path / "a") == ""


PROGRAM = """
import os, sys
import gluonish as mx
from gluonish.core.errors import GluonishError
from gluonish.gluon.model_zoo import vision
from gluonish.contrib.text import embedding
def attempt(what):
    try:
        what()
    except GluonishError as error:
        sys.stdout.write(f"{type(error).__name__}: {error}\\n")
    except BaseException as error:
        sys.stdout.write(f"RAW {error!r}\\n")
attempt(lambda: vision.squeezenet1_1(pretrained=True))
attempt(lambda: mx.gluon.data.vision.MNIST())
attempt(lambda: mx.gluon.utils.download("http://127.0.0.1:1/x", os.environ["MXNET_HOME"] + "/y/x"))
attempt(lambda: embedding.GloVe("glove.6B.50d.txt"))
net = mx.gluon.nn.Dense(2, in_units=3)
net.initialize()
net.hybridize()
sys.stdout.write(f"goes on {net(mx.nd.ones((1, 3))).shape}\\n")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="these are folders of Unix")
@pytest.mark.parametrize("home", ["/proc/gluonish", "/dev/null/gluonish", "/sys/gluonish"])
def test_a_home_that_cannot_be_written_is_told_and_the_program_goes_on(home: str) -> None:
    environment = os.environ | {
        "MXNET_HOME": home,
        "MXNET_GLUON_REPO": "http://127.0.0.1:1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "engine")]),
    }
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    *refusals, last = result.stdout.splitlines()
    assert last == "goes on (1, 2)"
    assert len(refusals) == 4
    for refusal in refusals:
        assert refusal.startswith("DownloadError: download: expected a folder that can be written")
        assert "MXNET_HOME" in refusal
