"""Layers in 16 bits against float64, and with channels last against channels first: results and
gradients of data and parameters, eager and hybridized, of small and large data.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.gluon.block.hybrid_block import HybridBlock

pytestmark = pytest.mark.slow

nn = mx.gluon.nn
Make = Callable[[], Any]
IMAGE, LARGE_IMAGE, VECTOR = (2, 4, 9, 8), (4, 16, 24, 24), (6, 10)

# Layer, and shapes of its data.
LAYERS: dict[str, tuple[Make, list[tuple[int, ...]]]] = {
    "Dense": (lambda: nn.Dense(7), [VECTOR, (40, 300), (3, 4, 5)]),
    "Dense tanh": (lambda: nn.Dense(7, activation="tanh", flatten=False), [VECTOR, (3, 4, 50)]),
    "Conv1D": (lambda: nn.Conv1D(6, 3, 2, 1), [(2, 4, 20), (8, 16, 200)]),
    "Conv2D": (lambda: nn.Conv2D(6, 3, padding=1), [IMAGE, LARGE_IMAGE]),
    "Conv2D groups": (lambda: nn.Conv2D(8, 3, 2, 1, groups=4), [IMAGE, LARGE_IMAGE]),
    "Conv2D 1x1": (lambda: nn.Conv2D(6, 1, activation="relu"), [IMAGE, LARGE_IMAGE]),
    "Conv3D": (lambda: nn.Conv3D(3, 3, padding=1), [(2, 2, 5, 5, 5)]),
    "Conv1DTranspose": (lambda: nn.Conv1DTranspose(3, 3, 2, 1), [(2, 4, 20)]),
    "Conv2DTranspose": (lambda: nn.Conv2DTranspose(3, 3, 2, 1, 1), [IMAGE, LARGE_IMAGE]),
    "Conv3DTranspose": (lambda: nn.Conv3DTranspose(2, 3, 2), [(1, 2, 4, 4, 4)]),
    "MaxPool1D": (lambda: nn.MaxPool1D(3, 2), [(2, 4, 21)]),
    "MaxPool2D": (lambda: nn.MaxPool2D(3, 2, 1), [IMAGE, LARGE_IMAGE]),
    "MaxPool3D": (lambda: nn.MaxPool3D(2), [(1, 2, 4, 4, 4)]),
    "AvgPool1D": (lambda: nn.AvgPool1D(3, 2), [(2, 4, 21)]),
    "AvgPool2D": (lambda: nn.AvgPool2D(3, 2, 1), [IMAGE, LARGE_IMAGE]),
    "AvgPool2D without padding": (
        lambda: nn.AvgPool2D(3, 2, 1, count_include_pad=False),
        [IMAGE, LARGE_IMAGE],
    ),
    "AvgPool3D": (lambda: nn.AvgPool3D(2), [(1, 2, 4, 4, 4)]),
    "GlobalAvgPool1D": (nn.GlobalAvgPool1D, [(2, 4, 21)]),
    "GlobalAvgPool2D": (nn.GlobalAvgPool2D, [IMAGE, LARGE_IMAGE, (2, 3, 300, 300)]),
    "GlobalAvgPool3D": (nn.GlobalAvgPool3D, [(1, 2, 4, 4, 4)]),
    "GlobalMaxPool1D": (nn.GlobalMaxPool1D, [(2, 4, 21)]),
    "GlobalMaxPool2D": (nn.GlobalMaxPool2D, [IMAGE, LARGE_IMAGE]),
    "GlobalMaxPool3D": (nn.GlobalMaxPool3D, [(1, 2, 4, 4, 4)]),
    "ReflectionPad2D": (lambda: nn.ReflectionPad2D(2), [IMAGE, LARGE_IMAGE]),
    "BatchNorm": (nn.BatchNorm, [IMAGE, LARGE_IMAGE, VECTOR, (2, 3, 300, 300)]),
    "BatchNorm axis": (lambda: nn.BatchNorm(axis=-1), [IMAGE, LARGE_IMAGE]),
    "BatchNormReLU": (nn.BatchNormReLU, [IMAGE, LARGE_IMAGE]),
    "InstanceNorm": (nn.InstanceNorm, [IMAGE, LARGE_IMAGE, (2, 3, 300, 300)]),
    "LayerNorm": (nn.LayerNorm, [IMAGE, VECTOR, (40, 500), (4, 70_000)]),
    "RMSNorm": (nn.RMSNorm, [IMAGE, VECTOR, (40, 500), (4, 70_000)]),
    "GroupNorm": (lambda: nn.GroupNorm(2), [IMAGE, LARGE_IMAGE, (2, 4, 300, 300)]),
    "Activation relu": (lambda: nn.Activation("relu"), [VECTOR, LARGE_IMAGE]),
    "Activation sigmoid": (lambda: nn.Activation("sigmoid"), [VECTOR, LARGE_IMAGE]),
    "Activation softrelu": (lambda: nn.Activation("softrelu"), [VECTOR, LARGE_IMAGE]),
    "Activation softsign": (lambda: nn.Activation("softsign"), [VECTOR, LARGE_IMAGE]),
    "LeakyReLU": (lambda: nn.LeakyReLU(0.3), [VECTOR, LARGE_IMAGE]),
    "PReLU": (nn.PReLU, [VECTOR, LARGE_IMAGE]),
    "ELU": (nn.ELU, [VECTOR, LARGE_IMAGE]),
    "SELU": (nn.SELU, [VECTOR, LARGE_IMAGE]),
    "GELU": (nn.GELU, [VECTOR, LARGE_IMAGE]),
    "GELU tanh": (lambda: nn.GELU("tanh"), [VECTOR, LARGE_IMAGE]),
    "GELU sigmoid": (lambda: nn.GELU("sigmoid"), [VECTOR, LARGE_IMAGE]),
    "Swish": (nn.Swish, [VECTOR, LARGE_IMAGE]),
    "Flatten": (nn.Flatten, [IMAGE, LARGE_IMAGE]),
    "Embedding": (lambda: nn.Embedding(10, 6), [(4, 5), (300, 200)]),
    "LSTM": (lambda: mx.gluon.rnn.LSTM(5), [(4, 3, 6)]),
    "GRU": (lambda: mx.gluon.rnn.GRU(5, bidirectional=True), [(4, 3, 6)]),
    "RNN": (lambda: mx.gluon.rnn.RNN(5, 2), [(4, 3, 6)]),
}
TOLERANCES = {"float16": 6e-3, "bfloat16": 5e-2}


def exactly_held(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Return numbers that 16 bits of either kind hold."""
    return random.integers(-24, 25, shape) / 16


