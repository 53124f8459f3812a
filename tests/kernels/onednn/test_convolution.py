import itertools
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluonish import autograd, nd
from gluonish.core.dtype import BFLOAT16
from gluonish.kernels.onednn import RefusedError
from gluonish.ops.kernel import Array
from tests.kernels.onednn.planned import channels_last
from tests.kernels.onednn.products import (
    convolution,
    convolution_backward_data,
    convolution_backward_weight,
)

Close = Callable[[Array, Array], None]

# (data, weight, attributes)
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "3x3": ((2, 5, 8, 9), (7, 5, 3, 3), {"pad": (1, 1)}),
    "1x1": ((2, 16, 5, 5), (32, 16, 1, 1), {}),
    "stride beyond kernel": ((1, 3, 11, 9), (4, 3, 2, 2), {"stride": (3, 4)}),
    "asymmetric": ((2, 3, 10, 7), (4, 3, 5, 2), {"stride": (2, 1), "pad": (2, 0)}),
    "dilated": ((1, 4, 12, 12), (6, 4, 3, 3), {"dilate": (2, 3), "pad": (2, 1)}),
    "groups": ((2, 6, 7, 7), (9, 2, 3, 3), {"num_group": 3, "pad": (1, 1)}),
    "depthwise": ((2, 16, 9, 9), (16, 1, 3, 3), {"num_group": 16, "stride": (2, 2)}),
    "depth multiplier": ((1, 4, 6, 6), (8, 1, 3, 3), {"num_group": 4}),
    "1-D": ((3, 4, 15), (5, 4, 4), {"stride": (2,), "pad": (1,), "dilate": (2,)}),
    "3-D": ((1, 3, 5, 6, 7), (4, 3, 2, 3, 2), {"stride": (1, 2, 2), "pad": (0, 1, 1)}),
    "3-D groups": ((1, 4, 4, 4, 4), (4, 2, 3, 3, 3), {"num_group": 2, "pad": (1, 1, 1)}),
    "first layer": ((1, 3, 20, 20), (16, 3, 7, 7), {"stride": (2, 2), "pad": (3, 3)}),
    "pad beyond kernel": ((1, 2, 4, 4), (3, 2, 2, 2), {"pad": (3, 3)}),
}


