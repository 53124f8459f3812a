"""Networks of a hub on this machine: downloaded, continued, found in the cache, and refused."""

import errno
import json
import os
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from gluonish.core.config import (
    HF_ENDPOINT,
    HF_HOME,
    HF_HUB_CACHE,
    HF_HUB_OFFLINE,
    HF_TOKEN,
    HF_TOKEN_PATH,
)
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    ConfigError,
    DownloadError,
    FileFormatError,
    MissingFileError,
)
from gluonish.gluon.download import http_fetch
from gluonish.model_zoo import from_pretrained
from gluonish.model_zoo.pretrained import hub_cache
from gluonish.model_zoo.pretrained.hub import snapshot
from tests.model_zoo.pretrained.hub_server import COMMIT, TOKEN, Hub, git_hash, serving

NAME = "org/tiny"
WEIGHTS = random.Random(5).randbytes(200_000)
SHARDS = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
INDEX = json.dumps({"weight_map": {"a": SHARDS[0], "b": SHARDS[1]}}).encode()
MODULES = json.dumps([{"path": ""}, {"path": "1_Pooling"}]).encode()


@pytest.fixture(scope="module")
def server() -> Iterator[Hub]:
    with serving(Hub()) as hub:
        yield hub


@pytest.fixture
def hub(server: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    urls = server.url, server.large_url
    server.__init__()  # type: ignore[misc]  # as new, on the same ports
    server.url, server.large_url = urls
    server.files = {"config.json": b"{}", "model.safetensors": WEIGHTS, "tokenizer.json": b"{ }"}
    server.large = {"model.safetensors"}
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(http_fetch, "_CHUNK_NBYTES", 10_000)
    for name in ("HF_HUB_CACHE", "HF_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    with HF_HOME.override(str(tmp_path / "home")), HF_ENDPOINT.override(server.url):
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / "hub" / "models--org--tiny"


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder, as a program reads them."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_files_lie_as_in_the_cache_of_other_programs(hub: Hub, folder: Path) -> None:
    hub.files |= {"modules.json": MODULES, "1_Pooling/config.json": b"[]", "pytorch_model.bin": b""}
    found = snapshot(NAME)
    assert found == folder / "snapshots" / COMMIT
    assert contents(found) == {k: v for k, v in hub.files.items() if k != "pytorch_model.bin"}
    assert (folder / "refs" / "main").read_bytes() == COMMIT.encode()
    blobs = sorted(path.name for path in (folder / "blobs").iterdir())
    assert blobs == sorted(hub.etag(path) for path in contents(found))
    link = os.readlink(found / "1_Pooling" / "config.json")
    assert link == f"../../../blobs/{git_hash(b'[]')}"
    locks = folder.parent / ".locks" / folder.name
    assert sorted(path.stem for path in locks.iterdir()) == blobs
    missing = folder / ".no_exist" / COMMIT
    assert "generation_config.json" in contents(missing)
    assert not missing.joinpath("config.json").exists()


def test_what_is_there_is_not_requested_again(hub: Hub) -> None:
    first = snapshot(NAME)
    hub.asked.clear()
    assert snapshot(NAME) == first
    assert hub.requests() == ["config.json"]  # which commit is it today?
    hub.asked.clear()
    assert snapshot(NAME, COMMIT) == first
    assert hub.asked == []


def test_a_new_version_takes_equal_contents_from_the_cache(hub: Hub, folder: Path) -> None:
    old = snapshot(NAME)
    hub.commit = COMMIT[::-1]
    hub.files["config.json"] = b'{"new": 1}'
    new = snapshot(NAME)
    assert hub.requests("GET").count("model.safetensors") == 2  # of the hub and the other host
    assert (old / "config.json").read_bytes() == b"{}"
    assert (new / "config.json").read_bytes() == b'{"new": 1}'
    assert os.readlink(old / "model.safetensors") == os.readlink(new / "model.safetensors")
    assert (folder / "refs" / "main").read_text() == COMMIT[::-1]


def test_a_branch_with_slashes(hub: Hub, folder: Path) -> None:
    snapshot(NAME, "refs/pr/1")
    assert (folder / "refs" / "refs" / "pr" / "1").read_text() == COMMIT


def test_shards_are_those_of_the_index(hub: Hub) -> None:
    del hub.files["model.safetensors"]
    hub.files |= {"model.safetensors.index.json": INDEX, SHARDS[0]: b"a", SHARDS[1]: b"b"}
    hub.large = set(SHARDS)
    assert {*SHARDS} <= set(contents(snapshot(NAME)))


def test_only_named_files(hub: Hub) -> None:
    found = snapshot(NAME, files=["tokenizer.json"], optional=["tokenizer_config.json"])
    assert [*contents(found)] == ["tokenizer.json"]
    with pytest.raises(DownloadError, match=r"expected vocab\.txt in org/tiny at main on http:"):
        snapshot(NAME, files=["vocab.txt"])


def test_an_interrupted_content_is_continued(hub: Hub) -> None:
    hub.cuts = [2, 50_000, 60_000]  # config.json, then twice the weights
    assert (snapshot(NAME) / "model.safetensors").read_bytes() == WEIGHTS
    ranges = [x.range for x in hub.asked if x.host == "large"]
    assert ranges == ["", "bytes=50000-", "bytes=110000-"]


def test_a_partial_file_of_another_program_is_continued(hub: Hub, folder: Path) -> None:
    partial = folder / "blobs" / f"{hub.etag('model.safetensors')}.incomplete"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(WEIGHTS[:1234])
    assert (snapshot(NAME) / "model.safetensors").read_bytes() == WEIGHTS
    assert [x.range for x in hub.asked if x.host == "large"] == ["bytes=1234-"]
    assert sorted(path.name for path in partial.parent.iterdir()) == sorted(
        map(hub.etag, hub.files)
    )


def test_a_partial_file_of_other_bytes_is_downloaded_anew(hub: Hub, folder: Path) -> None:
    partial = folder / "blobs" / f"{hub.etag('model.safetensors')}.incomplete"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(b"other")
    assert (snapshot(NAME) / "model.safetensors").read_bytes() == WEIGHTS


def test_passing_trouble_is_retried(hub: Hub) -> None:
    hub.statuses = [500, 503, 200]
    snapshot(NAME)
    assert hub.requests("HEAD")[:3] == ["config.json"] * 3


def test_lasting_trouble_is_told(hub: Hub) -> None:
    hub.statuses = [500] * 9
    with pytest.raises(
        DownloadError, match=r"expected to reach http.*config.json, got 500 Internal"
    ):
        snapshot(NAME)


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        (WEIGHTS[:-1] + b"x", "got 200000 bytes with"),
        (WEIGHTS[:-1], "expected to fetch|got 199999 bytes with"),
        (WEIGHTS + b"x", "200001 bytes, more than 200000"),
    ],
)
def test_content_that_is_not_the_hash_is_refused(
    hub: Hub, folder: Path, sent: bytes, got: str
) -> None:
    hub.sent["model.safetensors"] = sent
    with pytest.raises(DownloadError, match=f"model.safetensors.*{got}"):
        snapshot(NAME)
    assert not (folder / "blobs" / hub.etag("model.safetensors")).exists()
    assert not list((folder / "blobs").glob("*.part"))
    assert not (folder / "refs" / "main").exists()
    with HF_HUB_OFFLINE.override(True), pytest.raises(MissingFileError):
        snapshot(NAME)


