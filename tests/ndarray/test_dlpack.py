import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import ndarray as nd
from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError

DTYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool")


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_takes_an_array_without_a_copy(dtype: str) -> None:
    x = nd.array([1, 0, 1], dtype=dtype)
    y = np.from_dlpack(x)
    assert y.dtype == dtype
    assert np.shares_memory(y, x.handle)


def test_capsule_for_write_shares_the_memory_both_ways() -> None:
    x = nd.ones((2, 3))
    y = nd.from_dlpack(nd.to_dlpack_for_write(x))
    y += 1
    assert x.tolist() == y.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_capsule_keeps_the_memory_alive() -> None:
    y = nd.from_dlpack(nd.array([1, 2, 3]).to_dlpack_for_read())
    gc.collect()
    assert y.tolist() == [1, 2, 3]


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_capsule_of_either_kind_is_taken(version: tuple[int, int] | None) -> None:
    values = np.ones(3, np.float32)
    x = nd.from_dlpack(values.__dlpack__(max_version=version))
    x[0] = 5
    x.wait_to_read()
    assert values.tolist() == [5, 1, 1]


def test_object_with_dlpack_is_shared() -> None:
    values = np.ones(3, np.float32)
    x = nd.from_dlpack(values)
    x[0] = 5
    x.wait_to_read()
    assert values.tolist() == [5, 1, 1]


def test_strided_or_read_only_memory_is_copied() -> None:
    values = np.zeros((2, 3), np.float32)
    nd.from_dlpack(values.T)[:] = 1
    frozen = values.view()
    frozen.flags.writeable = False
    nd.from_dlpack(frozen)[:] = 1
    nd.waitall()
    assert values.sum() == 0


def test_another_device_may_be_asked_for() -> None:
    assert nd.from_dlpack(np.ones(2), ctx=cpu(1)).context == cpu(1)


def test_bfloat16_is_refused_with_the_remedy() -> None:
    x = nd.ones(2, dtype="bfloat16")
    for export in (nd.to_dlpack_for_read, nd.to_dlpack_for_write, np.from_dlpack):
        with pytest.raises(ArgumentTypeError, match=r"got bfloat16; use astype\('float32'\)"):
            export(x)


def test_from_numpy_shares_and_makes_the_source_read_only() -> None:
    values = np.zeros((2, 2))
    x = nd.from_numpy(values)
    x[:] = 3
    x.wait_to_read()
    assert values.tolist() == [[3, 3], [3, 3]]
    assert not values.flags.writeable
    assert x.dtype == np.float64


def test_from_numpy_of_a_subclass_gives_plain_arrays_back() -> None:
    class Named(np.ndarray):
        """An array of a user's."""

    values = np.arange(3, dtype=np.float32).view(Named)
    x = nd.from_numpy(values)
    assert type(x.asnumpy()) is np.ndarray
    assert np.shares_memory(x.handle, values)


@pytest.mark.parametrize("make", [np.zeros, lambda n: np.zeros((2, n))[1]])
def test_from_numpy_shares_again_what_it_made_read_only(make: Any) -> None:
    values = make(3)
    first = nd.from_numpy(values)
    first[0] = 7
    first.wait_to_read()
    second = nd.from_numpy(values)
    second[1] = 100
    second.wait_to_read()
    assert values.tolist() == first.tolist() == second.tolist() == [7, 100, 0]
    assert not values.flags.writeable
    del values, first
    assert second.tolist() == [7, 100, 0]


def test_from_numpy_copies_on_request_and_what_may_not_be_written(tmp_path: Path) -> None:
    values = np.zeros(2)
    copied = nd.from_numpy(values, zero_copy=False)
    assert not np.shares_memory(copied.handle, values)
    assert values.flags.writeable
    values.tofile(tmp_path / "values")
    for fixed in (np.frombuffer(bytes(16)), np.memmap(tmp_path / "values", np.float64, "r")):
        x = nd.from_numpy(fixed)
        x[:] = 1
        assert x.tolist() == [1, 1]
        assert fixed.tolist() == [0, 0]


def test_values_of_an_unknown_dtype_stay_writeable() -> None:
    values = np.zeros(2, np.complex64)
    with pytest.raises(ArgumentTypeError, match="dtype: expected"):
        nd.from_numpy(values)
    assert values.flags.writeable


def test_from_numpy_refuses_strided_values_and_unknown_dtypes() -> None:
    with pytest.raises(ArgumentError, match="C-contiguous"):
        nd.from_numpy(np.zeros((2, 3)).T)
    with pytest.raises(ArgumentTypeError, match="dtype: expected"):
        nd.from_numpy(np.zeros(2, np.complex64))