class Reference:
    """Convolution in float64, one kernel element at a time."""

    def __init__(self, data: Array, weight: Array, attributes: dict[str, Any]) -> None:
        axes = weight.ndim - 2
        self.weight = weight.astype(np.float64)
        self.stride = attributes.get("stride", (1,) * axes)
        self.dilate = attributes.get("dilate", (1,) * axes)
        self.pad = attributes.get("pad", (0,) * axes)
        self.groups = attributes.get("num_group", 1)
        self.kernel = weight.shape[2:]
        widths = [(0, 0), (0, 0), *((pad, pad) for pad in self.pad)]
        self.padded = np.pad(data.astype(np.float64), widths)
        sizes = zip(self.padded.shape[2:], self.kernel, self.stride, self.dilate, strict=True)
        self.spatial = tuple((n - (k - 1) * d - 1) // s + 1 for n, k, s, d in sizes)
        self.shape = (data.shape[0], weight.shape[0], *self.spatial)

    def windows(self, position: tuple[int, ...]) -> tuple[slice, ...]:
        places = zip(position, self.spatial, self.stride, self.dilate, strict=True)
        return (..., *(slice(k * d, k * d + (n - 1) * s + 1, s) for k, n, s, d in places))

    def split(self, array: Array) -> Array:
        """(N, C, ...) as (N, groups, C / groups, ...)."""
        return array.reshape(array.shape[0], self.groups, -1, *array.shape[2:])

    def positions(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(*map(range, self.kernel))

    def grouped_weight(self) -> Array:
        return self.weight.reshape(self.groups, -1, *self.weight.shape[1:])

    def forward(self, bias: Array | None) -> Array:
        out = np.zeros(self.shape)
        weight = self.grouped_weight()
        for position in self.positions():
            part = self.split(self.padded[self.windows(position)])
            term = np.einsum("ngc...,goc->ngo...", part, weight[(..., *position)])
            out += term.reshape(self.shape)
        if bias is not None:
            out += bias.astype(np.float64).reshape(-1, *(1,) * len(self.spatial))
        return out

    def backward_data(self, grad: Array) -> Array:
        out = np.zeros_like(self.padded)
        weight, grads = self.grouped_weight(), self.split(grad.astype(np.float64))
        for position in self.positions():
            term = np.einsum("ngo...,goc->ngc...", grads, weight[(..., *position)])
            target = out[self.windows(position)]
            target += term.reshape(target.shape)
        inner = (slice(pad, n - pad) for pad, n in zip(self.pad, out.shape[2:], strict=True))
        return out[(..., *inner)]

    def backward_weight(self, grad: Array) -> Array:
        out = np.zeros_like(self.grouped_weight())
        grads = self.split(grad.astype(np.float64))
        flat = grads.reshape(*grads.shape[:3], -1)
        for position in self.positions():
            part = self.split(self.padded[self.windows(position)])
            term = np.einsum("ngox,ngcx->goc", flat, part.reshape(*part.shape[:3], -1))
            out[(..., *position)] = term  # type: ignore[index]
        return out.reshape(self.weight.shape)


def _random(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _case(name: str, dtype: Any) -> tuple[Array, Array, dict[str, Any], Reference]:
    data_shape, weight_shape, given_attributes = CASES[name]
    attributes = {"kernel": weight_shape[2:], **given_attributes}
    data, weight = _random(data_shape, dtype, 1), _random(weight_shape, dtype, 2)
    return data, weight, attributes, Reference(data, weight, attributes)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_forward(name: str, with_bias: bool, dtype: Any, close: Close) -> None:
    data, weight, attributes, reference = _case(name, dtype)
    bias = _random(weight.shape[:1], dtype, 3) if with_bias else None
    out = np.full(reference.shape, np.nan, dtype)
    convolution(out, data, weight, bias, **attributes)
    close(out, reference.forward(bias))


@pytest.mark.parametrize("name", CASES)
def test_backward_data(name: str, dtype: Any, close: Close) -> None:
    data, weight, attributes, reference = _case(name, dtype)
    grad, out = _random(reference.shape, dtype, 4), np.full_like(data, np.nan)
    convolution_backward_data(out, grad, weight, **attributes)
    close(out, reference.backward_data(grad))


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_backward_weight(name: str, with_bias: bool, dtype: Any, close: Close) -> None:
    data, weight, attributes, reference = _case(name, dtype)
    grad, out = _random(reference.shape, dtype, 4), np.full_like(weight, np.nan)
    bias_out = np.full(weight.shape[0], np.nan, dtype) if with_bias else None
    convolution_backward_weight(out, grad, data, bias_out, **attributes)
    close(out, reference.backward_weight(grad))
    if bias_out is not None:
        axes = (0, *range(2, grad.ndim))
        close(bias_out, grad.astype(np.float64).sum(axis=axes))


@given(
    channels=st.tuples(st.integers(1, 20), st.integers(1, 20)),
    groups=st.integers(1, 3),
    lengths=st.tuples(st.integers(5, 12), st.integers(5, 12)),
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    stride=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    dilate=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    pad=st.tuples(st.integers(0, 2), st.integers(0, 2)),
)
def test_any_attributes(
    channels: tuple[int, int],
    groups: int,
    lengths: tuple[int, int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    dilate: tuple[int, int],
    pad: tuple[int, int],
) -> None:
    attributes = {
        "kernel": kernel,
        "stride": stride,
        "dilate": dilate,
        "pad": pad,
        "num_group": groups,
    }
    data = _random((2, channels[0] * groups, *lengths), np.float32, 5)
    weight = _random((channels[1] * groups, channels[0], *kernel), np.float32, 6)
    reference = Reference(data, weight, attributes)
    out = np.full(reference.shape, np.nan, np.float32)
    convolution(out, data, weight, **attributes)
    np.testing.assert_allclose(out, reference.forward(None), rtol=1e-4, atol=1e-4)
    grads = np.full_like(data, np.nan), np.full_like(weight, np.nan)
    convolution_backward_data(grads[0], out, weight, **attributes)
    convolution_backward_weight(grads[1], out, data, **attributes)
    np.testing.assert_allclose(grads[0], reference.backward_data(out), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(grads[1], reference.backward_weight(out), rtol=1e-3, atol=1e-3)


def test_strided_arrays(close: Close) -> None:
    data = _random((2, 9, 8, 5), np.float32, 1).transpose(0, 3, 1, 2)
    weight = _random((3, 3, 5, 8), np.float32, 2).transpose(3, 2, 0, 1)[::2]
    attributes = {"kernel": (3, 3)}
    reference = Reference(data, weight, attributes)
    wide = np.zeros((2, 4, 7, 12), np.float32)
    out = wide[..., ::2]
    convolution(out, data, weight, **attributes)
    close(out, reference.forward(None))
    assert not wide[..., 1::2].any()


@pytest.mark.parametrize("last_data", [True, False])
@pytest.mark.parametrize("channels", [5, 16, 40])
@pytest.mark.parametrize("window", [{"pad": (3, 3)}, {"stride": (2, 2), "dilate": (1, 2)}])
def test_depthwise_between_two_layouts(
    last_data: bool, channels: int, window: dict[str, Any], dtype: Any, close: Close
) -> None:
    attributes = {"kernel": (7, 7) if "pad" in window else (3, 3), "num_group": channels, **window}
    data = _random((2, channels, 9, 11), dtype, 1)
    weight, bias = (
        _random((channels, 1, *attributes["kernel"]), dtype, 2),
        _random((channels,), dtype, 3),
    )
    reference = Reference(data, weight, attributes)
    of_data, of_out = (channels_last, np.copy) if last_data else (np.copy, channels_last)
    data, out = of_data(data), of_out(np.full(reference.shape, np.nan, dtype))
    convolution(out, data, weight, bias, **attributes)
    close(out, reference.forward(bias))
    grad = of_out(_random(reference.shape, dtype, 4))
    data_grad, weight_grad = of_data(np.full_like(data, np.nan)), np.full_like(weight, np.nan)
    convolution_backward_data(data_grad, grad, weight, **attributes)
    close(data_grad, reference.backward_data(grad))
    convolution_backward_weight(weight_grad, grad, data, **attributes)
    close(weight_grad, reference.backward_weight(grad))


def test_the_same_layout_with_other_values_uses_the_plan_again(backend: Any, close: Close) -> None:
    for seed in range(3):
        data, weight = _random((1, 2, 5, 5), np.float32, seed), np.ones((2, 2, 3, 3), np.float32)
        out = np.empty((1, 2, 3, 3), np.float32)
        convolution(out, data, weight, kernel=(3, 3))
        close(out, Reference(data, weight, {}).forward(None))
    assert len(backend.plans) == 1


def test_a_wrong_output_shape_is_refused_with_the_reason() -> None:
    data, weight = np.ones((1, 2, 5, 5), np.float32), np.ones((2, 2, 3, 3), np.float32)
    with pytest.raises(RefusedError, match=r"convolution_forward.*'invalid_arguments'"):
        convolution(np.empty((1, 2, 4, 4), np.float32), data, weight, kernel=(3, 3))


def test_float64_is_refused_with_the_reason() -> None:
    data, weight = np.ones((1, 2, 5, 5)), np.ones((2, 2, 3, 3))
    with pytest.raises(RefusedError, match=r"equal dtype that oneDNN can address, got float64"):
        convolution(np.empty((1, 2, 3, 3)), data, weight, kernel=(3, 3))


def test_empty_arrays_are_refused() -> None:
    array = np.ones((0, 2, 5, 5), np.float32)
    with pytest.raises(RefusedError, match="convolution: expected arrays"):
        convolution(array, array, np.ones((2, 2, 1, 1), np.float32), kernel=(1, 1))


@pytest.mark.parametrize("extents", [(10, 9), (9, 10), (7, 6)])
@pytest.mark.parametrize(("channels", "filters"), [(3, 8), (8, 1), (1, 3), (7, 5)])
def test_an_odd_number_of_channels_without_a_window(
    channels: int, filters: int, extents: tuple[int, int], dtype: Any, close: Close
) -> None:
    rng = np.random.default_rng(0)
    data, grad = (
        channels_last(rng.standard_normal((2, n, *extents)).astype(dtype))
        for n in (channels, filters)
    )
    weight = rng.standard_normal((filters, channels, 1, 1)).astype(dtype)
    reference = Reference(data, weight, {})
    out, back = np.empty_like(grad), np.empty_like(data)
    convolution(out, data, weight, kernel=(1, 1))
    close(out, reference.forward(None))
    convolution_backward_data(back, grad, weight, kernel=(1, 1))
    close(back, reference.backward_data(grad))


def _small(draw: random.Random) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]] | None:
    """Return shapes of data and weight and attributes, of small extents; None if none fits."""
    axes, groups = draw.choice((1, 2, 3)), draw.choice((1, 1, 2))
    channels, filters = draw.choice((1, 3, 5, 8, 16)), draw.choice((1, 4, 16))
    extents = tuple(draw.randint(1, 7) for _ in range(axes))
    given = {
        "kernel": tuple(draw.choice((1, 2, 3, 5)) for _ in range(axes)),
        "stride": tuple(draw.choice((1, 2, 3)) for _ in range(axes)),
        "dilate": tuple(draw.choice((1, 1, 2)) for _ in range(axes)),
        "pad": tuple(draw.choice((0, 1, 2)) for _ in range(axes)),
    }
    whole = zip(extents, given["kernel"], given["dilate"], given["pad"], strict=True)
    if any(n + 2 * p < 1 + d * (k - 1) for n, k, d, p in whole):
        return None
    data = (draw.choice((1, 2)), channels * groups, *extents)
    weight = (filters * groups, channels, *given["kernel"])
    return data, weight, {**given, "num_group": groups}


def test_weight_gradients_of_small_extents_read_no_unwritten_memory(
    dtype: Any, close: Close
) -> None:
    draw = random.Random(int(os.environ.get("PROGRAM_SEED", "0")))
    refused = computed = 0
    while computed < 60:
        case = _small(draw)
        if case is None:
            continue
        data, weight = _random(case[0], dtype, 1), np.zeros(case[1], dtype)
        reference = Reference(data, weight, case[2])
        grad, out = _random(reference.shape, dtype, 4), np.full_like(weight, np.nan)
        try:
            convolution_backward_weight(out, grad, data, **case[2])
        except RefusedError:
            refused += 1  # the reference kernel takes it
            continue
        computed += 1
        close(out, reference.backward_weight(grad))
    assert (refused > 0) == (dtype != np.float32)


@pytest.mark.parametrize("shape", [(3, 16, 1, 1), (3, 5, 5, 1)])
def test_weight_gradients_in_bfloat16_where_a_step_is_wider_than_the_data(
    shape: tuple[int, ...],
) -> None:
    data, weight = _random(shape, BFLOAT16, 1), _random((2, shape[1], 3, 3), BFLOAT16, 2)
    attributes = {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}
    reference = Reference(data, weight, attributes)
    grad = _random(reference.shape, BFLOAT16, 4)
    arrays = [nd.array(x, dtype=BFLOAT16) for x in (data, weight)]
    arrays[1].attach_grad()
    with autograd.record():
        out = nd.Convolution(*arrays, num_filter=2, no_bias=True, **attributes)
    out.backward(nd.array(grad, dtype=BFLOAT16))
    found = arrays[1].grad.asnumpy().astype(np.float64)
    np.testing.assert_allclose(found, reference.backward_weight(grad), rtol=0.02, atol=0.1)