def run(net: Any, x: Any, head: Any) -> dict[str, Any]:
    """Return the result and all gradients in float64."""
    x.attach_grad()
    with mx.autograd.record():
        y = net(x)
    y.backward(mx.nd.array(head, dtype=y.dtype) if head is not None else mx.nd.ones_like(y))
    made = {"output": y, "data gradient": x.grad}
    for name, parameter in net.collect_params().items():
        if parameter.grad_req != "null":
            made[name.removeprefix(net.prefix)] = parameter.grad()
    return {name: value.astype("float64").asnumpy() for name, value in made.items()}


def held(net: Any, x: Any, random: np.random.Generator) -> tuple[int, ...]:
    """Give the parameters numbers that 16 bits hold, and return the shape of the result."""
    net.initialize()
    shape: tuple[int, ...] = net(x).shape
    for name, parameter in sorted(net.collect_params().items()):
        values = exactly_held(random, parameter.shape) / 2
        if name.endswith(("gamma", "var")):
            values = np.abs(values) + 0.5
        parameter.set_data(mx.nd.array(values, dtype=parameter.dtype))
    return shape


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("name", LAYERS)
def test_layer_in_16_bits_is_that_in_float64(name: str, dtype: str, hybridize: bool) -> None:
    make, shapes = LAYERS[name]
    for shape in shapes:
        results = []
        for kind in ("float64", dtype):
            random = np.random.default_rng(4)
            values = exactly_held(random, shape)
            if name == "Embedding":
                values = random.integers(0, 10, shape)
            net = make()
            net.cast("float64")
            shown = held(net, mx.nd.array(values, dtype="float64"), random)
            head = random.choice([-1.0, 1.0, 0.5, -0.5], shown)
            net.cast(kind)
            if hybridize:
                net.hybridize()
            results.append(run(net, mx.nd.array(values, dtype=kind), head))
        exact, narrow = results
        for part, want in exact.items():
            largest = np.abs(want).max(initial=1e-3)
            # A sum of terms of both signs is as exact as its largest terms allow.
            if "output" not in part and want.size < 100:
                largest = max(largest, np.sqrt(np.prod(shape)) / 2)
            np.testing.assert_allclose(
                narrow[part],
                want,
                rtol=0,
                atol=TOLERANCES[dtype] * largest,
                err_msg=f"{part} of {name} {shape} in {dtype}",
            )


