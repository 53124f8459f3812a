"""Convolutions of images of few channels: sums, borders, epilogues, threads, and refusals."""

import itertools
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.gluon import nn
from gluonish.kernels import openmp
from gluonish.kernels.compiler import available
from gluonish.kernels.generated import first_convolution
from gluonish.ops.kernel import RefusedError
from tests.kernels.generated.packed_cases import PackedCase, last

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")


class Case(PackedCase):
    """A convolution, whose sums have up to 500 terms.

    Args:
        data: (N, C, H, W).
        filters: Number of filters.
        window: Height and width of the window, their strides, and their padding.
    """

    module = first_convolution
    name = "generated.first_convolution"
    tolerance = 2e-6

    def __init__(
        self,
        data: tuple[int, ...],
        filters: int,
        window: tuple[tuple[int, int], tuple[int, int], tuple[int, int]],
        **attrs: Any,
    ) -> None:
        super().__init__(data, filters, *window, **attrs)


SHAPES = {
    "the first of MobileNet": ((1, 3, 96, 96), 32, ((3, 3), (2, 2), (1, 1))),
    "the first of ResNet": ((1, 3, 64, 64), 64, ((7, 7), (2, 2), (3, 3))),
    "the first of AlexNet": ((1, 3, 99, 99), 64, ((11, 11), (4, 4), (2, 2))),
    "odd extents": ((1, 3, 91, 77), 32, ((3, 3), (2, 2), (1, 1))),
    "no padding": ((1, 3, 57, 60), 48, ((3, 5), (1, 2), (0, 0))),
    "padding wider than the window": ((1, 3, 60, 53), 16, ((3, 3), (1, 1), (5, 7))),
    "a narrow image": ((1, 4, 70, 16), 16, ((5, 3), (1, 1), (2, 1))),
    "several samples": ((3, 2, 37, 41), 80, ((4, 2), (3, 1), (1, 0))),
    "a row in a step": ((1, 3, 9, 300), 112, ((9, 9), (1, 2), (0, 4))),
}


@pytest.mark.parametrize("name", SHAPES)
def test_outputs_are_those_of_the_sums(name: str) -> None:
    case = Case(*SHAPES[name])
    assert case.supported()
    case.check()


@pytest.mark.parametrize("activation", [None, "relu", "clip"])
@pytest.mark.parametrize("no_bias", [True, False])
def test_outputs_are_finished(activation: str | None, no_bias: bool) -> None:
    limits = {"alpha": -0.5, "beta": 6.0} if activation == "clip" else {}
    case = Case(*SHAPES["odd extents"], activation=activation, no_bias=no_bias, **limits)
    assert case.supported()
    case.check()
    if activation == "clip":
        assert case.out.min() == -0.5
        assert case.out.max() == 6


@pytest.mark.parametrize("activation", ["relu", "clip"])
def test_numbers_that_are_not_finite_stay(activation: str) -> None:
    case = Case(*SHAPES["odd extents"], activation=activation, alpha=0.0, beta=6.0)
    case.inputs[0][0, 1, 30, 20] = np.nan
    case.inputs[0][0, 2, 5, 40] = np.inf
    with np.errstate(invalid="ignore"):
        expected = case.expected()
    found = case.run()
    assert np.isnan(expected).any()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_numbers_beside_the_image_do_not_count() -> None:
    case = Case(*SHAPES["odd extents"])
    expected = case.expected()
    held = np.full(case.inputs[0].size + 512, np.nan, np.float32)
    inner = held[256:-256].reshape(case.inputs[0].shape)
    inner[...] = case.inputs[0]
    case.inputs[0] = inner
    np.testing.assert_allclose(case.run(), expected, rtol=1e-4, atol=1e-4)


def test_each_number_of_threads_gives_the_same_bits() -> None:
    found = []
    team = openmp.team()
    before = team.threads()
    try:
        for threads in (1, 2, 3):
            team.set_threads(threads)
            for _ in range(4):  # runs are timed at first, in one thread
                found.append(Case(*SHAPES["the first of ResNet"]).run())
    finally:
        team.set_threads(before)
    for a, b in itertools.pairwise(found):
        np.testing.assert_array_equal(a, b)


def test_other_layouts_are_refused() -> None:
    case = Case(*SHAPES["odd extents"])
    out, (data, *rest) = case.out, case.inputs
    for outputs, inputs in (
        ([np.ascontiguousarray(out)], [data, *rest]),
        ([out], [last(data), *rest]),
    ):
        with pytest.raises(RefusedError, match="first convolution: expected contiguous data"):
            first_convolution.convolution(outputs, inputs, case.attrs)


@pytest.mark.parametrize(
    ("shape", "attrs"),
    [
        (((1, 5, 96, 96), 32, ((3, 3), (2, 2), (1, 1))), {}),  # channels
        (((1, 3, 96, 96), 24, ((3, 3), (2, 2), (1, 1))), {}),  # filters
        (((1, 3, 96, 96), 32, ((3, 3), (2, 2), (1, 1))), {"activation": "tanh"}),
        (((1, 3, 96, 96), 32, ((3, 3), (2, 2), (1, 1))), {"dilate": (2, 2)}),
        (((1, 3, 20, 20), 32, ((3, 3), (2, 2), (1, 1))), {}),  # little work
        (((1, 3, 400, 17), 32, ((3, 3), (2, 2), (1, 1))), {}),  # narrow
    ],
)
def test_what_others_do_better_is_not_supported(shape: Any, attrs: dict[str, Any]) -> None:
    assert not Case(*shape, **attrs).supported()


def test_a_network_follows_its_weights() -> None:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(32, 3, strides=2, padding=1, in_channels=3), nn.Activation("relu"))
    net.add(nn.Conv2D(16, 1, in_channels=32))
    mx.random.seed(2)
    net.initialize(mx.init.Xavier())
    x = mx.nd.random.uniform(-1, 1, shape=(1, 3, 96, 96))
    expected = net(x).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(3):
        np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-5)
    net[0].weight.set_data(-2 * net[0].weight.data())
    changed = net(x).asnumpy()
    net.hybridize(False)
    np.testing.assert_allclose(changed, net(x).asnumpy(), rtol=1e-4, atol=1e-5)
    assert np.abs(changed - expected).max() > 0.01
