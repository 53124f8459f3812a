"""Tests for infinity and NaN: exact at every place of an array, in one launch for many arrays."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.kernels.cupy.all_finite import _BLOCK, _MOST, FiniteTest
from gluonish.ops.contrib.finite import MULTI_ALL_FINITE
from tests.kernels.cupy.one_device import COMPILED, DTYPES, OneDevice

pytestmark = COMPILED


def found(device: OneDevice, arrays: list[Any], **attrs: Any) -> float:
    (out,) = device.run(MULTI_ALL_FINITE, *arrays, num_arrays=len(arrays), **attrs)
    return float(out[0])


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_infinity_and_nan_are_found_at_every_place(device: OneDevice, dtype: Any) -> None:
    size = _BLOCK + 11
    arrays = [np.full(n, ml_dtypes.finfo(dtype).max, dtype) for n in (3, 0, size)]
    assert found(device, arrays) == 1
    for place in (0, 5, _BLOCK - 1, _BLOCK, size - 1):
        for value in (np.inf, -np.inf, np.nan):
            changed = [x.copy() for x in arrays]
            changed[2][place] = value
            assert found(device, changed) == 0, (place, value)


def test_arrays_at_odd_addresses_are_tested(device: OneDevice) -> None:
    out = device.upload(np.ones(1, np.float32))
    memory = device.upload(np.r_[np.inf, np.ones(20)].astype(np.float16))
    FiniteTest(device.cupy, [memory[1:]]).run(out)
    assert out._raw[0] == 1
    memory._raw[18] = np.nan
    FiniteTest(device.cupy, [memory[1:]]).run(out)
    assert out._raw[0] == 0


def test_a_launch_tests_many_arrays_of_a_dtype(device: OneDevice) -> None:
    arrays = [device.upload(np.ones(2, np.float32)) for _ in range(_MOST + 1)]
    arrays.append(device.upload(np.ones(2, np.float16)))
    test = FiniteTest(device.cupy, arrays)
    out, before = device.upload(np.ones(1, np.float32)), device.launches
    arrays[_MOST]._raw[1] = np.inf
    test.run(out)
    assert device.launches - before == 3
    assert out._raw[0] == 0
