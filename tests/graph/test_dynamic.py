from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.core.errors import GraphError

X = np.array([[1.0, -2.0], [3.0, 4.0], [-5.0, 6.0]], np.float32)
MASK = np.array([1.0, 0.0, 1.0], np.float32)


class Selected(gluon.HybridBlock):
    """A layer on the rows that a mask selects."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.dense = gluon.nn.Dense(3, in_units=2)

    def hybrid_forward(self, F: Any, x: Any, mask: Any) -> Any:
        return F.relu(self.dense(F.contrib.boolean_mask(x, mask)))


class SelectedForward(gluon.HybridBlock):
    """The same in the style of 2.0."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = gluon.nn.Dense(3, in_units=2)

    def forward(self, x: Any, mask: Any) -> Any:
        return mx.nd.relu(self.dense(mx.nd.contrib.boolean_mask(x, mask)))


def run(net: Any) -> list[Any]:
    x, mask = mx.nd.array(X), mx.nd.array(MASK)
    x.attach_grad()
    with autograd.record():
        y = net(x, mask)
    y.backward()
    weight = net.dense.weight
    return [y.asnumpy(), x.grad.asnumpy(), weight.grad().asnumpy()]


@pytest.mark.parametrize("kind", [Selected, SelectedForward])
def test_hybridized_block_with_a_shape_of_values_equals_the_imperative_one(kind: Any) -> None:
    net = kind()
    net.initialize(mx.init.One())
    wanted = run(net)
    net.hybridize()
    for _ in range(2):
        for got, want in zip(run(net), wanted, strict=True):
            np.testing.assert_array_equal(got, want)
    assert wanted[0].shape == (2, 3)


def test_symbolic_block_can_be_exported(tmp_path: Path) -> None:
    net = Selected()
    net.initialize(mx.init.One())
    net.hybridize()
    wanted = net(mx.nd.array(X), mx.nd.array(MASK)).asnumpy()
    symbol, params = net.export(str(tmp_path / "net"))
    again = gluon.SymbolBlock.imports(symbol, ["data0", "data1"], params)
    got = again(mx.nd.array(X), mx.nd.array(MASK)).asnumpy()
    np.testing.assert_array_equal(got, wanted)


def test_block_in_the_style_of_2_has_no_graph_to_export(tmp_path: Path) -> None:
    net = SelectedForward()
    net.initialize()
    net.hybridize()
    net(mx.nd.array(X), mx.nd.array(MASK))
    with pytest.raises(GraphError, match="depends on values"):
        net.export(str(tmp_path / "net"))


def test_executor_runs_a_graph_with_a_shape_of_values() -> None:
    x, mask = mx.sym.var("x"), mx.sym.var("mask")
    symbol = mx.sym.relu(mx.sym.contrib.boolean_mask(x, mask)) * 2
    arrays = {"x": mx.nd.array(X), "mask": mx.nd.array(MASK)}
    grads = {"x": mx.nd.zeros(X.shape)}
    executor = symbol.bind(mx.cpu(), arrays, grads, {"x": "write", "mask": "null"})
    for mask_now in (MASK, 1 - MASK):
        (y,) = executor.forward(is_train=True, mask=mx.nd.array(mask_now))
        want = 2 * np.maximum(X[mask_now > 0], 0)
        np.testing.assert_array_equal(y.asnumpy(), want)
        executor.backward([mx.nd.ones(y.shape)])
        np.testing.assert_array_equal(grads["x"].asnumpy(), 2 * (X > 0) * mask_now[:, None])


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("monitor_all", [False, True])
def test_operator_hook_sees_a_graph_with_a_shape_of_values(monitor_all: bool, train: bool) -> None:
    net = Selected()
    net.initialize(mx.init.One())
    net.hybridize()
    seen: list[tuple[str, str, tuple[int, ...]]] = []
    net.register_op_hook(lambda name, op, x: seen.append((name, op, x.shape)), monitor_all)
    with autograd.record(train):
        net(mx.nd.array(X), mx.nd.array(MASK))
    outputs = [(op, shape) for name, op, shape in seen if name.endswith("_output")]
    assert outputs == [
        ("_contrib_boolean_mask", (2, 2)),
        ("FullyConnected", (2, 3)),
        ("relu", (2, 3)),
    ]
    assert len(seen) - len(outputs) == (6 if monitor_all else 0)


@pytest.mark.parametrize("monitor_all", [False, True])
def test_operator_hook_sees_a_block_that_runs_imperatively(monitor_all: bool) -> None:
    net = SelectedForward()
    net.initialize(mx.init.One())
    net.hybridize()
    seen: list[tuple[str, str, tuple[int, ...]]] = []

    def tell(name: str, op: str, x: Any) -> None:
        seen.append((name, op, x.shape))
        assert (x * 2).shape == x.shape  # of which nobody is told

    net.register_op_hook(tell, monitor_all)
    with autograd.record():
        y = net(mx.nd.array(X), mx.nd.array(MASK))
    y.backward()
    outputs = [(op, shape) for name, op, shape in seen if name.endswith("_output")]
    assert outputs == [
        ("_contrib_boolean_mask", (2, 2)),
        ("FullyConnected", (2, 3)),
        ("relu", (2, 3)),
    ]
    assert len(seen) - len(outputs) == (6 if monitor_all else 0)
    assert seen[-1][0].startswith(f"{net.name}_relu")
    count = len(seen)
    mx.nd.relu(y)
    assert len(seen) == count


def test_operator_hook_is_told_once_by_a_graph_in_a_block_that_runs_imperatively() -> None:
    class Outer(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Selected()

        def forward(self, x: Any, mask: Any) -> Any:
            return self.inner(mx.nd.contrib.boolean_mask(x, mask), mx.nd.array([1, 0])) + 1

    net = Outer()
    net.initialize(mx.init.One())
    net.hybridize()
    seen: list[str] = []
    net.register_op_hook(lambda name, op, x: seen.append(op))
    net(mx.nd.array(X), mx.nd.array(MASK))
    assert seen == [
        *("_contrib_boolean_mask", "_contrib_boolean_mask", "FullyConnected", "relu"),
        "_plus_scalar",
    ]


def test_operator_hook_sees_random_numbers_and_sparse_operators() -> None:
    class Net(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return mx.nd.sparse.sum(x) + mx.nd.random.uniform(shape=(1,)) + mx.nd.ones((1,))

    net = Net()
    net.hybridize()
    seen: list[str] = []
    net.register_op_hook(lambda name, op, x: seen.append(op))
    net(mx.nd.array([[0, 1]]).tostype("csr"))
    assert seen == ["sum", "_random_uniform", "broadcast_add", "broadcast_add"]
