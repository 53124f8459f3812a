"""Convolutions without cuDNN on the double: values of the reference kernels, in few launches."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import (
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_CUDNN_ENABLED,
    MXNET_ENFORCE_DETERMINISM,
)
from gluonish.core.device import device_of
from gluonish.kernels.cupy import convolution
from gluonish.ops.nn.convolution import (
    CONVOLUTION,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHT,
    CONVOLUTION_BACKWARD_WEIGHT_BIAS,
)
from gluonish.ops.nn.deconvolution import DECONVOLUTION
from gluonish.ops.registry import Operator
from tests.checking.values import spec_of
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED, DTYPES, OneDevice

pytestmark = COMPILED

WINDOWS: dict[str, dict[str, Any]] = {
    "3x3": {"kernel": (3, 3), "pad": (1, 1)},
    "1x1": {"kernel": (1, 1)},
    "1x1 in steps": {"kernel": (1, 1), "stride": (2, 2)},
    "1x1 padded": {"kernel": (1, 1), "pad": (1, 0)},
    "uneven": {"kernel": (3, 2), "stride": (2, 1), "dilate": (1, 2), "pad": (0, 3)},
    "all": {"kernel": (7, 6)},
}
SMALL = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def without_cudnn() -> Iterator[None]:
    """Leave convolutions to products of matrices."""
    with MXNET_CUDNN_ENABLED.override(False):
        yield


def _normal(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return SMALL.standard_normal(shape).astype(dtype)


def _calls(
    samples: int, groups: int, window: dict[str, Any], dtype: Any = np.float32
) -> list[tuple[Operator, list[np.ndarray], dict[str, Any]]]:
    """A forward pass with a bias, and the three operators of its gradient."""
    data = _normal(samples, 4, 7, 6, dtype=dtype)
    weight = _normal(6, 4 // groups, *window["kernel"], dtype=dtype)
    attrs = {**window, "num_filter": 6, "num_group": groups}
    parsed = CONVOLUTION.schema.parse("Convolution", attrs)
    bias = _normal(6, dtype=dtype)
    (out,) = CONVOLUTION.infer(*map(spec_of, (data, weight, bias)), **parsed)
    grad = _normal(*out.shape, dtype=dtype)
    of_weight = {**attrs, "no_bias": True, "weight_shape": weight.shape}
    return [
        (CONVOLUTION, [data, weight, bias], attrs),
        (CONVOLUTION, [data, weight], {**attrs, "no_bias": True}),
        (
            CONVOLUTION_BACKWARD_DATA,
            [grad, weight],
            {**attrs, "no_bias": True, "data_shape": data.shape},
        ),
        (CONVOLUTION_BACKWARD_WEIGHT, [grad, data], of_weight),
        (CONVOLUTION_BACKWARD_WEIGHT_BIAS, [grad, data], of_weight),
    ]


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("window", WINDOWS)
def test_convolution_and_gradients_are_those_of_the_reference(
    device: OneDevice, window: str, groups: int
) -> None:
    for op, inputs, attrs in _calls(3, groups, WINDOWS[window]):
        device.check(op, *inputs, **attrs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("groups", [1, 2])
def test_every_floating_type_is_convolved(device: OneDevice, dtype: Any, groups: int) -> None:
    for op, inputs, attrs in _calls(2, groups, WINDOWS["3x3"], dtype):
        known = {**op.schema.defaults, **attrs}
        assert op.select_fast("gpu", tuple(map(spec_of, inputs)), known) is not None
        device.check(op, *inputs, **attrs)


@pytest.mark.parametrize("samples", [0, 1])
@pytest.mark.parametrize("groups", [1, 2])
def test_no_samples_and_one_are_convolved(device: OneDevice, samples: int, groups: int) -> None:
    for op, inputs, attrs in _calls(samples, groups, WINDOWS["3x3"]):
        device.check(op, *inputs, **attrs)


@pytest.mark.parametrize("dtype", DTYPES[1:3])
@pytest.mark.parametrize("groups", [1, 2])
def test_samples_in_several_parts_give_the_same(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, dtype: Any, groups: int
) -> None:
    calls = _calls(5, groups, WINDOWS["3x3"], dtype)
    whole = [device.launches_of(op, *inputs, **attrs) for op, inputs, attrs in calls]
    monkeypatch.setattr(convolution, "_SMALL_NBYTES", 1)
    monkeypatch.setattr(convolution, "_capacity", lambda xp: 2 * 4 * 9 * 42 * 4)
    for (op, inputs, attrs), launches in zip(calls, whole, strict=True):
        device.check(op, *inputs, **attrs)
        assert device.launches_of(op, *inputs, **attrs) > launches


@pytest.mark.parametrize("layout", ["NCW", "NWC", "NHWC", "NCDHW", "NDHWC"])
@pytest.mark.parametrize("groups", [1, 2])
def test_layouts_of_one_to_three_axes(device: OneDevice, layout: str, groups: int) -> None:
    spatial, kernel = (5, 4, 6)[: len(layout) - 2], (3, 2, 2)[: len(layout) - 2]
    attrs = {"kernel": kernel, "num_filter": 2, "num_group": groups, "layout": layout}
    attrs |= {"pad": (1,) * len(kernel), "no_bias": True}
    last = layout.endswith("C")
    data = _normal(2, *spatial, 4) if last else _normal(2, 4, *spatial)
    per_group = 4 // groups
    weight = _normal(2, *kernel, per_group) if last else _normal(2, per_group, *kernel)
    parsed = CONVOLUTION.schema.parse("Convolution", attrs)
    (out,) = CONVOLUTION.infer(*map(spec_of, (data, weight)), **parsed)
    grad = _normal(*out.shape)
    device.check(CONVOLUTION, data, weight, **attrs)
    device.check(CONVOLUTION_BACKWARD_DATA, grad, weight, **attrs, data_shape=data.shape)
    device.check(CONVOLUTION_BACKWARD_WEIGHT, grad, data, **attrs, weight_shape=weight.shape)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("no_bias", [False, True])
def test_deconvolution_is_that_of_the_reference(
    device: OneDevice, layout: str, no_bias: bool
) -> None:
    data, weight, bias = _normal(2, 4, 3, 5), _normal(4, 3, 3, 2), _normal(6)
    if layout == "NHWC":
        data, weight = np.moveaxis(data, 1, -1).copy(), np.moveaxis(weight, 1, -1).copy()
    inputs = (data, weight) if no_bias else (data, weight, bias)
    attrs = {"kernel": (3, 2), "stride": (2, 1), "num_filter": 6, "num_group": 2}
    device.check(DECONVOLUTION, *inputs, **attrs, layout=layout, no_bias=no_bias)


def test_launches_of_one_part_are_few(device: OneDevice) -> None:
    names = ("forward and bias", "forward", "data", "weight", "weight and bias")
    counts = {
        window: dict(
            zip(
                names,
                (
                    device.launches_of(op, *inputs, **attrs)
                    for op, inputs, attrs in _calls(3, 1, WINDOWS[window])
                ),
                strict=True,
            )
        )
        for window in ("3x3", "1x1")
    }
    # Columns and a product; the bias goes ahead. The weight's wants the gradient by filters first.
    assert counts["3x3"] == dict(zip(names, (3, 2, 2, 3, 5), strict=True))
    assert counts["1x1"] == dict(zip(names, (2, 1, 1, 3, 5), strict=True))


@pytest.mark.parametrize("groups", [4, 2])
def test_groups_add_no_launches(device: OneDevice, groups: int) -> None:
    def count(groups: int) -> list[int]:
        data, weight = _normal(3, 8, 5, 5), _normal(8, 8 // groups, 3, 3)
        attrs = {"kernel": (3, 3), "num_filter": 8, "num_group": groups, "no_bias": True}
        grad = _normal(3, 8, 3, 3)
        return [
            device.launches_of(CONVOLUTION, data, weight, **attrs),
            device.launches_of(
                CONVOLUTION_BACKWARD_DATA, grad, weight, **attrs, data_shape=data.shape
            ),
            device.launches_of(
                CONVOLUTION_BACKWARD_WEIGHT, grad, data, **attrs, weight_shape=weight.shape
            ),
        ]

    assert count(groups) == count(8) == [3, 3, 3]


def test_float32_is_rounded_where_that_is_allowed(device: OneDevice) -> None:
    for op, inputs, attrs in _calls(2, 1, WINDOWS["3x3"]):
        (exact, *_) = device.run(op, *inputs, **attrs)
        with MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.override(True):
            (rounded, *_) = device.run(op, *inputs, **attrs)
        assert 1e-6 < np.abs(rounded - exact).max() < 5e-2


def test_columns_take_a_share_of_what_is_free_and_no_more_than_a_limit(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = 100 << 20
    asked: list[int] = []

    def room_of(xp: Any) -> int:
        asked.append(room)
        return room

    def steps(samples: int, nbytes: int) -> int:
        return next(convolution._chunks(device.cupy, samples, nbytes)).stop

    monkeypatch.setattr(convolution, "_capacity", room_of)
    assert steps(60, 1 << 20) == 60
    assert asked == []
    assert steps(200, 1 << 20) == 100
    room = 1 << 40
    assert steps(5000, 1 << 20) == 1024
    assert steps(3, 1 << 31) == 1
    assert len(asked) == 3
    with MXNET_ENFORCE_DETERMINISM.override(True):
        assert steps(200, 1 << 20) == 64
    assert len(asked) == 3


@pytest.mark.parametrize(("used", "room"), [(0, 32 << 20), (30, 16 << 20)])
def test_room_is_a_share_of_all_memory_unless_little_is_free(
    gpus: Any, machine: Machine, used: int, room: int
) -> None:
    held = nd.zeros((used << 25,), ctx=mx.gpu(1), dtype="uint8")  # of 32 such parts
    freed = nd.ones((1 << 18,), ctx=mx.gpu(1))  # which the pool keeps
    nd.waitall()
    del freed
    with gpus.cuda.Device(1):
        assert convolution._capacity(gpus) == room
    assert device_of(mx.gpu(1)).memory_info().held >= 4 << 18
    del held


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_layer_trains_on_the_gpu_as_on_the_cpu(gpus: Any, dtype: str) -> None:
    values = _normal(2, 3, 6, 5), _normal(4, 3, 3, 3), _normal(4)

    def run(context: mx.Context) -> list[np.ndarray]:
        inputs = [nd.array(x, context, dtype) for x in values]
        for x in inputs:
            x.attach_grad()
        with autograd.record():
            y = nd.Convolution(*inputs, kernel=(3, 3), num_filter=4, pad=(1, 1))
            loss = (y * y).sum()
        loss.backward()
        return [x.asnumpy().astype(np.float64) for x in (y, *(x.grad for x in inputs))]

    tolerance = {"float16": 2e-2, "float32": 1e-4}[dtype]
    for got, want in zip(run(mx.gpu(0)), run(mx.cpu(0)), strict=True):
        limit = tolerance * max(1, np.abs(want).max())
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=limit)