def test_a_small_file_that_is_not_the_hash_is_refused(hub: Hub) -> None:
    hub.sent["config.json"] = b"[]"
    with pytest.raises(DownloadError, match=r"2 bytes with the git SHA-1 .* for http.*config.json"):
        snapshot(NAME)


def test_the_token_goes_to_the_hub_only(hub: Hub, tmp_path: Path) -> None:
    hub.private = True
    with pytest.raises(
        DownloadError, match=r"401 Unauthorized for .*.*it may need a token: HF_TOKEN"
    ):
        snapshot(NAME)
    with (
        HF_TOKEN.override("hf_wrong"),
        pytest.raises(DownloadError, match="the token may not read"),
    ):
        snapshot(NAME)
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "token").write_text(f"{TOKEN}\n")
    hub.asked.clear()
    snapshot(NAME)
    assert {x.token for x in hub.asked if x.host == "hub"} == {TOKEN}
    assert {x.token for x in hub.asked if x.host == "large"} == {""}


def test_a_netrc_file_is_not_the_token(hub: Hub, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    hub.private = True
    with HF_TOKEN.override(TOKEN):
        snapshot(NAME, files=["config.json"])
    assert {x.token for x in hub.asked} == {TOKEN}


@pytest.mark.parametrize("token", ["a\nb", "a b", "\u00e9"])
def test_a_token_that_is_none_is_refused_and_not_shown(hub: Hub, tmp_path, token: str) -> None:
    (tmp_path / "token").write_text(token, encoding="latin-1")
    with (
        HF_TOKEN_PATH.override(str(tmp_path / "token"))
        if token.isascii()
        else HF_TOKEN.override(token),
        pytest.raises(ConfigError, match="of printable characters, got others"),
    ):
        snapshot(NAME)


def test_metadata_of_another_host_are_refused(hub: Hub) -> None:
    hub.large = {"config.json"}
    hub.headers = {"X-Linked-Etag": None}
    with pytest.raises(
        DownloadError, match=r"got 302 Found to 'http://127.*host of HF_ENDPOINT only"
    ):
        snapshot(NAME)
    assert {x.host for x in hub.asked} == {"hub"}


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"X-Repo-Commit": None}, "expected the commit of 40 digits for http.*got ''"),
        ({"X-Repo-Commit": "../../../evil"}, "expected the commit of 40 digits"),
        ({"ETag": '"../../evil"'}, "expected an entity tag with the SHA-256"),
        ({"ETag": None}, "expected an entity tag with the SHA-256"),
    ],
)
def test_odd_metadata_are_refused(hub: Hub, tmp_path, headers, message: str) -> None:
    hub.headers = headers
    with pytest.raises(DownloadError, match=message):
        snapshot(NAME)
    assert not (tmp_path / "home").exists()


