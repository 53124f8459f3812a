"""load_parameters into a network that has values: what it costs, and who sees the new ones."""

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from gluonish import autograd, nd, sym
from gluonish.core.context import cpu
from gluonish.core.errors import FileFormatError
from gluonish.gluon import nn
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.trainer import Trainer
from gluonish.ndarray import copying

FORMATS = ["params", "safetensors", "npz"]
DATA = np.random.default_rng(0).standard_normal((3, 64)).astype(np.float32)


def network(value: float | None = None) -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(nn.Dense(64, in_units=64, use_bias=False), nn.Dense(64, in_units=64, use_bias=False))
    if value is not None:
        net.initialize()
        for i, parameter in enumerate(net.collect_params().values()):
            parameter.set_data(np.full((64, 64), value * (i + 1)))
    return net


def written(folder: Path, kind: str, value: float) -> str:
    path = str(folder / f"{value}.{kind}")
    network(value).save_parameters(path)
    return path


def load_without_copies(net: Any, path: str) -> None:
    """Load, and fail where weights are copied."""
    nd.waitall()
    with mock.patch.object(copying, "transfer", side_effect=AssertionError("a copy")):
        net.load_parameters(path)
        nd.waitall()


def outputs(net: Any) -> Any:
    return net(nd.array(DATA)).asnumpy()


def train(net: Any, trainer: Trainer, steps: int) -> None:
    for _ in range(steps):
        with autograd.record():
            loss = (net(nd.array(DATA)) ** 2).mean()
        loss.backward()
        trainer.step(1)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("grad_req", ["write", "null"])
def test_values_are_not_copied_again_and_again(tmp_path: Path, kind: str, grad_req: str) -> None:
    net = network(1)
    net.collect_params().setattr("grad_req", grad_req)
    held = net[0].weight.data()
    for hybrid in (False, True):
        net.hybridize(hybrid)
        for value in (2, 3, 2):
            outputs(net)
            load_without_copies(net, written(tmp_path, kind, value))
            assert held is net[0].weight.data()
            assert held.asnumpy().max() == value
            np.testing.assert_allclose(outputs(net), outputs(network(value)), rtol=1e-5)


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_training_goes_on_with_what_was_loaded_without_a_copy(
    tmp_path: Path, hybrid: bool, optimizer: str
) -> None:
    path = written(tmp_path, "params", 0.01)
    results: list[Any] = []
    for load in (load_without_copies, lambda net, path: net.load_dict(nd.load(path))):
        net = network(0.02)
        net.hybridize(hybrid)
        trainer = Trainer(net.collect_params(), optimizer, {"learning_rate": 0.01})
        train(net, trainer, 2)
        gradient = net[0].weight.grad()
        load(net, path)
        assert net[0].weight.grad() is gradient
        train(net, trainer, 3)
        results.append([p.data().asnumpy() for p in net.collect_params().values()])
    np.testing.assert_array_equal(results[0], results[1])
    assert abs(results[0][0] - 0.01).min() > 0


def test_executors_and_views_see_what_is_loaded(tmp_path: Path) -> None:
    net = network(1)
    view = net[0].weight.data()[1]
    call = sym.FullyConnected(sym.var("x"), sym.var("w"), no_bias=True, num_hidden=64)
    weight = net[0].weight.data()
    executor = call.bind(cpu(), {"x": nd.array(DATA), "w": weight})
    for value in (2, 3):
        executor.forward()
        net.load_parameters(written(tmp_path, "npz", value))
        expected = np.tile(DATA.sum(1, keepdims=True) * value, 64)
        np.testing.assert_allclose(executor.forward()[0].asnumpy(), expected, rtol=1e-4, atol=1e-4)
        assert view.asnumpy().min() == value


def test_a_recorded_graph_goes_on_with_what_is_loaded(tmp_path: Path) -> None:
    net = network(1)
    x = nd.array(DATA)
    x.attach_grad()
    with autograd.record():
        y = net[0](x)
    net.load_parameters(written(tmp_path, "params", 2))
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), np.full((3, 64), 128))


def test_two_devices_have_what_is_loaded(tmp_path: Path) -> None:
    net = network()
    net.initialize(ctx=[cpu(0), cpu(1)])
    net.load_parameters(written(tmp_path, "params", 2))
    first, second = net[0].weight.list_data()
    first[:] = 5
    assert second.asnumpy().min() == second.asnumpy().max() == 2


def test_shared_parameters_have_what_is_loaded(tmp_path: Path) -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(64, in_units=64, use_bias=False))
    net.add(nn.Dense(64, in_units=64, use_bias=False, params=net[0].params))
    net.initialize()
    net.load_parameters(written(tmp_path, "params", 2))
    assert net[0].weight.data().asnumpy().min() == net[1].weight.data().asnumpy().max() == 4


def test_set_data_of_a_class_of_the_programs_is_called(tmp_path: Path) -> None:
    seen: list[Any] = []

    class Own(Parameter):
        def set_data(self, data: Any) -> None:
            seen.append(data)
            super().set_data(data)

    net = nn.HybridSequential()
    net.own = Own("own", shape=(64, 64))
    net.initialize()
    net.save_parameters(tmp_path / "a.params")
    net.load_parameters(tmp_path / "a.params")
    assert len(seen) == 1


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_that_is_cut_off_or_damaged_changes_nothing(tmp_path: Path, kind: str) -> None:
    path = Path(written(tmp_path, kind, 2))
    content = path.read_bytes()
    net = network(1)
    damaged = bytearray(content)
    damaged[-9000] ^= 0x40  # inside the last array
    for part in (content[:-9000], *([bytes(damaged)] if kind == "npz" else [])):
        path.write_bytes(part)
        with pytest.raises(FileFormatError):
            net.load_parameters(path)
        assert [p.data().asnumpy().max() for p in net.collect_params().values()] == [1, 2]
