"""What MXNet's executors take: heads that nothing reads, sparse arguments; and what they share."""

import numpy as np
import pytest

import gluonish as mx

X = np.array([[1.0, 0.0, -2.0], [0.0, 3.0, 0.0]], "float32")


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x == x * 2,
        lambda x: mx.sym.argmax(x, axis=0),
        mx.sym.shape_array,
        mx.sym.size_array,
        mx.sym.BlockGrad,
        mx.sym.zeros_like,
        mx.sym.sign,
        mx.sym.round,
        lambda x: mx.sym.one_hot(x, depth=3),
        lambda x: mx.sym.broadcast_greater(x, x),
        lambda x: x > 1,
        lambda x: mx.sym.topk(x, axis=0),
    ],
)
@pytest.mark.parametrize("head", [None, mx.nd.ones(9)])
def test_a_head_that_passes_no_gradient_on_is_not_looked_at(compute, head):
    bound = compute(mx.sym.Variable("x")).simple_bind(mx.cpu(), x=(2, 3))
    bound.forward(is_train=True)
    bound.backward(head)
    assert not bound.grad_dict["x"].asnumpy().any()


def test_a_head_of_a_loss_is_not_looked_at() -> None:
    losses = {
        mx.sym.MakeLoss(mx.sym.var("x")): [1, 1],
        mx.sym.LinearRegressionOutput(mx.sym.var("x"), mx.sym.var("y")): [0.5, 1],  # of two
    }
    for loss, expected in losses.items():
        bound = loss.simple_bind(mx.cpu(), x=(1, 2))
        bound.arg_dict["x"][:] = mx.nd.array([[1, 2]])
        bound.forward(is_train=True)
        bound.backward(mx.nd.ones(9))
        np.testing.assert_allclose(bound.grad_dict["x"].asnumpy(), [expected])


def test_a_head_that_a_loss_is_told_to_read_must_fit() -> None:
    loss = mx.sym.SoftmaxOutput(mx.sym.var("x"), mx.sym.var("y"), out_grad=True)
    bound = loss.simple_bind(mx.cpu(), x=(2, 3))
    bound.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match=r"expected a gradient of shape \(2, 3\)"):
        bound.backward(mx.nd.ones(9))


def test_a_head_that_is_read_must_be_given():
    bound = mx.sym.exp(mx.sym.Variable("x")).simple_bind(mx.cpu(), x=(2, 3))
    bound.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match="expected out_grads"):
        bound.backward()


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (mx.sym.exp, np.exp),
        (mx.sym.sin, np.sin),
        (mx.sym.relu, lambda x: np.maximum(x, 0)),
        (mx.sym.sum, lambda x: x.sum(keepdims=False).reshape(1)),
        (lambda x: mx.sym.dot(x, mx.sym.ones((3, 2))), lambda x: x @ np.ones((3, 2))),
        (lambda x: mx.sym.reshape(x, shape=(6,)), lambda x: x.reshape(6)),
        (lambda x: mx.sym.add_n(x, x), lambda x: x + x),
        (lambda x: mx.sym.elemwise_mul(x, x), lambda x: x * x),
    ],
)
def test_sparse_arguments_are_bound(stype, compute, expected):
    x = mx.sym.Variable("x", stype=stype)
    bound = compute(x).bind(mx.cpu(), {"x": mx.nd.array(X).tostype(stype)})
    np.testing.assert_allclose(bound.forward()[0].asnumpy(), expected(X), rtol=1e-6)


def test_gradients_of_sparse_arguments_are_found():
    x = mx.sym.Variable("x", stype="csr")
    slope = mx.nd.zeros((2, 3))
    bound = mx.sym.square(x).bind(mx.cpu(), {"x": mx.nd.array(X).tostype("csr")}, {"x": slope})
    bound.forward(is_train=True)
    bound.backward(mx.nd.ones((2, 3)))
    np.testing.assert_array_equal(slope.asnumpy(), 2 * X)


def test_a_reshaped_executor_shares_its_outputs():
    whole = (mx.sym.Variable("x") * 2).simple_bind(mx.cpu(), x=(4, 2))
    whole.forward()
    part = whole.reshape(x=(2, 2))
    part.forward(x=mx.nd.ones((2, 2)))
    assert (part.outputs[0].asnumpy() == 2).all()
    np.testing.assert_array_equal(whole.outputs[0].asnumpy(), [[2, 2], [2, 2], [0, 0], [0, 0]])


def test_children_are_told_once_for_a_node():
    x = mx.sym.Variable("data")
    assert mx.sym.SliceChannel(x, num_outputs=3).get_children().list_outputs() == ["data"]
    assert (x * x).get_children().list_outputs() == ["data", "data"]


def test_a_variable_of_one_axis_is_declared_by_its_extent():
    assert (mx.sym.Variable("x", shape=4) + 1).infer_shape() == ([(4,)], [(4,)], [])


def test_surplus_gradients_of_outputs_are_ignored_by_checks():
    ones = np.ones((2, 2), "float32")
    doubled = mx.sym.Variable("x") * 2
    mx.test_utils.check_symbolic_backward(doubled, [ones], [ones, ones], [2 * ones])
