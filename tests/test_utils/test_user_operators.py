"""A user's test file: operators and a custom operator of their own, by symbolic checks."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.test_utils import (
    assert_almost_equal,
    assert_exception,
    check_consistency,
    check_numeric_gradient,
    check_symbolic_backward,
    check_symbolic_forward,
    default_context,
    rand_ndarray,
    rand_shape_2d,
    random_arrays,
    retry,
    same_symbol_structure,
)


class Cube(mx.operator.CustomOp):
    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], in_data[0] ** 3)

    def backward(
        self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
    ) -> None:
        self.assign(in_grad[0], req[0], 3 * in_data[0] ** 2 * out_grad[0])


@mx.operator.register("test_utils_cube")
class CubeProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Cube:
        return Cube()


@retry(3)
def test_sigmoid() -> None:
    shape = rand_shape_2d(4, 5)
    x = mx.sym.var("x")
    out = mx.sym.sigmoid(x)
    data = random_arrays(shape)
    value = 1 / (1 + np.exp(-data))
    head = random_arrays(shape)
    check_symbolic_forward(out, [data], [value])
    check_symbolic_backward(out, [data], [head], {"x": head * value * (1 - value)})
    check_numeric_gradient(out, [data], dtype=np.float64)


def test_custom_operator() -> None:
    out = mx.sym.Custom(mx.sym.var("x"), op_type="test_utils_cube")
    data = np.array([[0.5, -1.0], [2.0, 1.5]])
    check_symbolic_forward(out, [data], [data**3])
    check_numeric_gradient(out, [data], numeric_eps=1e-3, rtol=1e-2, atol=1e-2)
    check_consistency(
        out,
        [
            {"ctx": default_context(), "x": (2, 2), "type_dict": {"x": np.float32}},
            {"ctx": mx.cpu(1), "x": (2, 2), "type_dict": {"x": np.float64}},
        ],
    )


def test_convolution_gradient() -> None:
    out = mx.sym.Convolution(mx.sym.var("x"), kernel=(2, 2), num_filter=2, name="conv")
    shapes, _, _ = out.infer_shape(x=(1, 2, 4, 3))
    check_numeric_gradient(out, random_arrays(*shapes), rtol=1e-2, atol=1e-2)


def test_dot_of_sparse_and_dense() -> None:
    left, right = rand_ndarray((4, 5), "csr", density=0.5), rand_ndarray((5, 3))
    assert_almost_equal(mx.nd.dot(left, right), np.dot(left.asnumpy(), right.asnumpy()))


def test_graph_survives_json() -> None:
    out = mx.sym.tanh(mx.sym.var("x") * 2)
    assert same_symbol_structure(out, mx.sym.load_json(out.tojson()))


def test_shapes_that_do_not_fit_raise() -> None:
    assert_exception(mx.nd.dot, mx.MXNetError, mx.nd.ones((2, 3)), mx.nd.ones((2, 3)))
    with pytest.raises(AssertionError):
        assert_exception(mx.nd.dot, mx.MXNetError, mx.nd.ones((2, 3)), mx.nd.ones((3, 2)))
