from typing import Any

import numpy as np
import pytest

from gluonish import autograd, gluon, nd, sym
from gluonish.core.errors import OperatorError


def test_no_features_give_zeros_and_empty_gradients() -> None:
    data, weight = nd.zeros((3, 0)), nd.zeros((2, 0))
    data.attach_grad()
    weight.attach_grad()
    with autograd.record():
        out = nd.FullyConnected(data, weight, no_bias=True, num_hidden=2)
    out.backward()
    assert out.tolist() == [[0, 0]] * 3
    assert (data.grad.shape, weight.grad.shape) == ((3, 0), (2, 0))


@pytest.mark.parametrize("wrong", ["weight", "bias"])
def test_message_names_the_parameter_of_another_dtype(wrong: str) -> None:
    arrays = {"data": np.ones((1, 2)), "weight": np.ones((3, 2)), "bias": np.ones(3)}
    given = {name: nd.array(x, dtype="float32") for name, x in arrays.items()}
    given[wrong] = given[wrong].astype("float64")
    with pytest.raises(OperatorError, match=f"expected {wrong} of data's dtype float32, got float"):
        nd.FullyConnected(**given, num_hidden=3)


class _Layer(gluon.HybridBlock):
    units = 0

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any) -> Any:
        count = weight.shape[0] if hasattr(weight, "shape") else self.units
        return F.relu(F.FullyConnected(x, weight, bias, num_hidden=count))


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize(("rows", "features", "units"), [(2, 3, 4), (64, 128, 256)])
def test_bias_may_be_a_column(rows: int, features: int, units: int, hybrid: bool) -> None:
    r = np.random.default_rng(0)
    shapes = ((rows, features), (units, features), (units, 1))
    x, w, b = (r.standard_normal(s).astype(np.float32) for s in shapes)
    arrays = [nd.array(a) for a in (x, w, b)]
    arrays[2].attach_grad()
    net = _Layer()
    net.units = units
    net.hybridize(hybrid)
    with autograd.record():
        y = net(*arrays)
    y.backward()
    expected = np.maximum(x @ w.T + b[:, 0], 0)
    np.testing.assert_allclose(y.asnumpy(), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(net(*arrays).asnumpy(), expected, rtol=1e-4, atol=1e-4)
    slope = (expected > 0).sum(axis=0)[:, None]
    np.testing.assert_allclose(arrays[2].grad.asnumpy(), slope)


@pytest.mark.parametrize("weight", ["default", "row_sparse"])
@pytest.mark.parametrize("data", ["default", "csr"])
@pytest.mark.filterwarnings("ignore")
def test_bias_may_be_a_column_beside_sparse_arrays(data: str, weight: str) -> None:
    x, w, b = nd.array([[1, 0], [0, 2]]), nd.array([[1, 2], [0, 0], [3, 1]]), nd.array([1, 2, 3])
    y = nd.sparse.FullyConnected(
        x.tostype(data), w.tostype(weight), b.reshape((3, 1)), num_hidden=3
    )
    assert y.tolist() == [[2, 2, 6], [5, 2, 5]]


def test_column_of_a_bias_is_inferred_and_other_shapes_are_refused() -> None:
    layer = sym.FullyConnected(sym.var("x"), sym.var("w"), sym.var("b"), num_hidden=4)
    assert layer.infer_shape(x=(2, 3), b=(0, 1))[0] == [(2, 3), (4, 3), (4, 1)]
    for shape in ((1, 4), (2, 2), (4, 1, 1)):
        with pytest.raises(OperatorError, match="expected"):
            layer.infer_shape(x=(2, 3), b=shape)
