"""Each line of the table of differences, both ways; checked against MXNet 1.9.1."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd, npx
from gluonish.core.mxnet_rules import (
    DIFFERENCES,
    Rules,
    follow_mxnet,
    follows_mxnet,
    follows_mxnet1,
    follows_mxnet2,
)
from gluonish.core.user_functions import is_np_array, is_np_shape, set_np_shape
from gluonish.gluon import HybridBlock, SymbolBlock, nn
from gluonish.gluon.data import ArrayDataset, DataLoader
from gluonish.gluon.loss import L2Loss


@pytest.fixture(params=[True, False], ids=["mxnet", "gluonish"])
def mxnet(request: pytest.FixtureRequest) -> Iterator[bool]:
    before = follow_mxnet(request.param)
    yield request.param
    follow_mxnet(before)


class Counting(HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.kinds: list[str] = []
        with self.name_scope():
            self.dense = nn.Dense(2, use_bias=False, weight_initializer="ones")

    def forward(self, x: Any) -> Any:
        self.calls += 1
        self.kinds.append(type(x).__name__)
        return self.dense(x) * self.calls


def test_forward_of_a_users_block(mxnet: bool) -> None:
    net = Counting()
    net.initialize()
    net(nd.ones((1, 3)))  # its shapes are known from here on
    net.calls = 0
    net.hybridize()
    found = [float(net(nd.ones((1, 3)))[0, 0].asscalar()) for _ in range(3)]
    assert found == ([3.0, 6.0, 9.0] if mxnet else [3.0, 3.0, 3.0])
    assert bool(net.dense._graphs) == mxnet


def test_forward_that_needs_values(mxnet: bool, recwarn: pytest.WarningsRecorder) -> None:
    class Branch(HybridBlock):
        def forward(self, x: Any) -> Any:
            return x if float(x.sum()) > 0 else -x

    net = Branch()
    net.hybridize()
    assert [net(nd.ones((1,)) * sign).asscalar() for sign in (1, -1)] == [1.0, 1.0]
    assert len(recwarn) == (0 if mxnet else 1)


class Parent(HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        self.child = Counting()

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.child(F.relu(x))


def test_forward_inside_a_hybridized_block(mxnet: bool) -> None:
    net = Parent()
    net.initialize()
    net(nd.ones((1, 3)))
    net.child.kinds.clear()
    net.hybridize()
    net(nd.ones((1, 3)))
    assert net.child.kinds == (["Symbol"] if mxnet else ["TracedArray"])


def in_thread() -> tuple[bool, bool]:
    found: list[tuple[bool, bool]] = []
    thread = threading.Thread(target=lambda: found.append((is_np_array(), is_np_shape())))
    thread.start()
    thread.join(30)
    return found[0]


def test_numpy_semantics_of_threads(mxnet: bool) -> None:
    found = []

    def program() -> None:  # in a thread, as what it sets stays
        npx.set_np()
        found.append((is_np_array(), is_np_shape()))
        found.append(in_thread())
        npx.reset_np()
        set_np_shape(True)
        found.append(in_thread())
        set_np_shape(False)
        found.append((is_np_array(), is_np_shape()))

    thread = threading.Thread(target=program)
    thread.start()
    thread.join(30)
    there = [(False, False), (False, False)] if mxnet else [(True, True), (False, True)]
    assert found == [(True, True), *there, (False, False)]


def test_threads_of_a_data_loader_load_as_who_asks_them(mxnet: bool) -> None:
    found: list[bool] = []

    def program() -> None:
        with npx_scope():
            dataset = ArrayDataset(np.ones((4, 2), np.float32))
            loader = DataLoader(dataset, 2, num_workers=2, thread_pool=True)
            found.extend(isinstance(batch, mx.np.ndarray) for batch in loader)

    thread = threading.Thread(target=program)
    thread.start()
    thread.join(30)
    assert found == [True, True]


@contextmanager
def npx_scope() -> Iterator[None]:
    npx.set_np()
    yield
    npx.reset_np()


def test_switch_tells_what_was_before() -> None:
    before = follow_mxnet(True)
    assert before is Rules.GLUONISH
    assert (follows_mxnet(), follows_mxnet1(), follows_mxnet2()) == (True, True, False)
    assert follow_mxnet(Rules.MXNET2) is Rules.MXNET1
    assert (follows_mxnet(), follows_mxnet1(), follows_mxnet2()) == (True, False, True)
    assert follow_mxnet(before) is Rules.MXNET2
    assert (follows_mxnet(), follows_mxnet1(), follows_mxnet2()) == (False, False, False)


def test_elemwise_operators_on_arrays_of_different_shapes(mxnet: bool) -> None:
    a, b = mx.sym.var("a"), mx.sym.var("b")
    calls: list[Callable[[], Any]] = [
        lambda: nd.elemwise_add(nd.ones((2, 3)), nd.ones((1, 3))).shape,
        *[
            lambda s=s: s.infer_shape(a=(2, 3), b=(1, 3))[1][0]
            for s in (a + b, a - b, a * b, a / b, a**b, a % b, a == b, mx.sym.maximum(a, b))
        ],
    ]
    for call in calls:
        if mxnet:
            with pytest.raises(mx.MXNetError, match=r"arrays of equal shape, got \(2, 3\)"):
                call()
        else:
            assert call() == (2, 3)
    assert (nd.ones((2, 3)) + nd.ones((1, 3))).shape == (2, 3)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("width", [3, 4096])  # which another kernel looks up
def test_ids_outside_an_embedding(mxnet: bool, width: int, hybridize: bool) -> None:
    net = nn.Embedding(10, width)
    net.initialize()
    net.hybridize(hybridize)
    table = net.weight.data().asnumpy()
    np.testing.assert_array_equal(net(nd.array([0, 9] * 4)).asnumpy(), table[[0, 9] * 4])
    ids = nd.array([3, -1, 99, 9, 0, 1, 2, 4])
    if mxnet:
        wanted = table[[3, 0, 9, 9, 0, 1, 2, 4]]
        np.testing.assert_array_equal(net(ids).asnumpy(), wanted)
        return
    message = r"Embedding.*: expected ids in data from 0 to 9, got ids from -1\.0 to 99\.0"
    with pytest.raises(mx.MXNetError, match=message):
        net(ids).asnumpy()
    with pytest.raises(IndexError, match="got ids from 0 to 10"):
        net(nd.array([0, 10], dtype="int32")).asnumpy()


def test_version_is_gluonishs_own_without_the_name() -> None:
    # The other way, the pool of processes and imported modules are in tests/test_as_mxnet.py,
    # counts of updates in tests/module/test_state_keys.py, DataLoader in tests/gluon/data.
    assert mx.__version__ != "1.9.1"
    assert len(DIFFERENCES) == 30


def test_integers_and_a_float(mxnet: bool) -> None:
    found = [f(mx.np.array([1, -3], dtype="int32")) for f in (lambda x: x + 1.5, lambda x: 2.5 * x)]
    assert [str(x.dtype) for x in found] == ["int32" if mxnet else "float64"] * 2
    wanted = [[2, -2], [2, -6]] if mxnet else [[2.5, -1.5], [2.5, -7.5]]
    assert [x.tolist() for x in found] == wanted
    assert (mx.np.array([1, 2], dtype="int32") > 1.5).tolist() == [False, True]


def test_nd_arrays_in_functions_of_np(mxnet: bool) -> None:
    x, y = nd.array([1.0, 2.0]), mx.np.array([1.0, 1.0])
    x.attach_grad()
    calls: list[Callable[[], Any]] = [lambda: y + x, lambda: x + y, lambda: mx.np.add(x, y)]
    for call in calls:
        if mxnet:
            with pytest.raises(TypeError, match=r"add: expected arrays of mx\.np, got an NDArray"):
                call()
            continue
        with mx.autograd.record():
            total = call()
        assert isinstance(total, mx.np.ndarray)
        assert total.tolist() == [2.0, 3.0]
        total.backward()
        assert x.grad.asnumpy().tolist() == [1.0, 1.0]


@pytest.mark.parametrize("follows", [False, True])
def test_class_of_a_symbol_block_computes_its_graph(follows: bool) -> None:
    class Extractor(SymbolBlock):  # as GluonCV's detectors have
        pass

    x = mx.sym.var("data")
    dense = mx.sym.FullyConnected(x, num_hidden=3, name="fc")
    before = follow_mxnet(follows)
    try:
        net = Extractor([dense, mx.sym.relu(dense)], [x])
        assert net.has_hybrid_forward
        net.initialize("one")
        for _ in range(2):
            one, two = net(mx.nd.array([[-1, -2]]))
            assert one.asnumpy().tolist() == [[-2, -2, -2]]
            assert two.asnumpy().tolist() == [[0, 0, 0]]
            net.hybridize()
    finally:
        follow_mxnet(before)


class Nested(HybridBlock):
    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return x + 1, [x + 2, (x + 3, x + 4)], (x + 5,)


def test_tuples_that_a_hybridized_block_returns(mxnet: bool) -> None:
    net = Nested()
    first, (second, inner), last = net(nd.zeros(1))
    assert isinstance(net(nd.zeros(1)), tuple)
    assert isinstance(inner, tuple)
    net.hybridize()
    for _ in range(2):
        found = net(nd.zeros(1))
        kind = list if mxnet else tuple
        assert isinstance(found, kind)
        assert isinstance(found[1], list)
        assert isinstance(found[1][1], kind)
        assert isinstance(found[2], kind)
        first, (second, inner), last = found
        values = [y.asscalar() for y in (first, second, *inner, *last)]
        assert values == [1, 2, 3, 4, 5]


def test_an_attribute_that_is_set_after_the_trace(mxnet: bool) -> None:
    class Scaled(HybridBlock):
        scale = 2

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return x * self.scale

    net = Scaled()
    net.hybridize()
    assert net(nd.ones((1,))).asscalar() == 2
    net.scale = 3
    assert net(nd.ones((1,))).asscalar() == (2 if mxnet else 3)


def test_a_sample_weight_of_one_axis(mxnet: bool) -> None:
    pred, weight = nd.array([[1, 2], [3, 4]]), nd.array([1, 0])
    found = L2Loss()(pred, nd.zeros((2, 2)), weight).tolist()
    assert found == ([0.25, 2.25] if mxnet else [1.25, 0.0])
