import math

import numpy as np

import gluonish.ndarray as nd
from gluonish import autograd
from gluonish.loss import PoissonNLLLoss


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
