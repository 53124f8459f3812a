from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import symbol as sym
from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.dynamic import is_dynamic


def normalized(*, train: bool, **attrs: Any) -> Any:
    data = mx.nd.array(np.arange(12.0).reshape(2, 3, 2))
    arrays = [mx.nd.array([value] * 3) for value in (1.0, 0.0, 2.0, 4.0)]
    with mx.autograd.record(train_mode=train):
        return mx.nd.contrib.SyncBatchNorm(data, *arrays, key="k", **attrs).asnumpy()


def test_number_of_devices_does_not_matter_for_prediction() -> None:
    np.testing.assert_array_equal(normalized(train=False, ndev=2), normalized(train=False))


def test_nor_where_the_moving_statistics_are_used() -> None:
    got = normalized(train=True, ndev=2, use_global_stats=True)
    np.testing.assert_array_equal(got, normalized(train=False))


def test_planned_graph_that_trains_on_several_devices_is_refused() -> None:
    output = sym.contrib.SyncBatchNorm(sym.var("data"), ndev=2, key="k", name="norm")
    inputs = [mx.nd.ones((2, 3)), *(mx.nd.ones(3) for _ in range(4))]
    graph = CachedGraph(output._variables(), output._values)
    with mx.autograd.train_mode(), pytest.raises(ValueError, match="got a planned graph"):
        graph(inputs)[0].wait_to_read()


def test_graph_is_planned_but_for_training_on_several_devices() -> None:
    def outputs(**attrs: Any) -> Any:
        return sym.contrib.SyncBatchNorm(sym.var("data"), key="k", **attrs)._values

    assert is_dynamic(outputs(ndev=2), train=True)
    assert not is_dynamic(outputs(ndev=2), train=False)
    assert not is_dynamic(outputs(ndev=1), train=True)
    assert not is_dynamic(outputs(ndev=2, use_global_stats=True), train=True)


def test_executor_trains_on_several_devices() -> None:
    data = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    output = sym.contrib.SyncBatchNorm(sym.var("data"), ndev=2, key="k", eps=1e-5, name="norm")
    executors = []
    for i, half in enumerate(np.split(data, 2)):
        executor = output.simple_bind(mx.cpu(i), data=(2, 3))
        executor.arg_dict["norm_gamma"][:] = 1
        executor.forward(is_train=True, data=mx.nd.array(half, ctx=mx.cpu(i)))
        executors.append(executor)
    found = np.concatenate([executor.outputs[0].asnumpy() for executor in executors])
    np.testing.assert_allclose(found, (data - data.mean(0)) / data.std(0), 1e-3, 1e-4)
