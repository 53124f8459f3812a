import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError
from gluonish.gluon import nn
from gluonish.gluon.utils import WeightAverage, update_batch_norm


def network(dtype: str = "float32") -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(nn.Dense(3, in_units=2), nn.BatchNorm(in_channels=3), nn.Dense(1, in_units=3))
    net.initialize()
    net.cast(dtype)
    return net


def values(net: nn.HybridSequential) -> dict[str, np.ndarray]:
    return {k: p.data().asnumpy() for k, p in net._collect_params_with_prefix().items()}


def drift(net: nn.HybridSequential, draw: np.random.RandomState) -> None:
    for param in net.collect_params().values():
        param.set_data(nd.array(draw.randn(*param.shape)))


@pytest.mark.parametrize("decay", [0.9, 0.0, None])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_averages_are_those_of_the_formula(decay: float | None, dtype: str) -> None:
    net, draw = network(dtype), np.random.RandomState(0)
    average = WeightAverage(net, decay)
    expected: dict[str, Any] = {}
    for step in range(20):
        drift(net, draw)
        average.update()
        for name, value in values(net).items():
            share = 1 / (step + 1) if decay is None else 1 - decay
            share = share if step else 1.0
            old = expected.get(name, 0.0)
            expected[name] = (1 - share) * old + share * value.astype("float64")
    own = values(net)
    tolerance = {"float64": 1e-14, "float32": 1e-6, "float16": 1e-3}[dtype]
    with average.applied():
        for name, value in values(net).items():
            np.testing.assert_allclose(value, expected[name], rtol=tolerance, atol=tolerance)
            assert value.dtype == own[name].dtype
    for name, value in values(net).items():
        np.testing.assert_array_equal(value, own[name])


def test_each_device_gets_its_own_statistics_back() -> None:
    net = nn.BatchNorm(in_channels=1)
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    average = WeightAverage(net)
    average.update()
    means = net.running_mean.list_data()
    for i, mean in enumerate(means):
        mean[:] = i + 1
    with average.applied():
        assert [x.asscalar() for x in net.running_mean.list_data()] == [0, 0]
    assert [x.asscalar() for x in net.running_mean.list_data()] == [1, 2]


def test_an_error_inside_brings_the_weights_back() -> None:
    net = network()
    average = WeightAverage(net)
    average.update()
    drift(net, np.random.RandomState(1))
    own = values(net)
    with pytest.raises(KeyError), average.applied():
        raise KeyError
    for name, value in values(net).items():
        np.testing.assert_array_equal(value, own[name])


@pytest.mark.parametrize("decay", [0.5, None])
def test_a_loaded_average_continues(decay: float | None, tmp_path: Path) -> None:
    found = []
    for resumed in (False, True):
        net, draw = network(), np.random.RandomState(0)
        average = WeightAverage(net, decay)
        for step in range(6):
            drift(net, draw)
            average.update()
            if resumed and step == 2:
                average.save(str(tmp_path / "average.params"))
                average = WeightAverage(net, decay)
                average.load(str(tmp_path / "average.params"))
        assert average.num_updates == 6
        average.copy_to(net)
        found.append(values(net))
    for name, value in found[0].items():
        np.testing.assert_array_equal(value, found[1][name])


def test_averages_of_a_hybridized_network_are_used() -> None:
    net, x = network(), nd.ones((4, 2))
    net.hybridize()
    net(x)
    average = WeightAverage(net)
    average.update()
    before = net(x).asnumpy()
    drift(net, np.random.RandomState(3))
    with average.applied():
        np.testing.assert_allclose(net(x).asnumpy(), before, rtol=1e-6)
    assert not np.allclose(net(x).asnumpy(), before)


def test_wrong_use_is_refused(tmp_path: Path) -> None:
    net = network()
    with pytest.raises(ArgumentError, match=r"decay in \[0, 1\), got 1"):
        WeightAverage(net, 1)
    with pytest.raises(ArgumentTypeError, match="expected a Block, got int"):
        WeightAverage(3)  # type: ignore[arg-type]
    average = WeightAverage(net)
    with pytest.raises(ArgumentError, match="an update before its use"), average.applied():
        pass
    average.update()
    with pytest.raises(ArgumentError, match="a network of the same parameters"):
        average.copy_to(nn.Dense(1, in_units=2))
    nd.save(str(tmp_path / "x.params"), {"x": nd.ones((1,))})
    with pytest.raises(FileFormatError, match=r"a file of WeightAverage\.save"):
        average.load(str(tmp_path / "x.params"))
    average.save(str(tmp_path / "y.params"))
    other = nn.Dense(1, in_units=2)
    other.initialize()
    with pytest.raises(FileFormatError, match="expected averages of"):
        WeightAverage(other).load(str(tmp_path / "y.params"))


@pytest.mark.parametrize("hybrid", [False, True])
def test_statistics_are_means_over_batches(hybrid: bool) -> None:
    net, draw = network(), np.random.RandomState(5)
    if hybrid:
        net.hybridize()
    batches = [[nd.array(draw.randn(8, 2)), nd.zeros((8,))] for _ in range(5)]
    update_batch_norm(net, batches)
    hidden = [net[0](x).asnumpy().astype("float64") for x, _ in batches]
    norm = net[1]
    np.testing.assert_allclose(
        norm.running_mean.data().asnumpy(), np.mean([h.mean(0) for h in hidden], 0), rtol=1e-4
    )
    np.testing.assert_allclose(
        norm.running_var.data().asnumpy(), np.mean([h.var(0) for h in hidden], 0), rtol=1e-4
    )


def test_no_batches_are_refused() -> None:
    with pytest.raises(ArgumentError, match="one batch or more"):
        update_batch_norm(network(), [])
    update_batch_norm(nn.Dense(1), [])  # nothing to compute


def test_seed_everything_repeats_all_generators() -> None:
    found = []
    for _ in range(2):
        mx.random.seed_everything(11)
        drawn = np.random.random_sample()  # noqa: NPY002  # it is this generator that is seeded
        found.append((random.random(), drawn, nd.random.uniform().asscalar()))
    assert found[0] == found[1]
    with pytest.raises(ArgumentTypeError, match="expected an int, got 'x'"):
        mx.random.seed_everything("x")  # type: ignore[arg-type]
