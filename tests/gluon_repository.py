"""A gluon repository on 127.0.0.1 that can misbehave in the ways real ones do."""

import hashlib
import io
import re
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Repository:
    """What the server holds, how it behaves, and what it was asked."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str]] = []
        self.ranges = True
        self.tells_length = True
        # Bytes of the body after which the next answers are cut off, one number an answer.
        self.cuts: list[int] = []
        self.statuses: list[int] = []
        # What the next answers wait for between head and body, one event an answer.
        self.waits: list[threading.Event] = []
        self.url = ""
        self.lock = threading.Lock()
        self.both_there = threading.Barrier(2)

    def count(self, path: str) -> int:
        return sum(asked == path for asked, _ in self.asked)


def send(
    handler: BaseHTTPRequestHandler, content: bytes, event: threading.Event | None = None
) -> None:
    if event is not None:
        event.wait(timeout=60)
    try:
        handler.wfile.write(content)
    except (BrokenPipeError, ConnectionResetError):  # a client that closes early
        handler.close_connection = True


def handler_of(repository: Repository) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

        def do_GET(self) -> None:
            with repository.lock:
                repository.asked.append((self.path, self.headers.get("Range", "")))
                status = repository.statuses.pop(0) if repository.statuses else 200
            if self.path == "/meet":
                repository.both_there.wait(timeout=60)
            body = repository.files.get(self.path)
            if body is None or status != 200:
                self.send_error(404 if body is None else status)
                return
            self.answer(body)

        def answer(self, body: bytes) -> None:
            tag = f'"{hashlib.sha1(body).hexdigest()}"'
            wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            same = self.headers.get("If-Range", tag) == tag
            whole = not (wanted and same and repository.ranges)
            start = 0 if whole or wanted is None else int(wanted[1])
            end = len(body)
            if wanted and not whole and wanted[2]:
                end = min(end, int(wanted[2]) + 1)
            partial = not whole
            if start >= len(body) and start:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(body)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206 if partial else 200)
            if partial:
                self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(body)}")
            if repository.ranges:
                self.send_header("ETag", tag)
            if repository.tells_length:
                self.send_header("Content-Length", str(end - start))
            self.end_headers()
            with repository.lock:
                cut = repository.cuts.pop(0) if repository.cuts else len(body)
                event = repository.waits.pop(0) if repository.waits else None
            send(self, body[start : min(start + cut, end)], event)

    return Handler


@pytest.fixture
def repository() -> Iterator[Repository]:
    repository = Repository()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(repository))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    repository.url = f"http://127.0.0.1:{server.server_port}"
    yield repository
    server.shutdown()
    thread.join(timeout=60)
    server.server_close()


def zip_of(**members: bytes) -> bytes:
    """An archive; names may be any text through ``**{...}``."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.fixture(name="zip_of")
def zip_of_fixture():
    return zip_of
