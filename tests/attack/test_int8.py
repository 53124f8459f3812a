"""Layers on bytes at random, and quantized networks of odd ranges, against float64."""

import datetime

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib.quantization import quantize_net
from gluonish.gluon import nn
from tests.attack.int8_runs import fault


def faults(first: int, count: int) -> list[str]:
    with np.errstate(all="ignore"):
        return [words for seed in range(first, first + count) if (words := fault(seed))]


def test_layers_of_today_compute_what_float64_does() -> None:
    today = datetime.datetime.now(datetime.UTC).toordinal()  # other shapes each day
    assert not faults(today * 1000, 120)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_layers_compute_what_float64_does(block: int) -> None:
    assert not faults(block * 2000, 2000)


@pytest.mark.parametrize("mode", ["none", "naive"])
@pytest.mark.parametrize("size", [0, 1e-30, 1e-3, 1e6, 1e18])
def test_network_holds_for_data_of_any_size(size: float, mode: str) -> None:
    mx.random.seed(3)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, use_bias=False, activation="relu"), nn.MaxPool2D(2), nn.Dense(3))
    net.initialize(mx.init.Normal(0.3))
    x = mx.nd.array(np.random.default_rng(0).standard_normal((2, 3, 8, 8)) * size)
    expected = net(x).asnumpy().astype(np.float64)
    for dtype in ("int8", "uint8", "auto"):
        made = quantize_net(net, dtype, calib_mode=mode, calib_data=[x])
        off = np.abs(made(x).asnumpy() - expected).max()
        assert off <= 0.05 * np.abs(expected).max(), dtype


def test_depthwise_windows_of_eight_numbers_in_eight_channels() -> None:
    mx.random.seed(3)
    net = nn.HybridSequential()
    net.add(nn.Conv3D(8, 2, groups=8, in_channels=8))
    net.initialize(mx.init.Normal(0.3))
    x = mx.nd.array(np.random.default_rng(0).standard_normal((2, 8, 5, 5, 5)))
    expected = net(x).asnumpy()
    found = quantize_net(net, "int8", calib_mode="naive", calib_data=[x])(x).asnumpy()
    assert np.linalg.norm(found - expected) < 0.03 * np.linalg.norm(expected)
