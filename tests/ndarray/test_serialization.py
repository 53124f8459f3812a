from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import ndarray as nd
from gluonish.core.errors import ArgumentTypeError, FileFormatError

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


@pytest.mark.parametrize(
    "name", ["cnn.params", "dtypes.params", "lstm.params", "utf8_names.params"]
)
def test_saved_file_is_byte_for_byte_the_one_that_mxnet_wrote(name: str, tmp_path: Path) -> None:
    nd.save(tmp_path / name, nd.load(GOLDEN / name))
    assert (tmp_path / name).read_bytes() == (GOLDEN / name).read_bytes()


def test_loaded_values_are_those_that_mxnet_saved() -> None:
    loaded = nd.load(str(GOLDEN / "dtypes.params"))
    assert isinstance(loaded, dict)
    with np.load(GOLDEN / "dtypes.npz") as expected:
        for name in set(expected.files) - {"bfloat16_bits"}:
            found = loaded[name.removesuffix("_as_float32")]
            values = found.asnumpy().astype(expected[name].dtype)
            np.testing.assert_array_equal(values, expected[name])


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "int64", "bool"])
def test_dtype_comes_back(dtype: str, tmp_path: Path) -> None:
    nd.save(tmp_path / "x", {"a": nd.array([0, 1], dtype=dtype)})
    (found,) = nd.load(tmp_path / "x").values()
    assert (found._spec.dtype.name, found.astype("float32").tolist()) == (dtype, [0, 1])


@pytest.mark.parametrize("data", [nd.ones(2), [nd.ones(2)], (nd.ones(2),)])
def test_arrays_without_names_come_back_as_a_list(data: Any, tmp_path: Path) -> None:
    nd.save(tmp_path / "x", data)
    (found,) = nd.load(tmp_path / "x")
    assert found.tolist() == [1, 1]


def test_scalars_and_empty_arrays_come_back(tmp_path: Path) -> None:
    nd.save(tmp_path / "x", [nd.array(3), nd.zeros((0, 2))])
    assert [x.shape for x in nd.load(tmp_path / "x")] == [(), (0, 2)]


def test_load_from_a_buffer() -> None:
    loaded = nd.load_frombuffer((GOLDEN / "single.params").read_bytes())
    assert len(loaded) == 1


def test_what_is_no_array_is_refused(tmp_path: Path) -> None:
    for data in (["a"], {"a": 3}, {1: nd.ones(1)}):
        with pytest.raises(ArgumentTypeError, match="save: expected"):
            nd.save(tmp_path / "x", data)
    assert not list(tmp_path.iterdir())


def test_the_key_or_position_of_what_is_no_array_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match="got int at key 'a'"):
        nd.save(tmp_path / "x", {"b": nd.ones(1), "a": 3})
    with pytest.raises(ArgumentTypeError, match="got str at position 1"):
        nd.save(tmp_path / "x", [nd.ones(1), "a"])


def test_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"not an array file")
    with pytest.raises(FileFormatError):
        nd.load(tmp_path / "x")


def test_pickle_with_a_broken_record_is_refused() -> None:
    x = nd.ones(2)
    with pytest.raises(FileFormatError, match="pickled NDArray"):
        x.__setstate__({"handle": b"abc"})


def test_a_number_is_no_path() -> None:
    with pytest.raises(
        TypeError, match=r"load: expected a path, as str, bytes or os\.PathLike, got 1"
    ):
        nd.load(1)  # type: ignore[arg-type]
