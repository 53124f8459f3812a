"""Dropout, GELU and random words on the double: one launch, and the CPU's bits."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.spec import Spec
from gluonish.ops.nn.dropout import DROPOUT
from gluonish.ops.nn.gelu import GELU_BACKWARD
from gluonish.ops.nn.leaky_relu import LEAKY_RELU
from gluonish.ops.support import philox
from gluonish.ops.support.philox import normal, random_bits, uniform
from tests.checking.values import run_kernel, runtime_attrs
from tests.kernels.cupy.one_device import COMPILED, DTYPES, OneDevice

pytestmark = COMPILED
KEYS = [(0, 0), (3, 1), (2**63 + 12345, 2**40 + 7), (2**64 - 1, 2**64 - 1)]
SMALL = np.random.default_rng(6)


def _bits(array: Any) -> Any:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("n", [1, 4, 4099])
def test_words_are_those_of_the_cpu(device: OneDevice, key: tuple[int, int], n: int) -> None:
    np.testing.assert_array_equal(random_bits(device.cupy, key, n)._raw, random_bits(np, key, n))


def test_words_come_in_one_launch_and_a_copy(device: OneDevice) -> None:
    random_bits(device.cupy, (1, 2), 1000)
    assert device.launches == 2


def test_words_in_chunks_are_the_same(device: OneDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(philox, "_CHUNK_GPU", 8)
    np.testing.assert_array_equal(
        random_bits(device.cupy, (5, 6), 101)._raw, random_bits(np, (5, 6), 101)
    )


def test_blocks_beyond_32_bits_carry(device: OneDevice) -> None:
    first = 2**32 - 3
    made = philox._device_bits[0](device.cupy, (7, 8), first, 6)
    expected = philox._bits_of_blocks(np, (7, 8), first, 6)
    np.testing.assert_array_equal(made._raw, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_uniform_numbers_are_those_of_the_cpu(device: OneDevice, dtype: Any) -> None:
    got = uniform(device.cupy, (3, 9), (7, 11), np.dtype(dtype))
    np.testing.assert_array_equal(_bits(got._raw), _bits(uniform(np, (3, 9), (7, 11), dtype)))


def test_normal_numbers_are_those_of_the_cpu(device: OneDevice) -> None:
    got = normal(device.cupy, (3, 9), (7, 11))
    np.testing.assert_array_equal(got._raw, normal(np, (3, 9), (7, 11)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_dropout_at_odd_addresses_has_the_bits_of_the_cpu(device: OneDevice, dtype: Any) -> None:
    data = SMALL.standard_normal(999).astype(dtype)
    attrs = DROPOUT.schema.parse("Dropout", {"p": 0.4})
    runtime = {**runtime_attrs(DROPOUT, attrs), "train": True, "key": (3, 4)}
    wanted = run_kernel(DROPOUT, DROPOUT.kernel, [data], attrs, runtime)
    kernel = DROPOUT.select_kernel("gpu", (Spec(data.shape, data.dtype),), runtime)
    x, out, mask = (device.upload(np.zeros(1000, dtype))[1:] for _ in range(3))
    x._raw[...] = data
    kernel(device.cupy, (out, mask), x, **runtime)
    for got, want in zip((out, mask), wanted, strict=True):
        np.testing.assert_array_equal(_bits(got._raw), _bits(want))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("p", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(3,), (5, 7, 3), (0, 4)])
def test_dropout_has_the_bits_of_the_cpu(
    device: OneDevice, dtype: Any, p: float, shape: tuple[int, ...]
) -> None:
    data = SMALL.standard_normal(shape).astype(dtype)
    attrs = DROPOUT.schema.parse("Dropout", {"p": p})
    wanted = run_kernel(DROPOUT, DROPOUT.kernel, [data], attrs, runtime_attrs(DROPOUT, attrs))
    for got, want in zip(device.run(DROPOUT, data, p=p), wanted, strict=True):
        np.testing.assert_array_equal(_bits(got), _bits(want))


@pytest.mark.parametrize("axes", [(0,), (1, 2)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_draw_along_axes_has_the_bits_of_the_cpu(
    device: OneDevice, axes: tuple[int, ...], dtype: Any
) -> None:
    data = SMALL.standard_normal((4, 3, 5)).astype(dtype)
    attrs = DROPOUT.schema.parse("Dropout", {"axes": axes})
    wanted = run_kernel(DROPOUT, DROPOUT.kernel, [data], attrs, runtime_attrs(DROPOUT, attrs))
    for got, want in zip(device.run(DROPOUT, data, axes=axes), wanted, strict=True):
        np.testing.assert_array_equal(_bits(got), _bits(want))
    assert device.launches_of(DROPOUT, data, axes=axes) == 2


def test_dropout_is_one_launch(device: OneDevice) -> None:
    data = SMALL.standard_normal((64, 33)).astype(np.float32)
    assert device.launches_of(DROPOUT, data) == 1


def test_dropout_outside_training_passes_the_data(gpus: Any) -> None:
    x = nd.ones((3, 4), ctx=mx.gpu(0))
    np.testing.assert_array_equal(nd.Dropout(x, p=0.5).asnumpy(), np.ones((3, 4)))


def test_dropout_trains_as_on_the_cpu(gpus: Any) -> None:
    values = SMALL.standard_normal((6, 5)).astype(np.float32)

    def run(context: mx.Context) -> list[Any]:
        mx.random.seed(11)
        x = nd.array(values, context)
        x.attach_grad()
        with autograd.record():
            y = nd.Dropout(x, p=0.4)
        y.backward()
        return [y.asnumpy(), x.grad.asnumpy()]

    for got, want in zip(run(mx.gpu(0)), run(mx.cpu(0)), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("act_type", ["gelu", "gelu_erf", "gelu_tanh", "gelu_sigmoid"])
def test_gelu_is_that_of_the_reference(device: OneDevice, act_type: str, dtype: Any) -> None:
    data = np.linspace(-9, 9, 301).astype(dtype).reshape(7, 43)
    device.check(LEAKY_RELU, data, act_type=act_type)
    assert device.launches_of(LEAKY_RELU, data, act_type=act_type) == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", ["erf", "tanh", "sigmoid"])
def test_gradient_of_gelu_is_that_of_the_reference(
    device: OneDevice, form: str, dtype: Any
) -> None:
    data = np.linspace(-9, 9, 301).astype(dtype).reshape(7, 43)
    grad = np.linspace(2, -3, 301).astype(dtype).reshape(7, 43)
    device.check(GELU_BACKWARD, grad, data, form=form)
    assert device.launches_of(GELU_BACKWARD, grad, data, form=form) == 1


def test_gelu_keeps_its_digits_far_below_zero(device: OneDevice) -> None:
    data = np.array([-6.0, -3.0], np.float32)
    (got,) = device.run(LEAKY_RELU, data, act_type="gelu")
    # -x times the upper tail of the normal distribution: 9.8659e-10 at 6, 1.3499e-3 at 3
    np.testing.assert_allclose(got, [-6 * 9.865876e-10, -3 * 1.349898e-3], rtol=1e-5)


def test_views_with_gaps_are_copied_first(device: OneDevice) -> None:
    x = device.normal(6, 4)
    out = device.upload(np.zeros((4, 6), np.float32))
    specs = (Spec((4, 6), np.dtype(np.float32)),)
    attrs = LEAKY_RELU.schema.parse("LeakyReLU", {"act_type": "gelu"})
    kernel = LEAKY_RELU.select_kernel("gpu", specs, attrs)
    kernel(device.cupy, (out,), x.T, **attrs)
    whole = device.upload(np.zeros((4, 6), np.float32))
    kernel(device.cupy, (whole,), device.upload(x._raw.T), **attrs)
    np.testing.assert_array_equal(out._raw, whole._raw)
