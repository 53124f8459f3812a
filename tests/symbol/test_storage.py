"""Sparse arguments of executors: what is sparse there is sparse in MXNet 1.9.1, too."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd, sym

X = np.array([[1.0, 0.0, -2.0], [0.0, 0.0, 3.0]], np.float32)
W = np.arange(6, dtype=np.float32).reshape(3, 2)


def _types(executor: Any) -> dict[str, tuple[str, str]]:
    grads = executor.grad_dict
    return {name: (x.stype, grads[name].stype) for name, x in executor.arg_dict.items()}


def _var(name: str, stype: str) -> Any:
    return sym.var(name, stype=stype)


# (graph, shapes, storage types of each argument and its gradient), as MXNet 1.9.1 tells them.
BOUND: list[tuple[Callable[[], Any], dict[str, tuple[int, ...]], dict[str, tuple[str, str]]]] = [
    (
        lambda: sym.dot(_var("x", "csr"), _var("w", "row_sparse")),
        {"x": (2, 3), "w": (3, 2)},
        {"x": ("csr", "default"), "w": ("row_sparse", "row_sparse")},
    ),
    (
        lambda: sym.dot(_var("x", "csr"), sym.var("w")),
        {"x": (2, 3), "w": (3, 2)},
        {"x": ("csr", "default"), "w": ("default", "row_sparse")},
    ),
    (
        lambda: sym.dot(_var("x", "csr"), sym.var("w"), transpose_a=True),
        {"x": (2, 3), "w": (2, 2)},
        {"x": ("csr", "default"), "w": ("default", "default")},
    ),
    (
        lambda: sym.Embedding(sym.var("x"), sym.var("w"), 5, 2, sparse_grad=True),
        {"x": (2,)},
        {"x": ("default", "default"), "w": ("default", "row_sparse")},
    ),
    (
        lambda: sym.contrib.SparseEmbedding(sym.var("x"), sym.var("w"), 5, 2, deterministic=True),
        {"x": (2,)},
        {"x": ("default", "default"), "w": ("default", "row_sparse")},
    ),
    (
        lambda: _var("x", "row_sparse") + _var("w", "row_sparse"),
        {"x": (2, 3), "w": (2, 3)},
        {"x": ("row_sparse", "row_sparse"), "w": ("row_sparse", "row_sparse")},
    ),
    (
        lambda: sym.dot(_var("x", "csr"), sym.var("w")) + sym.dot(sym.var("y"), sym.var("w")),
        {"x": (2, 3), "w": (3, 2)},
        {"x": ("csr", "default"), "w": ("default", "default"), "y": ("default", "default")},
    ),
]


@pytest.mark.parametrize(("make", "shapes", "expected"), BOUND)
def test_simple_bind_gives_declared_storage_and_gradients_that_fit(
    make: Callable[[], Any], shapes: Any, expected: Any
) -> None:
    if "y" in expected:
        shapes = {**shapes, "y": (2, 3)}
    assert _types(make().simple_bind(mx.cpu(), **shapes)) == expected


def test_storage_types_of_the_call_are_over_those_of_variables() -> None:
    product = sym.dot(sym.var("x"), _var("w", "row_sparse"))
    bound = product.simple_bind(mx.cpu(), stype_dict={"x": "csr"}, x=(2, 3), w=(3, 2))
    assert [x.stype for x in bound.arg_arrays] == ["csr", "row_sparse"]


@pytest.mark.parametrize("req", ["write", "add"])
def test_gradients_of_sparse_products(req: str) -> None:
    product = sym.dot(_var("x", "csr"), _var("w", "row_sparse"))
    bound = product.simple_bind(mx.cpu(), grad_req={"w": req}, x=(2, 3), w=(3, 2))
    bound.arg_dict["x"][:] = nd.array(X).tostype("csr")
    bound.arg_dict["w"][:] = nd.array(W).tostype("row_sparse")
    for _ in range(2):
        out = bound.forward(is_train=True)[0]
        bound.backward(nd.ones((2, 2)))
    np.testing.assert_allclose(out.asnumpy(), X @ W, rtol=1e-6)
    grad = bound.grad_dict["w"]
    assert (grad.stype, grad.indices.asnumpy().tolist()) == ("row_sparse", [0, 2])
    times = 2 if req == "add" else 1
    np.testing.assert_allclose(grad.asnumpy(), times * (X.T @ np.ones((2, 2))), rtol=1e-6)


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_outputs_of_operators_that_keep_zeros_are_sparse(stype: str) -> None:
    x = nd.array(X).tostype(stype)
    for make, kept in ((sym.sin, stype), (sym.exp, "default"), (sym.abs, stype)):
        out = make(_var("x", stype)).bind(mx.cpu(), {"x": x}).forward()[0]
        assert out.stype == kept
        np.testing.assert_allclose(out.asnumpy(), getattr(np, make.__name__)(X), rtol=1e-6)


def test_a_gradient_array_of_the_caller_keeps_its_storage() -> None:
    for stype in ("default", "row_sparse"):
        grad = nd.sparse.zeros(stype, (3, 2)) if stype != "default" else nd.zeros((3, 2))
        args = {"x": nd.array(X).tostype("csr"), "w": nd.array(W)}
        bound = sym.dot(sym.var("x"), sym.var("w")).bind(mx.cpu(), args, args_grad={"w": grad})
        bound.forward(is_train=True)
        bound.backward(nd.ones((2, 2)))
        assert grad.stype == stype
        np.testing.assert_allclose(grad.asnumpy(), X.T @ np.ones((2, 2)), rtol=1e-6)


def test_a_gradient_that_nothing_reaches_is_zero() -> None:
    grad = nd.sparse.row_sparse_array(W)
    x, w = sym.var("x"), _var("w", "row_sparse")
    args = {"x": nd.array(X), "w": nd.array(W).tostype("row_sparse")}
    bound = sym.Group([x * 1, sym.BlockGrad(w)]).bind(mx.cpu(), args, args_grad={"w": grad})
    bound.forward(is_train=True)
    bound.backward([nd.ones((2, 3)), nd.ones((3, 2))])
    assert not grad.asnumpy().any()


def test_executors_of_sparse_arguments_are_reshaped_and_watched() -> None:
    product = sym.broadcast_add(sym.dot(_var("x", "csr"), sym.var("w"), name="d"), sym.ones((1, 1)))
    bound = product.simple_bind(mx.cpu(), x=(2, 3), w=(3, 2))
    bound.arg_dict["w"][:] = 1
    wide = bound.reshape(x=(4, 3), w=(3, 2), allow_up_sizing=True)
    assert wide.arg_dict["x"].stype == "csr"
    wide.arg_dict["x"][:] = nd.array(np.vstack([X, X])).tostype("csr")
    seen = []
    wide.set_monitor_callback(lambda name, _: seen.append(name))
    out = wide.forward()[0].asnumpy()
    np.testing.assert_allclose(out, np.vstack([X, X]) @ np.ones((3, 2)) + 1)
    assert "d_output" in seen


def test_module_trains_row_sparse_weights_lazily() -> None:
    """Rows without gradients keep their values, though there is a momentum."""
    x, w = _var("data", "csr"), sym.var("weight", shape=(3, 2), stype="row_sparse")
    scores = sym.SoftmaxOutput(sym.sparse.dot(x, w), sym.var("softmax_label"))
    batches = mx.io.NDArrayIter(nd.array(X).tostype("csr"), nd.array([0, 1]), 2)
    start = nd.array(W / 6)
    for store in (None, "local"):
        module = mx.mod.Module(scores)
        module.bind(batches.provide_data, batches.provide_label)
        module.init_params(arg_params={"weight": start}, aux_params={})
        module.init_optimizer(store, "sgd", {"learning_rate": 0.5, "momentum": 0.9, "wd": 0.1})
        for _ in range(3):
            batches.reset()
            for batch in batches:
                module.forward_backward(batch)
                module.update()
        found = module.get_params()[0]["weight"]
        assert found.stype == "row_sparse"
        assert found.asnumpy()[1].tolist() == start.asnumpy()[1].tolist()
        assert (found.asnumpy()[[0, 2]] != start.asnumpy()[[0, 2]]).all()


def _embedding(sparse_grad: bool) -> Any:
    weight = _var("w", "row_sparse")
    shape = {"input_dim": 3, "output_dim": 2, "sparse_grad": sparse_grad}
    return sym.Embedding(sym.var("x"), weight, **shape)


# (graph of a row-sparse w, shapes, storage type of its gradient), as MXNet 1.9.1 tells them.
GRADIENTS: list[tuple[Callable[[], Any], dict[str, tuple[int, ...]], str]] = [
    (lambda: _embedding(True), {"x": (2,)}, "row_sparse"),
    (lambda: _embedding(False), {"x": (2,)}, "default"),
    (
        lambda: sym.FullyConnected(
            sym.var("x"), _var("w", "row_sparse"), num_hidden=4, no_bias=True
        ),
        {"x": (2, 3)},
        "default",
    ),
    (lambda: sym.dot(sym.var("x"), _var("w", "row_sparse")), {"x": (2, 4), "w": (4, 2)}, "default"),
    (
        lambda: sym.dot(_var("x", "csr"), _var("w", "row_sparse"), transpose_a=True),
        {"x": (4, 2), "w": (4, 2)},
        "default",
    ),
    (lambda: sym.var("x") + _var("w", "row_sparse"), {"x": (2, 3)}, "default"),
    (lambda: sym.take(_var("w", "row_sparse"), sym.var("x")), {"w": (4, 3), "x": (2,)}, "default"),
]


@pytest.mark.parametrize(("graph", "shapes", "expected"), GRADIENTS)
def test_gradient_of_a_row_sparse_argument_is_stored_as_in_mxnet(
    graph: Callable[[], Any], shapes: dict[str, tuple[int, ...]], expected: str
) -> None:
    executor = graph().simple_bind(mx.cpu(), **shapes)
    assert executor.grad_dict["w"].stype == expected


@pytest.mark.parametrize(
    ("expected", "names"),
    [
        ("row_sparse", "square relu abs negative BlockGrad sign identity round zeros_like"),
        ("default", "exp sqrt sin sum norm sigmoid transpose Flatten softmax"),
    ],
)
def test_gradient_of_one_operator_is_stored_as_in_mxnet(expected: str, names: str) -> None:
    for name in names.split():
        executor = getattr(sym, name)(_var("w", "row_sparse")).simple_bind(mx.cpu(), w=(2, 3))
        assert (name, executor.grad_dict["w"].stype) == (name, expected)


@pytest.mark.parametrize("sparse_grad", [True, False])
def test_gradients_of_an_embedding_are_those_of_its_rows(sparse_grad: bool) -> None:
    executor = _embedding(sparse_grad).simple_bind(mx.cpu(), x=(3,))
    executor.forward(is_train=True, x=nd.array([1, 2, 1]))
    executor.backward(nd.ones((3, 2)))
    assert executor.grad_dict["w"].asnumpy().tolist() == [[0, 0], [2, 2], [1, 1]]


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_row_sparse_weight_learns_from_a_dense_gradient(optimizer: str) -> None:
    x = np.random.default_rng(0).standard_normal((16, 3)).astype(np.float32)
    y = x @ np.array([[1], [2], [3]], np.float32)
    layer = sym.FullyConnected(
        sym.var("data"), _var("fc_weight", "row_sparse"), num_hidden=1, no_bias=True
    )
    module = mx.mod.Module(
        sym.LinearRegressionOutput(layer, sym.var("label")), label_names=["label"]
    )
    data = mx.io.NDArrayIter({"data": x}, {"label": y}, 16)
    rate = {"learning_rate": 1.0 if optimizer == "sgd" else 0.1}
    module.fit(data, num_epoch=60, optimizer=optimizer, optimizer_params=rate, eval_metric="mse")
    weight = module.get_params()[0]["fc_weight"].asnumpy()
    np.testing.assert_allclose(weight, [[1, 2, 3]], atol=0.3)
