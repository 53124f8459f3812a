"""LayerNorm and softmax on a GPU: what the reference kernels give, in few launches, equal bits."""

from typing import Any

import numpy as np
import pytest

from gluonish.kernels.cupy import softmax_and_norms
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
    data = (np.random.default_rng(5).standard_normal((3, 3001)) + 1000).astype(np.float32)
    ones = np.ones(3001, np.float32)
    _, _, std = device.run(LAYER_NORM, data, ones, ones, eps=0)
    exact = data.astype(np.float64).std(axis=1, keepdims=True)
    np.testing.assert_allclose(std, exact, rtol=1e-6)


def test_equal_runs_give_equal_bits_and_numbers_of_64_bits_the_same(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, grad = values((300, 70), np.float32)
    gamma, _ = values((70,), np.float32)
    mean, std = values((300, 1), np.float32)
    calls = [(LAYER_NORM_BACKWARD, (grad, data, gamma, mean, std)), (SOFTMAX, (data,))]
    found = [device.run(op, *inputs) for op, inputs in calls for _ in range(2)]
    monkeypatch.setattr(softmax_and_norms, "_LIMIT_32", 1)
    found += [device.run(op, *inputs) for op, inputs in calls]
    for i, j in ((0, 1), (0, 4), (2, 3), (2, 5)):
        for a, b in zip(found[i], found[j], strict=True):
            np.testing.assert_array_equal(a, b)
