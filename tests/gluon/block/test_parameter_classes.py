"""Parameters of a program's own class, and parameters that share arrays by MXNet's inner names."""

from typing import Any

import gluonish as mx
from gluonish import autograd, nd
from gluonish.gluon import Parameter, nn


class Dropped(Parameter):
    """A weight that gives other values at each call, as GluonNLP's weight dropout does."""

    def data(self, ctx: Any = None) -> Any:
        return nd.Dropout(super().data(ctx), p=0.5, mode="always")


def dense_with(weight: Parameter) -> nn.Dense:
    net = nn.Dense(4, in_units=6, use_bias=False)
    net.initialize()
    net._reg_params["weight"] = weight
    net._params._params[weight.name] = weight
    net.__dict__["weight"] = weight
    return net


def test_graph_asks_a_parameter_of_another_class_at_each_call() -> None:
    weight = Dropped("weight", shape=(4, 6))
    weight.initialize("one")
    for static in (False, True):
        net = dense_with(weight)
        net.hybridize(static_alloc=static)
        outputs = {tuple(net(nd.ones((1, 6))).asnumpy().ravel()) for _ in range(8)}
        assert len(outputs) > 1
        with autograd.record():
            y = net(nd.ones((1, 6)))
        y.backward()
        # Each weight that was kept counts twice; those that were dropped have no gradient.
        assert set(weight.grad().asnumpy().ravel().tolist()) == {0, 2}
        assert weight.grad().sum().asscalar() == y.sum().asscalar()


def test_arrays_are_shared_by_mxnets_inner_names() -> None:
    one, other = Parameter("one", shape=(2,)), Parameter("other", shape=(2,))
    one.initialize("one", ctx=[mx.cpu(0), mx.cpu(1)])
    other._data, other._grad = one._data, one._grad
    other._ctx_list, other._ctx_map = one._ctx_list, one._ctx_map
    assert other.list_ctx() == [mx.cpu(0), mx.cpu(1)]
    assert other.data(mx.cpu(1)) is one.data(mx.cpu(1))
    assert other._ctx_map == [[], [0, 1]]
    assert other.grad(mx.cpu(0)) is one.grad(mx.cpu(0))


def test_an_array_of_a_parameter_may_be_replaced_in_its_list() -> None:
    net = nn.Dense(1, in_units=2, use_bias=False)
    net.initialize("one")
    net.hybridize()
    x = nd.ones((1, 2))
    assert net(x).asscalar() == 2
    (position,) = net.weight._ctx_map[mx.cpu().device_typeid & 1]
    assert position is not None
    net.weight._data[position] = nd.array([[3, 4]])  # type: ignore[index]
    assert net.weight.data().asnumpy().tolist() == [[3, 4]]
    assert net(x).asscalar() == 7
