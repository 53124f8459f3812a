"""Arrays, rates and scalars to try rules of optimizers with, and the reference's steps."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.ops.updates.rules import Rule, apply_rule


def groups(rule: Rule, narrow: Any, shapes: list[Any]) -> list[list[Any]]:
    """Return for each weight its arrays, in float32 or mixed with a narrow dtype."""
    rng = np.random.default_rng(0)

    def uniform(low: float, high: float, shape: Any) -> Any:
        return rng.uniform(low, high, shape).astype(np.float32)

    found = []
    for shape in shapes:
        weight, grad = uniform(-1, 1, shape), uniform(-3, 3, shape)
        # The first state stays above what a centered mean of squares needs.
        states = [np.array(uniform(2, 3, shape) / (1 + 5 * i)) for i, _ in enumerate(rule.states)]
        if narrow is None:
            found.append([weight, grad, *states])
        else:
            found.append([weight.astype(narrow), grad.astype(narrow), *states, weight])
    return found


def rates(rule: Rule, count: int) -> list[list[float]]:
    """Return a column of numbers for each rate; one weight decay is 0."""
    rng = np.random.default_rng(1)
    columns = [rng.uniform(0.1, 1, count).astype(np.float32).tolist() for _ in rule.rates]
    columns[1][0] = 0.0
    return columns


def scalars(rule: Rule, **changed: float) -> dict[str, float]:
    """Return what all weights share."""
    defaults = {name: attribute.default for name, attribute in rule.scalars.items()}
    known = {"momentum": 0.9, "clip_weights": 1.1, "upper_bound": 20.0}
    ours = {name: value for name, value in known.items() if name in defaults}
    return {**defaults, **ours, "rescale_grad": 0.5, "clip_gradient": 1.0, **changed}


def check_equal(ours: list[list[Any]], wanted: list[list[Any]]) -> None:
    """Hold arrays of weights to others, bit by bit."""
    for i, (one, other) in enumerate(zip(ours, wanted, strict=True)):
        for j, (x, y) in enumerate(zip(one, other, strict=True)):
            assert np.array_equal(x, y), f"array {j} of weight {i}"


def step_by_reference(
    rule: Rule,
    arrays: Sequence[Sequence[Any]],
    columns: Sequence[Any],
    given: dict[str, float],
    mixed: bool,
) -> None:
    """Update the first array of each weight by the reference kernel."""
    for i, group in enumerate(arrays):
        own = [column[i] if isinstance(column, list) else column for column in columns]
        apply_rule(np, rule, group[0], group, mixed, own, given)
