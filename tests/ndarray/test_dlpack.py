import ctypes
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


# What dlpack.h calls the types, which NumPy does not exchange.
CODES = {
    "bfloat16": (4, 16),
    "float8_e4m3fn": (10, 8),
    "float8_e4m3fnuz": (11, 8),
    "float8_e5m2": (12, 8),
    "float8_e5m2fnuz": (13, 8),
    "float8_e8m0fnu": (14, 8),
}


def told_type(capsule: Any, name: bytes = b"dltensor", offset: int = 0) -> tuple[int, int]:
    """Code and bits in a capsule's tensor, 20 bytes from its beginning."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    code, bits = (ctypes.c_uint8 * 2).from_address(pointer_of(capsule, name) + offset + 20)
    return code, bits


@pytest.mark.parametrize("dtype", CODES)
def test_bfloat16_and_8_bits_are_shared_both_ways(dtype: str) -> None:
    x = nd.array([1, 2, 4]).astype(dtype)
    for capsule in (nd.to_dlpack_for_read(x), nd.to_dlpack_for_write(x)):
        assert told_type(capsule) == CODES[dtype]
        y = nd.from_dlpack(capsule)
        assert y.dtype == x.dtype
        assert np.shares_memory(x.handle.view(np.uint8), y.handle.view(np.uint8))
    y[1] = 8
    assert x.astype("float32").tolist() == [1, 8, 4]
    assert nd.from_dlpack(x).astype("float32").tolist() == [1, 8, 4]


def test_capsules_of_the_newer_kind_say_bfloat16_too() -> None:
    capsule = nd.ones(2, dtype="bfloat16").__dlpack__(max_version=(1, 0))
    assert told_type(capsule, b"dltensor_versioned", 32) == (4, 16)
    assert nd.from_dlpack(capsule).astype("float32").tolist() == [1, 1]


def test_bits_go_to_libraries_without_the_type_and_come_from_them() -> None:
    x = nd.array([1, 2], dtype="bfloat16")

    class Bits:
        def __dlpack__(self, **_: Any) -> Any:
            return x.to_dlpack_for_write(bits=True)

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    bits = np.from_dlpack(Bits())
    assert bits.dtype == np.uint16
    assert bits.tolist() == [0x3F80, 0x4000]
    y = nd.from_dlpack(np.array([0x3F80, 0xC000], np.uint16), dtype="bfloat16")
    assert y.astype("float32").tolist() == [1, -2]
    with pytest.raises(ArgumentTypeError, match="expected a dtype of 2 bytes, as uint16 has, got"):
        nd.from_dlpack(np.zeros(2, np.uint16), dtype="float32")


def test_a_capsule_of_bfloat16_keeps_the_memory_alive_and_is_taken_once() -> None:
    capsule = nd.to_dlpack_for_read(nd.array([1, 2], dtype="bfloat16"))
    gc.collect()
    y = nd.from_dlpack(capsule)
    assert y.astype("float32").tolist() == [1, 2]
    with pytest.raises(ArgumentTypeError, match="a capsule that nobody took"):
        nd.from_dlpack(capsule)


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
