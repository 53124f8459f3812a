"""AdamW, which MXNet 1.9 lacks: its formula, and its operator's rule for scales."""

from math import sqrt
from typing import Any

import numpy as np
import pytest

from gluonish.ndarray import array
from gluonish.optimizer import AdamW, create, get_updater


@pytest.mark.parametrize("correct_bias", [True, False])
def test_steps_follow_the_formula(correct_bias: bool) -> None:
    rng = np.random.default_rng(0)
    weight = rng.normal(size=6)
    ours = array(weight)
    settings: dict[str, Any] = {
        "learning_rate": 0.1,
        "beta1": 0.8,
        "beta2": 0.9,
        "epsilon": 1e-3,
        "wd": 0.2,
    }
    optimizer = AdamW(correct_bias=correct_bias, rescale_grad=0.5, clip_gradient=0.6, **settings)
    updater = get_updater(optimizer)
    mean, var = np.zeros(6), np.zeros(6)
    for t in range(1, 5):
        grad = rng.uniform(-3, 3, 6)
        updater(0, array(grad), ours)
        g = np.clip(grad * 0.5, -0.6, 0.6)
        mean, var = 0.8 * mean + 0.2 * g, 0.9 * var + 0.1 * g * g
        rate = 0.1 * (sqrt(1 - 0.9**t) / (1 - 0.8**t) if correct_bias else 1)
        weight = weight - rate * (mean / (np.sqrt(var) + 1e-3) + 0.2 * weight)
        np.testing.assert_allclose(ours.asnumpy(), weight, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scale", [0.0, np.inf, np.nan])
def test_step_whose_scale_is_no_use_is_left_out(scale: float) -> None:
    optimizer = AdamW(learning_rate=0.5, wd=0.5)
    updater, weight = get_updater(optimizer), array([1.0])
    updater(0, array([1.0]), weight)
    before = weight.asscalar()
    optimizer.rescale_grad = scale
    updater(0, array([1.0]), weight)
    assert weight.asscalar() == before


def test_arguments_are_those_of_mxnet_2() -> None:
    optimizer = create("adamw")
    found = {name: getattr(optimizer, name) for name in ("lr", "beta1", "beta2", "epsilon")}
    assert found == {"lr": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6}
    assert vars(optimizer)["correct_bias"]
