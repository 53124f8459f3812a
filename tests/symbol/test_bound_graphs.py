import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import MXNET_USE_FUSION
from gluonish.symbol import bound_graphs


@pytest.fixture(autouse=True)
def _nothing_recent() -> Iterator[None]:
    bound_graphs._recent.clear()
    yield
    bound_graphs._recent.clear()


def _network() -> mx.sym.Symbol:
    hidden = mx.sym.FullyConnected(mx.sym.var("x"), mx.sym.var("w"), num_hidden=4, no_bias=True)
    return mx.sym.tanh(hidden)


def _bound(network: Any, seed: int, ctx: mx.Context | None = None, rows: int = 2) -> Any:
    rng = np.random.default_rng(seed)
    ctx = ctx or mx.cpu()
    arrays = {
        name: nd.array(rng.standard_normal(shape), ctx=ctx)
        for name, shape in (("x", (rows, 3)), ("w", (4, 3)))
    }
    grads = {name: nd.zeros(x.shape, ctx=ctx) for name, x in arrays.items()}
    return network.bind(ctx, arrays, args_grad=grads)


def test_a_symbol_bound_again_plans_nothing_again() -> None:
    network = _network()
    first = _bound(network, 0)
    first.forward(is_train=True)
    (subgraph,) = first._graph._subgraphs
    (plan,) = subgraph._cached._plans.values()
    del first
    second = _bound(network, 1)
    second.forward(is_train=True)
    assert second._graph._subgraphs[0] is subgraph
    assert list(subgraph._cached._plans.values()) == [plan]
    values = {name: x.asnumpy() for name, x in second.arg_dict.items()}
    expected = np.tanh(values["x"] @ values["w"].T)
    np.testing.assert_allclose(second.outputs[0].asnumpy(), expected, rtol=1e-5)


def test_executors_of_one_symbol_do_not_meet() -> None:
    network = _network()
    executors = [_bound(network, seed) for seed in range(3)]
    assert len({id(executor._graph) for executor in executors}) == 1
    for executor in executors:
        executor.forward(is_train=True)
    for executor in reversed(executors):
        executor.backward(nd.ones((2, 4)))
    for executor in executors:
        x, w = (executor.arg_dict[name].asnumpy() for name in "xw")
        slope = 1 - np.tanh(x @ w.T) ** 2
        np.testing.assert_allclose(executor.grad_dict["w"].asnumpy(), slope.T @ x, rtol=1e-4)
        np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), slope @ w, rtol=1e-4)


def test_other_settings_devices_and_symbols_have_graphs_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = _network()
    first = _bound(network, 0)
    assert _bound(network, 0, rows=5)._graph is first._graph  # with a plan of its own
    assert _bound(network, 0, mx.cpu(1))._graph is not first._graph
    first = _bound(network, 0)
    with MXNET_USE_FUSION.override(False):
        assert _bound(network, 0)._graph is not first._graph
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_TRAIN", "0")
    second = _bound(network, 0)
    assert second._graph is not first._graph
    assert _bound(_network(), 0)._graph is not second._graph
    assert _bound(network, 0)._graph is second._graph
    network.get_children()[0]._set_attr(__force_mirroring__="True")  # type: ignore[index]
    assert _bound(network, 0)._graph is not second._graph


@pytest.mark.parametrize(("rows", "stays"), [(2, True), (200_000, False)])
def test_large_graphs_go_with_their_executors(rows: int, stays: bool) -> None:
    network = _network()
    executor = _bound(network, 0, rows=rows)
    graph = weakref.ref(executor._graph)
    del executor
    gc.collect()
    assert (graph() is not None) == stays


def test_what_is_kept_is_bounded() -> None:
    networks = [_network() for _ in range(20)]
    graphs = [weakref.ref(_bound(network, 0)._graph) for network in networks]
    gc.collect()
    assert sum(graph() is not None for graph in graphs) == 16
