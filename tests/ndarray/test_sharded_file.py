"""Safetensors in several files: what is written, and indexes that lie."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import FileFormatError, GluonishError, MissingFileError

INDEX = "m.safetensors.index.json"


def save(folder: Path, most: int | None = 100, value: float = 1, **metadata: str) -> dict[str, Any]:
    """Save three arrays of 40 bytes and one of 400; return what the index says."""
    arrays = {name: value * nd.ones(10) for name in "abc"} | {"large": value * nd.ones(100)}
    nd.save(folder / INDEX, arrays, metadata=metadata, max_shard_nbytes=most)
    found: dict[str, Any] = json.loads((folder / INDEX).read_text())
    return found


def test_arrays_go_to_files_in_order_and_a_larger_one_has_its_own(tmp_path: Path) -> None:
    index = save(tmp_path)
    files = [f"m-0000{n}-of-00003.safetensors" for n in (1, 2, 3)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [*files, INDEX]
    assert index["weight_map"] == {"a": files[0], "b": files[0], "c": files[1], "large": files[2]}
    assert index["metadata"]["total_size"] == 520
    assert list(nd.load(tmp_path / files[0])) == ["a", "b"]
    loaded = nd.load(tmp_path / INDEX)
    assert {name: x.sum().asscalar() for name, x in loaded.items()} == {
        "a": 10,
        "b": 10,
        "c": 10,
        "large": 100,
    }


def test_without_a_size_there_is_one_file(tmp_path: Path) -> None:
    index = save(tmp_path, None)
    assert set(index["weight_map"].values()) == {"m-00001-of-00001.safetensors"}


def test_the_index_changes_when_a_value_does(tmp_path: Path) -> None:
    first, second = save(tmp_path), save(tmp_path, value=2)
    assert first["weight_map"] == second["weight_map"]
    assert first != second


def test_metadata_are_in_every_file(tmp_path: Path) -> None:
    save(tmp_path, epoch="3")
    assert nd.load_metadata(tmp_path / INDEX) == {"epoch": "3"}
    assert nd.load_metadata(tmp_path / "m-00002-of-00003.safetensors") == {"epoch": "3"}


def written(folder: Path, places: Any) -> Path:
    (folder / INDEX).write_text(json.dumps({"weight_map": places}))
    return folder / INDEX


OUTSIDE = (
    "../x.safetensors",
    "/etc/passwd",
    "a/../../x",
    "..",
    ".",
    "",
    "sub/x",
    "a\\b",
    "c:x",
    "\0",
)


@pytest.mark.parametrize("name", OUTSIDE)
def test_files_outside_the_folder_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for place in (tmp_path, tmp_path / "sub"):
        nd.save(place / "x.safetensors", {"w": nd.ones(1)})
    with pytest.raises(FileFormatError, match="files of the same folder in the key 'weight_map'"):
        nd.load(written(tmp_path / "sub", {"w": name}))


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    nd.save(tmp_path / "x.safetensors", {"w": nd.ones(1)})
    (tmp_path / "sub" / "x.safetensors").symlink_to("../x.safetensors")
    with pytest.raises(FileFormatError, match="a link that leads out of the folder"):
        nd.load(written(tmp_path / "sub", {"w": "x.safetensors"}))


def test_links_inside_the_folder_and_a_folder_of_links_are_read(tmp_path: Path) -> None:
    for name in ("blobs", "snapshot"):
        (tmp_path / name).mkdir()
    nd.save(tmp_path / "blobs" / "1234", {"w": nd.ones(1)})
    nd.save(tmp_path / "blobs" / "x.safetensors", {"w": nd.ones(1)})
    (tmp_path / "blobs" / "x.safetensors").rename(tmp_path / "blobs" / "1234")
    written(tmp_path / "blobs", {"w": "x.safetensors"}).rename(tmp_path / "blobs" / "5678")
    for name, blob in (("x.safetensors", "1234"), (INDEX, "5678")):
        (tmp_path / "snapshot" / name).symlink_to(f"../blobs/{blob}")
    assert list(nd.load(tmp_path / "snapshot" / INDEX)) == ["w"]
    (tmp_path / "blobs" / "y.safetensors").symlink_to("1234")
    assert list(nd.load(written(tmp_path / "blobs", {"w": "y.safetensors"}))) == ["w"]


def test_what_is_no_ordinary_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(FileFormatError, match="expected regular files"):
            nd.load(written(tmp_path, {"w": name}))


def test_missing_files_and_arrays_are_named(tmp_path: Path) -> None:
    save(tmp_path)
    name = "m-00001-of-00003.safetensors"
    with pytest.raises(FileFormatError, match=rf"expected 'c' in '{name}', as the index says"):
        nd.load(written(tmp_path, {"a": name, "c": name}))
    with pytest.raises(MissingFileError, match="expected a file 'none' in the same folder"):
        nd.load(written(tmp_path, {"a": "none"}))


def test_one_name_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text('{"weight_map": {"a": "x", "a": "y"}}')
    with pytest.raises(FileFormatError, match="the name 'a' twice"):
        nd.load(tmp_path / INDEX)


@pytest.mark.parametrize(
    "content", [b"{", b"{}", b'{"weight_map": []}', b'{"weight_map": {"a": 1}}']
)
def test_what_is_no_index_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / INDEX).write_bytes(content)
    with pytest.raises(FileFormatError, match=INDEX):
        nd.load(tmp_path / INDEX)


def test_an_index_may_not_name_itself(tmp_path: Path) -> None:
    with pytest.raises(GluonishError):
        nd.load(written(tmp_path, {"a": INDEX}))


def test_many_files_are_not_open_at_once(tmp_path: Path) -> None:
    arrays = {str(n): nd.ones(1) for n in range(1500)}
    nd.save(tmp_path / INDEX, arrays, max_shard_nbytes=1)
    assert len(nd.load(tmp_path / INDEX)) == 1500
