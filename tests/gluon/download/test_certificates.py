"""TLS: whom a download trusts, and what it says where it does not."""

import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gluonish.core.errors import DownloadError
from gluonish.gluon.download.checked_file import download

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="the command openssl makes the certificates"
)

DATA = b"weights" * 1000
NAME = "IP:127.0.0.1"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(DATA)))
        self.end_headers()
        self.wfile.write(DATA)


def certificate(folder: Path, name: str) -> Path:
    """Make a key and a certificate that signs itself, in one file."""
    path = folder / "server.pem"
    command = [
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-subj", "/CN=test", "-addext", f"subjectAltName={name}"),
        *("-keyout", str(path), "-out", str(folder / "certificate.pem")),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    path.write_bytes(path.read_bytes() + (folder / "certificate.pem").read_bytes())
    return path


@pytest.fixture
def serve() -> Iterator[Callable[[Path], str]]:
    """Give a function that serves under a certificate, and returns the URL of a file."""
    servers: list[ThreadingHTTPServer] = []

    def start(pem: Path) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # A handshake that fails is told to the client; here it need not be printed.
        server.handle_error = lambda *arguments: None  # type: ignore[method-assign]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        servers.append(server)
        return f"https://127.0.0.1:{server.server_port}/f.bin"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def no_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)


def trust(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(folder / "certificate.pem"))


def test_a_certificate_that_signs_itself_is_refused(serve, tmp_path: Path) -> None:
    url = serve(certificate(tmp_path, NAME))
    with pytest.raises(DownloadError, match=r"expected to fetch https://.*REQUESTS_CA_BUNDLE"):
        download(url, tmp_path)
    assert not (tmp_path / "f.bin").exists()


def test_a_certificate_of_the_users_bundle_is_trusted(serve, tmp_path, monkeypatch) -> None:
    url = serve(certificate(tmp_path, NAME))
    trust(monkeypatch, tmp_path)
    assert Path(download(url, tmp_path)).read_bytes() == DATA


def test_a_certificate_of_another_host_is_refused(serve, tmp_path, monkeypatch) -> None:
    url = serve(certificate(tmp_path, "DNS:example.org"))
    trust(monkeypatch, tmp_path)
    with pytest.raises(DownloadError, match=r"IP address mismatch.*REQUESTS_CA_BUNDLE"):
        download(url, tmp_path)


def test_an_expired_certificate_is_refused(serve, tmp_path, monkeypatch) -> None:
    pem = certificate(tmp_path, NAME)
    signed = tmp_path / "certificate.pem"
    known = subprocess.run(["openssl", "x509", "-help"], capture_output=True, timeout=60)
    if b"-not_after" in known.stdout + known.stderr:  # OpenSSL 3.4; 3.6 refuses negative days
        days = ["-not_before", "20200101000000Z", "-not_after", "20200102000000Z"]
    else:
        days = ["-days", "-1"]
    renew = ["openssl", "x509", "-in", signed, "-signkey", pem, *days, "-out", signed]
    subprocess.run(renew, check=True, capture_output=True, timeout=60)
    pem.write_bytes(pem.read_bytes().partition(b"-----BEGIN CERT")[0] + signed.read_bytes())
    trust(monkeypatch, tmp_path)
    with pytest.raises(DownloadError, match=r"certificate has expired.*REQUESTS_CA_BUNDLE"):
        download(serve(pem), tmp_path)


def test_whoever_wants_no_checks_gets_none_beside_a_bundle(serve, tmp_path, monkeypatch) -> None:
    url = serve(certificate(tmp_path, NAME))
    (tmp_path / "others").mkdir()
    certificate(tmp_path / "others", NAME)
    trust(monkeypatch, tmp_path / "others")
    with pytest.warns(match="Unverified HTTPS request"):
        path = download(url, tmp_path, verify_ssl=False)
    assert Path(path).read_bytes() == DATA


def test_a_refused_certificate_is_asked_for_once(serve, tmp_path, caplog) -> None:
    url = serve(certificate(tmp_path, NAME))
    with pytest.raises(DownloadError):
        download(url, tmp_path, retries=5)
    assert "attempt" not in caplog.text
