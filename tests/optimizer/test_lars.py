"""What distinguishes LARS; its numbers are compared in test_optimizer.py."""

import numpy as np
import pytest

from gluonish.core.config import MXNET_OPTIMIZER_AGGREGATION_SIZE
from gluonish.ndarray import array
from gluonish.optimizer import LARS, get_updater

NAMES = {0: "a_weight", 1: "b_bias", 2: "c_gamma", 3: "d_beta", 4: "e_other"}


def test_only_weights_decay() -> None:
    assert LARS(param_idx2name=NAMES, wd=0.5)._get_wds(range(5)) == [0.5, 0.0, 0.0, 0.0, 0.0]
    optimizer = LARS(param_idx2name=NAMES, wd=0.5)
    optimizer.set_wd_mult({"b_bias": 3.0})
    assert optimizer._get_wds(range(5)) == [0.5, 1.5, 0.0, 0.0, 0.0]


def test_biases_and_scales_of_norms_keep_their_learning_rate() -> None:
    weights = [array([3.0, 4.0]) for _ in range(5)]
    updater = get_updater(LARS(learning_rate=1.0, eta=0.1, param_idx2name=NAMES))
    updater(list(range(5)), [array([1.0, 2.0])] * 5, weights)
    steps = [3.0 - w.asnumpy()[0] for w in weights]
    trusted = 0.1 * 5 / np.sqrt(5)
    np.testing.assert_allclose(steps, [trusted, 1.0, 1.0, 1.0, trusted], rtol=1e-5)


@pytest.mark.parametrize(("weight", "grad"), [([0.0], [2.0]), ([2.0], [0.0])])
def test_norm_of_0_leaves_the_learning_rate(weight: list[float], grad: list[float]) -> None:
    trained = array(weight)
    get_updater(LARS(learning_rate=0.5, wd=0.5))(0, array(grad), trained)
    assert trained.asscalar() == weight[0] - 0.5 * (grad[0] + 0.5 * weight[0])


@pytest.mark.parametrize("size", [1, 4, 60])
@pytest.mark.parametrize("together", [True, False])
def test_momentum_of_all_weights_follows_the_learning_rate(size: int, together: bool) -> None:
    """MXNet 1.9.1 corrects that of the first group of a step only, or of the first weight."""
    with MXNET_OPTIMIZER_AGGREGATION_SIZE.override(size):
        optimizer = LARS(
            momentum=0.5, learning_rate=1.0, param_idx2name={i: f"{i}_bias" for i in range(6)}
        )
    updater, weights = get_updater(optimizer), [array([0.0]) for _ in range(6)]
    for lr in (1.0, 0.5, 0.5):
        optimizer.set_learning_rate(lr)
        if together:
            updater(list(range(6)), [array([1.0])] * 6, weights)
        else:
            for i, weight in enumerate(weights):
                updater(i, array([1.0]), weight)
    second = 0.5 * 0.5 * 1.0 + 0.5
    assert [w.asscalar() for w in weights] == [-1.0 - second - (0.5 * second + 0.5)] * 6


def test_learning_rate_from_0_on_corrects_nothing() -> None:
    optimizer = LARS(momentum=0.5, learning_rate=0.0, param_idx2name={0: "x_bias"})
    updater, weight = get_updater(optimizer), array([1.0])
    updater(0, array([1.0]), weight)
    optimizer.set_learning_rate(0.5)
    updater(0, array([1.0]), weight)
    assert weight.asscalar() == 0.5
    assert (optimizer.last_lr, optimizer.cur_lr) == (0.0, 0.5)
