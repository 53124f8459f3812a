"""Formats chosen by the ending and known by the content: names, dtypes and metadata come back."""

import json
import os
import struct
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors

import gluonish.ndarray as nd
import gluonish.numpy as mxnp
import gluonish.numpy_extension as npx
from gluonish.core.config import GLUONISH_MAP_FILES
from gluonish.core.dtype import DTYPE_FLAGS, STORED_DTYPES
from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError
from gluonish.core.file_map import is_mapped
from gluonish.ndarray import sparse
from gluonish.ndarray.array_file import DenseRecord, open_arrays, write_arrays
from gluonish.ndarray.list_file import record_of

ENDINGS = (".params", ".safetensors", ".npz", ".safetensors.index.json")
NAMED = ENDINGS[1:]
DTYPES = tuple(dtype.name for dtype in DTYPE_FLAGS)
STORED = tuple(dtype.name for dtype in STORED_DTYPES)
VALUES = np.array([[1, 2, 4], [8, 16, 1]])


def array_of(dtype: str) -> nd.NDArray:
    values = VALUES.astype(dtype if dtype in np.sctypeDict else getattr(ml_dtypes, dtype))
    return nd.from_numpy(values)


@pytest.mark.parametrize("ending", ENDINGS)
def test_names_dtypes_shapes_and_values_come_back(ending: str, tmp_path: Path) -> None:
    dtypes = DTYPES if ending == ".params" else (*DTYPES, *STORED)
    saved = {f"ü.{name}": array_of(name) for name in dtypes}
    saved["empty"] = nd.zeros((0, 2))
    saved["scalar"] = nd.array(3)
    nd.save(tmp_path / f"a{ending}", saved)
    loaded = nd.load(tmp_path / f"a{ending}")
    assert list(loaded) == list(saved)
    for name, array in saved.items():
        assert loaded[name].asnumpy().dtype == array.asnumpy().dtype
        np.testing.assert_array_equal(loaded[name].asnumpy(), array.asnumpy())


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_content_tells_the_format(ending: str, tmp_path: Path) -> None:
    nd.save(tmp_path / f"a{ending}", {"w": nd.ones(2)})
    (tmp_path / f"a{ending}").rename(tmp_path / "a")
    assert nd.load(tmp_path / "a")["w"].tolist() == [1, 1]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("data", [nd.ones(2), [nd.ones(2)], [nd.ones(2), nd.zeros(1)] * 6, []])
def test_a_list_comes_back_as_a_list(ending: str, data: Any, tmp_path: Path) -> None:
    nd.save(tmp_path / f"a{ending}", data)
    loaded = nd.load(tmp_path / f"a{ending}")
    assert isinstance(loaded, list)
    wanted = data if isinstance(data, list) else [data]
    assert [x.tolist() for x in loaded] == [x.tolist() for x in wanted]


@pytest.mark.parametrize("ending", ENDINGS)
def test_arrays_of_the_other_face_come_back_as_such(ending: str, tmp_path: Path) -> None:
    npx.save(tmp_path / f"a{ending}", {"w": mxnp.ones(()), "v": mxnp.arange(3)})
    loaded = npx.load(tmp_path / f"a{ending}")
    assert isinstance(loaded, dict)
    assert all(type(x) is mxnp.ndarray for x in loaded.values())
    assert {name: x.tolist() for name, x in loaded.items()} == {"w": 1, "v": [0, 1, 2]}


def test_numbers_as_names_are_names_all_the_same(tmp_path: Path) -> None:
    nd.save(tmp_path / "a.safetensors", {"0": nd.ones(2), "1": nd.ones(1)})
    assert list(nd.load(tmp_path / "a.safetensors")) == ["0", "1"]
    nd.save(tmp_path / "a.npz", {"arr_0": nd.ones(2)})
    assert list(nd.load(tmp_path / "a.npz")) == ["arr_0"]