def test_a_commit_that_changes_meanwhile_is_refused(hub: Hub) -> None:
    hub.headers = {"X-Repo-Commit": "f" * 40}
    with pytest.raises(DownloadError, match=f"expected the commit {COMMIT} .* got '{'f' * 40}'"):
        snapshot(NAME, COMMIT)


@pytest.mark.parametrize(
    ("name", "revision", "message"),
    [
        ("org/none", "main", "expected org/none at main, got 404 Not Found .*check the name"),
        (NAME, "none", "expected org/tiny at none, got 404 Not Found .*check revision"),
    ],
)
def test_what_the_hub_does_not_have(hub: Hub, name: str, revision: str, message: str) -> None:
    with pytest.raises(DownloadError, match=message):
        snapshot(name, revision)


def test_networks_without_safetensors_are_refused(hub: Hub) -> None:
    del hub.files["model.safetensors"]
    hub.files["pytorch_model.bin"] = b"pickle"
    with pytest.raises(DownloadError, match="such as pickles, are not opened"):
        snapshot(NAME)
    assert "pytorch_model.bin" not in hub.requests()


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("model.safetensors.index.json", b"[]", "expected weight_map"),
        ("model.safetensors.index.json", b"{", "expected JSON"),
        (
            "model.safetensors.index.json",
            b'{"weight_map": {"a": "../../x.safetensors"}}',
            "inside the folder in weight_map, got '../../x.safetensors'",
        ),
        ("model.safetensors.index.json", b'{"weight_map": {"a": "x.bin"}}', "got 'x.bin'"),
        ("modules.json", b"{}", "expected a list of up to 32 modules"),
        ("modules.json", b'[{"path": "/etc"}]', "inside this one, got '/etc'"),
        ("modules.json", b'[{"path": ".."}]', "inside this one, got '..'"),
    ],
)
def test_files_outside_are_not_named(hub: Hub, path: str, content: bytes, message: str) -> None:
    del hub.files["model.safetensors"]
    hub.files[path] = content
    with pytest.raises(FileFormatError, match=message):
        snapshot(NAME)


def test_a_shard_that_is_missing_is_named(hub: Hub) -> None:
    del hub.files["model.safetensors"]
    hub.files |= {"model.safetensors.index.json": INDEX, SHARDS[0]: b"a"}
    with pytest.raises(DownloadError, match=f"expected {SHARDS[1]} in org/tiny"):
        snapshot(NAME)


@pytest.mark.parametrize(
    "name",
    ["", "a/b/c", "../a", "a/..", "a//b", "/a", "a/b\n", "a--b", "-a", "a/b.git", "a b", "é"],
)
def test_names_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="expected a name of the hub"):
        snapshot(name)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"name": 3}, ArgumentTypeError, "a name of the hub as text"),
        ({"revision": None}, ArgumentTypeError, "expected revision as text"),
        ({"revision": "../x"}, ArgumentError, "a branch, tag or commit, got '../x'"),
        ({"revision": ""}, ArgumentError, "a branch, tag or commit"),
        ({"files": "config.json"}, ArgumentTypeError, "expected files as a list"),
        ({"files": ["/etc/passwd"]}, ArgumentError, "inside the network's folder in files"),
        ({"optional": ["a/../b"]}, ArgumentError, "inside the network's folder in optional"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, message: str) -> None:
    with pytest.raises(error, match=message):
        snapshot(**({"name": NAME} | arguments))


@pytest.mark.parametrize("url", ["ftp://x", "x", "http://", "http://[", "http://a:b"])
def test_an_endpoint_that_is_none_is_refused(hub: Hub, url: str) -> None:
    with HF_ENDPOINT.override(url), pytest.raises(ConfigError, match=r"^HF_ENDPOINT: expected an"):
        snapshot(NAME)


