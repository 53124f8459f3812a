"""Batch normalization on a GPU: what the reference kernels give, in few launches, equal bits."""

import math
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.cupy import batch_norm, source
from gluonish.kernels.cupy.last_block import COUNT, partial_sums
from gluonish.kernels.cupy.limits import limits_before_rounding
from gluonish.ops.normalization.batch_norm import BATCH_NORM, BATCH_NORM_BACKWARD
from gluonish.ops.normalization.batch_norm_parts import (
    BATCH_NORM_DATA_GRADIENT,
    BATCH_NORM_RESIDUAL_SUMS,
    BATCH_NORM_STATISTICS,
    BATCH_NORM_SUMS,
)
from tests.checking.values import runtime_attrs, spec_of
from tests.kernels.cupy import host_kernels
from tests.kernels.cupy.one_device import COMPILED, DTYPES, OneDevice

pytestmark = COMPILED

# Single elements, runs shorter and longer than a block, channels side by side, several chunks.
SHAPES = [
    ((1, 1), 1),
    ((2, 3, 4, 5), 1),
    ((7, 40, 3, 3), -3),
    ((5, 33), 1),
    ((3, 5, 70), -1),
    ((4, 2, 3), 0),
    ((2, 3, 37, 41), 1),
    ((20001, 3), 1),
    ((1, 2, 1, 40000), 1),
    ((41000, 8), 1),  # more chunks than a block adds
]


def wide(dtype: Any) -> Any:
    return np.float64 if dtype == np.float64 else np.float32


def values(shape: Any, axis: int, dtype: Any) -> tuple[Any, Any, list[Any]]:
    """Return data, a gradient, and four arrays of positive numbers for channels."""
    random = np.random.default_rng(3)
    data = (random.standard_normal(shape) + 2).astype(dtype)
    grad = random.standard_normal(shape).astype(dtype)
    return data, grad, [random.uniform(0.5, 2, shape[axis]).astype(wide(dtype)) for _ in range(4)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_batch_norm_equals_the_reference(
    device: OneDevice, dtype: Any, shape: Any, axis: int
) -> None:
    data, grad, channels = values(shape, axis, dtype)
    for attrs in ({"train": True}, {"train": False}, {"train": True, "use_global_stats": True}):
        mode = attrs.pop("train")
        runtime = {"fix_gamma": not mode, "axis": axis, **attrs}
        check(device, BATCH_NORM, [data, *channels], runtime, train=mode)
    others = tuple(i for i in range(len(shape)) if i != axis % len(shape))
    mean = data.astype(np.float64).mean(axis=others).astype(wide(dtype))
    for flags in ({"fix_gamma": False}, {"fix_gamma": True}, {"use_global_stats": True}):
        inputs = (grad, data, channels[0], mean, channels[1])
        device.check(BATCH_NORM_BACKWARD, *inputs, axis=axis, **flags)


def check(device: OneDevice, op: Any, inputs: list[Any], attrs: Any, *, train: bool) -> None:
    """Hold outputs and moving statistics to the reference."""
    parsed = op.schema.parse(op.name, attrs)
    runtime = {**runtime_attrs(op, parsed), "train": train}
    specs = [spec_of(x) for x in inputs]
    fast = op.select_fast("gpu", specs, runtime)
    assert fast is not None
    empty = [np.empty(s.shape, s.dtype) for s in op.infer(*specs, **parsed)]
    expected = [x.copy() for x in inputs]
    op.kernel(np, tuple(empty), *expected, **runtime)
    found = [device.upload(x) for x in inputs]
    outputs = [device.upload(x) for x in empty]
    fast.kernel(device.cupy, tuple(outputs), *found, **runtime)
    for got, want in zip((*outputs, *found), (*empty, *expected), strict=True):
        tolerance = {2: 2e-2, 4: 2e-5, 8: 1e-11}[want.dtype.itemsize]
        near = {"rtol": tolerance, "atol": tolerance}
        np.testing.assert_allclose(got._raw.astype(float), want.astype(float), **near)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "axis"), [row for row in SHAPES if row[1] == 1])
