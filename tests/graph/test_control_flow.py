"""Control flow in hybridized blocks, against Python's own loops on arrays."""

import time
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core.errors import ArgumentError
from gluonish.gluon import nn
from gluonish.ndarray import NDArray
from tests.graph.control_flow_blocks import BLOCKS, Recurrence, TracedRecurrence

Kind = type[gluon.HybridBlock]


def _grad(x: NDArray) -> NDArray:
    assert x.grad is not None
    return x.grad


def _inputs(sign: float = 1) -> tuple[NDArray, NDArray]:
    rng = np.random.default_rng(5)
    x = nd.array(np.abs(rng.standard_normal((6, 2, 3))) * sign)
    h = nd.array(rng.standard_normal((2, 4)))
    for array in (x, h):
        array.attach_grad()
    return x, h


def _made(kind: Kind, hybrid: bool) -> gluon.HybridBlock:
    net = kind(prefix="net_")
    net.initialize()
    rng = np.random.default_rng(1)
    for parameter in net.collect_params().values():
        parameter.set_data(nd.array(rng.standard_normal(parameter.shape) * 0.5))
    if hybrid:
        net.hybridize()
    return net


def _gradients(net: gluon.HybridBlock, x: NDArray, h: NDArray) -> list[np.ndarray]:
    parameters = net.collect_params().values()
    return [_grad(x).asnumpy(), _grad(h).asnumpy(), *(p.grad().asnumpy() for p in parameters)]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", BLOCKS)
def test_a_hybridized_block_computes_what_python_does(kind: Kind, sign: float) -> None:
    results = []
    for hybrid in (False, True):
        net, (x, h) = _made(kind, hybrid), _inputs(sign)
        with autograd.record():
            y = net(x, h)
        y.backward()
        results.append([y.asnumpy(), *_gradients(net, x, h)])
    for eager, planned in zip(*results, strict=True):
        np.testing.assert_allclose(planned, eager, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", BLOCKS)
def test_gradients_have_gradients(kind: Kind, sign: float) -> None:
    results = []
    for hybrid in (False, True):
        net, (x, h) = _made(kind, hybrid), _inputs(sign)
        with autograd.record():
            y = net(x, h)
            (g,) = autograd.grad(y, [h], create_graph=True)
            z = (g * g).sum()
        z.backward()
        results.append([z.asnumpy(), *_gradients(net, x, h)])
    for eager, planned in zip(*results, strict=True):
        np.testing.assert_allclose(planned, eager, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", BLOCKS)
def test_inference_computes_the_same(kind: Kind) -> None:
    x, h = _inputs()
    eager, planned = _made(kind, False)(x, h), _made(kind, True)(x, h)
    np.testing.assert_allclose(planned.asnumpy(), eager.asnumpy(), rtol=1e-4)


def test_weights_inside_a_loop_are_found_at_the_first_call() -> None:
    class Net(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.dense = nn.Dense(3)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.contrib.foreach(lambda d, s: (self.dense(d), []), x, [])[0]

    net = Net()
    net.initialize()
    net.hybridize()
    assert net(nd.ones((4, 2, 5))).shape == (4, 2, 3)
    assert net.dense.weight.shape == (3, 5)


def test_moving_statistics_move_at_each_iteration() -> None:
    class Net(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__(prefix="net_")
            self.norm = nn.BatchNorm(in_channels=3, prefix="bn_")

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.contrib.foreach(lambda d, s: (self.norm(d), []), x, [])[0]

    x = nd.array(np.random.default_rng(0).standard_normal((4, 5, 3)))
    found = []
    for hybrid in (False, True):
        net = Net()
        net.initialize()
        net.hybridize(hybrid)
        x.attach_grad()
        with autograd.record():
            y = net(x)
            z = (y * y * y).sum()
        z.backward()
        found.append((net.norm.running_mean.data().asnumpy(), _grad(x).asnumpy()))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-3, atol=1e-3)


def test_each_iteration_draws_anew_and_the_gradient_knows_what() -> None:
    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, s: Any) -> Any:
            return F.contrib.foreach(lambda d, s: (F.Dropout(d, p=0.5), s + d), x, s)[0]

    net = Net()
    net.hybridize()
    x = nd.ones((8, 50))
    x.attach_grad()
    with autograd.record():
        y = net(x, nd.zeros(50))
    y.backward()
    values = y.asnumpy()
    assert not np.array_equal(values[0], values[1])
    assert set(np.unique(values)) == {0, 2}
    np.testing.assert_array_equal(_grad(x).asnumpy(), values)


def test_the_time_to_plan_does_not_grow_with_the_length() -> None:
    seconds = {}
    for length in (5, 500):
        net = _made(Recurrence, True)
        x, h = nd.ones((length, 2, 3)), nd.zeros((2, 4))
        x.attach_grad()
        net(x, h)
        begin = time.perf_counter()
        with autograd.record():
            y = net(x, h)
        y.backward()
        nd.waitall()
        seconds[length] = time.perf_counter() - begin
    assert seconds[500] < seconds[5] + 10


@pytest.mark.parametrize("kind", [Recurrence, TracedRecurrence])
def test_an_exported_block_computes_the_same(
    kind: Kind, tmp_path_factory: pytest.TempPathFactory
) -> None:
    net, (x, h) = _made(kind, True), _inputs()
    expected = net(x, h).asnumpy()
    path = tmp_path_factory.mktemp("export") / "net"
    files = net.export(path)
    loaded = gluon.SymbolBlock.imports(files[0], ["data0", "data1"], files[1])
    np.testing.assert_allclose(loaded(x, h).asnumpy(), expected, rtol=1e-5)


def test_data_that_nobody_reads_are_refused() -> None:
    class Net(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return mx.nd.contrib.foreach(lambda d, s: (s, s + 1), x, x[0])

    net = Net()
    net.hybridize()
    with pytest.raises(ArgumentError, match=r"foreach: .*does not use argument 0 \(data-0\)"):
        net(nd.ones((3, 2)))
