"""Sums over leading axes on the double: values, launches, and an order that no address changes."""

from typing import Any

import numpy as np
import pytest

from gluonish.kernels.cupy.column_sums import _MAX_CHUNKS, _tiling, sum_rows
from gluonish.ops.reductions.reduction import SUM
from gluonish.ops.shape.broadcast_to import SUM_TO_SHAPE
from tests.kernels.cupy.arrays import allocate
from tests.kernels.cupy.one_device import COMPILED, DTYPES, OneDevice

pytestmark = COMPILED
SHAPES = [(1, 1), (3, 5), (7, 8), (64, 16), (1000, 3), (257, 24), (70, 300), (4099, 1), (2, 1030)]
LIMITS = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-7, "float64": 1e-14}


def _sums(device: OneDevice, data: Any) -> Any:
    out = allocate(device.machine, data.shape[1:], data.dtype)
    sum_rows(device.cupy, out, data)
    return out._raw.copy()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_are_summed_and_rounded_once(device: OneDevice, dtype: Any, shape: Any) -> None:
    data = device.upload(device.random.uniform(0.5, 1.5, shape).astype(dtype))
    expected = data._raw.astype(np.float64).sum(0)
    got = _sums(device, data).astype(np.float64)
    np.testing.assert_allclose(got, expected, rtol=LIMITS[np.dtype(dtype).name])
    rows, columns = shape
    assert device.launches == 1 + (_tiling(rows, columns, np.dtype(dtype).itemsize).chunks > 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [6, 16, 40])
def test_bits_are_those_of_an_aligned_array(device: OneDevice, dtype: Any, columns: int) -> None:
    values = device.random.standard_normal((600, columns)).astype(dtype)
    wanted = _sums(device, device.upload(values))
    for offset in (1, 2, 4):
        flat = device.upload(np.zeros(values.size + offset, dtype))
        flat._raw[offset:] = values.reshape(-1)
        got = _sums(device, flat[offset:].reshape(values.shape))
        np.testing.assert_array_equal(got.view(np.uint8), wanted.view(np.uint8))


def test_long_columns_keep_their_digits(device: OneDevice) -> None:
    ones = device.upload(np.ones((40000, 2), np.float16))
    assert _sums(device, ones).tolist() == [40000, 40000]
    tenths = np.full((50000, 4), 0.1, np.float32)
    np.testing.assert_allclose(
        _sums(device, device.upload(tenths)), tenths.astype(np.float64).sum(0), rtol=1e-7
    )


def test_infinities_and_nan_stay_in_their_columns(device: OneDevice) -> None:
    values = np.ones((300, 16), np.float32)
    values[7, 3], values[200, 5], values[[1, 299], 9] = np.inf, np.nan, (np.inf, -np.inf)
    got = _sums(device, device.upload(values))
    assert np.isinf(got[3])
    assert np.isnan(got[[5, 9]]).all()
    assert (np.delete(got, [3, 5, 9]) == 300).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "attrs",
    [
        {"axis": 0},
        {"axis": (0, 1)},
        {"axis": (0, 1), "keepdims": True},
        {"axis": 2, "exclude": True},
        {"axis": -3},
    ],
)
def test_sum_over_leading_axes_is_the_reference(
    device: OneDevice, dtype: Any, attrs: dict[str, Any]
) -> None:
    x = device.random.standard_normal((6, 5, 8)).astype(dtype)
    device.check(SUM, x, **attrs)
    before = device.launches
    device.run(SUM, x, **attrs)
    assert device.launches - before == 1


@pytest.mark.parametrize("attrs", [{"axis": 1}, {"axis": (0, 2)}, {}])
def test_other_sums_are_left_to_other_kernels(device: OneDevice, attrs: dict[str, Any]) -> None:
    device.check(SUM, device.random.standard_normal((6, 5, 8)).astype(np.float32), **attrs)
    device.check(SUM, np.zeros((0, 3), np.float32), axis=0)


@pytest.mark.parametrize(("shape", "launches"), [((8,), 1), ((1, 1, 8), 1), ((5, 8), 1)])
def test_gradients_of_broadcasting_are_sums_of_columns(
    device: OneDevice, shape: tuple[int, ...], launches: int
) -> None:
    x = device.random.standard_normal((6, 5, 8)).astype(np.float16)
    device.check(SUM_TO_SHAPE, x, shape=shape)
    before = device.launches
    device.run(SUM_TO_SHAPE, x, shape=shape)
    assert device.launches - before == launches


def test_views_are_copied_first(device: OneDevice) -> None:
    data = device.normal(9, 12)[:, 2:7]
    np.testing.assert_allclose(_sums(device, data), data._raw.sum(0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rows", [1, 100, 4096, 10**6])
@pytest.mark.parametrize("columns", [1, 64, 768, 30522, 10**6])
def test_every_row_is_in_one_chunk(rows: int, columns: int) -> None:
    abreast, chunk, chunks = _tiling(rows, columns, 2)
    assert chunk * (chunks - 1) < rows <= chunk * chunks
    assert chunks <= _MAX_CHUNKS
    assert 256 % abreast == 0
