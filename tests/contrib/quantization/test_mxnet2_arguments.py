"""Arguments of MXNet 2.0: ``num_calib_batches``, ``device``, and collectors that get operators."""

from typing import Any

import numpy as np

import gluonish as mx
from gluonish import nd
from gluonish.contrib.quantization import CalibrationCollector, quantize_net
from gluonish.gluon import nn

DATA = [nd.array(np.full((2, 3), value)) for value in (1.0, 50.0)]


def net_of() -> Any:
    net = nn.HybridSequential()
    net.add(nn.Dense(4, in_units=3))
    net.initialize(mx.init.One())
    return net


class Seen(CalibrationCollector):
    def __init__(self) -> None:
        super().__init__()
        self.operators: dict[str, set[str]] = {}
        self.largest = 0.0

    def collect(self, name: str, op_name: Any, arr: Any = None) -> None:
        self.operators.setdefault(op_name, set()).add(name)
        values = arr.asnumpy()
        self.largest = max(self.largest, float(values.max()))
        self.min_max_dict[name] = (float(values.min()), float(values.max()))


def test_only_the_first_batches_calibrate() -> None:
    x = nd.array([[1.0, 1.0, 1.0]])
    options = {"calib_mode": "naive", "device": mx.current_context()}
    one = quantize_net(net_of(), calib_data=DATA, num_calib_batches=1, **options)
    alone = quantize_net(net_of(), calib_data=DATA[:1], **options)
    every = quantize_net(net_of(), calib_data=DATA, **options)
    np.testing.assert_array_equal(one(x).asnumpy(), alone(x).asnumpy())
    assert abs(one(x)[0, 0].asscalar() - 3) < abs(every(x)[0, 0].asscalar() - 3)


def test_collector_gets_the_operator() -> None:
    found = []
    for count, largest in ((1, 3.0), (None, 150.0)):
        collector = Seen()
        quantize_net(
            net_of(),
            calib_mode="customize",
            calib_data=DATA,
            LayerOutputCollector=collector,
            num_calib_batches=count,
            device=mx.current_context(),
        )
        assert collector.largest == largest
        found.append(collector.operators)
    assert found[0] == found[1]
    assert sorted(found[0]) == ["_sg_mkldnn_fully_connected", "null"]  # the latter is the data
    assert [x[0, 0].asscalar() for x in DATA] == [1.0, 50.0]  # the batches are not changed