def test_offline_nothing_is_requested(hub: Hub) -> None:
    with HF_HUB_OFFLINE.override(True):
        with pytest.raises(MissingFileError, match="HF_HUB_OFFLINE is set, got no such version"):
            snapshot(NAME)
        assert hub.asked == []
    first = snapshot(NAME)
    hub.asked.clear()
    with HF_HUB_OFFLINE.override(True):
        assert snapshot(NAME) == snapshot(NAME, COMMIT) == first
        with pytest.raises(MissingFileError, match=r"expected vocab\.txt in .*HF_HUB_OFFLINE"):
            snapshot(NAME, files=["vocab.txt"])
        (first / "model.safetensors").unlink()
        with pytest.raises(MissingFileError, match=r"expected model.safetensors or"):
            snapshot(NAME)
    assert hub.asked == []


def test_without_a_connection_the_cache_is_named(hub: Hub) -> None:
    with HF_ENDPOINT.override("http://127.0.0.1:9"):
        with pytest.raises(DownloadError, match=r"check the connection and HF_ENDPOINT$"):
            snapshot(NAME)
        with HF_ENDPOINT.override(hub.url):
            found = snapshot(NAME)
        with pytest.raises(DownloadError, match=f"HF_HUB_OFFLINE=1 uses the files in {found}$"):
            snapshot(NAME)


def test_a_broken_cache_is_mended(hub: Hub, folder: Path) -> None:
    found = snapshot(NAME)
    (folder / "blobs" / hub.etag("model.safetensors")).unlink()  # the link leads nowhere
    (folder / "refs" / "main").write_bytes(b"\xff")
    assert (snapshot(NAME) / "model.safetensors").read_bytes() == WEIGHTS
    assert (folder / "refs" / "main").read_text() == found.name


def test_a_full_disk_is_told_and_leaves_nothing(hub: Hub, folder: Path, monkeypatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(http_fetch.os, "fsync", full)  # type: ignore[attr-defined]
    with pytest.raises(DownloadError, match=r"No space left on device; free some space .*HF_HOME"):
        snapshot(NAME)
    assert [*(folder / "blobs").iterdir()] == []


def test_a_folder_that_cannot_be_made_is_told(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with (
        HF_HUB_CACHE.override(str(tmp_path / "file" / "cache")),
        pytest.raises(DownloadError, match=r"a writable folder, got .*HF_HOME"),
    ):
        snapshot(NAME)


def test_systems_without_links_have_copies(hub: Hub, monkeypatch) -> None:
    def refuse(self: Path, target: str) -> None:
        raise OSError("A required privilege is not held by the client")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    found = snapshot(NAME)
    assert contents(found) == hub.files
    assert not any(path.is_symlink() for path in found.iterdir())


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "~/.cache/huggingface/hub"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/huggingface/hub"),
        ({"XDG_CACHE_HOME": "/xdg", "HF_HOME": "/home"}, "/home/hub"),
        ({"HF_HOME": "/home", "HF_HUB_CACHE": "/cache"}, "/cache"),
    ],
)
def test_the_folder_is_that_of_other_programs(variables, expected: str, monkeypatch) -> None:
    for name in ("HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert hub_cache.cache_folder() == Path(expected).expanduser()


def test_huggingface_hub_finds_ours_and_we_find_its_files(hub: Hub, tmp_path: Path) -> None:
    other = pytest.importorskip("huggingface_hub")
    ours = snapshot(NAME)
    cache = tmp_path / "home" / "hub"
    for name in hub.files:
        found = other.hf_hub_download(NAME, name, cache_dir=cache, local_files_only=True)
        assert Path(found) == ours / name
    missing = other.try_to_load_from_cache(NAME, "generation_config.json", cache_dir=cache)
    assert missing is other.file_download._CACHED_NO_EXIST
    with ExitStack() as stack:
        theirs = tmp_path / "theirs"
        for name in hub.files:
            other.hf_hub_download(NAME, name, cache_dir=theirs, endpoint=hub.url)
        stack.enter_context(HF_HUB_CACHE.override(str(theirs)))
        hub.asked.clear()
        assert contents(snapshot(NAME)) == hub.files
        assert hub.requests("GET") == []
        stack.enter_context(HF_HUB_OFFLINE.override(True))
        assert contents(snapshot(NAME)) == hub.files


def test_from_pretrained_downloads_a_network(hub: Hub, tmp_path: Path, monkeypatch) -> None:
    golden = Path(__file__).parents[2] / "golden" / "text_networks" / "llama"
    hub.files = {p: (golden / p).read_bytes() for p in ("config.json", "model.safetensors")}
    net = from_pretrained(NAME, revision=COMMIT)
    assert type(net).__name__ == "CausalLM"
    with pytest.raises(MissingFileError, match=r"or a name of the hub, org/name, got '\./none'"):
        from_pretrained("./none")
    with pytest.raises(ArgumentError, match="expected revision with a name of the hub only"):
        from_pretrained(golden, revision="main")
    (tmp_path / "org" / "tiny").mkdir(parents=True)  # a folder is preferred
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingFileError, match=r"config\.json"):
        from_pretrained(NAME)