@pytest.mark.parametrize("bounds", [(), (0.0,), (0.0, 6.0)])
def test_parts_equal_the_reference(
    device: OneDevice, dtype: Any, shape: Any, axis: int, bounds: Any
) -> None:
    data, grad, (mean, inverse, scale, beta) = values(shape, axis, dtype)
    inputs = [data, scale, mean, inverse]
    for train in (True, False):
        check(device, BATCH_NORM_STATISTICS, inputs, {"fix_gamma": False}, train=train)
    device.check(BATCH_NORM_SUMS, grad, data, mean, inverse, scale, beta, bounds=bounds)
    frozen = {"use_global_stats": True, "fix_gamma": True}
    device.check(BATCH_NORM_SUMS, grad, data, mean, inverse, scale, beta, bounds=bounds, **frozen)
    device.check(
        *(BATCH_NORM_DATA_GRADIENT, grad, data, mean, scale, beta, inverse, beta), bounds=bounds
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axis"), [((3, 5, 70), 1), ((20001, 3), 1)])
def test_a_bias_that_is_left_out_moves_the_moving_mean(
    device: OneDevice, dtype: Any, shape: Any, axis: int
) -> None:
    data, _, (gamma, mean, variance, _) = values(shape, axis, dtype)
    bias = np.arange(shape[axis]).astype(dtype)
    found = []
    for given in ([], [bias]):
        inputs = [device.upload(x) for x in (data, gamma, mean, variance, *given)]
        outputs = tuple(device.upload(np.zeros_like(mean)) for _ in range(3))
        attrs = {"has_bias": bool(given), "momentum": 0.75}
        results = run_on(device, BATCH_NORM_STATISTICS, inputs, outputs, **attrs)
        found.append([*results, inputs[2]._raw.copy(), inputs[3]._raw.copy()])
    found[0][3] += bias.astype(mean.dtype) / 4
    for got, want in zip(*found[::-1], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "last"), [((3, 12, 70), True), ((9, 160, 31), True), ((3, 4, 2, 2), False)]
)
def test_residual_sums_are_those_of_the_gradient_that_single_operators_give(
    device: OneDevice, dtype: Any, shape: Any, last: bool
) -> None:
    random = np.random.default_rng(4)
    one, other, relu = (random.standard_normal(shape).astype(dtype) for _ in range(3))
    relu[relu < 0] = 0
    data, _, (mean, inverse, scale, beta) = values(shape, 1, dtype)
    grad = ((one + other).astype(wide(dtype)) * (relu > 0)).astype(dtype)
    made = channels_last if last else OneDevice.upload
    terms = [made(device, x) for x in (one, other, relu, data)]
    few = [device.upload(x) for x in (mean, inverse, scale)]
    rows = [device.upload(np.zeros_like(mean)) for _ in range(8)]
    inputs = (made(device, grad), terms[3], *few, device.upload(beta))
    wanted = run_on(device, BATCH_NORM_SUMS, inputs, tuple(rows[:4]))
    out = made(device, np.zeros_like(grad))
    for target in (out, terms[0]):  # the latter in place
        found = run_on(device, BATCH_NORM_RESIDUAL_SUMS, (*terms, *few), (target, *rows[4:]))
        for got, want in zip(found, (grad, *wanted), strict=True):
            np.testing.assert_array_equal(got, want)
    device.check(BATCH_NORM_RESIDUAL_SUMS, one, other, relu, data, mean, inverse, scale)


def test_launches(device: OneDevice) -> None:
    data, grad, channels = values((8, 4, 5, 6), 1, np.float32)
    long, slope, _ = values((2, 3, 300, 300), 1, np.float32)
    assert device.launches_of(BATCH_NORM, data, *channels) == 2
    assert device.launches_of(BATCH_NORM_BACKWARD, grad, data, *channels[:3]) == 2
    few = [x[:3] for x in channels]
    device.run(BATCH_NORM, long, *few)  # the first of several chunks makes counters
    assert device.launches_of(BATCH_NORM, long, *few) == 2
    assert device.launches_of(BATCH_NORM_BACKWARD, slope, long, *few[:3]) == 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_channels_last_in_memory(device: OneDevice, dtype: Any) -> None:
    data, grad, channels = values((3, 5, 4, 6), 1, dtype)
    plain = device.run(BATCH_NORM_BACKWARD, grad, data, *channels[:3])
    turned = [device.upload(x.transpose(0, 2, 3, 1).copy()) for x in (grad, data, data)]
    grads, datas, out = (x.transpose(0, 3, 1, 2) for x in turned)
    few = [device.upload(x) for x in channels[:3]]
    outputs = (out, *(device.upload(np.zeros(5, wide(dtype))) for _ in range(2)))
    parsed = BATCH_NORM_BACKWARD.schema.parse("_batch_norm_backward", {})
    specs = [spec_of(x) for x in (grad, data, *channels[:3])]
    fast = BATCH_NORM_BACKWARD.select_fast("gpu", specs, parsed)
    assert fast is not None
    before = device.launches
    fast.kernel(device.cupy, outputs, grads, datas, *few, **parsed)
    assert device.launches - before == 2
    for got, want in zip(outputs, plain, strict=True):
        tolerance = 1e-2 if want.dtype.itemsize == 2 else 1e-5
        near = {"rtol": tolerance, "atol": tolerance}
        np.testing.assert_allclose(got._raw.astype(float), want.astype(float), **near)


