"""Few channels padded for tensor cores: zeros, values of the reference, launches, captures."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import (
    GLUONISH_PAD_CHANNELS,
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_ENABLE_CUDA_GRAPHS,
)
from gluonish.gluon import nn
from gluonish.kernels.cupy import channel_padding, cudnn, cudnn_graph
from gluonish.kernels.cupy.channel_padding import cut, empty_padded, pad, padded_channels
from gluonish.ops.fused.operator import FUSED_CONVOLUTION
from gluonish.ops.nn.convolution import (
    CONVOLUTION,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHT,
    CONVOLUTION_BACKWARD_WEIGHT_BIAS,
)
from gluonish.ops.nn.deconvolution import DECONVOLUTION
from gluonish.tools.env_checks import CHECKS
from tests.checking.values import run_kernel, runtime_attrs, spec_of
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED, OneDevice

pytestmark = COMPILED
HALVES = [np.float16, ml_dtypes.bfloat16]
STEM = ((64, 3, 224, 224), (64, 3, 7, 7), (64, 64, 112, 112))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pad small convolutions, too."""
    monkeypatch.setattr(channel_padding, "_MIN_FLOPS", 0)


def _laid(device: OneDevice, values: np.ndarray, last: bool) -> Any:
    """Return an array with these values, and the channels of axis 1 last in memory."""
    if not last or values.ndim < 3:
        return device.upload(values)
    array = device.upload(np.ascontiguousarray(np.moveaxis(values, 1, -1)))
    return array.transpose(0, values.ndim - 1, *range(1, values.ndim - 1))


def _gaps(device: OneDevice, values: np.ndarray) -> Any:
    return device.upload(np.repeat(values, 2, axis=0))[::2]


@pytest.mark.parametrize("itemsize", [2, 4, 8])
@pytest.mark.parametrize("channels", range(1, 18))
def test_three_to_seven_channels_of_16_bits_are_padded(channels: int, itemsize: int) -> None:
    data, weight = (64, channels, 224, 224), (64, channels, 7, 7)
    want = 8 if itemsize == 2 and 3 <= channels <= 7 else None
    assert padded_channels(data, weight, STEM[2], itemsize) == want


def test_small_and_grouped_convolutions_are_not_padded() -> None:
    assert padded_channels((1, 3, 32, 32), (16, 3, 3, 3), (1, 16, 32, 32), 2) is None
    assert padded_channels((64, 6, 224, 224), (64, 3, 7, 7), STEM[2], 2) is None
    # 32-bit indices of a kernel end there.
    assert padded_channels((64, 3, 2200, 2200), (8, 3, 1, 1), (64, 8, 2200, 2200), 2) is None


@pytest.mark.parametrize("layout", ["first", "last", "gaps"])
@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (300, 7, 1, 2), (1, 4, 3), (2, 5, 3, 2, 4)])
@pytest.mark.parametrize("dtype", HALVES)
def test_channels_are_followed_by_zeros_and_cut_back(
    device: OneDevice, dtype: Any, shape: tuple[int, ...], layout: str
) -> None:
    values = device.random.standard_normal(shape).astype(dtype)

    def place(x: np.ndarray) -> Any:
        return _gaps(device, x) if layout == "gaps" else _laid(device, x, layout == "last")

    narrow, back = place(values), place(np.full(shape, np.nan, dtype))
    wide = empty_padded(device.cupy, narrow, 8)
    wide._raw[...] = np.nan
    pad(device.cupy, [(narrow, wide)])
    want = np.zeros((shape[0], 8, *shape[2:]), dtype)
    want[:, : shape[1]] = values
    np.testing.assert_array_equal(wide._raw, want)
    cut(device.cupy, back, wide)
    np.testing.assert_array_equal(back._raw, values)


def test_two_arrays_are_padded_in_one_launch(device: OneDevice) -> None:
    shapes, pairs = [(2, 3, 9, 5), (6, 3, 7, 7)], []
    for shape, last in zip(shapes, (False, True), strict=True):
        narrow = _laid(device, device.random.standard_normal(shape).astype(np.float16), last)
        pairs.append((narrow, empty_padded(device.cupy, narrow, 8)))
    before = device.launches
    pad(device.cupy, pairs)
    assert device.launches == before + 1
    for narrow, wide in pairs:
        np.testing.assert_array_equal(wide._raw[:, :3], narrow._raw)
        assert not wide._raw[:, 3:].any()


