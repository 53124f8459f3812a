"""Products of arrays of the double, by the cuBLAS of the double, against NumPy's."""

from typing import Any

import numpy as np
import pytest

from gluonish.kernels.cupy.gemm import matmul, multiply
from tests.kernels.cupy.arrays import Array, allocate
from tests.kernels.cupy.one_device import DTYPES, OneDevice

WIDE = {np.dtype(np.float64): np.float64}


def _check(device: OneDevice, a: Array, b: Array, out_dtype: Any = None) -> None:
    """Hold `multiply` to NumPy's product in a wide type, rounded once."""
    wide = WIDE.get(a.dtype, np.float32)
    expected = np.matmul(a._raw.astype(wide), b._raw.astype(wide))
    out = allocate(device.machine, expected.shape, out_dtype or a.dtype)
    multiply(device.cupy, out, a, b)
    exact = out.dtype.itemsize > 2
    tolerance = (1e-12 if wide is np.float64 else 1e-5) if exact else 2e-2
    np.testing.assert_allclose(
        out._raw.astype(wide), expected, rtol=tolerance, atol=tolerance * np.abs(expected).max()
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_product_of_two_matrices(device: OneDevice, dtype: Any) -> None:
    _check(device, device.normal(5, 7, dtype=dtype), device.normal(7, 3, dtype=dtype))


@pytest.mark.parametrize("dtype", DTYPES[:2])
def test_sixteen_bits_can_give_float32(device: OneDevice, dtype: Any) -> None:
    a, b = device.normal(5, 7, dtype=dtype), device.normal(7, 3, dtype=dtype)
    _check(device, a, b, np.float32)


@pytest.mark.parametrize("dtype", DTYPES[:2])
def test_long_rows_of_sixteen_bits_are_summed_in_float32(device: OneDevice, dtype: Any) -> None:
    ones = device.upload(np.ones((1, 4096), dtype))
    out = allocate(device.machine, (1, 1), dtype)
    multiply(device.cupy, out, ones, ones.T)
    assert float(out._raw[0, 0]) == 4096


@pytest.mark.parametrize("flip_a", [False, True])
@pytest.mark.parametrize("flip_b", [False, True])
def test_transposed_views_are_read_where_they_lie(
    device: OneDevice, flip_a: bool, flip_b: bool
) -> None:
    a = device.normal(2, 7, 5).swapaxes(1, 2) if flip_a else device.normal(2, 5, 7)
    b = device.normal(2, 3, 7).swapaxes(1, 2) if flip_b else device.normal(2, 7, 3)
    _check(device, a, b)
    assert device.launches == 1


@pytest.mark.parametrize(
    ("a", "b"),
    [((4, 5, 7), (7, 3)), ((5, 7), (4, 7, 3)), ((2, 4, 5, 7), (7, 3)), ((1, 5, 7), (4, 7, 3))],
)
def test_one_matrix_serves_a_whole_stack_without_a_copy(
    device: OneDevice, a: tuple[int, ...], b: tuple[int, ...]
) -> None:
    _check(device, device.normal(*a), device.normal(*b))
    assert device.launches == 1


def test_stacks_that_broadcast_in_part_are_copied(device: OneDevice) -> None:
    _check(device, device.normal(2, 1, 5, 7), device.normal(3, 7, 3))
    assert device.launches == 3


@pytest.mark.parametrize(
    "key",
    [
        (slice(None), slice(1, 6), slice(2, 9)),
        (slice(None), slice(None, None, 2), slice(None)),
        (slice(None), slice(None), slice(None, None, 2)),
        (slice(None), slice(None, None, -1), slice(None)),
        (slice(None, None, 2), slice(None), slice(None)),
        (slice(None), slice(3, 4), slice(None)),
        (slice(None), slice(None), slice(3, 4)),
    ],
)
def test_parts_of_arrays_are_multiplied(device: OneDevice, key: Any) -> None:
    a = device.normal(4, 9, 10)[key]
    _check(device, a, device.normal(len(a), a.shape[2], 3))
    _check(device, device.normal(len(a), 2, a.shape[1]), a)


def test_a_part_of_an_array_receives_the_product(device: OneDevice) -> None:
    whole = device.upload(np.zeros((4, 6, 8), np.float32))
    a, b = device.normal(4, 6, 5), device.normal(4, 5, 3)
    multiply(device.cupy, whole[:, :, 2:5], a, b)
    np.testing.assert_allclose(whole._raw[:, :, 2:5], a._raw @ b._raw, rtol=1e-5)
    assert not whole._raw[:, :, :2].any()
    assert device.launches == 1


@pytest.mark.parametrize("accumulate", [False, True])
def test_a_transposed_array_receives_the_product(device: OneDevice, accumulate: bool) -> None:
    target = device.upload(np.ones((3, 6), np.float32)).T
    a, b = device.normal(6, 5), device.normal(5, 3)
    multiply(device.cupy, target, a, b, accumulate=accumulate)
    np.testing.assert_allclose(target._raw, a._raw @ b._raw + accumulate, rtol=1e-5, atol=1e-6)


def test_products_are_scaled_and_added(device: OneDevice) -> None:
    out = device.normal(2, 4, 3)
    before = out._raw.copy()
    a, b = device.normal(2, 4, 5), device.normal(2, 5, 3)
    multiply(device.cupy, out, a, b, -0.5, accumulate=True)
    np.testing.assert_allclose(out._raw, before - 0.5 * (a._raw @ b._raw), rtol=1e-5, atol=1e-6)


def test_an_empty_sum_is_zero(device: OneDevice) -> None:
    out = device.normal(4, 3)
    multiply(device.cupy, out, device.normal(4, 0), device.normal(0, 3))
    assert not out._raw.any()
    assert device.machine.cublas.calls == []  # type: ignore[attr-defined]


def test_nothing_is_added_for_an_empty_sum(device: OneDevice) -> None:
    out = device.upload(np.ones((4, 3), np.float32))
    multiply(device.cupy, out, device.normal(4, 0), device.normal(0, 3), accumulate=True)
    assert out._raw.all()


@pytest.mark.parametrize(("a", "b"), [((0, 5), (5, 3)), ((0, 4, 5), (0, 5, 3)), ((4, 5), (5, 0))])
def test_an_empty_product_needs_no_call(
    device: OneDevice, a: tuple[int, ...], b: tuple[int, ...]
) -> None:
    _check_shape = np.empty(a) @ np.empty(b)
    out = allocate(device.machine, _check_shape.shape, np.float32)
    multiply(device.cupy, out, device.normal(*a), device.normal(*b))
    assert device.launches == 0


@pytest.mark.parametrize(
    ("a", "b"),
    [((5,), (5,)), ((4, 5), (5,)), ((5,), (2, 5, 3)), ((2, 1, 4, 5), (3, 5, 2)), ((2, 4, 5), (5,))],
)
def test_matmul_takes_vectors_and_broadcasts(
    device: OneDevice, a: tuple[int, ...], b: tuple[int, ...]
) -> None:
    left, right = device.normal(*a), device.normal(*b)
    expected = np.asarray(left._raw @ right._raw)
    out = allocate(device.machine, expected.shape, np.float32)
    matmul(device.cupy, out, left, right)
    np.testing.assert_allclose(out._raw, expected, rtol=1e-5, atol=1e-6)
