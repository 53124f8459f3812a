"""Every operator with a gradient, at zeros, equal values and constant rows, in float64.

Where the function has a slope to the right or to the left, its rule gives a finite number: what 0
divides by 0, or infinity by infinity, is a fault. The same of the gradient of the rule.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from gluonish.core.dtype import FLOAT64, is_floating
from gluonish.core.errors import GluonishError
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Operator, all_operators, apply, find_operator
from gluonish.ops.support.composite import composite_gradient, input_gradients
from tests.checking.check_operator import _showing_all
from tests.checking.values import ArrayValue, run_kernel, runtime_attrs
from tests.golden.case import load_cases
from tests.ops import operator_runs
from tests.ops.cases import CASES, Case

_GOLDEN = Path(__file__).parents[1] / "golden" / "cases"
_LARGEST = 200  # elements of a case
_CHECKED = 2  # elements that are not finite whose slopes are looked at
_STEPS = (1e-4, 1e-5, 1e-6)

# What has a slope to one side where its rule gives infinity or NaN, and why that stays.
POLES = {
    "IdentityAttachKLSparseReg": "its penalty is infinite at an average of 0 or 1, as in MXNet",
    "_linalg_gelqf": "a factorization of matrices without full rank jumps",
    "_npi_mod": "by a divisor of 0, where the remainder is 0 by a rule, it is infinite in MXNet",
    "broadcast_mod": "as _npi_mod",
    "_mod": "as _npi_mod",
    "_npi_svd": "singular vectors of equal singular values jump",
    "_random_pdf_dirichlet": "at several zeros some of its factors are 0, and others infinite",
}


class Point(NamedTuple):
    op: Operator
    attrs: dict[str, Any]
    inputs: list[Any]


def _cases() -> Iterator[tuple[str, Case]]:
    yield from CASES.items()
    for made in (
        operator_runs._layers,
        operator_runs._batch_norm_parts,
        operator_runs._small_layers,
        operator_runs._branches,
    ):
        yield from made()
    seen: set[str] = set()
    for path in sorted(_GOLDEN.glob("*.py")):
        for case in load_cases(path):
            if case.invalid or case.op in seen:
                continue
            seen.add(case.op)
            yield case.op, Case(case.arrays(), case.attrs)


def _point(name: str, case: Case) -> Point | None:
    op = find_operator(name)
    inputs = [np.asarray(x) for x in case.inputs]
    inputs = [x.astype(FLOAT64) if is_floating(x.dtype) else x for x in inputs]
    sizes = [x.size for x in inputs]
    if op.gradient is None or not sizes or min(sizes) == 0 or sum(sizes) > _LARGEST:
        return None
    given = dict(case.attrs)
    if op.variadic is not None:
        given.setdefault(op.variadic, len(inputs))
    return Point(op, op.schema.parse(op.name, given), inputs)


@cache
def _points() -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = {}
    for name, case in _cases():
        point = _point(name, case)
        if point is not None:
            found.setdefault(point.op.name, []).append(point)
    return found


def _patterns(x: Any) -> dict[str, Any]:
    """Return an array of this shape with zeros, with equal values, and with a row of each."""
    one_zero, rows = x.copy(), np.full_like(x, 0.5)
    one_zero.flat[0] = 0
    if x.ndim:
        rows[:1] = 0
    return {"zeros": np.zeros_like(x), "equal": np.full_like(x, 1.0), "one": one_zero, "rows": rows}


def _variants(inputs: Sequence[Any]) -> Iterator[list[Any]]:
    floating = [i for i, x in enumerate(inputs) if is_floating(x.dtype)]
    for name in ("zeros", "equal", "one", "rows"):
        chosen = {i: _patterns(inputs[i])[name] for i in floating}
        for some in [floating, *([[i] for i in floating] if len(floating) > 1 else [])]:
            yield [chosen[i] if i in some else x for i, x in enumerate(inputs)]


class _Sweep:
    """One operator at one point: its rule, the rule's own gradient, and slopes by differences."""

    def __init__(self, point: Point, inputs: list[Any]) -> None:
        self.op, self.attrs, self.inputs = point.op, point.attrs, inputs
        self.runtime = runtime_attrs(self.op, self.attrs)
        self.whole = _showing_all(self.op)
        random = np.random.default_rng(3)
        shown = self.run(inputs)[: self.op.num_visible(self.attrs)]
        self.heads = [
            random.uniform(0.5, 1.5, y.shape) if is_floating(y.dtype) else None for y in shown
        ]
        self.wanted = [is_floating(x.dtype) for x in inputs]

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        written = self.op.mutated_inputs(self.attrs)
        given = [x.copy() if i in written else x for i, x in enumerate(inputs)]
        return run_kernel(self.op, self.op.kernel, given, self.attrs, self.runtime)

    def rule(self, values: Sequence[Any]) -> list[Any]:
        """Return the gradients of inputs, of constant heads."""
        made = apply(self.whole, values, self.runtime)
        outputs = made if isinstance(made, list) else [made]
        heads = [None if h is None else ArrayValue(h) for h in self.heads]
        hidden = [None] * (len(outputs) - len(heads))
        return input_gradients(
            self.whole, [*heads, *hidden], values, outputs, self.runtime, self.wanted
        )

    def loss(self, inputs: Sequence[Any]) -> float:
        pairs = zip(self.run(inputs), self.heads, strict=False)
        return float(sum(np.sum(y * h) for y, h in pairs if h is not None))

    def first(self) -> list[Any]:
        return [None if g is None else g.array for g in self.rule([*map(ArrayValue, self.inputs)])]

    def slope(self, inputs: Sequence[Any]) -> float:
        """Return the sum of all first gradients."""
        found = self.rule([*map(ArrayValue, inputs)])
        return float(sum(np.sum(g.array) for g in found if g is not None))

    def second(self) -> list[Any]:
        def traced(*values: Any) -> Any:
            full = [v if want else x for v, x, want in zip(values, point, self.wanted, strict=True)]
            total: Any = 0.0
            for g in self.rule(full):
                total = total if g is None else total + reshaped(g)
            return total + reshaped(values[self.wanted.index(True)] * 0.0)

        def reshaped(g: Any) -> Any:
            return sum_(g)

        point = [*map(ArrayValue, self.inputs)]
        one = ArrayValue(np.ones(1))
        return [
            g if g is None or not want else g.array
            for g, want in zip(composite_gradient(traced)(one, *point), self.wanted, strict=True)
        ]