@pytest.mark.parametrize("ending", NAMED)
def test_metadata_come_back(ending: str, tmp_path: Path) -> None:
    told = {"format": "pt", "ü": "ä\n"}
    nd.save(tmp_path / f"a{ending}", {"w": nd.ones(2)}, metadata=told)
    assert nd.load_metadata(tmp_path / f"a{ending}") == told
    assert nd.load(tmp_path / f"a{ending}")["w"].tolist() == [1, 1]


@pytest.mark.parametrize("ending", NAMED)
def test_equal_arrays_give_equal_files(ending: str, tmp_path: Path) -> None:
    contents = []
    for _ in range(2):
        nd.save(tmp_path / f"a{ending}", {"w": nd.arange(5), "v": nd.ones(3)})
        contents.append([path.read_bytes() for path in sorted(tmp_path.iterdir())])
    assert contents[0] == contents[1]


# -- what other libraries make of the files ---


def test_the_safetensors_package_reads_every_dtype(tmp_path: Path) -> None:
    saved = {name: array_of(name) for name in (*DTYPES, *STORED)}
    nd.save(tmp_path / "a.safetensors", saved, metadata={"format": "pt"})
    found = dict(safetensors.deserialize((tmp_path / "a.safetensors").read_bytes()))
    assert set(found) == set(saved)
    for name, array in saved.items():
        assert found[name]["shape"] == [2, 3]
        assert bytes(found[name]["data"]) == array.asnumpy().tobytes()
    with safetensors.safe_open(tmp_path / "a.safetensors", "np") as file:
        assert file.metadata() == {"format": "pt"}
        np.testing.assert_array_equal(file.get_tensor("float16"), VALUES)


def test_numpy_reads_npz(tmp_path: Path) -> None:
    saved = {name: array_of(name) for name in (*DTYPES, *STORED)}
    nd.save(tmp_path / "a.npz", saved)
    with np.load(tmp_path / "a.npz") as found:
        for name, array in saved.items():
            values = found[name]
            if values.dtype.names:  # of types that NumPy does not know
                assert values.dtype.names == (name,)
                values = values.view(getattr(ml_dtypes, name))
            np.testing.assert_array_equal(values, array.asnumpy())


def test_what_numpy_wrote_of_other_packages_types_is_read(tmp_path: Path) -> None:
    values = VALUES.astype(ml_dtypes.float8_e5m2), VALUES.astype(ml_dtypes.bfloat16)
    np.savez(tmp_path / "a.npz", *values)
    loaded = nd.load(tmp_path / "a.npz")
    for found, wanted in zip(loaded.values(), values, strict=True):
        assert found.asnumpy().dtype == wanted.dtype
    np.savez(tmp_path / "a.npz", VALUES.astype(ml_dtypes.float8_e4m3fn))
    with pytest.raises(FileFormatError, match="known dtype"):  # one spelling for four types
        nd.load(tmp_path / "a.npz")


# -- 8-bit floats, which are kept as they are ---


@pytest.mark.parametrize("dtype", STORED)
def test_eight_bit_floats_print_cast_and_are_saved_as_they_came(dtype: str, tmp_path: Path) -> None:
    x = array_of(dtype)
    assert x.asnumpy().dtype == dtype
    assert x.astype("float32").tolist() == VALUES.tolist()
    assert x.astype("float32").astype(dtype).asnumpy().tobytes() == x.asnumpy().tobytes()
    assert "[ 8. 16.  1.]" in str(x)
    assert x[1].astype("float32").tolist() == [8, 16, 1]


# -- what a format cannot hold ---


def test_eight_bit_floats_are_refused_by_name_where_there_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match=r"got float8_e5m2 in 'w'; save it as .safetensors"):
        nd.save(tmp_path / "a.params", {"v": nd.ones(1), "w": array_of("float8_e5m2")})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", [".safetensors", ".safetensors.index.json"])
