import numpy as np
import pytest

from gluonish import autograd, nd
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