def _calls(dtype: Any, channels: int, kernel: tuple[int, ...]) -> list[Any]:
    """A forward pass with a bias, without, the operators of its gradient, and a deconvolution."""
    random, extents = np.random.default_rng(3), (9, 8, 7)[: len(kernel)]

    def normal(*shape: int, scale: float = 1) -> np.ndarray:
        return (random.standard_normal(shape) * scale).astype(dtype)

    data, weight = normal(2, channels, *extents), normal(8, channels, *kernel, scale=0.1)
    attrs: dict[str, Any] = {
        "kernel": kernel,
        "stride": (2,) * len(kernel),
        "pad": (1,) * len(kernel),
    }
    attrs |= {"num_filter": 8, "no_bias": True}
    parsed = CONVOLUTION.schema.parse("Convolution", attrs)
    (out,) = CONVOLUTION.infer(spec_of(data), spec_of(weight), **parsed)
    grad, of_weight = normal(*out.shape), {**attrs, "weight_shape": weight.shape}
    unpacked = {**attrs, "num_filter": channels}
    return [
        (CONVOLUTION, [data, weight, normal(8)], {**attrs, "no_bias": False}),
        (CONVOLUTION, [data, weight], attrs),
        (CONVOLUTION_BACKWARD_DATA, [grad, weight], {**attrs, "data_shape": data.shape}),
        (CONVOLUTION_BACKWARD_WEIGHT, [grad, data], of_weight),
        (CONVOLUTION_BACKWARD_WEIGHT_BIAS, [grad, data], of_weight),
        (DECONVOLUTION, [grad, weight], unpacked),
    ]


def _run(device: OneDevice, call: Any, orders: tuple[bool, ...]) -> tuple[list[Any], list[Any]]:
    """Return what a call gives in some memory orders, the result's last, and the reference."""
    op, values, attrs = call
    parsed = op.schema.parse(op.name, attrs)
    runtime = runtime_attrs(op, parsed)
    specs = [spec_of(x) for x in values]
    wanted = run_kernel(op, op.kernel, list(values), parsed, runtime)
    *read, result = orders
    outs = [_laid(device, np.zeros(x.shape, x.dtype), result) for x in wanted]
    arrays = [_laid(device, x, last) for x, last in zip(values, [*read, False], strict=False)]
    kernel = op.select_kernel("gpu", specs, runtime)
    kernel(device.cupy, outs[0] if op.single else tuple(outs), *arrays, **runtime)
    return [out._raw.copy() for out in outs], wanted


def _plans(device: OneDevice) -> list[Any]:
    opened = cudnn.opened(device.cupy)
    assert opened is not None
    return [problem for _, problem in opened.plans]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("orders", [(True, True, True), (False, True, True), (True, False, False)])
@pytest.mark.parametrize("kernel", [(3, 3), (5,), (2, 3, 2)])
@pytest.mark.parametrize("channels", [3, 5])
@pytest.mark.parametrize("dtype", HALVES)
def test_values_are_those_of_the_reference(
    device: OneDevice, dtype: Any, channels: int, kernel: tuple[int, ...], orders: Any
) -> None:
    for call in _calls(dtype, channels, kernel):
        for got, want in zip(*_run(device, call, orders), strict=True):
            limit = 2e-2 * max(1, np.abs(want.astype(float)).max())
            np.testing.assert_allclose(got.astype(float), want.astype(float), 2e-2, limit)
        if orders[0] or orders[2]:
            assert {problem.data[1] for problem in _plans(device)} == {8}


@pytest.mark.usefixtures("small")
def test_padding_changes_no_bit_where_sums_are_the_same(device: OneDevice) -> None:
    for call in _calls(np.float16, 3, (3, 3)):
        (padded, *_), _ = _run(device, call, (True,) * 3)
        with GLUONISH_PAD_CHANNELS.override(False):
            (plain, *_), _ = _run(device, call, (True,) * 3)
        np.testing.assert_array_equal(padded, plain)


