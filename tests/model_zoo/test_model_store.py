"""Weights of the model zoo, from a server on this machine."""

import errno
import hashlib
import io
import os
import random
import re
import stat
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gluonish.core.config import MXNET_GLUON_REPO, MXNET_HOME
from gluonish.core.errors import ArgumentError, DownloadError
from gluonish.gluon.download import http_fetch
from gluonish.model_zoo import model_store
from gluonish.model_zoo.model_store import (
    WEIGHT_HASHES,
    get_model_file,
    purge,
    short_hash,
    weights_path,
    weights_url,
)
from gluonish.ndarray import load

ROOT = Path(__file__).parents[2]
NAME = "squeezenet1.1"
DATA = random.Random(3).randbytes(200_000)
SHA1 = hashlib.sha1(DATA).hexdigest()
MEMBER = f"{NAME}-{SHA1[:8]}.params"
ZIP_PATH = f"/gluon/models/{NAME}-{SHA1[:8]}.zip"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(http_fetch, "_CHUNK_NBYTES", 10_000)
    monkeypatch.setitem(WEIGHT_HASHES, NAME, SHA1)
    with MXNET_HOME.override(str(tmp_path / "home")):
        yield tmp_path / "home" / "models"


@pytest.fixture
def served(repository, zip_of):
    repository.files[ZIP_PATH] = zip_of(**{MEMBER: DATA})
    with MXNET_GLUON_REPO.override(repository.url):
        yield repository


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_every_vision_model_has_a_hash() -> None:
    assert len(WEIGHT_HASHES) == 34
    assert all(re.fullmatch("[0-9a-f]{40}", sha1) for sha1 in WEIGHT_HASHES.values())


def test_short_hash_is_the_published_one() -> None:
    assert short_hash("alexnet") == "44335d1f"


@pytest.mark.parametrize("function", [short_hash, get_model_file])
def test_unknown_model_is_refused(function) -> None:
    with pytest.raises(ArgumentError, match="pretrained model for foo is not available"):
        function("foo")


def test_weights_are_fetched_into_the_home(served, home: Path) -> None:
    assert get_model_file(NAME) == str(home / MEMBER)
    assert (home / MEMBER).read_bytes() == DATA
    assert visible(home) == [MEMBER]


def test_weights_are_fetched_once(served, home: Path) -> None:
    get_model_file(NAME)
    get_model_file(NAME)
    assert served.count(ZIP_PATH) == 1


def test_root_may_be_given(served, tmp_path: Path) -> None:
    assert get_model_file(NAME, str(tmp_path / "other")) == str(tmp_path / "other" / MEMBER)


def test_valid_file_is_used_without_a_network(home: Path) -> None:
    home.mkdir(parents=True)
    (home / MEMBER).write_bytes(DATA)
    with MXNET_GLUON_REPO.override("http://127.0.0.1:9"):
        assert get_model_file(NAME) == str(home / MEMBER)
    assert list(home.iterdir()) == [home / MEMBER]


def test_file_that_mxnet_left_is_used_as_it_is(home: Path, monkeypatch) -> None:
    content = (ROOT / "tests" / "golden" / "cnn.params").read_bytes()
    sha1 = hashlib.sha1(content).hexdigest()
    monkeypatch.setitem(WEIGHT_HASHES, NAME, sha1)
    home.mkdir(parents=True)
    path = home / f"{NAME}-{sha1[:8]}.params"
    path.write_bytes(content)
    before = path.stat()
    with MXNET_GLUON_REPO.override("http://127.0.0.1:9"):
        assert get_model_file(NAME) == str(path)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert load(path).keys() == load(ROOT / "tests" / "golden" / "cnn.params").keys()


