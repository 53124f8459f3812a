"""clip: data on a bound that the dtype cannot hold exactly."""

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.gluon import nn


@pytest.mark.parametrize("size", [4, 5000])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize("hybridized", [False, True])
def test_data_on_a_bound_have_a_gradient_in_every_dtype(
    dtype: str, size: int, hybridized: bool
) -> None:
    net = nn.HybridLambda(lambda F, x: F.clip(x * 1, -1.3, 1.7))
    if hybridized:
        net.hybridize()
    x = nd.array(np.repeat([-1.3, 1.7, -2, 2], size), dtype=dtype)
    x.attach_grad()
    with autograd.record():
        y = net(x)
    y.backward()
    np.testing.assert_array_equal(y.asnumpy()[: 2 * size], x.asnumpy()[: 2 * size])
    np.testing.assert_array_equal(x.grad.asnumpy().astype("f8"), np.repeat([1, 1, 0, 0], size))