@pytest.mark.usefixtures("small")
def test_a_launch_pads_and_another_cuts(device: OneDevice) -> None:
    counts = []
    for call in _calls(np.float16, 3, (3, 3))[1:4]:
        before = device.launches
        # Data come as images, with channels first; so may the weight.
        _run(device, call, (call[0] is not CONVOLUTION, False, True))
        counts.append(device.launches - before)
    # The convolution, what is padded, and what is cut from a gradient.
    assert counts == [2, 3, 3]
    assert not device.machine.relayouts


@pytest.mark.usefixtures("small")
def test_a_function_joins_the_padded_convolution(device: OneDevice) -> None:
    _, (data, weight, bias), attrs = _calls(np.float16, 3, (3, 3))[0]
    call = (FUSED_CONVOLUTION, [data, weight, bias], {**attrs, "activation": "relu"})
    before = device.launches
    (got,), (want,) = _run(device, call, (False, True, True))
    assert device.launches == before + 2
    np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=2e-2, atol=2e-2)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("how", ["option", "tensor cores", "float32", "first", "refused"])
def test_channels_stay_as_they_are(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    build = cudnn_graph.build

    def not_padded(front_end: Any, handle: int, problem: Any) -> Any:
        if problem.data[1] == 8:
            raise front_end.cudnnGraphNotSupportedError("no")
        return build(front_end, handle, problem)

    if how == "refused":
        monkeypatch.setattr(cudnn_graph, "build", not_padded)
    orders = (how != "first",) * 3
    with (
        GLUONISH_PAD_CHANNELS.override(how != "option"),
        MXNET_CUDA_ALLOW_TENSOR_CORE.override(how != "tensor cores"),
    ):
        for call in _calls(np.float32 if how == "float32" else np.float16, 3, (3, 3)):
            for got, want in zip(*_run(device, call, orders), strict=True):
                limit = 2e-2 * max(1, np.abs(want.astype(float)).max())
                np.testing.assert_allclose(got.astype(float), want.astype(float), 2e-2, limit)
    opened = cudnn.opened(device.cupy)
    assert opened is not None
    assert {p.data[1] for (_, p), plan in opened.plans.items() if plan is not None} == {3}


def _train(context: mx.Context, hybrid: bool) -> list[np.ndarray]:
    network = nn.HybridSequential()
    network.add(nn.Conv2D(8, 3, strides=2, padding=1, in_channels=3, use_bias=False))
    network.add(nn.BatchNorm(in_channels=8), nn.Activation("relu"))
    network.add(nn.Conv2D(16, 3, in_channels=8, use_bias=False))
    mx.random.seed(7)
    network.initialize(mx.init.Normal(0.2), ctx=mx.cpu())
    network.collect_params().reset_ctx(context)
    network.cast("float16")
    if hybrid:
        network.hybridize(static_alloc=True, static_shape=True)
    values = np.random.default_rng(1).standard_normal((2, 3, 8, 8))
    for step in range(4):
        x = nd.array(values + step, context, "float16")
        with autograd.record():
            loss = (network(x) ** 2).mean()
        loss.backward()
    grads = [p.grad(context) for p in network.collect_params().values() if p.grad_req != "null"]
    return [y.asnumpy().astype(float) for y in (loss, *grads)]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("graphs", [False, True])
def test_a_network_trains_with_a_padded_stem(gpus: Any, machine: Machine, graphs: bool) -> None:
    with MXNET_ENABLE_CUDA_GRAPHS.override(graphs):
        got = _train(mx.gpu(0), hybrid=True)
    opened = cudnn.opened(gpus)
    assert opened is not None
    stems = {p.kind: p.data[1] for _, p in opened.plans if p.stride == (2, 2)}
    assert stems == {"forward": 8, "weight": 8}
    for one, other in zip(got, _train(mx.cpu(0), hybrid=False), strict=True):
        np.testing.assert_allclose(one, other, rtol=3e-2, atol=3e-2 * np.abs(other).max())


def test_the_option_is_observed() -> None:
    assert CHECKS["GLUONISH_PAD_CHANNELS"]()