def test_sparse_arrays_are_refused_by_name(ending: str, tmp_path: Path) -> None:
    rows = nd.ones((2, 3)).tostype("row_sparse")
    with pytest.raises(ArgumentTypeError, match=r"got row_sparse at 'w'; save as .params, or use"):
        nd.save(tmp_path / f"a{ending}", {"w": rows})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_sparse_arrays_come_back_from_npz(stype: str, tmp_path: Path) -> None:
    values = np.array([[0, 1, 0], [0, 0, 0], [2, 0, 3]], np.float32)
    nd.save(
        tmp_path / "a.npz", {"w": sparse.array(nd.array(values).tostype(stype)), "v": nd.ones(1)}
    )
    loaded = nd.load(tmp_path / "a.npz")
    assert loaded["w"].stype == stype
    np.testing.assert_array_equal(loaded["w"].asnumpy(), values)


@pytest.mark.parametrize(
    ("ending", "name", "message"),
    [
        (".safetensors", "__metadata__", "names other than '__metadata__'"),
        (".safetensors", "\ud800", "UTF-8 can hold"),
        (".npz", "\ud800", "UTF-8 can hold"),
        (".npz", "a\0b", "without"),
        (".npz", "a" * 40_000, "32768 bytes"),
        (".npz", "a/format", "do not collide with a sparse array"),
    ],
)
def test_names_are_refused(ending: str, name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=message):
        nd.save(tmp_path / f"a{ending}", {name: nd.ones(1)})
    assert not list(tmp_path.iterdir())


def test_metadata_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"no metadata for a list file, got \['a'\]"):
        nd.save(tmp_path / "a.params", [nd.ones(1)], metadata={"a": "b"})
    for ending in NAMED:
        with pytest.raises(ArgumentTypeError, match="metadata of str"):
            nd.save(tmp_path / f"a{ending}", [nd.ones(1)], metadata={"a": 1})  # type: ignore[dict-item]
    with pytest.raises(ArgumentError, match="metadata of up to 65535 bytes"):
        nd.save(tmp_path / "a.npz", [nd.ones(1)], metadata={"a": "b" * 70_000})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "size"), [("a.safetensors", 10), ("a.safetensors.index.json", 0)])
def test_sizes_of_shards_are_refused(name: str, size: int, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="expected max_shard_nbytes of 1 or more and a name"):
        nd.save(tmp_path / name, [nd.ones(1)], max_shard_nbytes=size)


# -- files that others change, and files that are mapped on request ---

LARGE = 1 << 19  # elements: 2 MiB
VERY_LARGE = 3 << 19  # of which the checksum is computed beside


def overwrite(path: Path) -> None:
    """Change the bytes in place, as ``cp`` does."""
    with path.open("r+b") as file:
        file.write(b"\xff" * path.stat().st_size)


def truncate(path: Path) -> None:
    path.write_bytes(b"")


def replace(path: Path) -> None:
    path.with_name("new").write_bytes(b"another")
    path.with_name("new").replace(path)


