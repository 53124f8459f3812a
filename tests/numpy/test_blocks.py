"""Blocks on arrays of mx.np: eager, traced on Symbols, traced on values, trained, exported."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

from gluonish import autograd, gluon, util
from gluonish import numpy as np
from gluonish import numpy_extension as npx
from gluonish.core.devices import cpu
from gluonish.gluon import nn
from gluonish.symbol import NumpySymbol


@pytest.fixture(autouse=True)
def numpy_semantics() -> Iterator[None]:
    with util.np_shape(), util.np_array():
        yield


class Classic(gluon.HybridBlock):
    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.function = function

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        assert isinstance(x, np.ndarray | NumpySymbol)
        return self.function(F, x)


class Forward(gluon.HybridBlock):
    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        assert isinstance(x, np.ndarray)
        return self.function(x)


def values(result: Any) -> list[Any]:
    parts = result if isinstance(result, list | tuple) else [result]
    assert all(type(part) is np.ndarray for part in parts)
    return [part.tolist() for part in parts]


def check_hybridized_equals_eager(block: Any) -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]])
    eager = values(block(x))
    block.hybridize()
    block(x)
    assert values(block(x)) == eager


@pytest.mark.parametrize(
    "function",
    [
        lambda F, x: F.np.sum(x, axis=1),
        lambda F, x: x.sum(axis=1) * 2 + x[:, 0],
        lambda F, x: F.npx.relu(x - 2),
        lambda F, x: F.np.zeros((2,)) + x[0, :2],
        lambda F, x: x[-1],
        lambda F, x: x[:, None, 1:],
        lambda F, x: x.reshape(3, 2).T @ x.T,
        lambda F, x: F.np.split(x, 3, axis=1),
        lambda F, x: F.np.where(x > 2, x, 0),
        lambda F, x: F.np.concatenate([x, x], axis=1),
        lambda F, x: F.np.random.uniform(size=(2, 3)) * 0 + x,
        lambda F, x: F.npx.random.bernoulli(prob=0.5, size=(2, 3)) * 0 + x,
        lambda F, x: F.np.linalg.norm(x, axis=1),
        lambda F, x: (x > 2) * x + F.np.arange(3),
        lambda F, x: F.np.full((2, 3), 2.0) * x.astype("float32"),
    ],
)
def test_hybrid_forward_traces_as_it_computes(function: Callable[[Any, Any], Any]) -> None:
    check_hybridized_equals_eager(Classic(function))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(x, axis=1) + x.mean(),
        lambda x: x[0, 1],
        lambda x: x[np.array([0, 1, 1], dtype="int32")],
        lambda x: x[:, [0, 2]],
        lambda x: x[x.argmax(axis=0)],
        lambda x: x[:, x.argmin(axis=1)],
        lambda x: np.split(x, 3, axis=1),
        lambda x: np.random.normal(size=(2, 3)) * 0 + x,
        lambda x: np.pad(x, ((1, 0), (0, 0))) * x.shape[0],
        lambda x: npx.dropout(x, p=0.5),
        lambda x: np.std(x, axis=0) + np.linalg.norm(x),
        lambda x: x[x > 2],
    ],
)
def test_forward_traces_as_it_computes(function: Callable[[Any], Any]) -> None:
    check_hybridized_equals_eager(Forward(function))


def test_function_that_needs_values_has_the_block_run_without_a_graph() -> None:
    block = Forward(np.cov)
    want = block(np.ones((2, 3))).asnumpy()
    block.hybridize()
    with pytest.warns(UserWarning, match=r"without a graph; .*; at test_blocks\.py:\d+ in forward"):
        numpy.testing.assert_array_equal(block(np.ones((2, 3))).asnumpy(), want)


@pytest.mark.parametrize("hybridized", [False, True])
def test_network_trains_on_arrays_of_np(hybridized: bool) -> None:
    net: Any = nn.HybridSequential()
    net.add(nn.Dense(8, activation="relu"), nn.BatchNorm(), nn.Dense(3))
    net.initialize()
    if hybridized:
        net.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    npx.random.seed(1)
    x, y = np.random.normal(size=(4, 5)), np.array([0, 1, 2, 0])
    losses = []
    for _ in range(5):
        with autograd.record():
            mean = loss(net(x), y).mean()
        mean.backward()
        trainer.step(1)
        losses.append(mean.item())
    assert mean.shape == ()
    assert losses[-1] < losses[0]
    weight = net[0].weight
    assert {type(weight.data()), type(weight.grad()), type(net(x))} == {np.ndarray}
    assert isinstance(weight.var(), NumpySymbol)


def test_exported_network_comes_back(tmp_path: Path) -> None:
    net = nn.Dense(3)
    net.initialize()
    net.hybridize()
    x = np.ones((2, 4))
    expected = net(x).tolist()
    symbol_file, params_file = net.export(tmp_path / "net")
    assert '"is_np_shape": ["int", 1]' in Path(symbol_file).read_text("utf-8")
    block = gluon.SymbolBlock.imports(symbol_file, ["data"], params_file)
    found = block(x)
    assert type(found) is np.ndarray
    assert found.tolist() == expected


def test_unknown_extents_of_parameters_read_as_minus_one() -> None:
    parameter = gluon.Parameter("weight", shape=(3, 0), allow_deferred_init=True)
    assert parameter.shape == (3, -1)


def test_batches_are_arrays_of_np() -> None:
    dataset = gluon.data.ArrayDataset(numpy.ones((4, 2)), numpy.ones(4))
    for batch in gluon.data.DataLoader(dataset, 2):
        assert [type(part) for part in batch] == [np.ndarray, np.ndarray]
        assert batch[0].dtype == numpy.dtype("float64")
    (part,) = gluon.utils.split_and_load(numpy.ones((4, 2)), [cpu(0)])
    assert type(part) is np.ndarray