def test_arrays_with_gaps(device: OneDevice) -> None:
    data, _, channels = values((3, 5, 4, 6), 1, np.float32)
    want = device.run(BATCH_NORM, data, *channels)
    gaps = [device.upload(np.repeat(x, 2, axis=-1)) for x in (data, *channels)]
    views = [x[..., ::2] for x in gaps]
    outputs = [device.upload(np.repeat(np.zeros_like(x), 2, axis=-1)) for x in want]
    parsed = BATCH_NORM.schema.parse("BatchNorm", {})
    fast = BATCH_NORM.select_fast("gpu", [spec_of(x) for x in (data, *channels)], parsed)
    assert fast is not None
    out_views = tuple(x[..., ::2] for x in outputs)
    fast.kernel(device.cupy, out_views, *views, **parsed, train=True)
    for got, expected in zip(out_views, want, strict=True):
        np.testing.assert_allclose(got._raw, expected, rtol=1e-6, atol=1e-6)
    assert (views[3]._raw != channels[2]).all()  # the moving mean moved in place
    np.testing.assert_array_equal(gaps[3]._raw[1::2], channels[2])


def channels_last(device: OneDevice, values: Any) -> Any:
    """Return an array (N, C, ...) whose channels are innermost in memory."""
    made = device.upload(np.moveaxis(values, 1, -1).copy())
    return made.transpose(0, values.ndim - 1, *range(1, values.ndim - 1))


def run_on(device: OneDevice, op: Any, arrays: Any, outputs: Any, **given: Any) -> list[Any]:
    """Fill ``outputs``, with arrays of a device, and return their values."""
    attrs = runtime_attrs(op, op.schema.parse(op.name, given))
    fast = op.select_fast("gpu", [spec_of(x) for x in arrays], attrs)
    assert fast is not None
    fast.kernel(device.cupy, outputs if len(outputs) > 1 else outputs[0], *arrays, **attrs)
    return [x._raw.copy() for x in outputs]  # the memory goes to the next array


def all_parts(device: OneDevice, grad: Any, data: Any, channels: Any, bounds: Any) -> list[Any]:
    """Return the results of all operators on arrays of a device, in the memory order of data."""
    gamma, beta, *moving = map(device.upload, channels)
    out = device.upload(np.zeros_like(data._raw)) if data.flags.c_contiguous else None
    rows = [device.upload(np.zeros_like(channels[0])) for _ in range(7)]
    if out is None:
        out = channels_last(device, np.zeros_like(data._raw))
    found = run_on(device, BATCH_NORM, (data, gamma, beta, *moving), (out, *rows[:2]))
    found += run_on(device, BATCH_NORM_STATISTICS, (data, gamma, *moving), tuple(rows[:3]))
    mean, inverse, scale = rows[:3]
    inputs = (grad, data, mean, inverse, scale, beta)
    found += run_on(device, BATCH_NORM_SUMS, inputs, tuple(rows[3:7]), bounds=bounds)
    inputs = (grad, data, mean, scale, beta, *rows[5:7])
    return found + run_on(device, BATCH_NORM_DATA_GRADIENT, inputs, (out,), bounds=bounds)


# Channels: a vector and less, 20 columns of 8 (lanes are no power of 2), more columns than a block
# has; few rows and several chunks. Runs of a channel: 4, 6, 8 and 49 elements.
VECTORS = [
    ((2, 8, 3, 3), True),
    ((3, 12, 70), True),
    ((9, 160, 31), True),
    ((2, 328, 2, 3), True),
    ((9000, 16), False),
    ((3, 4, 2, 2), False),
    ((2, 3, 2, 3), False),
    ((70, 2, 8, 40), False),
    ((2, 3, 7, 7), False),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "last"), VECTORS)