def test_tilde_stands_for_the_home_of_the_user(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert weights_path(NAME, "~/weights") == tmp_path / "weights" / MEMBER


@pytest.mark.parametrize("base", ["http://a.org", "http://a.org/", "file:///a", "/a", "/a/"])
def test_published_address_has_one_slash(base: str) -> None:
    with MXNET_GLUON_REPO.override(base):
        assert weights_url(NAME) == base.rstrip("/") + ZIP_PATH


def test_threads_make_one_download(served, home: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        paths = [*pool.map(lambda _: get_model_file(NAME), range(4), timeout=60)]
    assert paths == [str(home / MEMBER)] * 4
    assert served.count(ZIP_PATH) == 1
    assert visible(home) == [MEMBER]


def test_damaged_file_is_fetched_again(served, home: Path) -> None:
    home.mkdir(parents=True)
    (home / MEMBER).write_bytes(DATA[:-1])
    get_model_file(NAME)
    assert (home / MEMBER).read_bytes() == DATA


def test_cut_download_goes_on(served, home: Path) -> None:
    served.cuts = [70_000]
    get_model_file(NAME)
    assert [asked for _, asked in served.asked] == ["", "bytes=70000-"]


@pytest.mark.parametrize("form", ["{}", "{}/", "file://{}", "file://{}/"])
def test_repository_may_be_a_folder(form: str, tmp_path: Path, home: Path, zip_of) -> None:
    archive = tmp_path / "mirror" / ZIP_PATH[1:]
    archive.parent.mkdir(parents=True)
    archive.write_bytes(zip_of(**{MEMBER: DATA}))
    with MXNET_GLUON_REPO.override(form.format(tmp_path / "mirror")):
        assert Path(get_model_file(NAME)).read_bytes() == DATA
    assert archive.exists()
    assert visible(home) == [MEMBER]


def test_wrong_hash_is_tried_twice_and_leaves_nothing(served, home: Path, zip_of) -> None:
    served.files[ZIP_PATH] = zip_of(**{MEMBER: b"other"})
    got = hashlib.sha1(b"other").hexdigest()
    with pytest.raises(DownloadError, match=f"expected the SHA-1 {SHA1}, got {got}"):
        get_model_file(NAME)
    assert served.count(ZIP_PATH) == 2
    assert visible(home) == []


@pytest.mark.parametrize("body", [b"", b"<html>error</html>", b"PK\x05\x06" + bytes(18)])
def test_archive_that_is_none_is_told(served, home: Path, body: bytes) -> None:
    served.files[ZIP_PATH] = body
    with pytest.raises(DownloadError, match=r"expected (a zip archive|squeezenet.* inside), got"):
        get_model_file(NAME)
    assert visible(home) == []


def test_damaged_archive_is_told(served, home: Path) -> None:
    archive = bytearray(served.files[ZIP_PATH])
    archive[5000] ^= 1
    served.files[ZIP_PATH] = bytes(archive)
    with pytest.raises(DownloadError, match=r"expected a zip archive, got Bad CRC-32"):
        get_model_file(NAME)
    assert visible(home) == []


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/tmp/evil", "..\\evil", "C:\\evil"])
def test_archive_that_leaves_its_folder_is_refused(served, home: Path, zip_of, name: str) -> None:
    served.files[ZIP_PATH] = zip_of(**{name: b"evil", MEMBER: DATA})
    with pytest.raises(DownloadError, match=r"expected regular files.*which leaves its folder"):
        get_model_file(NAME)
    assert visible(home) == []
    assert not list(home.parents[1].rglob("*evil*"))


def test_archive_with_a_link_is_refused(served, home: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo(MEMBER)
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    served.files[ZIP_PATH] = path.read_bytes()
    with pytest.raises(DownloadError, match="is a link or a device"):
        get_model_file(NAME)
    assert visible(home) == []


def test_member_over_the_bound_is_refused(served, home: Path, monkeypatch) -> None:
    monkeypatch.setattr(model_store, "_MAX_NBYTES", 1000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MEMBER, bytes(200_000))
    served.files[ZIP_PATH] = packed.getvalue()
    with pytest.raises(DownloadError, match=f"got '{MEMBER}' of 200000 bytes"):
        get_model_file(NAME)
    assert visible(home) == []


@pytest.mark.parametrize("told", [True, False])
def test_archive_over_the_bound_is_refused(served, home: Path, monkeypatch, told: bool) -> None:
    monkeypatch.setattr(model_store, "_MAX_NBYTES", 1000)
    served.tells_length = told
    with pytest.raises(DownloadError, match=r"expected to fetch http://.*more than 1000"):
        get_model_file(NAME)
    assert visible(home) == []
    assert served.count(ZIP_PATH) == 1


def test_only_the_expected_member_is_taken(served, home: Path, zip_of) -> None:
    served.files[ZIP_PATH] = zip_of(**{"README": b"hello", MEMBER: DATA})
    get_model_file(NAME)
    assert visible(home) == [MEMBER]


def test_no_server_tells_what_to_put_where(home: Path, monkeypatch) -> None:
    with (
        MXNET_GLUON_REPO.override("http://127.0.0.1:9/base"),
        pytest.raises(DownloadError) as caught,
    ):
        get_model_file(NAME)
    message = str(caught.value)
    assert f"http://127.0.0.1:9/base{ZIP_PATH}" in message
    assert f"put {MEMBER} with the SHA-1 {SHA1} into {home}" in message
    assert "MXNET_GLUON_REPO" in message


def test_missing_archive_is_told(repository) -> None:
    with (
        MXNET_GLUON_REPO.override(repository.url),
        pytest.raises(DownloadError, match="got 404 Not Found; without a network put"),
    ):
        get_model_file(NAME)


def test_full_disk_while_unpacking_is_told(tmp_path: Path, home: Path, zip_of, monkeypatch) -> None:
    archive = tmp_path / "mirror" / ZIP_PATH[1:]
    archive.parent.mkdir(parents=True)
    archive.write_bytes(zip_of(**{MEMBER: DATA}))

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with (
        MXNET_GLUON_REPO.override(str(tmp_path / "mirror")),
        pytest.raises(DownloadError, match=f"expected free space for {MEMBER} .*free some space"),
    ):
        get_model_file(NAME)
    assert visible(home) == []


PROGRAM = f"""
import resource, signal, sys
from gluonish.core.errors import DownloadError
from gluonish.model_zoo.model_store import get_model_file
from gluonish.model_zoo.model_store import WEIGHT_HASHES
from gluonish.ndarray import load
WEIGHT_HASHES[{NAME!r}] = {SHA1!r}
"""


def start(program: str, repository, home: Path) -> subprocess.Popen:  # type: ignore[type-arg]
    environment = {
        **os.environ,
        "MXNET_GLUON_REPO": repository.url,
        "MXNET_HOME": str(home.parent),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "engine")]),
    }
    command = [sys.executable, "-c", PROGRAM + program]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_full_disk_while_fetching_is_told(served, home: Path) -> None:
    program = """
sys.dont_write_bytecode = True  # Python would keep what it could write of a module
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
try:
    get_model_file("squeezenet1.1")
except DownloadError as error:
    print(error)
"""
    with start(program, served, home) as process:
        output, _ = process.communicate(timeout=120)
    assert "expected free space for" in output
    assert visible(home) == []


def test_two_processes_make_one_download(served, home: Path) -> None:
    served.files["/meet"] = b"go"
    program = f"""
import requests
requests.get("{served.url}/meet", timeout=60)
print(get_model_file("squeezenet1.1"))
"""
    with start(program, served, home) as first, start(program, served, home) as second:
        outputs = [process.communicate(timeout=120)[0].strip() for process in (first, second)]
    assert outputs == [str(home / MEMBER)] * 2
    assert served.count(ZIP_PATH) == 1
    assert visible(home) == [MEMBER]


def test_purge_removes_weights_and_leftovers_only(home: Path) -> None:
    home.mkdir(parents=True)
    part = f"{NAME}-{SHA1[:8]}.zip.part"
    for name in ("a.params", "b.params", part, f"{part}.json", "mine.txt", "mine.zip.part"):
        (home / name).write_bytes(b"")
    purge()
    assert visible(home) == ["mine.txt", "mine.zip.part"]


def test_purge_of_a_missing_folder_is_nothing(tmp_path: Path) -> None:
    purge(str(tmp_path / "none"))
