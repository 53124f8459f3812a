import math

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import autograd
from gluonish.gluon.loss import PoissonNLLLoss


def test_full_poisson_loss_adds_stirlings_term_above_one() -> None:
    pred, target = np.array([[0.1, 0.2, 0.3]]), np.array([[0.0, 1.0, 4.0]])
    x = nd.array(pred)
    x.attach_grad()
    with autograd.record():
        result = PoissonNLLLoss(compute_full=True)(x, nd.array(target))
    autograd.backward([result])
    terms = np.exp(pred) - target * pred
    terms[0, 2] += 4 * math.log(4) - 4 + 0.5 * math.log(2 * math.pi * 4)
    np.testing.assert_allclose(result.asnumpy(), [terms.mean()], rtol=1e-6)
    np.testing.assert_allclose(x.grad.asnumpy(), (np.exp(pred) - target) / 3, rtol=1e-5)


def test_epsilon_keeps_the_logarithm_finite() -> None:
    pred, target = nd.zeros((1, 2)), nd.ones((1, 2))
    result = PoissonNLLLoss(from_logits=False)(pred, target, None, 1.0)
    assert result.asnumpy().tolist() == [0.0]


@pytest.mark.parametrize("from_logits", [True, False])
def test_full_poisson_loss_has_the_slope_of_its_formula(from_logits: bool) -> None:
    """MXNet 1.9.1 gives NaN here, and fails while recording."""
    random = np.random.default_rng(0)
    target = np.array([[0.0, 1.0, 1.5], [2.0, 7.0, 30.0]])
    pred = random.uniform(0.5, 2, target.shape)
    weights = random.uniform(0.5, 2, (2, 1))
    rate = np.exp(pred) if from_logits else pred
    terms = rate - target * np.log(rate)
    above = np.maximum(target, 1)
    stirling = above * np.log(above) - above + 0.5 * np.log(2 * math.pi * above)
    terms = (terms + np.where(target > 1, stirling, 0)) * weights * 3
    compute = PoissonNLLLoss(weight=3, from_logits=from_logits, compute_full=True)
    x = nd.array(pred, dtype="float64")
    others = nd.array(target, dtype="float64"), nd.array(weights, dtype="float64")
    for _ in range(2):
        x.attach_grad()
        with autograd.record():
            result = compute(x, *others)
        result.backward()
        np.testing.assert_allclose(result.asnumpy(), [terms.mean()], rtol=1e-7)
        slope = (rate - target if from_logits else 1 - target / pred) * weights * 3 / 6
        np.testing.assert_allclose(x.grad.asnumpy(), slope, rtol=1e-6)
        compute.hybridize()
