"""Losses that make their own gradient get it whatever comes from behind, as in MXNet 1.9.1."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd

LABEL = [0.0, 1.0]
TARGET = [[1.0, 0.0], [0.0, 1.0]]
DATA = [[1.0, 2.0], [3.0, 4.0]]


def _softmax(face: Any, x: Any, label: Any, target: Any) -> Any:
    return face.SoftmaxOutput(x, label)


# The gradients are MXNet's, of `BlockGrad(loss).sum()`.
LOSSES: dict[str, tuple[Callable[..., Any], list[list[float]]]] = {
    "SoftmaxOutput": (_softmax, [[-0.73105860, 0.73105860], [0.26894143, -0.26894143]]),
    "MakeLoss": (lambda face, x, label, target: face.MakeLoss(x * x), [[2, 4], [6, 8]]),
    "make_loss": (lambda face, x, label, target: face.make_loss(x * x), [[2, 4], [6, 8]]),
    "LinearRegressionOutput": (
        lambda face, x, label, target: face.LinearRegressionOutput(x, target),
        [[0, 1], [1.5, 1.5]],
    ),
    "LogisticRegressionOutput": (
        lambda face, x, label, target: face.LogisticRegressionOutput(x, target),
        [[-0.13447070, 0.44039851], [0.47628707, -0.00899312]],
    ),
    "MAERegressionOutput": (
        lambda face, x, label, target: face.MAERegressionOutput(x, target + 0.5),
        [[-0.5, 0.5], [0.5, 0.5]],
    ),
    "SVMOutput": (lambda face, x, label, target: face.SVMOutput(x, label), [[0, 6], [8, 0]]),
}
# Operators through which no gradient flows.
CUTS: dict[str, Callable[[Any, Any], Any]] = {
    "BlockGrad": lambda face, y: face.BlockGrad(y),
    "stop_gradient": lambda face, y: face.stop_gradient(face.stop_gradient(y) * 2),
    "argmax": lambda face, y: face.argmax(y, axis=1),
    "floor": lambda face, y: face.floor(y),
    "equal": lambda face, y: y == 1,
    "zeros_like": lambda face, y: face.zeros_like(y),
    "one_hot": lambda face, y: face.one_hot(y, depth=3),
    "topk": lambda face, y: face.topk(y),
}


class _Net(mx.gluon.HybridBlock):
    """A loss below a cut."""

    def __init__(self, loss: Callable[..., Any], cut: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self._loss, self._cut = loss, cut

    def hybrid_forward(self, F: Any, x: Any, label: Any, target: Any) -> Any:
        return F.sum(self._cut(F, self._loss(F, x, label, target)))


def _gradient(net: Callable[..., Any]) -> Any:
    x = nd.array(DATA)
    x.attach_grad()
    with autograd.record():
        y = net(x, nd.array(LABEL), nd.array(TARGET))
    y.backward()
    return x.grad.asnumpy()


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("hybridize", [False, True])
def test_the_gradient_is_there_below_a_cut(name: str, cut: str, hybridize: bool) -> None:
    loss, wanted = LOSSES[name]
    net = _Net(loss, CUTS[cut])
    net.hybridize(hybridize)
    np.testing.assert_allclose(_gradient(net), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_a_bound_symbol_has_it_too(name: str) -> None:
    loss, wanted = LOSSES[name]
    label, target = mx.sym.var("label"), mx.sym.var("target")
    head = mx.sym.BlockGrad(loss(mx.sym, mx.sym.var("x"), label, target))
    shapes = {"x": (2, 2), "label": (2,), "target": (2, 2)}
    executor = head.simple_bind(mx.cpu(), **{k: shapes[k] for k in head.list_arguments()})
    given = {"x": DATA, "label": LABEL, "target": TARGET}
    for argument, array in executor.arg_dict.items():
        array[:] = nd.array(given[argument])
    executor.forward(is_train=True)
    executor.backward([nd.ones((2, 2))])
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_a_hybridized_loss_below_an_eager_cut(name: str) -> None:
    loss, wanted = LOSSES[name]
    net = _Net(loss, lambda face, y: y)
    net.hybridize()
    found = _gradient(lambda *given: nd.BlockGrad(net(*given)))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_an_out_grad_of_none_multiplies_to_zero() -> None:
    def net(x: Any, label: Any, target: Any) -> Any:
        return nd.BlockGrad(nd.SoftmaxOutput(x, label, out_grad=True))

    assert _gradient(net).tolist() == [[0, 0], [0, 0]]


def test_a_penalty_is_there_below_a_cut() -> None:
    x, average = nd.full((2, 2), 0.5), nd.full((2,), 0.5)
    x.attach_grad()
    with autograd.record():
        y = nd.BlockGrad(nd.IdentityAttachKLSparseReg(x, average, penalty=1.0, momentum=1.0))
    y.backward()
    push = (1 - 0.1) / (1 - 0.5) - 0.1 / 0.5
    np.testing.assert_allclose(x.grad.asnumpy(), np.full((2, 2), push), rtol=1e-6)


def test_a_function_and_a_custom_operator_may_be_losses() -> None:
    class Loss(autograd.Function):
        def forward(self, x: Any) -> Any:
            return x * 2

        def backward(self, g: Any) -> Any:
            return g + 7

    class Custom(mx.operator.CustomOp):
        def forward(self, is_train: Any, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            self.assign(out_data[0], req[0], in_data[0] * 2)

        def backward(
            self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
        ) -> None:
            self.assign(in_grad[0], req[0], in_data[0] * 7 + out_grad[0])

    @mx.operator.register("own_gradient_test")
    class Prop(mx.operator.CustomOpProp):
        def create_operator(self, *given: Any) -> Any:
            return Custom()

    for loss, wanted in (
        (lambda x: Loss()(x), [[7, 7], [7, 7]]),
        (lambda x: nd.Custom(x, op_type="own_gradient_test"), [[7, 14], [21, 28]]),
    ):
        found = _gradient(lambda x, label, target, loss=loss: nd.BlockGrad(loss(x)).sum())
        assert found.tolist() == wanted


def test_a_loss_that_no_head_reads_adds_nothing() -> None:
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        nd.MakeLoss(x * 3)
        y = x * 2
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 2]


@pytest.mark.parametrize(
    ("data", "label"),
    [((3,), (3, 1)), ((3, 2), (3, 2, 1)), ((2, 3, 2), (2, 6)), ((3, 1), (3, 1, 1))],
)
def test_label_of_a_regression_has_as_many_values_as_the_data(data: Any, label: Any) -> None:
    x = nd.ones(data)
    x.attach_grad()
    with autograd.record():
        y = nd.LinearRegressionOutput(x, nd.full(label, 3))
    y.backward()
    assert y.shape == data
    values = x.size // data[0]
    assert x.grad is not None
    assert np.allclose(x.grad.asnumpy(), -2 / values)
