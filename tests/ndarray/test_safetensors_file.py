"""Safetensors files: one that the safetensors package wrote, and hostile ones."""

import json
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import FileFormatError
from gluonish.model_zoo.foreign import open_checkpoint

FOLDER = Path(__file__).parents[1] / "golden" / "foreign"
SMALL = np.arange(-3, 3).reshape(2, 3)


def read_all(path: Path) -> dict[str, Any]:
    with open_checkpoint(path) as checkpoint:
        assert checkpoint.kind == "safetensors"
        return {name: stored.read() for name, stored in checkpoint.arrays.items()}


def test_tensors_of_every_dtype_are_read() -> None:
    found = read_all(FOLDER / "tensors.safetensors")
    for name in ("float64", "float32", "float16", "int64", "int32", "int16", "int8"):
        assert found[name].dtype == name
        np.testing.assert_array_equal(found[name], SMALL)
    assert found["bfloat16"].dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(found["bfloat16"].astype(np.float32), SMALL)
    assert found["uint8"].dtype == np.uint8
    assert found["bool"].tolist() == [True, False, True]
    assert found["scalar"].shape == ()
    assert found["scalar"] == 1.5
    assert found["empty"].shape == (0, 3)
    np.testing.assert_array_equal(found["transposed"], np.arange(24).reshape(4, 6).T)


def entry(start: int = 0, end: int = 8, shape: Any = (2,), dtype: Any = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}


def content(header: Any, data: bytes = bytes(8), length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def test_the_hand_made_file_is_right(tmp_path: Path) -> None:
    data = np.array([1, 2], np.float32).tobytes()
    (tmp_path / "x").write_bytes(content({"__metadata__": {"a": "b"}, "t": entry()}, data))
    assert {name: value.tolist() for name, value in read_all(tmp_path / "x").items()} == {
        "t": [1, 2]
    }


HOSTILE = {
    "empty": (b"", "got an empty file; a download or write was interrupted"),
    "header beyond the file": (content({}, b"", 1000), "1000 bytes of header at byte 8"),
    "huge header": (content({}, b"", 1 << 62), "header of up to 100000000 bytes at byte 0"),
    "no JSON": (content(b"{a", b""), "a JSON header at byte 8"),
    "no object": (content(b"[1]", b""), "a JSON header at byte 8, got [1]"),
    "half a character": (content(b'{"\\ud800": 1}', b""), "a JSON header at byte 8"),
    "metadata of numbers": (content({"__metadata__": {"a": 1}}, b""), "expected text by name in"),
    "metadata of a list": (content({"__metadata__": ["a"]}, b""), "expected text by name in"),
    "no UTF-8": (content(b'{"\xff": 1}', b""), "a JSON header at byte 8"),
    "deep JSON": (content(b"[" * 100_000, b""), "a JSON header at byte 8"),
    "long integer": (content(b"[" + b"9" * 5000 + b"]", b""), "a JSON header at byte 8"),
    "name twice": (content(b'{"t": 1, "t": 1}', b""), "the name 't' twice"),
    "no entry": (content({"t": 3}), "tensor 't': expected a dtype of"),
    "unknown dtype": (content({"t": entry(dtype="F4")}), "'t': expected a dtype of F64, F32"),
    "complex numbers": (content({"t": entry(0, 8, [1], "C64")}), "BOOL, got 'C64'"),
    "dtype of another kind": (content({"t": entry(dtype=["F32"])}), "tensor 't': expected a dtype"),
    "negative extent": (content({"t": entry(shape=[-2])}), "'t': expected a shape of non-neg"),
    "fraction": (content({"t": entry(shape=[2.0])}), "'t': expected a shape of non-neg"),
    "truth": (content({"t": entry(shape=[True, 2])}), "'t': expected a shape of non-neg"),
    "many axes": (content({"t": entry(shape=[1] * 100 + [2])}), "axes, got 101"),
    "huge shape": (content({"t": entry(shape=[1 << 61] * 8)}), "'t': expected data_offsets of"),
    "offsets beyond the file": (content({"t": entry(0, 80, [20])}), "up to the end at byte"),
    "offsets reversed": (content({"t": entry(8, 0, [2])}), "expected data_offsets of 8 bytes"),
    "negative offset": (content({"t": entry(-8, 0, [2])}), "data_offsets of non-negative"),
    "three offsets": (
        content({"t": {**entry(), "data_offsets": [0, 8, 8]}}),
        "expected data_offsets of 8 bytes",
    ),
    "overlap": (
        content({"t": entry(), "u": entry(4, 12)}, bytes(12)),
        "tensor 'u' at byte 139, got 135, which is an overlap",
    ),
    "gap": (content({"t": entry(4, 12)}, bytes(12)), "which is a gap"),
    "bytes behind": (content({"t": entry()}, bytes(9)), "the file is truncated or corrupt"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused(case: str, tmp_path: Path) -> None:
    data, message = HOSTILE[case]
    path = tmp_path / "x.safetensors"
    path.write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError) as caught:
            read_all(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert peak < 1_000_000 + 10 * len(data)


def test_many_names_of_which_one_comes_twice_are_refused_at_once(tmp_path: Path) -> None:
    names = ",".join(f'"{n}":0' for n in range(300_000))
    (tmp_path / "x").write_bytes(content(f'{{{names},"299999":0}}'.encode(), b""))
    with pytest.raises(FileFormatError, match="the name '299999' twice"):
        read_all(tmp_path / "x")


GOLDEN = Path(__file__).parents[1] / "golden" / "safetensors"


@pytest.mark.parametrize("name", ["dtypes.safetensors", "model.safetensors.index.json"])
def test_files_of_the_safetensors_package_give_its_arrays(name: str) -> None:
    loaded = nd.load(GOLDEN / name)
    assert isinstance(loaded, dict)
    for key in set(loaded) - {"scalar", "empty"}:
        array = loaded[key].asnumpy()
        assert array.dtype.name == key
        wanted = [[1, 1, 1]] * 2 if key == "bool" else [[1, 2, 4], [8, 16, 1]]
        assert array.astype(np.float64).tolist() == wanted
    assert len(loaded) == 20
    assert loaded["scalar"].asnumpy().tolist() == 1.5
    assert loaded["empty"].shape == (0, 3)
    assert nd.load_metadata(GOLDEN / "dtypes.safetensors") == {"format": "np", "ü": "1"}
    assert nd.load_metadata(GOLDEN / "model.safetensors.index.json") == {"format": "pt"}
