"""LayerNorm and softmax on a GPU: what the reference kernels give, in few launches, equal bits."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.dtype import BFLOAT16
from gluonish.kernels.cupy import rows, softmax_and_norms
from gluonish.ops.nn.softmax import LOG_SOFTMAX, SOFTMAX, SOFTMAX_BACKWARD, SOFTMIN
from gluonish.ops.normalization.layer_norm import LAYER_NORM, LAYER_NORM_BACKWARD
from gluonish.ops.registry import Operator
from tests.checking.values import spec_of
from tests.kernels.cupy.one_device import COMPILED, DTYPES, OneDevice

pytestmark = COMPILED

# One element, rows shorter and longer than a warp, more than one chunk of rows, long rows.
SHAPES = [(1,), (3, 1), (5, 7), (2, 3, 33), (2, 300, 40), (3, 1024), (2, 2, 3001)]


def values(shape: Any, dtype: Any) -> tuple[Any, Any]:
    random = np.random.default_rng(3)
    return tuple((random.standard_normal(shape) + 1).astype(dtype) for _ in range(2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wide", [False, True])
def test_layer_norm_equals_the_reference(
    device: OneDevice, dtype: Any, shape: Any, wide: bool
) -> None:
    data, grad = values(shape, dtype)
    kind = np.float32 if wide and data.dtype.itemsize == 2 else dtype
    gamma, beta = (x.astype(kind) for x in values(shape[-1:], dtype))
    device.check(LAYER_NORM, data, gamma, beta)
    exact = data.astype(np.float64)
    mean = exact.mean(axis=-1, keepdims=True).astype(kind)
    std = np.sqrt(exact.var(axis=-1, keepdims=True) + 1e-2).astype(kind)
    device.check(LAYER_NORM_BACKWARD, grad, data, gamma, mean, std)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("op", [SOFTMAX, LOG_SOFTMAX, SOFTMIN], ids=lambda op: str(op.name))
def test_softmax_equals_the_reference(
    device: OneDevice, op: Operator, dtype: Any, shape: Any
) -> None:
    data, grad = values(shape, dtype)
    data *= 3
    for attrs in ({}, {"temperature": 2.5}):
        device.check(op, data, **attrs)
    name = np.dtype(dtype).name
    backward = {"log": op is LOG_SOFTMAX, "dtype": name, "factor": 0.5}
    device.check(SOFTMAX_BACKWARD, grad, np.abs(data) / 9, **backward)


# Rows in the registers of a warp and of several, whole and with a rest, and rows that fit in none.
WIDE_ROWS = [(6, 768), (3, 1200), (2, 8192), (3, 8197), (2, 30522)]


@pytest.mark.parametrize("dtype", [BFLOAT16, np.float32, np.float64])
@pytest.mark.parametrize("shape", WIDE_ROWS)
def test_rows_in_registers_and_longer_ones_equal_the_reference(
    device: OneDevice, dtype: Any, shape: Any
) -> None:
    data, grad = values(shape, dtype)
    gamma, beta = values(shape[-1:], dtype)
    device.check(LAYER_NORM, data, gamma, beta)
    _, mean, std = device.run(LAYER_NORM, data, gamma, beta)
    device.check(LAYER_NORM_BACKWARD, grad, data, gamma, mean, std)
    for op in (SOFTMAX, LOG_SOFTMAX, SOFTMIN):
        device.check(op, 3 * data)
        (out,) = device.run(op, 3 * data)
        backward = {"log": op is LOG_SOFTMAX, "dtype": np.dtype(dtype).name}
        device.check(SOFTMAX_BACKWARD, grad, out, **backward)


def shifted(device: OneDevice, array: Any, by: int) -> Any:
    """Return an array whose first element is ``by`` elements behind a multiple of 16 bytes."""
    made = device.upload(np.zeros(array.size + by, array.dtype))[by:].reshape(array.shape)
    made._raw[...] = array
    return made


@pytest.mark.parametrize("size", [64, 1200, 30522])
@pytest.mark.parametrize("dtype", [BFLOAT16, np.float32])
def test_arrays_may_begin_at_any_address(device: OneDevice, dtype: Any, size: int) -> None:
    data, grad = values((5, size), dtype)
    gamma, beta = values((size,), dtype)
    for op, inputs, count in (
        (LAYER_NORM, (data, gamma, beta), 3),
        (LAYER_NORM_BACKWARD, (grad, data, gamma, *values((5, 1), dtype)), 3),
        (SOFTMAX, (data,), 1),
        (SOFTMAX_BACKWARD, (grad, data), 1),
    ):
        given = {"dtype": np.dtype(dtype).name} if op is SOFTMAX_BACKWARD else {}
        wanted, attrs = device.run(op, *inputs, **given), op.schema.parse(op.name, given)
        specs = [spec_of(x) for x in inputs]
        kernel = op.select_kernel("gpu", specs, attrs)
        outputs = [shifted(device, np.zeros_like(x), 1) for x in wanted]
        arrays = [shifted(device, x, i % 3) for i, x in enumerate(inputs)]
        kernel(device.cupy, tuple(outputs) if count == 3 else outputs[0], *arrays, **attrs)
        for found, want in zip(outputs, wanted, strict=True):
            exact, got = want.astype(np.float64), found._raw.astype(np.float64)
            if size < 8192:
                np.testing.assert_array_equal(got, exact)
            else:  # long rows are summed from the first whole vector on
                tolerance = 2e-2 if np.dtype(dtype).itemsize == 2 else 1e-5
                limit = tolerance * np.abs(exact).max()
                np.testing.assert_allclose(got, exact, rtol=tolerance, atol=limit)


@pytest.mark.parametrize("size", [300, 9000])
@pytest.mark.parametrize("op", [SOFTMAX, LOG_SOFTMAX], ids=lambda op: str(op.name))
def test_infinities_and_nan_stay_in_their_rows(device: OneDevice, op: Operator, size: int) -> None:
    data, _ = values((6, size), np.float32)
    data[0, 7], data[1], data[2, -1] = np.nan, -np.inf, np.inf
    data[3, :] = -np.inf
    data[3, 5], data[4, :200] = 2, -np.inf
    data[5, 3] = 1e30
    with np.errstate(all="ignore"):
        device.check(op, data)


@pytest.mark.parametrize("op", [SOFTMAX, LOG_SOFTMAX], ids=lambda op: str(op.name))
def test_softmax_of_large_and_infinite_numbers(device: OneDevice, op: Operator) -> None:
    data = np.array(
        [[1e30, 1, -1e30], [-np.inf, 0, 1], [np.nan, 0, 1], [-3e38, -3e38, 3e38]], np.float32
    )
    with np.errstate(all="ignore"):
        device.check(op, data)


def test_launches(device: OneDevice) -> None:
    data, grad = values((4, 600, 40), np.float32)
    gamma, beta = values((40,), np.float32)
    mean, std = values((4, 600, 1), np.float32)
    assert device.launches_of(LAYER_NORM, data, gamma, beta) == 1
    assert device.launches_of(LAYER_NORM_BACKWARD, grad, data, gamma, mean, std) == 3
    assert device.launches_of(SOFTMAX, data) == 1
    assert device.launches_of(SOFTMAX_BACKWARD, grad, data) == 1


@pytest.mark.parametrize("axis", [0, 1, -2])
def test_other_axes(device: OneDevice, axis: int) -> None:
    data, grad = values((3, 40, 6), np.float32)
    gamma, beta = values(data.shape[axis : axis + 1], np.float32)
    mean, std = values((*data.shape[:axis], 1, *data.shape[axis % 3 + 1 :]), np.float32)
    device.check(LAYER_NORM, data, gamma, beta, axis=axis)
    device.check(LAYER_NORM_BACKWARD, grad, data, gamma, mean, abs(std) + 1, axis=axis)
    device.check(SOFTMAX, data, axis=axis)
    device.check(SOFTMAX_BACKWARD, grad, data, axis=axis, log=True)
    assert device.launches_of(SOFTMAX, data, axis=axis) == 3


def test_other_types_and_lengths_are_left_alone() -> None:
    data = spec_of(np.zeros((3, 4), np.float32))
    lengths = spec_of(np.zeros(3, np.int32))
    plain = SOFTMAX.schema.parse("softmax", {})

    def chosen(*specs: Any, **attrs: Any) -> Any:
        return SOFTMAX.select_fast("gpu", specs, {**plain, **attrs})

    assert chosen(data) is not None
    assert chosen(data, dtype=np.dtype(np.float64)) is None
    assert chosen(data, lengths, use_length=True) is None


def test_arrays_with_gaps(device: OneDevice) -> None:
    data, _ = values((5, 6), np.float32)
    doubled, target = (device.upload(np.repeat(data, 2, axis=1)) for _ in range(2))
    (want,) = device.run(SOFTMAX, data)
    softmax_and_norms._softmax(
        1.0, False, device.cupy, target[:, ::2], doubled[:, ::2], axis=1, temperature=None
    )
    np.testing.assert_array_equal(target._raw[:, ::2], want)
    np.testing.assert_array_equal(target._raw[:, 1::2], data)


def test_a_large_mean_costs_no_digits_of_the_deviation(device: OneDevice) -> None:
    for size in (768, 3001, 20000):
        data = (np.random.default_rng(5).standard_normal((3, size)) + 1000).astype(np.float32)
        data[1, 0] = 0  # the first element tells nothing about the others
        ones = np.ones(size, np.float32)
        _, mean, std = device.run(LAYER_NORM, data, ones, ones, eps=0)
        exact = data.astype(np.float64)
        np.testing.assert_allclose(mean, exact.mean(axis=1, keepdims=True), rtol=1.2e-7)
        np.testing.assert_allclose(std, exact.std(axis=1, keepdims=True), rtol=1e-6)


def test_equal_runs_give_equal_bits_and_numbers_of_64_bits_the_same(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, grad = values((300, 70), np.float32)
    gamma, _ = values((70,), np.float32)
    mean, std = values((300, 1), np.float32)
    calls = [(LAYER_NORM_BACKWARD, (grad, data, gamma, mean, std)), (SOFTMAX, (data,))]
    found = [device.run(op, *inputs) for op, inputs in calls for _ in range(2)]
    for module in (rows, softmax_and_norms):
        monkeypatch.setattr(module, "LIMIT_32", 1)
    found += [device.run(op, *inputs) for op, inputs in calls]
    for i, j in ((0, 1), (0, 4), (2, 3), (2, 5)):
        for a, b in zip(found[i], found[j], strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("limits", [{}, {"_MAX_CHUNKS": 3}, {"_MIN_ROWS": 1, "_MAX_ROWS": 8}])
@pytest.mark.parametrize("size", [1, 30, 264])
def test_sums_over_rows_for_any_number_of_chunks(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, size: int, limits: dict[str, int]
) -> None:
    for name, limit in limits.items():
        monkeypatch.setattr(softmax_and_norms, name, limit)
    data, grad = values((1003, size), np.float32)
    gamma, _ = values((size,), np.float32)
    mean, std = data.mean(axis=1, keepdims=True), data.std(axis=1, keepdims=True) + 1
    device.check(LAYER_NORM_BACKWARD, grad, data, gamma, mean, std)
