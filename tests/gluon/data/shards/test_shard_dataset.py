"""Samples of tar shards, from disks and from servers, and the shards that are written."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DownloadError,
    FileFormatError,
    MissingFileError,
    OperatorError,
)
from gluonish.gluon.data import DataLoader, ShardDataset, ShardWriter
from gluonish.gluon.download import http_fetch
from tests.gluon_repository import Repository
from tests.golden.make_webdataset import PATH, samples

WORKERS = pytest.mark.parametrize(
    "workers",
    [{}, {"num_workers": 2}, {"num_workers": 2, "thread_pool": True}],
    ids=["here", "processes", "threads"],
)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)


def archive_of(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def shard(path: Path, **files: bytes | str) -> str:
    """Write an archive; a dot in a name is written as two underscores."""
    contents = {
        name.replace("__", "."): x.encode() if isinstance(x, str) else x
        for name, x in files.items()
    }
    path.write_bytes(archive_of(contents))
    return str(path)


def numbered(folder: Path, shards: int, size: int, nbytes: int = 100) -> str:
    """Write shards of samples with their numbers, and ``nbytes`` bytes each; return a pattern."""
    number = 0
    for i in range(shards):
        files = {}
        for _ in range(size):
            files[f"{number:05}.cls"] = b"%d" % number
            files[f"{number:05}.bin"] = b"%d" % (number % 10) * nbytes
            number += 1
        (folder / f"s-{i:03}.tar").write_bytes(archive_of(files))
    return f"{folder}/s-{{000..{shards - 1:03}}}.tar"


def served(repository: Repository, folder: Path) -> str:
    """Put the shards of a folder on the server; return a pattern of URLs."""
    names = sorted(path.name for path in folder.glob("s-*.tar"))
    for name in names:
        repository.files[f"/{name}"] = (folder / name).read_bytes()
    return f"{repository.url}/s-{{000..{len(names) - 1:03}}}.tar"


def test_samples_of_the_package_webdataset_are_read() -> None:
    found = list(ShardDataset(PATH))
    expected = samples()
    assert [sample["__key__"] for sample in found] == [sample["__key__"] for sample in expected]
    for sample, original in zip(found, expected, strict=True):
        assert sample.keys() == original.keys()
        np.testing.assert_array_equal(sample["png"].asnumpy(), original["png"])
        for name in ("npy", "seg.npy"):
            np.testing.assert_array_equal(sample[name], original[name])
            assert sample[name].dtype == original[name].dtype
        for name in ("cls", "txt", "json", "bin"):
            assert sample[name] == original[name]
            assert type(sample[name]) is type(original[name])


def test_bytes_come_as_they_are_on_request() -> None:
    with tarfile.open(PATH) as archive:
        expected = {x.name: archive.extractfile(x).read() for x in archive}  # type: ignore[union-attr]  # files only
    for sample in ShardDataset(PATH, decode=False):
        for name, content in sample.items():
            if name != "__key__":
                assert content == expected[f"{sample['__key__']}.{name}"]


def test_functions_decode_fields_and_extensions() -> None:
    decode = {"seg.npy": len, "json": None, ".TXT": lambda content: content[:3]}
    sample = next(iter(ShardDataset(PATH, decode=decode)))
    assert (sample["seg.npy"], sample["txt"]) == (128, b"sam")
    assert json.loads(sample["json"])["number"] == 0
    assert sample["npy"].shape == (2, 3)


def test_fields_make_tuples_and_may_have_alternatives() -> None:
    images, labels, keys = next(
        iter(DataLoader(ShardDataset(PATH, ("jpg;PNG", "cls", "__key__")), batch_size=3))
    )
    assert (images.shape, labels.tolist(), keys[0]) == ((3, 5, 6, 3), [0, 1, 2], "0001")


def test_jpegs_are_decoded(tmp_path: Path) -> None:
    pixels = np.full((8, 8, 3), (200, 100, 30), np.uint8)
    with ShardWriter(tmp_path / "a-%d.tar") as writer:
        writer.write({"__key__": "a", "jpg": pixels})
    (sample,) = ShardDataset(tmp_path / "a-0.tar")
    found = sample["jpg"].asnumpy().astype(int)
    assert np.abs(found - pixels).max() < 4  # red first


def test_files_of_one_sample_follow_one_another(tmp_path: Path) -> None:
    path = shard(
        tmp_path / "a.tar",
        **{
            "a/1__x__txt": "1",
            "a/1__CLS": "5",
            "README": "no",
            "a/__hidden": "no",
            "b/1__cls": "6",
        },
    )
    assert list(ShardDataset(path)) == [
        {"__key__": "a/1", "x.txt": "1", "cls": 5},
        {"__key__": "b/1", "cls": 6},
    ]


@WORKERS
@pytest.mark.parametrize("shuffle", [False, True])
def test_loaders_give_each_sample_once(
    tmp_path: Path, workers: dict[str, Any], shuffle: bool
) -> None:
    dataset = ShardDataset(numbered(tmp_path, 3, 7), ("cls",), shuffle=shuffle, buffer_size=4)
    loader = DataLoader(dataset, 4, **workers)
    passes = [[x for (batch,) in loader for x in batch.tolist()] for _ in range(2)]
    assert [sorted(found) for found in passes] == [list(range(21))] * 2
    assert (passes[0] != passes[1]) == shuffle


@WORKERS
def test_shards_are_read_from_a_server(
    tmp_path: Path, repository: Repository, workers: dict[str, Any]
) -> None:
    local = ShardDataset(numbered(tmp_path, 3, 5), shuffle=True)
    remote = ShardDataset(served(repository, tmp_path), shuffle=True)
    expected = [batch["cls"].tolist() for batch in DataLoader(local, 4, **workers)]
    assert [batch["cls"].tolist() for batch in DataLoader(remote, 4, **workers)] == expected
    assert repository.count("/s-000.tar") == 1


def test_a_broken_connection_is_continued(tmp_path: Path, repository: Repository) -> None:
    pattern = numbered(tmp_path, 2, 40, nbytes=20_000)
    url = served(repository, tmp_path)
    repository.cuts = [0, 300_000, 1, 700_000]
    found = [(x["cls"], x["bin"]) for x in ShardDataset(url)]
    assert found == [(x["cls"], x["bin"]) for x in ShardDataset(pattern)]
    ranges = [asked for path, asked in repository.asked if path == "/s-000.tar"]
    assert ranges[:2] == ["", ""]
    assert [asked.startswith("bytes=") for asked in ranges[2:]] == [True] * (len(ranges) - 2)


def test_a_server_without_ranges_sends_again_what_was_read(
    tmp_path: Path, repository: Repository
) -> None:
    numbered(tmp_path, 1, 40, nbytes=20_000)
    url = served(repository, tmp_path)
    repository.ranges = False
    repository.cuts = [300_000, 500_000]
    assert [x["cls"] for x in ShardDataset(url)] == list(range(40))


def test_a_shard_that_changes_meanwhile_is_an_error(tmp_path: Path, repository: Repository) -> None:
    numbered(tmp_path, 1, 40, nbytes=20_000)
    url = served(repository, tmp_path)
    repository.cuts = [300_000]
    iterator = iter(ShardDataset(url, buffer_size=1))
    next(iterator)
    repository.files["/s-000.tar"] = repository.files["/s-000.tar"].replace(b"0", b"1")
    with pytest.raises(DownloadError, match=r"s-000\.tar from byte \d+, got a file that changed"):
        list(iterator)


def test_a_server_that_fails_is_an_error_with_the_url(
    tmp_path: Path, repository: Repository
) -> None:
    with pytest.raises(DownloadError, match=r"read http://.*/s-1\.tar from byte 0, got 404"):
        list(ShardDataset(f"{repository.url}/s-{{1..2}}.tar"))
    numbered(tmp_path, 1, 3)
    served(repository, tmp_path)
    repository.statuses = [503] * 20
    with pytest.raises(DownloadError, match=r"from byte 0, got .* answered 503"):
        list(ShardDataset(f"{repository.url}/s-000.tar"))
    assert repository.count("/s-000.tar") == 6


def test_a_truncated_shard_on_a_server_names_the_place(
    tmp_path: Path, repository: Repository
) -> None:
    numbered(tmp_path, 1, 3, nbytes=5000)
    served(repository, tmp_path)
    repository.files["/s-000.tar"] = repository.files["/s-000.tar"][:9000]
    for repository.tells_length in (True, False):
        with pytest.raises(
            FileFormatError, match=r"/s-000\.tar: expected 5000 bytes of '00001\.bin' at byte 8192"
        ):
            list(ShardDataset(f"{repository.url}/s-000.tar"))


def test_a_cache_is_read_in_later_passes(tmp_path: Path, repository: Repository) -> None:
    numbered(tmp_path, 2, 5)
    dataset = ShardDataset(served(repository, tmp_path), ("cls",), cache=tmp_path / "new" / "cache")
    assert list(dataset) == list(dataset) == [(i,) for i in range(10)]
    assert [repository.count(f"/s-00{i}.tar") for i in range(2)] == [1, 1]
    copies = sorted((tmp_path / "new" / "cache").iterdir(), key=lambda path: path.name[-8:])
    assert [path.read_bytes() for path in copies] == [
        repository.files[f"/s-00{i}.tar"] for i in range(2)
    ]


def test_a_pass_that_ends_early_leaves_no_copy(tmp_path: Path, repository: Repository) -> None:
    numbered(tmp_path, 1, 5)
    cache = tmp_path / "cache"
    iterator = iter(ShardDataset(served(repository, tmp_path), ("cls",), cache=cache))
    assert next(iterator) == (0,)
    del iterator
    assert list(cache.iterdir()) == []
    repository.files["/s-000.tar"] = repository.files["/s-000.tar"][:1500]
    with pytest.raises(FileFormatError):
        list(ShardDataset(f"{repository.url}/s-000.tar", cache=cache))
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("1__cls", "seven", "a whole number, got invalid literal"),
        ("1__json", "{1}", "JSON, got json: expected JSON"),
        ("1__txt", b"\xff", "a text in UTF-8, got "),
        ("1__png", "GIF", "an image, got imdecode: expected the bytes of an image"),
        ("1__npy", "PK", "a NumPy array, got npy: expected"),
        ("1__npy", np.lib.format.magic(1, 0) + b"\x36\0{'descr': '|O', 'fortran_order': False, "
         b"'shape': (1,)}" + b" " * 40, "a NumPy array, got npy: expected an npy header"),
    ],
)  # fmt: skip
def test_a_field_that_cannot_be_decoded_names_member_and_place(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    path = shard(tmp_path / "a.tar", **{"0__bin": "x", name: content})
    place = rf"a\.tar: expected '{name.replace('__', '.')}' at byte 1024 to be {message}"
    with pytest.raises(FileFormatError, match=place):
        list(ShardDataset(path))


def test_an_error_of_the_own_function_has_a_note(tmp_path: Path) -> None:
    path = shard(tmp_path / "a.tar", **{"0__bin": "x"})
    with pytest.raises(ZeroDivisionError) as caught:
        list(ShardDataset(path, decode={"bin": lambda content: 1 / 0}))
    assert caught.value.__notes__ == [
        f"ShardDataset: raised by decode for '0.bin' at byte 0 of {path}"
    ]


def test_a_missing_field_and_a_field_twice_are_errors(tmp_path: Path) -> None:
    path = shard(tmp_path / "a.tar", **{"0__bin": "x", "0__cls": "1", "1__bin": "x"})
    message = r"a\.tar: expected the field jpg or cls in the sample '1' at byte 2048, got bin"
    with pytest.raises(FileFormatError, match=message):
        list(ShardDataset(path, ("jpg;cls",)))
    path = shard(tmp_path / "b.tar", **{"0__bin": "x", "0__BIN": "1"})
    with pytest.raises(FileFormatError, match=r"the sample '0' once, got '0\.BIN' at byte 1024"):
        list(ShardDataset(path))


def test_a_file_cannot_replace_the_key(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(archive_of({"7.txt": b"x", "7.__key__": b"y"}))
    with pytest.raises(FileFormatError, match=r"no field '__key__' in the sample '7'.* byte 1024"):
        list(ShardDataset(path))


def test_an_empty_key_is_refused_as_the_first_one(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path / "%d.tar")
    with pytest.raises(ArgumentError, match="expected a key without dots"):
        writer.write({"__key__": "", "cls": 1})


def test_keys_that_change_between_samples_are_named_by_the_loader(tmp_path: Path) -> None:
    path = shard(tmp_path / "a.tar", **{"0__bin": "x", "0__cls": "1", "1__bin": "x"})
    message = r"dicts with the keys \['__key__', 'bin', 'cls'\], got \['__key__', 'bin'\]"
    for workers in (0, 1):
        with pytest.raises(ArgumentError, match=message):
            list(DataLoader(ShardDataset(path), 2, num_workers=workers))


def test_an_error_in_a_shard_ends_the_pass_of_a_loader(tmp_path: Path) -> None:
    pattern = numbered(tmp_path, 2, 3)
    path = tmp_path / "s-001.tar"
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(FileFormatError, match=r"s-001\.tar: expected .* truncated") as caught:
        list(DataLoader(ShardDataset(pattern), 2, num_workers=2, timeout=60))
    assert any(
        "DataLoader: raised by dataset[next sample of worker 1]" in x
        for x in caught.value.__notes__
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"fields": "jpg"}, ArgumentTypeError, "fields to be a list of names, got 'jpg'"),
        ({"fields": 5}, ArgumentTypeError, "fields to be a list of names, got 5"),
        ({"fields": ()}, ArgumentError, "names of fields"),
        ({"fields": ("a;",)}, ArgumentError, "names of fields"),
        ({"decode": "jpg"}, ArgumentTypeError, "decode to be a bool, or a dict"),
        ({"decode": {"jpg": 1}}, ArgumentTypeError, "decode to be a bool, or a dict"),
        ({"cache": 1}, ArgumentTypeError, "cache: expected a path"),
        ({"num_parts": 2}, ArgumentError, "expected samples_per_epoch with num_parts=2"),
    ],
)
def test_bad_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ShardDataset(PATH, **arguments)


def test_written_samples_come_back(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    written = [
        {
            "__key__": f"folder/{'x' * (i * 60)}{i}",
            "png": random.integers(0, 256, (4, 5, 3), dtype=np.uint8),
            "cls": i,
            "txt": "ü",
            "json": {"a": [i]},
            "npy": random.normal(size=(i, 2)),
            "bin": bytes(i * 300),
        }
        for i in range(5)
    ]
    with ShardWriter(tmp_path / "t-%04d.tar", max_samples=2, first=7) as writer:
        for sample in written:
            writer.write(sample)
    assert [Path(path).name for path in writer.shards] == [f"t-000{i}.tar" for i in (7, 8, 9)]
    assert writer.num_samples == 5
    found = list(ShardDataset(f"{tmp_path}/t-*.tar"))
    for sample, original in zip(found, written, strict=True):
        assert sample.keys() == original.keys()
        for name, value in original.items():
            got = sample[name].asnumpy() if name == "png" else sample[name]
            np.testing.assert_array_equal(got, value)
    for path in writer.shards:
        with tarfile.open(path) as archive:
            assert all(x.isfile() and x.mtime == x.uid == 0 for x in archive)


def test_arrays_of_mxnet_are_written(tmp_path: Path) -> None:
    with ShardWriter(tmp_path / "%d.tar") as writer:
        writer.write(
            {"__key__": "a", "npy": nd.arange(3), "png": nd.ones((2, 2, 3), dtype="uint8")}
        )
    (sample,) = ShardDataset(tmp_path / "0.tar")
    assert sample["npy"].tolist() == [0, 1, 2]
    assert sample["png"].shape == (2, 2, 3)


def test_shards_are_no_larger_than_asked(tmp_path: Path) -> None:
    sizes = [10, 3000, 20_000, 5000, 9000, 50_000, 10, 10]
    with ShardWriter(tmp_path / "%d.tar", max_nbytes=30_000) as writer:
        for i, size in enumerate(sizes):
            writer.write({"__key__": str(i), "bin": bytes(size)})
    counts = [len(list(ShardDataset(path))) for path in writer.shards]
    assert sum(counts) == len(sizes)
    assert counts == [2, 1, 2, 1, 2]
    for path, count in zip(writer.shards, counts, strict=True):
        assert Path(path).stat().st_size <= 30_720 or count == 1


def test_a_shard_appears_when_it_is_complete(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path / "%d.tar", max_samples=2)

    def write_three() -> None:
        with writer:
            for i in range(3):
                writer.write({"__key__": str(i), "cls": i})
            assert {path.name for path in tmp_path.glob("[0-9].tar")} == {"0.tar"}
            raise KeyError("stop")

    with pytest.raises(KeyError):
        write_three()
    assert [path.name for path in tmp_path.iterdir()] == ["0.tar"]
    with pytest.raises(ArgumentError, match="expected an open writer"):
        writer.write({"__key__": "a", "cls": 1})


def test_equal_samples_give_equal_bytes(tmp_path: Path) -> None:
    for name in "ab":
        with ShardWriter(tmp_path / f"{name}%d.tar") as writer:
            writer.write({"__key__": "1", "npy": np.arange(5), "txt": "x"})
    assert (tmp_path / "a0.tar").read_bytes() == (tmp_path / "b0.tar").read_bytes()


@pytest.mark.parametrize(
    ("sample", "error", "message"),
    [
        ({"cls": 1}, ArgumentTypeError, "a str as '__key__', got None"),
        ({"__key__": "a"}, ArgumentError, "a field beside '__key__'"),
        ({"__key__": "a.b", "cls": 1}, ArgumentError, "without dots"),
        ({"__key__": "", "cls": 1}, ArgumentError, "without dots"),
        ({"__key__": "../a", "cls": 1}, ArgumentError, "without dots"),
        ({"__key__": "/a", "cls": 1}, ArgumentError, "without dots"),
        ({"__key__": "a\n", "cls": 1}, ArgumentError, "without dots"),
        ({"__key__": "a", "CLS": 1}, ArgumentError, "lower case"),
        ({"__key__": "a", "x/cls": 1}, ArgumentError, "lower case"),
        ({"__key__": "a", "cls": "1"}, ArgumentTypeError, "bytes as 'cls', got str"),
        ({"__key__": "a", "pkl": {}}, ArgumentTypeError, "bytes as 'pkl', got dict"),
        ({"__key__": "a", "json": {1j}}, ArgumentTypeError, "what JSON can hold as 'json'"),
        ({"__key__": "a", "png": np.zeros((2, 2, 7), np.uint8)}, ArgumentTypeError, "an image"),
        ({"__key__": "a", "png": np.zeros((2, 2, 4), np.uint8)}, ArgumentTypeError, "an image"),
        ({"__key__": "a", "png": np.zeros(5, np.uint8)}, ArgumentTypeError, "an image"),
        ({"__key__": "a", "png": np.zeros((0, 2, 3), np.uint8)}, OperatorError, "an image"),
        ({"__key__": "a", "jpg": np.ones((2, 2, 3))}, ArgumentTypeError, "uint8 as 'jpg', got flo"),
        ({"__key__": "a", "png": np.ones((2, 2), np.uint16)}, ArgumentTypeError, "got uint16"),
        ({"__key__": "a", "txt": "\ud800"}, ArgumentTypeError, "that 'txt' can hold, got str"),
        ({"__key__": "a", "npy": np.array([{}])}, ArgumentTypeError, "'npy' can hold, got ndarray"),
        ({"__key__": "a", "cls": 10**5000}, ArgumentTypeError, "'cls' can hold, got int"),
        ({"__key__": "a", 5: b""}, ArgumentTypeError, "all of them str, got {'__key__': 'a', 5"),
        ({"__key__": "first", "cls": 1}, ArgumentError, "another key than that of the sample"),
        ([1], ArgumentTypeError, "a dict of fields by name, all of them str, got"),
    ],
)
def test_bad_samples_are_refused_and_not_written(
    tmp_path: Path, sample: Any, error: type[Exception], message: str
) -> None:
    with ShardWriter(tmp_path / "%d.tar") as writer:
        writer.write({"__key__": "first", "cls": 0})
        with pytest.raises(error, match=f"ShardWriter: expected .*{message}"):
            writer.write(sample)
        writer.write({"__key__": "last", "cls": 2})
    assert [x["cls"] for x in ShardDataset(tmp_path / "0.tar")] == [0, 2]


@pytest.mark.parametrize("pattern", ["a.tar", "%d-%d.tar", "%s.tar", "a%d%%.tar", "%d.zip"])
def test_bad_patterns_of_a_writer_are_refused(pattern: str) -> None:
    with pytest.raises((ArgumentError, NotImplementedError), match="ShardWriter: expected a patt"):
        ShardWriter(pattern)


def test_a_folder_that_is_missing_is_an_error_at_the_first_sample(tmp_path: Path) -> None:
    with (
        pytest.raises(MissingFileError, match="expected a path in an existing folder"),
        ShardWriter(tmp_path / "none" / "%d.tar") as writer,
    ):
        writer.write({"__key__": "a", "cls": 1})
