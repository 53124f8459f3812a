"""Copies between layouts against NumPy's."""

from typing import Any

import numpy as np
import pytest

from gluonish.kernels.compiler import available
from gluonish.kernels.generated.strided_copy import move
from gluonish.ops.kernel import RefusedError

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")


def _values(*shape: int, dtype: str = "float32") -> Any:
    return (np.random.default_rng(3).standard_normal(shape) * 50).astype(dtype)


def _compare(target: Any, source: Any) -> None:
    whole = target if target.base is None else target.base
    whole[...] = 1
    want = whole.copy()
    view = np.lib.stride_tricks.as_strided  # the same view of the copy
    first = (target.ctypes.data - whole.ctypes.data) // whole.itemsize
    np.copyto(view(want.reshape(-1)[first:], target.shape, target.strides), source)
    move(target, source)
    np.testing.assert_array_equal(whole, want)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
@pytest.mark.parametrize("axes", [(0, 2, 3, 1), (0, 3, 1, 2), (3, 2, 1, 0), (1, 0, 2, 3)])
def test_transpositions(axes: tuple[int, ...], dtype: str) -> None:
    source = _values(3, 33, 17, 70, dtype=dtype).transpose(axes)
    _compare(np.empty(source.shape, dtype), source)


@pytest.mark.parametrize("step", [-1, 1, 2, 3, 7, -5])
def test_rows_with_steps_on_both_sides(step: int) -> None:
    source = _values(40, 300)[:, ::step]
    _compare(np.empty(source.shape, np.float32), source)
    target = np.empty((40, 7 * source.shape[1]), np.float32)[:, ::7]
    _compare(target, source)


def test_elements_that_repeat() -> None:
    source = _values(50, 30)
    for repeats in (2, 3, 9):
        _compare(np.empty((50, 30, repeats), np.float32), source[:, :, None])
    _compare(np.empty((4, 50, 30), np.float32), source)
    _compare(np.empty((50, 30), np.float32), np.float32(2.5))


def test_blocks_of_pixels_to_channels_and_back() -> None:
    source = _values(2, 12, 20, 40)
    blocks = source.reshape(2, 12, 10, 2, 20, 2).transpose(0, 3, 5, 1, 2, 4)
    _compare(np.empty(blocks.shape, np.float32), blocks)
    fine = np.empty((2, 3, 40, 80), np.float32)
    view = fine.reshape(2, 3, 20, 2, 40, 2).transpose(0, 3, 5, 1, 2, 4)
    _compare(view, source.reshape(view.shape))


def test_inner_regions_and_long_rows() -> None:
    target = np.empty((6, 40, 50), np.float32)
    _compare(target[:, 1:-1, 2:-3], _values(6, 38, 45))
    _compare(np.empty((3, 40000), np.float32), _values(3, 50000)[:, :40000])


def test_other_elements_are_refused() -> None:
    with pytest.raises(RefusedError, match="1, 2, 4 or 8"):
        move(np.empty(3, np.complex128), np.ones(3, np.complex128))
