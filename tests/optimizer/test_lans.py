"""LANS, which MXNet 1.9 lacks: its formula."""

from typing import Any

import numpy as np
import pytest

from gluonish.ndarray import array
from gluonish.optimizer import LANS, create, get_updater


@pytest.mark.parametrize("size", [6, 20000])
@pytest.mark.parametrize("bounds", [{}, {"lower_bound": 200.0}, {"upper_bound": 0.5}])
def test_steps_follow_the_formula(size: int, bounds: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    weight = rng.normal(size=size)
    ours = array(weight)
    settings: dict[str, Any] = {"learning_rate": 0.1, "beta1": 0.8, "beta2": 0.9, "wd": 0.2}
    optimizer = LANS(epsilon=1e-3, rescale_grad=0.5, clip_gradient=0.6, **settings, **bounds)
    updater = get_updater(optimizer)
    mean, var = np.zeros(size), np.zeros(size)
    for t in range(1, 4):
        grad = rng.uniform(-3, 3, size)
        updater(0, array(grad), ours)
        g = np.clip(grad / np.linalg.norm(grad), -0.6, 0.6)
        mean, var = 0.8 * mean + 0.2 * g, 0.9 * var + 0.1 * g * g
        root = np.sqrt(var / (1 - 0.9**t)) + 1e-3
        a, b = mean / (1 - 0.8**t) / root + 0.2 * weight, g / root + 0.2 * weight
        length = np.linalg.norm(weight)
        length = min(max(length, bounds.get("lower_bound", 0)), bounds.get("upper_bound", np.inf))
        step = 0.8 * a / np.linalg.norm(a) + 0.2 * b / np.linalg.norm(b)
        weight = weight - 0.1 * length * step
        np.testing.assert_allclose(ours.asnumpy(), weight, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [3, 20000])
def test_gradient_of_0_leaves_no_nan(size: int) -> None:
    weight = array(np.ones(size))
    get_updater(LANS())(0, array(np.zeros(size)), weight)
    np.testing.assert_array_equal(weight.asnumpy(), np.ones(size))


def test_arguments_are_those_of_mxnet_2() -> None:
    optimizer = create("lans", aggregate_num=2, use_fused_step=False)
    found = {name: getattr(optimizer, name) for name in ("lr", "beta1", "beta2", "epsilon")}
    assert found == {"lr": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6}
    assert optimizer.aggregate_num == 2