def test_the_widest_accesses_equal_single_elements(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, dtype: Any, shape: Any, last: bool
) -> None:
    seen = set()
    plain = source.launch_blocks

    def noted(*args: Any, **kwargs: Any) -> None:
        seen.add(dict(args[7])["VECTOR"])
        plain(*args, **kwargs)

    data, grad, channels = values(shape, 1, dtype)
    made = channels_last if last else OneDevice.upload
    grads, datas = (made(device, x) for x in (grad, data))
    for bounds in ((), (0.0,), (0.0, 1.5)):
        with monkeypatch.context() as patch:
            patch.setattr(batch_norm, "launch_blocks", noted)
            found = all_parts(device, grads, datas, channels, bounds)
        with monkeypatch.context() as patch:
            patch.setattr(batch_norm, "vector_length", lambda *_: 1)
            wanted = all_parts(device, grads, datas, channels, bounds)
        for got, want in zip(found, wanted, strict=True):
            tolerance = {2: 1e-2, 4: 2e-5, 8: 1e-12}[want.dtype.itemsize]
            largest = max(1, abs(want.astype(float)).max())
            near = {"rtol": tolerance, "atol": tolerance * largest}
            np.testing.assert_allclose(got.astype(float), want.astype(float), **near)
    adjacent = shape[1] if last or len(shape) == 2 else math.prod(shape[2:])
    assert seen == {math.gcd(adjacent, 16 // np.dtype(dtype).itemsize)}


@pytest.mark.parametrize("last", [False, True])
def test_unaligned_views_and_numbers_of_64_bits(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, last: bool
) -> None:
    data, grad, channels = values((5, 16, 3, 8), 1, np.float16)

    def odd(x: Any) -> Any:
        x = np.moveaxis(x, 1, -1) if last else x
        view = device.upload(np.append(np.float16(0), x))[1:].reshape(x.shape)
        return view.transpose(0, 3, 1, 2) if last else view

    made = channels_last if last else OneDevice.upload
    grads, datas = (made(device, x) for x in (grad, data))
    wanted = all_parts(device, grads, datas, channels, (0.0,))
    again = all_parts(device, grads, datas, channels, (0.0,))
    unaligned = all_parts(device, odd(grad), odd(data), channels, (0.0,))
    monkeypatch.setattr(batch_norm, "_LIMIT_32", 1)
    wide = all_parts(device, grads, datas, channels, (0.0,))
    for a, b, c, d in zip(wanted, again, wide, unaligned, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(a, d)


@pytest.mark.parametrize("dtype", DTYPES[:2])
@pytest.mark.parametrize("bounds", [(0.0,), (0.0, 6.0), (-0.3, 0.7), (1 / 3,)])
def test_bounds_before_rounding_pass_what_passes_after_it(dtype: Any, bounds: Any) -> None:
    bits = np.random.default_rng(1).integers(0, 2**32, 20000, dtype=np.uint32)
    numbers = [bits.view(np.float32)]
    every = np.arange(2**16, dtype=np.uint16).view(dtype).astype(np.float32)
    with np.errstate(all="ignore"):
        middles = ((every[1:].astype(np.float64) + every[:-1]) / 2).astype(np.float32)
        numbers += [every, middles, np.nextafter(middles, np.float32(1e30))]
        numbers += [np.nextafter(middles, np.float32(-1e30))]
        exact = np.concatenate(numbers)
        rounded = exact.astype(dtype).astype(np.float32)
    low, high = limits_before_rounding(bounds, np.dtype(dtype))
    if len(bounds) == 1:
        np.testing.assert_array_equal(exact > low, rounded > np.float32(bounds[0]))
    else:
        np.testing.assert_array_equal(exact < low, rounded < np.float32(bounds[0]))
        np.testing.assert_array_equal(exact > high, rounded > np.float32(bounds[1]))


def error_of(device: OneDevice, data: Any, *, last: bool = False) -> Any:
    """Return by how much mean and deviation are off, in deviations."""
    count = data.shape[1]
    ones = np.ones(count, np.float32)
    if last:
        channels = [device.upload(ones) for _ in range(4)]
        empty = [channels_last(device, data), *(device.upload(ones) for _ in range(2))]
        inputs = (channels_last(device, data), *channels)
        outputs = run_on(device, BATCH_NORM, inputs, tuple(empty), eps=1e-12)
    else:
        outputs = device.run(BATCH_NORM, data, ones, ones, ones, ones, eps=1e-12)
    exact = data.astype(np.float64)
    mean, std = exact.mean(axis=(0, 2, 3)), exact.std(axis=(0, 2, 3))
    return abs(outputs[1] - mean) / std, abs(outputs[2] * std - 1)


@pytest.mark.parametrize("last", [False, True])
def test_long_rows_lose_no_digits(device: OneDevice, last: bool) -> None:
    random = np.random.default_rng(5)
    data = random.standard_normal((4, 4 if last else 2, 300, 300)).astype(np.float32)
    of_mean, of_deviation = error_of(device, data, last=last)
    assert of_mean.max() < 1e-7
    assert of_deviation.max() < 3e-7


@pytest.mark.parametrize("last", [False, True])
def test_a_large_mean_costs_no_digits_of_the_deviation(device: OneDevice, last: bool) -> None:
    random = np.random.default_rng(5)
    data = (random.standard_normal((4, 4 if last else 2, 100, 100)) + 1000).astype(np.float32)
    _, of_deviation = error_of(device, data, last=last)
    assert of_deviation.max() < 1e-6


@pytest.mark.parametrize("last", [False, True])
def test_an_odd_first_element_costs_few_digits(device: OneDevice, last: bool) -> None:
    random = np.random.default_rng(5)
    data = (random.standard_normal((4, 4 if last else 2, 100, 100)) * 0.01 + 1.1).astype(np.float32)
    data[0, :, 0, 0] = 1000
    _, of_deviation = error_of(device, data, last=last)
    assert of_deviation.max() < 3e-6


def test_equal_runs_give_equal_bits_and_numbers_of_64_bits_the_same(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, grad, channels = values((2, 3, 150, 150), 1, np.float32)
    calls = [(BATCH_NORM, (data, *channels)), (BATCH_NORM_BACKWARD, (grad, data, *channels[:3]))]
    found = [device.run(op, *inputs) for op, inputs in calls for _ in range(2)]
    monkeypatch.setattr(batch_norm, "_LIMIT_32", 1)
    found += [device.run(op, *inputs) for op, inputs in calls]
    for i, j in ((0, 1), (0, 4), (2, 3), (2, 5)):
        for a, b in zip(found[i], found[j], strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("shape", [(41000, 8), (2, 3, 150, 150)])
def test_the_order_of_blocks_changes_no_bit(device: OneDevice, shape: Any) -> None:
    data, grad, channels = values(shape, 1, np.float32)
    calls = [(BATCH_NORM, (data, *channels)), (BATCH_NORM_BACKWARD, (grad, data, *channels[:3]))]
    forth = [device.run(op, *inputs) for op, inputs in calls]
    with host_kernels.backwards():
        back = [device.run(op, *inputs) for op, inputs in calls]
    for one, other in zip(forth, back, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("vector", [1, 4, 8])
def test_counters_suffice_for_any_shape(vector: int, last: bool) -> None:
    for columns in (1, 3, 8, 33, 100, 263, 264, 265, 5000):
        packs = batch_norm._Packs(columns << 16, columns, vector, vector, 2 * vector, last)
        _, blocks, chunks, _ = packs.chunks
        counted = blocks * (partial_sums(chunks) - chunks + 1) if chunks > 1 else 0
        assert counted <= COUNT


def test_nothing_is_left_to_the_reference(device: OneDevice) -> None:
    data, _, channels = values((0, 3, 2), 1, np.float32)
    outputs = device.run(BATCH_NORM, data, *channels)
    np.testing.assert_array_equal(outputs[1], 0)


def test_numbers_that_are_none_spread(device: OneDevice) -> None:
    data, _, channels = values((2, 3, 40), 1, np.float32)
    data[1, 1, 7] = np.nan
    out, mean, inverse = device.run(BATCH_NORM, data, *channels)
    for found in (out[0, :, 0], mean, inverse):
        np.testing.assert_array_equal(np.isnan(found), [False, True, False])
