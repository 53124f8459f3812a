from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd


def gradient(values: Any, dtype: str) -> Any:
    x = nd.array(values, dtype=dtype)
    x.attach_grad()
    with autograd.record():
        y = nd.L2Normalization(x)
    y.backward(nd.array([[1, 0, 0]], dtype=dtype))
    return x.grad.asnumpy().astype(np.float64)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradient_of_16_bit_floats_whose_squares_overflow(dtype: str) -> None:
    values = np.array([[300, 400, 1000]])
    np.testing.assert_allclose(gradient(values, dtype), gradient(values, "float64"), rtol=0.02)
