"""Casts of many weights in one launch, to either memory layout."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.kernels.cupy import cast_weights
from gluonish.ops.fused.cast_weights import CAST_WEIGHTS
from tests.checking.values import spec_of
from tests.kernels.cupy.arrays import Array
from tests.kernels.cupy.one_device import COMPILED, OneDevice

pytestmark = COMPILED

HALF, BFLOAT16 = np.float16, ml_dtypes.bfloat16
SHAPES = [(3, 5, 3, 3), (1,), (7, 2, 1, 1), (4, 1, 5, 5), (2, 700, 3, 3), (33, 17), (2, 3, 2, 3, 4)]
PAIRS = [(np.float32, HALF), (np.float32, BFLOAT16), (np.float32, np.float32), (HALF, HALF)]
PAIRS.append((BFLOAT16, BFLOAT16))


def _empty(device: OneDevice, shape: tuple[int, ...], dtype: Any, last: bool) -> Array:
    if not last or len(shape) < 3:
        return device.upload(np.zeros(shape, dtype))
    memory = device.upload(np.zeros((shape[0], *shape[2:], shape[1]), dtype))
    return memory.transpose(0, len(shape) - 1, *range(1, len(shape) - 1))  # type: ignore[no-any-return]


def _cast(device: OneDevice, weights: list[Any], dtype: Any, last: list[bool]) -> list[Any]:
    attrs = {"num_args": len(weights), "dtype": np.dtype(dtype)}
    kernel = CAST_WEIGHTS.select_fast("gpu", [spec_of(x) for x in weights], attrs)
    assert kernel is not None
    outs = [_empty(device, x.shape, dtype, y) for x, y in zip(weights, last, strict=True)]
    arrays = [device.upload(x) for x in weights]
    kernel.kernel(device.cupy, tuple(outs), *arrays, **attrs)
    return [out._raw for out in outs]


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_weight_is_cast_in_one_launch(
    device: OneDevice, source: Any, target: Any, last: bool
) -> None:
    weights = [device.random.standard_normal(shape).astype(source) for shape in SHAPES]
    before = device.launches
    found = _cast(device, weights, target, [last] * len(weights))
    assert device.launches == before + 1
    for got, weight in zip(found, weights, strict=True):
        np.testing.assert_array_equal(got, weight.astype(target))


def test_layouts_may_differ_and_one_weight_is_enough(device: OneDevice) -> None:
    weights = [device.random.standard_normal((4, 3, 3, 3)).astype(np.float32) for _ in range(3)]
    for got, weight in zip(_cast(device, weights, HALF, [True, False, True]), weights, strict=True):
        np.testing.assert_array_equal(got, weight.astype(HALF))
    (alone,) = _cast(device, weights[:1], HALF, [True])
    np.testing.assert_array_equal(alone, weights[0].astype(HALF))


@pytest.mark.parametrize("dtype", [HALF, BFLOAT16, np.float32])
def test_sources_may_be_channels_last(device: OneDevice, dtype: Any) -> None:
    weights = [device.random.standard_normal(shape).astype(dtype) for shape in SHAPES]
    attrs = {"num_args": len(weights), "dtype": np.dtype(dtype)}
    kernel = CAST_WEIGHTS.select_fast("gpu", [spec_of(x) for x in weights], attrs)
    assert kernel is not None
    for last in (False, True):
        sources = [_empty(device, x.shape, dtype, True) for x in weights]
        for source, weight in zip(sources, weights, strict=True):
            source._raw[...] = weight
        outs = [_empty(device, x.shape, dtype, last) for x in weights]
        before = device.launches
        kernel.kernel(device.cupy, tuple(outs), *sources, **attrs)
        assert device.launches == before + (1 if last else 2)  # there, and back
        for out, weight in zip(outs, weights, strict=True):
            np.testing.assert_array_equal(out._raw, weight)


def test_more_weights_than_fit_a_launch_take_several(device: OneDevice) -> None:
    count = 2 * cast_weights._MOST + 1
    weights = [device.random.standard_normal((2, 3, i % 3 + 1, 2)) for i in range(count)]
    weights = [x.astype(np.float32) for x in weights]
    before = device.launches
    found = _cast(device, weights, BFLOAT16, [i % 2 == 0 for i in range(count)])
    assert device.launches == before + 3
    for got, weight in zip(found, weights, strict=True):
        np.testing.assert_array_equal(got, weight.astype(BFLOAT16))


def test_other_dtypes_and_huge_windows_are_left_to_the_reference() -> None:
    def fast(dtype: Any, *weights: Any) -> Any:
        attrs = {"num_args": len(weights), "dtype": np.dtype(dtype)}
        return CAST_WEIGHTS.select_fast("gpu", [spec_of(x) for x in weights], attrs)

    single, double = np.zeros(3, np.float32), np.zeros(3)
    assert fast(np.float32, single) is not None
    assert fast(np.float64, single) is None
    assert fast(np.float32, double) is None
    assert fast(HALF, single, np.zeros(3, HALF)) is None
    assert fast(np.float32, np.zeros((1, 2, 65, 65), np.float32)) is None
    assert fast(np.float32, np.zeros((0, 2), np.float32)) is None