def _one_sided(
    function: Callable[[Sequence[Any]], float], inputs: list[Any], i: int, j: int
) -> Any:
    """Return the slopes to the right and to the left, NaN where differences have no limit."""
    start, found = function(inputs), []
    for side in (1, -1):
        slopes = []
        for step in _STEPS:
            moved = inputs[i].copy()
            moved.flat[j] += side * step
            ahead = function([moved if k == i else x for k, x in enumerate(inputs)])
            slopes.append((ahead - start) / (side * step))
        settled = abs(slopes[2] - slopes[1]) < 1e-2 * (1 + abs(slopes[2]))
        found.append(slopes[2] if settled else math.nan)
    return found


def _faults(
    function: Callable[[Sequence[Any]], float], gradients: Sequence[Any], inputs: list[Any]
) -> Iterator[str]:
    for i, gradient in enumerate(gradients):
        if gradient is None:
            continue
        flat = np.broadcast_to(gradient, inputs[i].shape).ravel()
        for j in np.flatnonzero(~np.isfinite(flat))[:_CHECKED]:
            slopes = _one_sided(function, inputs, i, j)
            if np.isfinite(slopes).any():
                shown = inputs[i].tolist()
                yield f"input {i} = {shown}: {flat[j]} at {j}, slopes {slopes}"


def _swept(name: str) -> Iterator[str]:
    for point in _points().get(name, ()):
        for inputs in _variants(point.inputs):
            try:
                sweep = _Sweep(point, inputs)
                if all(h is None for h in sweep.heads) or not any(sweep.wanted):
                    continue
                first = sweep.first()
            except GluonishError:  # inference or a kernel refuses such values
                continue
            for fault in _faults(sweep.loss, first, inputs):
                yield f"{point.attrs}: {fault}"
            if not all(g is None or np.isfinite(g).all() for g in first):
                continue
            try:
                second = sweep.second()
            except GluonishError:  # its rule has no gradient
                continue
            for fault in _faults(sweep.slope, second, inputs):
                yield f"{point.attrs}, second order: {fault}"


NAMES = sorted(
    op.name
    for op in all_operators()
    if op.infer.__module__.startswith("gluonish.") and op.gradient is not None
)


@pytest.mark.parametrize("name", NAMES)
def test_a_slope_that_exists_is_not_nan(name: str) -> None:
    with np.errstate(all="ignore"):
        faults = list(_swept(name))
    assert not faults or name in POLES, "\n".join(faults[:5])


def test_most_operators_with_a_gradient_are_swept() -> None:
    assert sum(name in _points() for name in NAMES) > 0.6 * len(NAMES)
