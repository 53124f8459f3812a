"""MXNET_OPTIMIZER_AGGREGATION_SIZE changes how many operations a step is, and never a result."""

import warnings

import numpy as np
import pytest

from gluonish.core.config import MXNET_OPTIMIZER_AGGREGATION_SIZE
from gluonish.ndarray import array
from gluonish.optimizer import Optimizer, create, get_updater
from gluonish.optimizer.rule_optimizer import RuleOptimizer
from gluonish.tools.env_checks.threads import engine_trace

# Its updates draw random numbers, in the order of its calls.
RANDOM = {"sgld"}
COUNT, STEPS = 62, 2
SIZES = {1: 62, 4: 16, 60: 2}


def names() -> list[str]:
    return sorted(
        name
        for name, made in Optimizer.opt_registry.items()
        if issubclass(made, RuleOptimizer) and made.supports_apply and name not in RANDOM
    )


def trained(name: str, size: int, dtype: str) -> tuple[list[np.ndarray], int]:
    """Return the weights after some steps, and the number of update operations of a step."""
    rng = np.random.default_rng(4)
    shapes = [(1 + i % 7, 1 + i % 3) for i in range(COUNT)]
    weights = [array(rng.uniform(-1, 1, shape), dtype=dtype) for shape in shapes]
    with MXNET_OPTIMIZER_AGGREGATION_SIZE.override(size):
        decay = {} if name == "groupadagrad" else {"wd": 0.01}
        optimizer = create(name, learning_rate=0.05, multi_precision=dtype == "float16", **decay)
    updater = get_updater(optimizer)
    counts = []
    for _ in range(STEPS):
        gradients = [array(rng.uniform(-1, 1, shape), dtype=dtype) for shape in shapes]
        with engine_trace() as ran:
            updater(list(range(COUNT)), gradients, weights)
        counts.append(sum("update" in entry.name for entry in ran))
    return [weight.asnumpy() for weight in weights], counts[-1]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [*((name, "float32") for name in names()), ("sgd", "float16"), ("adam", "float16")],
)
def test_size_changes_the_number_of_updates_and_no_weight(name: str, dtype: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = {size: trained(name, size, dtype) for size in SIZES}
    assert {size: count for size, (_, count) in found.items()} == SIZES
    for weights, _ in found.values():
        for weight, expected in zip(weights, found[1][0], strict=True):
            np.testing.assert_array_equal(weight, expected)
