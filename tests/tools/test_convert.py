"""``gluonish convert``: any format into any other, and what is said and refused."""

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import GluonishError
from gluonish.tools import cli

GOLDEN = Path(__file__).parents[1] / "golden"
ENDINGS = (".params", ".safetensors", ".npz", ".safetensors.index.json")


def convert(*argv: object) -> int:
    return cli.main(["convert", *map(str, argv)])


@pytest.mark.parametrize(("first", "second"), list(itertools.product(ENDINGS, ENDINGS)))
@pytest.mark.parametrize("name", ["dtypes.params", "np_shape.params", "unnamed.params"])
def test_a_file_of_mxnet_comes_back_byte_for_byte(
    name: str, first: str, second: str, tmp_path: Path
) -> None:
    assert convert(GOLDEN / name, tmp_path / f"a{first}") == 0
    assert convert(tmp_path / f"a{first}", tmp_path / f"b{second}") == 0
    assert convert(tmp_path / f"b{second}", tmp_path / "c.params") == 0
    assert (tmp_path / "c.params").read_bytes() == (GOLDEN / name).read_bytes()


def test_sparse_arrays_come_back_from_npz(tmp_path: Path) -> None:
    assert convert(GOLDEN / "sparse.params", tmp_path / "a.npz") == 0
    assert convert(tmp_path / "a.npz", tmp_path / "b.params") == 0
    assert (tmp_path / "b.params").read_bytes() == (GOLDEN / "sparse.params").read_bytes()


def test_it_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    convert(GOLDEN / "cnn-0003.params", tmp_path / "a.safetensors")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("cnn-0003.params: .params, 15 arrays, 1.52 kB (15 float32)")
    assert lines[1].endswith("a.safetensors: safetensors, 15 arrays, 1.52 kB (15 float32)")
    assert lines[2].startswith("note: kept arg: and aux: of 15 names, which SymbolBlock.imports")