LAYOUTS: dict[str, tuple[Callable[..., Any], str]] = {
    "Conv2D": (lambda layout: nn.Conv2D(6, 3, 2, 1, layout=layout), "NHWC"),
    "Conv2D groups": (lambda layout: nn.Conv2D(8, 3, groups=2, layout=layout), "NHWC"),
    "Conv2D dilated": (lambda layout: nn.Conv2D(8, (3, 2), dilation=2, layout=layout), "NHWC"),
    "Conv2D 1x1": (lambda layout: nn.Conv2D(8, 1, layout=layout), "NHWC"),
    "Conv3D": (lambda layout: nn.Conv3D(6, 3, padding=1, layout=layout), "NDHWC"),
    "MaxPool2D": (lambda layout: nn.MaxPool2D(3, 2, 1, layout=layout), "NHWC"),
    "MaxPool2D full": (lambda layout: nn.MaxPool2D(3, 2, ceil_mode=True, layout=layout), "NHWC"),
    "AvgPool2D": (lambda layout: nn.AvgPool2D(3, 2, 1, layout=layout), "NHWC"),
    "AvgPool2D inner": (
        lambda layout: nn.AvgPool2D(3, 2, 1, count_include_pad=False, layout=layout),
        "NHWC",
    ),
    "MaxPool1D": (lambda layout: nn.MaxPool1D(3, 2, layout=layout), "NWC"),
    "AvgPool3D": (lambda layout: nn.AvgPool3D(2, layout=layout), "NDHWC"),
    "GlobalAvgPool2D": (lambda layout: nn.GlobalAvgPool2D(layout=layout), "NHWC"),
    "GlobalMaxPool2D": (lambda layout: nn.GlobalMaxPool2D(layout=layout), "NHWC"),
    "BatchNorm": (lambda layout: nn.BatchNorm(axis=layout.index("C")), "NHWC"),
    "BatchNorm frozen": (
        lambda layout: nn.BatchNorm(axis=layout.index("C"), use_global_stats=True),
        "NHWC",
    ),
}
SIZES: Mapping[int, list[tuple[int, ...]]] = {
    3: [(2, 4, 21), (8, 32, 300)],
    4: [(2, 4, 9, 8), (8, 32, 28, 28)],
    5: [(2, 4, 5, 4, 6)],
}


class _Between(HybridBlock):
    """A layer with channels last between transpositions."""

    def __init__(self, layer: Any, there: tuple[int, ...], back: tuple[int, ...]) -> None:
        super().__init__()
        self.layer, self._there, self._back = layer, there, back

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.transpose(self.layer(F.transpose(x, axes=self._there)), axes=self._back)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_channels_last_are_channels_first(name: str, dtype: str, hybridize: bool) -> None:
    make, last = LAYOUTS[name]
    rank = len(last)
    first = "NC" + last[1:-1]
    there = (0, *range(2, rank), 1)
    back = (0, rank - 1, *range(1, rank - 1))
    for shape in SIZES[rank]:
        random = np.random.default_rng(2)
        x = mx.nd.array(random.standard_normal(shape), dtype=dtype)
        plain, turned = make(first), _Between(make(last), there, back)
        for net in (plain, turned):
            net.cast(dtype)
            net.initialize()
            net(x)
        own = turned.layer.collect_params().values()
        for source, target in zip(plain.collect_params().values(), own, strict=True):
            values = random.uniform(0.2, 1, source.shape)
            source.set_data(mx.nd.array(values, dtype=dtype))
            turn = values if values.ndim < 2 else values.transpose(there)
            target.set_data(mx.nd.array(turn, dtype=dtype))
        if hybridize:
            plain.hybridize()
            turned.hybridize()
        head = random.standard_normal(plain(x).shape)
        want, got = run(plain, x, head), run(turned, x, head)
        for (part, exact), found in zip(want.items(), got.values(), strict=True):
            if found.shape != exact.shape:
                exact = exact.transpose(there)
            scale = np.abs(exact).max()
            np.testing.assert_allclose(
                found,
                exact,
                rtol=0,
                atol=scale * (1e-11 if dtype == "float64" else 1e-4),
                err_msg=f"{part} of {name} {shape}",
            )
