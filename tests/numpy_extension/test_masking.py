"""`npx.masked_softmax` and its logarithm against float64, at numbers that a fill value may meet."""

from typing import Any

import numpy as onp
import pytest

from gluonish import autograd, np, npx

TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("temperature", [None, 1.0, 0.5, 3.0])
def test_values_and_gradients(dtype: str, temperature: float | None) -> None:
    rows = onp.array([[-3e4, -3.1e4, 5.0], [1, 2, 3], [1, 2, 3], [-2e4, 2e4, 0]])
    mask = onp.array([[1, 1, 0], [0, 0, 0], [1, 0, 1], [1, 0, 1]], bool)
    x = np.array(rows, dtype=dtype)
    x.attach_grad()
    with autograd.record():
        y = npx.masked_softmax(x, np.array(mask), temperature=temperature)
    weights = onp.array([1.0, -2.0, 0.5])
    y.backward(np.broadcast_to(np.array(weights, dtype=dtype), y.shape))
    exact: Any = x.asnumpy().astype(onp.float64) / (temperature or 1)
    low = onp.where(mask, exact, -onp.inf)
    terms = onp.exp(low - onp.where(mask.any(1, keepdims=True), low.max(1, keepdims=True), 0))
    wanted = terms / onp.maximum(terms.sum(1, keepdims=True), 1e-300)
    slope = wanted * (weights - (wanted * weights).sum(1, keepdims=True)) / (temperature or 1)
    rtol = TOLERANCE[dtype]
    onp.testing.assert_allclose(y.asnumpy().astype(float), wanted, rtol, rtol)
    onp.testing.assert_allclose(x.grad.asnumpy().astype(float), slope, 4 * rtol, 4 * rtol)
    found = npx.masked_log_softmax(x, np.array(mask), temperature=temperature).asnumpy()
    assert (onp.isneginf(found.astype(float)) == ~mask).all()