def test_prefixes_can_be_dropped_and_put_back_by_the_graph(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    convert("--bare", GOLDEN / "cnn-0003.params", tmp_path / "a.safetensors")
    assert not any(":" in name for name in nd.load(tmp_path / "a.safetensors"))
    assert "note: dropped arg: and aux: of 15 names" in capsys.readouterr().out
    symbol = GOLDEN / "cnn-symbol.json"
    convert(tmp_path / "a.safetensors", tmp_path / "b.params", "--symbol", symbol)
    assert "note: put arg: or aux: before 15 names" in capsys.readouterr().out
    assert (tmp_path / "b.params").read_bytes() == (GOLDEN / "cnn-0003.params").read_bytes()


def test_names_that_would_be_one_or_are_not_of_the_graph_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nd.save(tmp_path / "a.params", {"arg:w": nd.ones(1), "aux:w": nd.ones(1)})
    assert convert("--bare", tmp_path / "a.params", tmp_path / "b.npz") == 1
    assert "expected distinct names without arg: and aux:, got 'w' twice" in capsys.readouterr().err
    nd.save(tmp_path / "a.params", {"x": nd.ones(1)})
    symbol = GOLDEN / "cnn-symbol.json"
    assert convert(tmp_path / "a.params", tmp_path / "b.npz", "--symbol", symbol) == 1
    assert "got 'x'" in capsys.readouterr().err
    assert not (tmp_path / "b.npz").exists()


def test_metadata_are_kept_added_and_where_there_is_no_place_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = GOLDEN / "safetensors" / "dtypes.safetensors"
    assert convert(source, tmp_path / "a.npz", "--metadata", "by=me", "--metadata", "format=x") == 0
    assert nd.load_metadata(tmp_path / "a.npz") == {"format": "x", "ü": "1", "by": "me"}
    nd.save(tmp_path / "b.safetensors", {"w": nd.ones(1)}, metadata={"epoch": "3"})
    capsys.readouterr()
    assert convert(tmp_path / "b.safetensors", tmp_path / "b.params") == 0
    assert (
        "note: left out metadata, which the format cannot hold: 'epoch'" in capsys.readouterr().out
    )


def test_shards_are_as_large_as_asked_for(tmp_path: Path) -> None:
    target = tmp_path / "m.safetensors.index.json"
    assert convert(GOLDEN / "cnn-0003.params", target, "--max-shard", "700B") == 0
    shards = sorted(tmp_path.glob("m-0000?-of-0000?.safetensors"))
    assert len(shards) > 2
    for shard in shards:
        arrays = nd.load(shard).values()
        assert sum(x.asnumpy().nbytes for x in arrays) <= 700 or len(arrays) == 1
    with pytest.raises(SystemExit):
        convert(GOLDEN / "cnn-0003.params", target, "--max-shard", "many")


def test_what_the_format_cannot_hold_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = GOLDEN / "safetensors" / "model.safetensors.index.json"
    assert convert(source, tmp_path / "a.params") == 1
    assert "in 'float8_" in capsys.readouterr().err
    assert convert(GOLDEN / "sparse.params", tmp_path / "a.safetensors") == 1
    assert "got row_sparse at 'row_sparse'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_file_may_be_converted_onto_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    nd.save(path, {"w": nd.arange(1 << 19)})
    assert convert(path, path, "--metadata", "a=b") == 0
    np.testing.assert_array_equal(nd.load(path)["w"].asnumpy(), np.arange(1 << 19))
    assert nd.load_metadata(path) == {"a": "b"}


# -- an attack: 690 such cases were tried, and all held ---

NAMES = ("", ".", "../x", "a/b", "/a", "ü", "w.npy", "w/data", "w/format", "__metadata__")
HARD = (*NAMES, "a\0b", "x" * 40_000, "\n", "\u202e", "arg:w", "C:\\x", "a/")


@pytest.mark.parametrize(("first", "second"), list(itertools.product(ENDINGS, ENDINGS)))
def test_hard_names_come_back_or_are_refused(first: str, second: str, tmp_path: Path) -> None:
    for number, name in enumerate(HARD):
        source, target = tmp_path / f"{number}{first}", tmp_path / f"{number}b{second}"
        try:
            nd.save(source, {name: nd.ones(2), "z": nd.zeros((0, 3))})
        except GluonishError:
            continue
        if convert(source, target):
            assert not target.exists()
        else:
            assert list(nd.load(target)) == [name, "z"]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_numpys_orders_and_types_come_back_or_are_refused(
    save: Any, ending: str, tmp_path: Path
) -> None:
    arrays = {
        "big": np.arange(4, dtype=">f4"),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "scalar": np.array(3, np.uint8),
        "none": np.ones((0, 2), np.float16),
    }
    save(tmp_path / "a.npz", **arrays)
    assert convert(tmp_path / "a.npz", tmp_path / f"b{ending}") == 0
    loaded = nd.load(tmp_path / f"b{ending}")
    for name, x in arrays.items():
        assert loaded[name].dtype == x.dtype.newbyteorder("=")  # type: ignore[call-overload]  # a dict
        np.testing.assert_array_equal(loaded[name].asnumpy(), x)  # type: ignore[call-overload]  # a dict
    others = (np.ones(2, np.complex64), np.array(["a"]), np.array([{}], object), np.longdouble([1]))
    for number, other in enumerate(others):
        save(tmp_path / f"{number}.npz", w=other)
        assert convert(tmp_path / f"{number}.npz", tmp_path / f"c{number}{ending}") != 0
        assert not (tmp_path / f"c{number}{ending}").exists()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_conversion_that_is_killed_leaves_what_was_there(ending: str, tmp_path: Path) -> None:
    nd.save(tmp_path / "a.params", {f"w{i}": nd.ones(1 << 20) for i in range(4)})
    target = tmp_path / f"b{ending}"
    nd.save(target, {"old": nd.ones(2)})
    before = {part.name: part.read_bytes() for part in tmp_path.glob("b*")}
    code = (
        "import os, sys, gluonish.ndarray.list_file as s, gluonish.tools.convert as c\n"
        "read, count = c.record_of, []\n"
        "def dying(entry):\n"
        "    count.append(0)\n"
        "    if len(count) == 3: os.kill(os.getpid(), 9)\n"
        "    return read(entry)\n"
        "c.record_of = dying\n"
        "from gluonish.tools import cli\n"
        "cli.main(['convert', *sys.argv[1:]])\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.params"), str(target)]
    assert subprocess.run(command, check=False, timeout=100).returncode == -9
    for name, content in before.items():
        assert (tmp_path / name).read_bytes() == content
    assert nd.load(target)["old"].sum().asscalar() == 2  # type: ignore[call-overload]  # a dict
    assert convert(tmp_path / "a.params", target) == 0
    assert len(nd.load(target)) == 4


def test_a_full_disk_is_told_and_wrong_files_are_recognized(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nd.save(tmp_path / "a.params", {"w": nd.ones(1 << 16)})
    if Path("/dev/full").exists():
        assert convert(tmp_path / "a.params", "/dev/full") != 0
        assert "No space left on device: '/dev/full'" in capsys.readouterr().err
    assert convert(tmp_path / "a.params", tmp_path / f"{'x' * 300}.npz") != 0
    assert "File name too long" in capsys.readouterr().err
    (tmp_path / "page").write_text("<!DOCTYPE html><html>Sign in</html>")
    assert convert(tmp_path / "page", tmp_path / "b.npz") != 0
    assert "an HTML page; the download failed" in capsys.readouterr().err
