"""NumPy arrays as operands of NDArrays; the expected values are NumPy's."""

import operator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError

A = np.array([[1.0, 2.0], [3.0, 4.0]])
B = np.array([[2.0, 2.0], [1.0, 5.0]])
ARITHMETIC = ("add", "sub", "mul", "truediv", "mod", "pow")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
IN_PLACE = ("iadd", "isub", "imul", "itruediv", "imod")


@pytest.mark.parametrize("name", ARITHMETIC + COMPARISONS)
@pytest.mark.parametrize("values", [B, B[0], np.array(2.0), B.T], ids=["2d", "1d", "0d", "strided"])
def test_both_orders_give_an_ndarray_of_its_dtype(name: str, values: Any) -> None:
    apply = getattr(operator, name)
    for found, expected in (
        (apply(nd.array(A), values), apply(A, values)),
        (apply(values, nd.array(A)), apply(values, A)),
    ):
        assert type(found) is nd.NDArray
        assert found.dtype == np.float32
        np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_writes_to_the_ndarray(name: str) -> None:
    x = alias = nd.array(A)
    x = getattr(operator, name)(x, B)
    assert x is alias
    np.testing.assert_allclose(x.asnumpy(), getattr(operator, name[1:])(A, B), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bool", "float16"])
def test_dtype_of_the_ndarray_wins(dtype: str) -> None:
    values = np.array([1, 0, 1], dtype)
    for own in ("float16", "float32", "float64"):
        found = nd.array([3, 4, 5], dtype=own) * values
        assert found.dtype == np.dtype(own).type
        assert found.tolist() == [3, 0, 5]


def test_integers_take_integers_that_fit() -> None:
    image = nd.array([[250, 3]], dtype="uint8")
    found = image - np.array([50, 3])
    assert found.dtype == np.uint8
    assert found.tolist() == [[200, 0]]
    with pytest.raises(ArgumentError, match="values from -1 to 300; cast the NDArray with astype"):
        image + np.array([-1, 300])
    with pytest.raises(ArgumentTypeError, match=r"uint8 of the NDArray holds, got .* float64"):
        image + np.array([0.5, 1.0])


@pytest.mark.parametrize("values", [np.ones(2, complex), np.array(["a", "b"]), np.array([{}, {}])])
def test_other_values_are_refused(values: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="broadcast_add: expected numbers"):
        nd.ones(2) + values


def test_gradients_flow_to_the_ndarray() -> None:
    x = nd.array(A)
    x.attach_grad()
    with autograd.record():
        y = (B * x**2 - x / B + nd.dot(x, B)).sum()
    y.backward()
    expected = 2 * A * B - 1 / B + B.sum(axis=1)
    np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-6)


def test_recorded_array_is_not_written() -> None:
    x = nd.array(A)
    x.attach_grad()
    with autograd.record(), pytest.raises(mx.base.MXNetError, match="recorded graph"):
        x += B


def test_operators_take_numpy_arrays_beside_ndarrays() -> None:
    x = nd.array(A)
    np.testing.assert_allclose(nd.dot(x, B).asnumpy(), A @ B, rtol=1e-6)
    np.testing.assert_allclose(nd.dot(B, x).asnumpy(), B @ A, rtol=1e-6)
    np.testing.assert_allclose(nd.concat(x, B, dim=0).asnumpy(), np.concatenate([A, B]))
    np.testing.assert_allclose(nd.maximum(B, x).asnumpy(), np.maximum(A, B))
    assert nd.take(x, np.array([1, 0])).tolist() == A[[1, 0]].tolist()
    assert x.broadcast_like(np.ones((2, 2))).shape == (2, 2)


def test_operator_that_writes_to_its_inputs_refuses_numpy() -> None:
    with pytest.raises(ArgumentTypeError, match="expected mom to be an NDArray, got numpy"):
        nd.sgd_mom_update(nd.ones(2), nd.ones(2), np.ones(2), lr=1)


def test_traced_forward_holds_a_numpy_array_as_constant() -> None:
    class Net(mx.gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return nd.dot(x + B, B) * B[0]

    net = Net()
    net.hybridize()
    x = nd.array(A)
    for _ in range(2):
        np.testing.assert_allclose(net(x).asnumpy(), (A + B) @ B * B[0], rtol=1e-6)


def test_numpy_functions_give_numpy_arrays() -> None:
    x = nd.array(A)
    assert type(np.add(x, B)) is np.ndarray
    assert np.add(x, B).dtype == np.float64
    assert type(np.concatenate([x, x])) is np.ndarray
    out = np.zeros((2, 2))
    assert np.multiply(x, B, out=out) is out
    np.testing.assert_allclose(out, A * B)


def test_np_array_keeps_promoting_and_writes_into_numpy() -> None:
    x = mx.np.array(A, dtype="float32")
    for found in (x + B, B + x, np.add(B, x)):
        assert type(found) is mx.np.ndarray
        assert found.dtype == np.float64
        np.testing.assert_allclose(found.asnumpy(), A + B)
    assert (x + B.astype(np.float32)).dtype == np.float32
    values = alias = B.copy()
    values += x
    assert values is alias
    np.testing.assert_allclose(values, A + B)
    out = np.zeros((2, 2))
    assert np.multiply(x, B, out=out) is out
    np.testing.assert_allclose(out, A * B)
    recorded = mx.np.array(A)
    recorded.attach_grad()
    with autograd.record():
        total = (B * recorded * recorded).sum()
    total.backward()
    np.testing.assert_allclose(recorded.grad.asnumpy(), 2 * A * B, rtol=1e-6)
