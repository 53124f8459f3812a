"""Networks with SyncBatchNorm on several devices train as with BatchNorm on one."""

import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import gluon
from gluonish.gluon import nn
from gluonish.gluon.contrib.nn import SyncBatchNorm

pytestmark = pytest.mark.timeout(60)
LONG_S = 30
BATCH = 8


def convolutions(norm: Callable[..., Any]) -> Any:
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(
            nn.Conv2D(6, 3, padding=1, use_bias=False, in_channels=2),
            norm(in_channels=6, prefix="norm0_"),
            nn.Activation("relu"),
            nn.MaxPool2D(2),
            nn.Dense(7, in_units=24),
            norm(scale=False, momentum=0.7, in_channels=7, prefix="norm1_"),
            nn.Dense(4, in_units=7),
        )
    return net


class Twice(gluon.HybridBlock):
    """A network in the style of 2.0, whose normalization runs twice on each device."""

    def __init__(self, norm: Callable[..., Any]) -> None:
        super().__init__(prefix="net_")
        with self.name_scope():
            self.dense = nn.Dense(7, in_units=7, flatten=False)
            self.norm = norm(in_channels=7, prefix="norm_")
            self.out = nn.Dense(4, in_units=7)
            self.first = nn.Dense(7, in_units=50)

    def forward(self, x: Any, *_: Any) -> Any:
        y = self.norm(self.first(x.reshape((0, -1)))).tanh()
        return self.out(self.norm(self.dense(y)))


class Parts(gluon.Block):
    """Plain code between hybridized parts, some of which wait for the other devices."""

    def __init__(self, norm: Callable[..., Any]) -> None:
        super().__init__(prefix="net_")
        with self.name_scope():
            self.first = convolutions(norm)
            self.norm = norm(in_channels=4, prefix="norm_")
            self.last = nn.HybridSequential()
            with self.last.name_scope():
                self.last.add(nn.Dense(6, activation="tanh", in_units=4), nn.Dense(4, in_units=6))

    def forward(self, x: Any) -> Any:
        y = self.norm(self.first(x))
        return self.last(y * 2) + self.last(y)


def in_turn(count: int, step: Callable[[int], None]) -> None:
    for i in range(count):
        step(i)


def in_threads(count: int, step: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=step, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)


def fill(name: str, values: Any) -> None:
    wave = np.sin(np.arange(values.size) * 1.7 + 0.3).reshape(values.shape)
    values[:] = mx.nd.array(np.abs(wave) + 0.5 if name.endswith(("var", "gamma")) else wave * 0.5)


def trained(
    make: Any, norm: Any, devices: int, options: dict[str, Any] | None, run: Any = in_turn
) -> dict[str, Any]:
    """Train for three steps and return losses, weights, running statistics and a prediction."""
    rng = np.random.default_rng(0)
    contexts = [mx.cpu(i) for i in range(devices)]
    net, loss = make(norm), gluon.loss.SoftmaxCrossEntropyLoss()
    for parameter in net.collect_params().values():
        parameter.initialize(init=fill, ctx=contexts)
    if options is not None:
        net.hybridize(**options)
        loss.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    seen, data = [], []
    for _ in range(3):
        data = gluon.utils.split_and_load(rng.normal(1, 2, (BATCH, 2, 5, 5)), contexts)
        labels = gluon.utils.split_and_load(mx.nd.array(rng.integers(0, 4, BATCH)), contexts)
        losses: list[Any] = [None] * devices

        def forward(i: int, data: Any = data, labels: Any = labels, losses: Any = losses) -> None:
            with mx.autograd.record():
                losses[i] = loss(net(data[i]), labels[i])

        run(devices, forward)
        run(devices, lambda i, losses=losses: losses[i].backward())
        trainer.step(BATCH)
        seen.append(np.concatenate([value.asnumpy() for value in losses]))
    parameters = {name: p.list_data() for name, p in net.collect_params().items()}
    for copies in parameters.values():
        for copy in copies:
            np.testing.assert_array_equal(copy.asnumpy(), copies[0].asnumpy())
    return {
        "losses": np.array(seen),
        "prediction": net(data[-1][:2]).asnumpy(),
        **{name: copies[0].asnumpy() for name, copies in parameters.items()},
    }


@pytest.mark.parametrize("run", [in_turn, in_threads])
@pytest.mark.parametrize("options", [None, {}, {"static_alloc": True}])
@pytest.mark.parametrize("make", [convolutions, Twice, Parts])
@pytest.mark.parametrize("devices", [2, 4])
@pytest.mark.filterwarnings("ignore:All children of this Sequential")
def test_devices_train_together_as_one(devices: int, make: Any, options: Any, run: Any) -> None:
    def norm(**settings: Any) -> SyncBatchNorm:
        return SyncBatchNorm(num_devices=devices, **settings)

    found = trained(make, norm, devices, options, run)
    expected = trained(make, nn.BatchNorm, 1, None)
    prediction = expected.pop("prediction")
    last = BATCH // devices
    assert prediction.shape == found.pop("prediction").shape
    assert last >= 2
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, 2e-4, 2e-5, err_msg=name)


def test_one_device_is_batch_normalization() -> None:
    def norm(**settings: Any) -> SyncBatchNorm:
        return SyncBatchNorm(num_devices=1, **settings)

    found = trained(convolutions, norm, 1, {})
    for name, value in trained(convolutions, nn.BatchNorm, 1, {}).items():
        np.testing.assert_allclose(found[name], value, 1e-4, 1e-5, err_msg=name)


def test_number_of_devices_is_that_of_gpus_and_said() -> None:
    with pytest.warns(UserWarning, match="SyncBatchNorm: expected num_devices, got None"):
        norm = SyncBatchNorm()
    assert norm._kwargs["ndev"] == max(1, mx.context.num_gpus())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SyncBatchNorm(num_devices=3)


def test_representation_is_that_of_mxnet() -> None:
    assert repr(SyncBatchNorm(4, 2, prefix="a_")) == (
        "SyncBatchNorm(eps=1e-05, momentum=0.9, fix_gamma=False, use_global_stats=False, ndev=2, "
        "key='a_', in_channels=4)"
    )


def test_no_device_counts_as_one() -> None:
    assert SyncBatchNorm(num_devices=0)._kwargs["ndev"] == 1


def test_half_precision_keeps_float32_parameters() -> None:
    norm = SyncBatchNorm(4, 2)
    norm.cast("float16")
    assert np.dtype(norm.gamma.dtype) == np.float32
