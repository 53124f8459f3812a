"""A hub of networks on 127.0.0.1 with a second host for large files; both can misbehave."""

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import unquote

Headers = dict[str, str | None]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_secret"


class Asked(NamedTuple):
    """A request that one of the hosts received."""

    host: str
    method: str
    path: str
    token: str
    range: str


def git_hash(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Hub:
    """Files of one repository, and how the hosts behave."""

    def __init__(self, name: str = "org/tiny") -> None:
        self.name = name
        self.commit = COMMIT
        self.branches = {"main", "refs/pr/1"}
        self.files: dict[str, bytes] = {}
        self.large: set[str] = set()  # files of the second host
        self.sent: dict[str, bytes] = {}  # other content than was announced, by path
        self.cuts: list[int] = []  # bytes of the next answers' bodies, then the connection is cut
        self.statuses: list[int] = []  # of the next answers
        self.private = False
        self.headers: Headers = {}  # replaced (None: left out) in answers of the hub
        self.asked: list[Asked] = []
        self.url = self.large_url = ""
        self.lock = threading.Lock()

    def requests(self, method: str = "") -> list[str]:
        """Paths of files that were requested, from both hosts."""
        return [x.path.rsplit("/", 1)[-1] for x in self.asked if method in ("", x.method)]

    def etag(self, path: str) -> str:
        content = self.files[path]
        return hashlib.sha256(content).hexdigest() if path in self.large else git_hash(content)


class HubServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, hub: Hub, host: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.hub, self.host = hub, host


class Handler(BaseHTTPRequestHandler):
    server: HubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        get = self.headers.get
        token = get("Authorization", "").removeprefix("Bearer ")
        with self.server.hub.lock:
            asked = Asked(self.server.host, self.command, self.path, token, get("Range", ""))
            self.server.hub.asked.append(asked)
            status = self.server.hub.statuses.pop(0) if self.server.hub.statuses else 200
        if status != 200:
            self.close_with(status)
        elif self.server.host == "hub":
            self.answer_of_hub(token)
        else:
            self.send_file(unquote(self.path[1:]), {})

    def answer_of_hub(self, token: str) -> None:
        found = re.fullmatch(f"/{self.server.hub.name}/resolve/([^/]+)/(.+)", self.path)
        if self.server.hub.private and token != TOKEN:
            self.close_with(401, "GatedRepo")
        elif not found:
            self.close_with(404, "RepoNotFound")
        elif unquote(found[1]) not in self.server.hub.branches | {self.server.hub.commit}:
            self.close_with(404, "RevisionNotFound")
        elif unquote(found[2]) not in self.server.hub.files:
            self.close_with(404, "EntryNotFound")
        else:
            self.send_file_of_hub(unquote(found[2]))

    def send_file_of_hub(self, path: str) -> None:
        headers: Headers = {"X-Repo-Commit": self.server.hub.commit}
        if path in self.server.hub.large:
            headers["X-Linked-Etag"] = f'"{self.server.hub.etag(path)}"'
            headers["X-Linked-Size"] = str(len(self.server.hub.files[path]))
            headers["Location"] = f"{self.server.hub.large_url}/{path}"
            headers["Content-Length"] = "0"
            self.start(302, headers | self.server.hub.headers)
        else:
            self.send_file(
                path,
                headers | {"ETag": f'W/"{self.server.hub.etag(path)}"'} | self.server.hub.headers,
            )

    def send_file(self, path: str, headers: Headers) -> None:
        body = self.server.hub.sent.get(path, self.server.hub.files[path])
        start = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        first = int(start[1]) if start else 0
        headers = {"ETag": f'"{git_hash(body)}"', **headers}
        if first >= len(body) and first:
            total: Headers = {"Content-Range": f"bytes */{len(body)}", "Content-Length": "0"}
            self.start(416, headers | total)
            return
        if start:
            headers["Content-Range"] = f"bytes {first}-{len(body) - 1}/{len(body)}"
        length: Headers = {"Content-Length": str(len(body) - first)}
        self.start(206 if start else 200, length | headers)
        if self.command == "GET":
            with self.server.hub.lock:
                cut = self.server.hub.cuts.pop(0) if self.server.hub.cuts else len(body)
            self.wfile.write(body[first : first + cut])
            self.close_connection = cut < len(body) - first

    def close_with(self, status: int, code: str = "") -> None:
        headers = {"X-Error-Code": code or None, "Content-Length": "0"}
        if code == "EntryNotFound":
            headers["X-Repo-Commit"] = self.server.hub.commit
        self.start(status, headers | self.server.hub.headers)

    def start(self, status: int, headers: Headers) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """Serve a hub on two ports."""
    servers = [HubServer(hub, name) for name in ("hub", "large")]
    threads = []
    for server in servers:
        threads.append(
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.005})
        )
        threads[-1].start()
    hub.url, hub.large_url = (f"http://127.0.0.1:{server.server_port}" for server in servers)
    try:
        yield hub
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join(timeout=60)
            server.server_close()
