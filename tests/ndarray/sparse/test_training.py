"""Gradients and steps with sparse arrays, beside what tests/golden/sparse_cases.py has."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, ParameterError
from gluonish.gluon import Parameter, Trainer, nn

WEIGHT = np.arange(10, dtype=np.float32).reshape(5, 2)


def lookup(weight: Any, *rows: int, sparse_grad: bool = True) -> Any:
    return nd.Embedding(nd.array(rows), weight, input_dim=5, output_dim=2, sparse_grad=sparse_grad)


def test_sparse_gradients_are_added_up() -> None:
    w = nd.array(WEIGHT)
    w.attach_grad("add", stype="row_sparse")
    for _ in range(2):
        with autograd.record():
            y = lookup(w, 1, 3, 1) + lookup(w, 0, 0, 4)
        y.backward()
    assert w.grad.indices.tolist() == [0, 1, 3, 4]
    assert w.grad.data.tolist() == [[4, 4], [4, 4], [2, 2], [2, 2]]


def test_dense_buffer_takes_a_sparse_gradient_and_the_other_way_round() -> None:
    w = nd.array(WEIGHT)
    for stype, sparse_grad in (("default", True), ("row_sparse", False), ("csr", True)):
        for req in ("write", "add"):
            w.attach_grad(req, stype=stype)
            with autograd.record():
                y = lookup(w, 1, 3, 1, sparse_grad=sparse_grad)
            y.backward()
            assert w.grad.stype == stype
            assert w.grad.asnumpy()[:, 0].tolist() == [0, 2, 0, 1, 0]


def test_gradient_of_what_was_not_reached_is_empty() -> None:
    w, v = nd.array(WEIGHT), nd.ones(2)
    w.attach_grad(stype="row_sparse")
    v.attach_grad()
    with autograd.record():
        y = lookup(w, 1).detach() * v + lookup(w, 2) * 0
    y.backward()
    with autograd.record():
        y = v * 2
    y.backward()
    assert w.grad.indices.tolist() == [2]


def test_grad_returns_a_row_sparse_gradient() -> None:
    w = nd.array(WEIGHT)
    w.attach_grad()
    with autograd.record():
        y = lookup(w, 4, 2)
    (gradient,) = autograd.grad(y, w)
    assert gradient.stype == "row_sparse"
    assert gradient.indices.tolist() == [2, 4]  # type: ignore[attr-defined]


def test_sparse_embedding_is_differentiated_twice() -> None:
    w = nd.array(WEIGHT)
    w.attach_grad()
    with autograd.record():
        y = (lookup(w, 1, 3, 1) ** 3).sum()
        (first,) = autograd.grad(y, w, create_graph=True)
        z = first.sum()
    z.backward()
    expected = np.zeros_like(WEIGHT)
    expected[1] += 2 * 6 * WEIGHT[1]
    expected[3] += 6 * WEIGHT[3]
    np.testing.assert_allclose(w.grad.asnumpy(), expected)


def test_sparse_head_gradient_is_taken() -> None:
    x = nd.array(WEIGHT)
    x.attach_grad()
    with autograd.record():
        y = x * 2
    y.backward(nd.array(np.eye(5, 2)).tostype("row_sparse"))
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * np.eye(5, 2))


class Bag(nn.HybridBlock):
    """Two tables, one of which is read twice, and a layer on top."""

    def __init__(self, sparse_grad: bool) -> None:
        super().__init__()
        with self.name_scope():
            self.first = nn.Embedding(6, 3, sparse_grad=sparse_grad)
            self.second = nn.Embedding(6, 3, sparse_grad=sparse_grad)
            self.top = nn.Dense(2, in_units=3)

    def hybrid_forward(self, F: Any, x: Any, y: Any) -> Any:
        both = self.first(x) * self.second(y) + self.second(x)
        return self.top(both.mean(axis=1))


def trained(hybridize: bool, sparse_grad: bool, optimizer: str, **settings: Any) -> list[Any]:
    mx.random.seed(3)
    net = Bag(sparse_grad)
    net.initialize(mx.init.Uniform(0.5))
    if hybridize:
        net.hybridize()
    trainer = Trainer(net.collect_params(), optimizer, {"learning_rate": 0.1, **settings})
    random = np.random.default_rng(0)
    for _ in range(4):
        x, y = (nd.array(random.integers(0, 6, (4, 2))) for _ in range(2))
        with autograd.record():
            loss = (net(x, y) ** 2).sum()
        loss.backward()
        trainer.step(4)
    return [p.data().asnumpy() for _, p in sorted(net._collect_params_with_prefix().items())]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("optimizer", ["sgd", "adagrad"])
def test_sparse_gradients_train_as_dense_ones(hybridize: bool, optimizer: str) -> None:
    """Without decay and momentum, what is not looked up does not move anyway."""
    found = trained(hybridize, True, optimizer)
    for x, y in zip(found, trained(False, False, optimizer), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_hybridized_lazy_steps_are_the_eager_ones() -> None:
    settings = {"momentum": 0.9, "wd": 0.1}
    eager = trained(False, True, "sgd", **settings)
    for x, y in zip(trained(True, True, "sgd", **settings), eager, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_graph_gives_the_rows_looked_up_even_where_their_gradient_is_zero() -> None:
    net = nn.Embedding(5, 2, sparse_grad=True)
    net.initialize()
    net.hybridize()
    with autograd.record():
        y = net(nd.array([3, 1])) * nd.array([[0, 0], [1, 1]])
    y.backward()
    assert net.weight.grad().indices.tolist() == [1, 3]  # type: ignore[attr-defined]


def test_hybridized_block_takes_sparse_data() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(3, in_units=4), nn.Dense(2))
    net.initialize()
    x = nd.array(np.eye(2, 4)).tostype("csr")
    expected = net(nd.array(np.eye(2, 4))).asnumpy()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-5)
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-5)
    net(nd.array(np.eye(2, 4)))
    with autograd.record():
        y = net(x)
    y.backward()
    np.testing.assert_allclose(y.asnumpy(), expected, rtol=1e-5)
    assert net[0].weight.grad().asnumpy().any()


def test_half_precision_weight_decays_as_a_whole_as_in_mxnet() -> None:
    w = Parameter("w", shape=(5, 2), dtype="float16", grad_stype="row_sparse")
    w.initialize("ones")
    trainer = Trainer([w], "sgd", {"learning_rate": 0.5, "wd": 1.0, "multi_precision": True})
    with autograd.record():
        y = lookup(w.data(), 1)
    y.backward()
    trainer.step(1)
    assert w.data().dtype == np.float16
    assert w.data().asnumpy()[:, 0].tolist() == [0.5, 0, 0.5, 0.5, 0.5]


def test_optimizer_of_the_user_gets_the_sparse_gradient() -> None:
    seen = []

    class Mine(mx.optimizer.Optimizer):
        """Looks at gradients."""

        def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            seen.append(grad.stype)

    w = Parameter("w", shape=(5, 2), grad_stype="row_sparse")
    w.initialize()
    with autograd.record():
        y = lookup(w.data(), 1)
    y.backward()
    Trainer([w], Mine()).step(1)
    assert seen == ["row_sparse"]


def test_sparse_parameter_tells_how_to_read_it() -> None:
    w = Parameter("w", shape=(5, 2), stype="row_sparse", grad_stype="row_sparse", init="ones")
    w.initialize()
    for call in (w.data, w.list_data):
        with pytest.raises(ParameterError, match="use row_sparse_data"):
            call()
    with pytest.raises(ParameterError, match="a Parameter of a Trainer"):
        w.row_sparse_data(nd.array([1]))
    assert w.var().attr("__storage_type__") == "1"
    assert w._reduce().asnumpy().sum() == 10
    trainer = Trainer([w], "sgd")
    assert w.list_row_sparse_data(nd.array([4, 1]))[0].indices.tolist() == [1, 4]  # type: ignore[attr-defined]
    assert w._reduce().asnumpy().sum() == 10
    w.set_data(nd.array(WEIGHT))
    np.testing.assert_array_equal(w.row_sparse_data(nd.array([3])).data.asnumpy(), WEIGHT[3:4])  # type: ignore[attr-defined]
    assert trainer._kvstore is not None


def test_rows_may_be_pulled_while_recording() -> None:
    w = Parameter("w", shape=(5, 2), stype="row_sparse", grad_stype="row_sparse", init="ones")
    w.initialize()
    trainer = Trainer([w], "sgd", {"learning_rate": 1.0})
    matrix = nd.array([[0, 1, 2, 0, 0]]).tostype("csr")
    for _ in range(2):
        with autograd.record():
            y = nd.sparse.dot(matrix, w.row_sparse_data(nd.array([1, 2])))
        y.backward()
        trainer.step(1)
    rows = w.row_sparse_data(nd.array([0, 1, 2])).data.asnumpy()  # type: ignore[attr-defined]
    assert rows.tolist() == [[1, 1], [-1, -1], [-3, -3]]


@pytest.mark.parametrize("options", [{"kvstore": None}, {"update_on_kvstore": False}])
def test_sparse_parameter_needs_a_store_that_updates(options: dict[str, Any]) -> None:
    w = Parameter("w", shape=(5, 2), stype="row_sparse", grad_stype="row_sparse")
    w.initialize()
    trainer = Trainer([w], "sgd", **options)
    with pytest.raises(ArgumentError, match="kvstore that updates the weights"):
        trainer.step(1)


def test_states_of_a_sparse_parameter_are_saved(tmp_path: Any) -> None:
    def make() -> tuple[Parameter, Trainer]:
        w = Parameter("w", shape=(5, 2), stype="row_sparse", grad_stype="row_sparse", init="ones")
        w.initialize()
        return w, Trainer([w], "sgd", {"learning_rate": 1.0, "momentum": 0.5})

    def step(w: Parameter, trainer: Trainer) -> Any:
        rows = w.row_sparse_data(nd.array([1, 2]))
        with autograd.record():
            y = nd.sparse.dot(nd.array([[0, 1, 2, 0, 0]]).tostype("csr"), rows)
        y.backward()
        trainer.step(1)
        return w.row_sparse_data(nd.array([1, 2])).data.asnumpy()  # type: ignore[attr-defined]

    w, trainer = make()
    step(w, trainer)
    trainer.save_states(tmp_path / "states")
    v, other = make()
    v.set_data(w._reduce())
    other.load_states(tmp_path / "states")
    np.testing.assert_allclose(step(v, other), step(w, trainer))


def test_row_sparse_pull_refuses_what_does_not_go_together() -> None:
    store = mx.kv.create()
    store.init(0, nd.ones((3, 2)))
    out = [nd.sparse.zeros("row_sparse", (3, 2)) for _ in range(3)]
    with pytest.raises(ArgumentError, match="one array of row_ids, or 3, got 2"):
        store.row_sparse_pull(0, out=out, row_ids=[nd.array([0])] * 2)
    with pytest.raises(ArgumentTypeError, match="row_sparse arrays in out"):
        store.row_sparse_pull(0, out=nd.zeros((3, 2)), row_ids=nd.array([0]))


def test_golden_file_comes_back_sparse(tmp_path: Any) -> None:
    from pathlib import Path

    golden = Path(__file__).parents[2] / "golden" / "sparse.params"
    arrays = nd.load(golden)
    kinds = {name: x.stype for name, x in arrays.items()}
    assert kinds == {
        "csr": "csr",
        "csr_empty": "csr",
        "csr_f64": "csr",
        "dense": "default",
        "row_sparse": "row_sparse",
        "row_sparse_empty": "row_sparse",
    }
    assert arrays["csr"].asnumpy().tolist() == [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
    nd.save(tmp_path / "again.params", arrays)
    assert (tmp_path / "again.params").read_bytes() == golden.read_bytes()


def test_sparse_network_parameters_are_saved_and_loaded(tmp_path: Any) -> None:
    net = nn.Embedding(5, 2, sparse_grad=True)
    net.initialize()
    net.save_parameters(tmp_path / "net.params")
    other = nn.Embedding(5, 2, sparse_grad=True)
    other.load_parameters(tmp_path / "net.params")
    np.testing.assert_array_equal(other.weight.data().asnumpy(), net.weight.data().asnumpy())
    assert other.weight.grad().stype == "row_sparse"
    other.weight.cast("float64")
    other.weight.zero_grad()
    other.weight.reset_ctx(mx.cpu(1))
    assert other.weight.grad().dtype == np.float64
    assert other.weight.grad().stype == "row_sparse"