@pytest.mark.parametrize("change", [overwrite, truncate, replace, Path.unlink])
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("load", [nd.load, npx.load])
def test_loaded_arrays_do_not_depend_on_the_file(
    load: Callable[[Path], Any], ending: str, change: Callable[[Path], None], tmp_path: Path
) -> None:
    nd.save(tmp_path / f"a{ending}", {"w": nd.arange(LARGE), "v": nd.ones(3)})
    loaded = load(tmp_path / f"a{ending}")
    for part in [*tmp_path.iterdir()]:
        change(part)
    assert not is_mapped(loaded["w"].handle)
    np.testing.assert_array_equal(loaded["w"].asnumpy(), np.arange(LARGE, dtype=np.float32))
    assert loaded["v"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("ending", NAMED)
def test_a_file_that_gets_shorter_while_it_is_read_is_refused(ending: str, tmp_path: Path) -> None:
    nd.save(tmp_path / f"a{ending}", {"v": nd.ones(VERY_LARGE), "w": nd.ones(VERY_LARGE)})
    with open_arrays(tmp_path / f"a{ending}") as found:
        assert record_of(found.arrays[0]).values.sum() == VERY_LARGE
        for part in tmp_path.iterdir():
            os.truncate(part, part.stat().st_size // 2)
        with pytest.raises(FileFormatError, match="made the file shorter while it was read"):
            record_of(found.arrays[1])


@pytest.mark.parametrize("ending", [".safetensors", ".npz", ".safetensors.index.json"])
def test_a_mapping_is_refused_to_a_file_that_was_cut(ending: str, tmp_path: Path) -> None:
    nd.save(tmp_path / f"a{ending}", {"w": nd.ones(LARGE)})
    part = next(path for path in tmp_path.iterdir() if path.stat().st_size > LARGE)
    os.truncate(part, LARGE)
    with pytest.raises(FileFormatError, match=part.name):
        nd.load(tmp_path / f"a{ending}", mmap=True)


def test_a_shard_that_is_replaced_while_the_others_are_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors.index.json"
    nd.save(path, {"v": nd.ones(4), "w": nd.ones(4)}, max_shard_nbytes=16)
    with open_arrays(path) as found:
        record_of(found.arrays[0])
        replace(tmp_path / "a-00002-of-00002.safetensors")
        with pytest.raises(FileFormatError, match=r"a-00002-of-00002.*another program changed"):
            record_of(found.arrays[1])


@pytest.mark.parametrize("ending", NAMED)
def test_loading_takes_memory_for_one_copy(ending: str, tmp_path: Path) -> None:
    arrays = {f"w{i}": nd.ones(LARGE) for i in range(8)}
    nd.save(tmp_path / f"a{ending}", arrays)
    nd.load(tmp_path / f"a{ending}")  # imports what it needs
    tracemalloc.start()
    try:
        loaded = nd.load(tmp_path / f"a{ending}")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(loaded) == 8
    assert peak < 8 * 4 * LARGE * 1.1


def test_a_compressed_npz_takes_little_memory_beside_the_arrays(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", w=np.zeros(8 * LARGE, np.float32))
    nd.load(tmp_path / "a.npz")
    tracemalloc.start()
    try:
        nd.load(tmp_path / "a.npz")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 4 * LARGE * 1.25


@pytest.mark.parametrize("ending", NAMED)
def test_on_request_large_arrays_stay_in_the_file_aligned_and_others_do_not(
    ending: str, tmp_path: Path
) -> None:
    saved = {"odd": nd.ones(3), "w": nd.arange(LARGE), "h": nd.ones(LARGE + 1, dtype="float16")}
    saved["b"] = nd.ones(LARGE, dtype="bool")
    nd.save(tmp_path / f"a{ending}", saved)
    loaded = nd.load(tmp_path / f"a{ending}", mmap=True)
    assert [is_mapped(x.handle) for x in loaded.values()] == [False, True, True, False]
    assert loaded["w"].handle.ctypes.data % 64 == 0
    for name, x in saved.items():
        np.testing.assert_array_equal(loaded[name].asnumpy(), x.asnumpy())


@pytest.mark.parametrize("ending", NAMED)
def test_writes_do_not_reach_the_file(ending: str, tmp_path: Path) -> None:
    nd.save(tmp_path / f"a{ending}", {"w": nd.ones(LARGE)})
    before = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    first, second = (nd.load(tmp_path / f"a{ending}", mmap=True)["w"] for _ in range(2))
    first += 1
    first[5] = 7
    assert first[:7].tolist() == [2, 2, 2, 2, 2, 7, 2]
    assert first.sum().asscalar() == 2 * LARGE + 5
    assert second.sum().asscalar() == LARGE
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == before


@pytest.mark.parametrize("ending", NAMED)
def test_a_mapped_file_that_is_replaced_lives_on_in_arrays(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    nd.save(path, {"w": nd.ones(LARGE)})
    loaded = nd.load(path, mmap=True)["w"]
    nd.save(path, {"w": nd.zeros(4)})
    assert loaded.sum().asscalar() == LARGE
    for part in tmp_path.iterdir():
        part.unlink()
    assert loaded.sum().asscalar() == LARGE


@pytest.mark.parametrize("ending", NAMED)
def test_an_argument_decides_on_mapping_and_then_the_variable(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    nd.save(path, {"w": nd.ones(LARGE)})
    for load in (nd.load, npx.load):
        for variable in (False, True):
            with GLUONISH_MAP_FILES.override(variable):
                mapped = [is_mapped(load(path, mmap=m)["w"].handle) for m in (None, False, True)]
            assert mapped == [variable, False, True]


def test_mxnets_own_files_are_read_whole(tmp_path: Path) -> None:
    # Programs write over them in place, as MXNet itself does.
    nd.save(tmp_path / "a.params", {"w": nd.ones(LARGE)})
    loaded = nd.load(tmp_path / "a.params", mmap=True)["w"]
    (tmp_path / "a.params").write_bytes(b"")
    assert loaded.sum().asscalar() == LARGE


@pytest.mark.parametrize("ending", [".safetensors", ".npz"])
def test_a_large_file_that_was_cut_is_refused_before_it_is_used(
    ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"a{ending}"
    nd.save(path, {"w": nd.ones(LARGE)})
    content = path.read_bytes()
    for left in (len(content) - 1, len(content) // 2, 1 << 20):
        path.write_bytes(content[:left])
        with pytest.raises(FileFormatError, match=path.name):
            nd.load(path)


def test_a_damaged_large_npz_is_refused(tmp_path: Path) -> None:
    nd.save(tmp_path / "a.npz", {"w": nd.ones(LARGE)})
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[1 << 20] ^= 1
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(FileFormatError, match="Bad CRC-32"):
        nd.load(tmp_path / "a.npz")


def test_arrays_that_are_not_aligned_are_copied(tmp_path: Path) -> None:
    header = json.dumps(
        {
            "a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
            "w": {"dtype": "F32", "shape": [LARGE], "data_offsets": [1, 1 + 4 * LARGE]},
        }
    ).encode()
    values = np.arange(LARGE, dtype=np.float32)
    content = struct.pack("<Q", len(header)) + header + b"\7" + values.tobytes()
    (tmp_path / "a.safetensors").write_bytes(content)
    loaded = nd.load(tmp_path / "a.safetensors", mmap=True)["w"]
    assert loaded.handle.flags.aligned
    assert not is_mapped(loaded.handle)
    np.testing.assert_array_equal(loaded.asnumpy(), values)


# -- very many arrays ---


@pytest.mark.parametrize("ending", ENDINGS)
def test_time_is_linear_in_the_number_of_arrays(ending: str, tmp_path: Path) -> None:
    seconds = []
    for count in (1_000, 8_000):
        arrays = {f"layer{i}.weight": nd.ones(1) for i in range(count)}
        path = tmp_path / f"a{ending}"
        start = time.process_time()
        nd.save(path, arrays)
        assert len(nd.load(path)) == count
        seconds.append(time.process_time() - start)
    # 8 by count, 64 by its square; the least number is small against what a loaded machine adds.
    assert seconds[1] < 24 * seconds[0] + 0.5


def test_a_name_that_is_there_twice_is_found_in_linear_time(tmp_path: Path) -> None:
    names = [f"w{i}" for i in range(40_000)]
    record = DenseRecord(np.ones(1, np.float32))
    start = time.process_time()
    with pytest.raises(ArgumentError, match="expected distinct names, got 'w39999' twice"):
        write_arrays(tmp_path / "a.npz", [record] * 40_001, [*names, names[-1]])
    assert time.process_time() - start < 2
