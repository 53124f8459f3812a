"""Entropy calibration that loses more than naive calibration warns, with both figures."""

import re
import warnings
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib.quantization import (
    LayerHistogramCollector,
    calib_graph,
    quantize_graph,
    quantize_model,
    quantize_net,
)
from gluonish.gluon import nn


def network(units: int = 4) -> Any:
    mx.random.seed(2)
    net = nn.HybridSequential()
    net.add(nn.Dense(units, use_bias=False))
    net.initialize(mx.init.Normal(1))
    return net


def error(found: Any, expected: Any) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


# One large number, which entropy cuts off: the first sample's output hangs on it.
SKEWED = np.random.default_rng(0).uniform(-1, 1, (256, 16)).astype("float32")
SKEWED[0, 0] = 9
EVEN = np.tile(np.linspace(-1, 1, 256, dtype="float32"), (8, 1))


def figures(message: str) -> list[float]:
    return [float(text) for text in re.findall(r"([\d.e+]+) %", message)]


def test_warning_has_the_errors_of_both() -> None:
    net, x = network(), mx.nd.array(SKEWED)
    expected = net(x).asnumpy()
    with pytest.warns(UserWarning, match="quantize_net: expected entropy calibration") as seen:
        entropy = quantize_net(net, calib_data=[x], calib_mode="entropy")
    naive = quantize_net(net, calib_data=[x], calib_mode="naive")
    found = [100 * error(made(x).asnumpy(), expected) for made in (entropy, naive)]
    assert figures(str(seen[0].message)) == pytest.approx(found, rel=0.01)
    assert found[0] > 5 * found[1]


def test_what_loses_no_more_is_silent() -> None:
    net, x = network(), mx.nd.array(EVEN)
    net(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quantize_net(net, calib_data=[x, x], calib_mode="entropy")


def test_a_model_with_a_label_warns_too() -> None:
    data = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    symbol = mx.sym.LinearRegressionOutput(data, mx.sym.var("label"), name="loss")
    random = np.random.default_rng(1)
    params = {
        "fc_weight": mx.nd.array(random.standard_normal((3, 16))),
        "fc_bias": mx.nd.array([0, 1, 2]),
    }
    iterator = mx.io.NDArrayIter(SKEWED, np.zeros((256, 3)), 256)
    with pytest.warns(UserWarning, match="quantize_model: .* % on the calibration data, against"):
        quantize_model(symbol, params, {}, calib_mode="entropy", calib_data=iterator)


def test_graph_calibrated_by_hand_warns_of_its_histograms() -> None:
    symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, no_bias=True, name="fc")
    params = {"fc_weight": mx.nd.ones((3, 16))}
    qsym, args, states, collector = quantize_graph(symbol, params, {}, calib_mode="entropy")
    assert isinstance(collector, LayerHistogramCollector)
    collector.collect("data", mx.nd.array(SKEWED))
    with pytest.warns(UserWarning, match="calib_graph: expected entropy calibration") as seen:
        calib_graph(qsym, args, states, collector, "entropy")
    first, second = figures(str(seen[0].message))
    assert first > 5 * second


def test_calibration_data_are_read_no_more_often_than_before() -> None:
    net, x = network(), mx.nd.array(SKEWED)
    net(x)

    class Twice:
        """Batches that can be read for their shapes, and once for their values."""

        looks = 0

        def __iter__(self) -> Any:
            self.looks += 1
            assert self.looks <= 2
            return iter([x])

    with pytest.warns(UserWarning, match="entropy"):
        quantize_net(net, calib_data=Twice(), calib_mode="entropy")
