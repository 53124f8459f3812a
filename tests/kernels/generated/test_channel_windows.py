"""Depthwise convolutions of channels-last images: sums, borders, epilogues, threads, refusals."""

import itertools
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.gluon import nn
from gluonish.kernels import openmp
from gluonish.kernels.compiler import available
from gluonish.kernels.generated import channel_windows
from gluonish.ops.kernel import RefusedError
from tests.kernels.generated.packed_cases import PackedCase, last

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")


class Case(PackedCase):
    """A depthwise convolution, whose sums have up to 49 terms.

    Args:
        data: (N, C, H, W).
        taps: Height and width of a window.
        pads: Padding along both.
    """

    module = channel_windows
    name = "generated.channel_windows"
    tolerance = 1e-6

    def __init__(
        self,
        data: tuple[int, ...],
        taps: tuple[int, int],
        pads: tuple[int, int],
        **attrs: Any,
    ) -> None:
        attrs = {"num_group": data[1], **attrs}
        super().__init__(data, data[1], taps, attrs.pop("stride", (1, 1)), pads, **attrs)
        self.inputs[0] = last(self.inputs[0])


SHAPES: dict[str, tuple[Any, ...]] = {
    "even": ((1, 64, 14, 14), (3, 3), (1, 1)),
    "odd": ((2, 32, 15, 13), (3, 3), (1, 1)),
    "one panel": ((1, 64, 20, 7), (3, 3), (1, 1)),
    "a prime number of pixels": ((1, 32, 16, 37), (3, 3), (1, 1)),
    "no padding": ((1, 96, 18, 29), (3, 3), (0, 0)),
    "padding on one axis": ((1, 64, 16, 18), (1, 5), (0, 2)),
    "five by five": ((1, 32, 21, 23), (5, 5), (2, 2)),
    "seven by seven": ((2, 32, 14, 15), (7, 7), (3, 3)),
    "even windows": ((1, 32, 17, 19), (4, 2), (1, 1)),
    "many samples": ((5, 64, 7, 9), (3, 3), (1, 1)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_outputs_are_those_of_the_sums(name: str) -> None:
    case = Case(*SHAPES[name])
    assert case.supported()
    case.check()


@pytest.mark.parametrize("activation", [None, "relu", "clip"])
@pytest.mark.parametrize("no_bias", [True, False])
def test_outputs_are_finished(activation: str | None, no_bias: bool) -> None:
    limits = {"alpha": -0.5, "beta": 2.0} if activation == "clip" else {}
    case = Case(*SHAPES["odd"], activation=activation, no_bias=no_bias, **limits)
    assert case.supported()
    case.check()
    if activation == "clip":
        assert (case.out.min(), case.out.max()) == (-0.5, 2)


def test_numbers_that_are_not_finite_stay() -> None:
    case = Case(*SHAPES["odd"], activation="clip", alpha=0.0, beta=6.0)
    case.inputs[0][0, 1, 0, 12] = np.nan
    case.inputs[0][1, 2, 14, 0] = np.inf
    expected = case.expected()
    assert np.isnan(expected).any()
    np.testing.assert_allclose(case.run(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["odd", "seven by seven", "no padding"])
def test_numbers_beside_the_image_do_not_count(name: str) -> None:
    case = Case(*SHAPES[name])
    expected = case.expected()
    image = np.moveaxis(case.inputs[0], 1, -1)
    held = np.full(image.size + 4096, np.nan, np.float32)
    inner = held[2048:-2048].reshape(image.shape)
    inner[...] = image
    case.inputs[0] = np.moveaxis(inner, -1, 1)
    np.testing.assert_allclose(case.run(), expected, rtol=1e-4, atol=1e-4)


def test_each_number_of_threads_gives_the_same_bits() -> None:
    found = []
    team = openmp.team()
    before = team.threads()
    try:
        for threads in (1, 2, 3):
            team.set_threads(threads)
            for _ in range(4):  # runs are timed at first, in one thread
                found.append(Case((1, 128, 28, 28), (3, 3), (1, 1)).run())
    finally:
        team.set_threads(before)
    for a, b in itertools.pairwise(found):
        np.testing.assert_array_equal(a, b)


def test_channels_that_are_not_last_are_refused() -> None:
    case = Case(*SHAPES["odd"])
    out, (data, *rest) = case.out, case.inputs
    for outputs, inputs in (
        ([np.ascontiguousarray(out)], [data, *rest]),
        ([out], [np.ascontiguousarray(data), *rest]),
    ):
        with pytest.raises(RefusedError, match="channel windows: expected channels last"):
            channel_windows.convolution(outputs, inputs, case.attrs)


@pytest.mark.parametrize(
    ("shape", "attrs"),
    [
        (((1, 48, 28, 28), (3, 3), (1, 1)), {}),  # channels
        (((1, 64, 7, 7), (3, 3), (1, 1)), {}),  # rows
        (((1, 64, 28, 28), (9, 9), (4, 4)), {}),  # window
        (((1, 64, 28, 28), (3, 3), (1, 1)), {"activation": "tanh"}),
        (((1, 64, 28, 28), (3, 3), (2, 2)), {"dilate": (2, 2)}),
        (((1, 64, 28, 28), (3, 3), (1, 1)), {"stride": (2, 2)}),
        (((1, 64, 28, 28), (3, 3), (1, 1)), {"stride": (1, 2)}),
        (((1, 64, 56, 28), (3, 3), (1, 1)), {"stride": (2, 1)}),
    ],
)
def test_what_others_do_better_is_not_supported(shape: Any, attrs: dict[str, Any]) -> None:
    assert not Case(*shape, **attrs).supported()


@pytest.mark.parametrize("static", [True, False])
def test_a_network_follows_its_weights(static: bool) -> None:
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(32, 1, in_channels=8),
        nn.Conv2D(32, 3, padding=1, groups=32, in_channels=32),
        nn.Activation("relu"),
        nn.Conv2D(16, 1, in_channels=32),
    )
    mx.random.seed(2)
    net.initialize(mx.init.Xavier())
    x = mx.nd.random.uniform(-1, 1, shape=(1, 8, 28, 28))
    expected = net(x).asnumpy()
    net.hybridize(static_alloc=static, static_shape=static)
    for _ in range(6):
        np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-5)
    net[1].weight.set_data(-2 * net[1].weight.data())
    changed = net(x).asnumpy()
    net.hybridize(False)
    np.testing.assert_allclose(changed, net(x).asnumpy(), rtol=1e-4, atol=1e-5)
    assert np.abs(changed - expected).max() > 0.01
