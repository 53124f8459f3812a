"""Zeros in many arrays take one launch."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.kernels.cupy import zeros
from gluonish.ops.contrib.many_arrays import RESET_ARRAYS
from gluonish.ops.fused.zeros_like_many import ZEROS_LIKE_MANY
from tests.checking.values import spec_of
from tests.kernels.cupy.one_device import COMPILED, OneDevice

pytestmark = COMPILED

# Single elements, ends within an access of 16 bytes, several blocks, nothing.
SHAPES = [(1,), (3, 5), (64,), (zeros._CHUNK + 7,), (0, 3), (2, 3, 700)]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_zeros_fill_every_output_and_nothing_beside(device: OneDevice, dtype: Any) -> None:
    like = [device.upload(np.ones(shape, np.float32)) for shape in SHAPES]
    whole = [device.upload(np.ones(np.prod(shape, dtype=int) + 8, dtype)) for shape in SHAPES]
    # The second half begins at addresses that are no multiples of 16 bytes.
    starts = [0, 0, 0, 1, 1, 1]
    outs = [
        x[start : start + int(np.prod(shape))].reshape(shape)
        for x, start, shape in zip(whole, starts, SHAPES, strict=True)
    ]
    attrs = {"num_args": len(like), "dtype": np.dtype(dtype)}
    fast = ZEROS_LIKE_MANY.select_fast("gpu", [spec_of(x) for x in like], attrs)
    assert fast is not None
    before = device.launches
    fast.kernel(device.cupy, tuple(outs), *like, **attrs)
    assert device.launches == before + 1
    for x, start, shape in zip(whole, starts, SHAPES, strict=True):
        rest = np.ones_like(x._raw)
        rest[start : start + int(np.prod(shape))] = 0
        np.testing.assert_array_equal(x._raw, rest)


def test_reset_arrays_takes_arrays_of_any_dtype_and_any_number(device: OneDevice) -> None:
    count = zeros._MOST + 1
    arrays = [device.upload(np.ones(3 + i % 5, [np.int8, np.float64][i % 2])) for i in range(count)]
    gaps = device.upload(np.ones((4, 6), np.float32))
    arrays.append(gaps[:, ::2])
    attrs = {"num_arrays": len(arrays)}
    fast = RESET_ARRAYS.select_fast("gpu", [spec_of(x) for x in arrays], attrs)
    assert fast is not None
    hidden = device.upload(np.ones(1, np.float32))
    before = device.launches
    fast.kernel(device.cupy, (hidden,), *arrays, **attrs)
    assert device.launches == before + 3  # one for those with gaps
    assert not any(x._raw.any() for x in (hidden, *arrays))
    np.testing.assert_array_equal(gaps._raw[:, 1::2], 1)
