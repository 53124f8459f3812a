"""Gradient rules as plans: what a rule computes is found once, and then runs as one operation.

A rule is written in operators, most of which take less time than their calls. Where nobody will
differentiate the gradient again, the operators of a rule are listed once for each signature of a
call, with their kernels; the list runs as one operation of the engine, and may write gradients
where they are kept. Only calls on contiguous arrays of a CPU have plans. For others, and for rules
that do more than call operators, the rule itself runs.

Plans are shared by all threads; making one twice does no harm.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, cast

import numpy as np

from gluonish.autograd.rule_fusion import fuse
from gluonish.autograd.rule_trace import Rule, Step, trace_rule
from gluonish.core.config import kernel_switches
from gluonish.core.device import Device
from gluonish.core.spec import Spec
from gluonish.engine import current_engine
from gluonish.kernels import teams
from gluonish.ndarray.eager import HEAVY_INLINE_SIZE, keep_pace
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE, NDArray, empty_like_spec
from gluonish.ndarray.recording import OperatorNode
from gluonish.ops.memory_layout import starts_layout
from gluonish.ops.registry import Attrs, Operator

__all__ = ["planned_gradients"]

Found = list[NDArray | None]
Run = Callable[..., None]

_MAX_PLANS = 4096  # beyond it all are dropped; keeps memory bounded where shapes never repeat

_data_of, _spec_of, _var_of = attrgetter("_data"), attrgetter("_spec"), attrgetter("_var")


class _Call(NamedTuple):
    """A step that is ready to run.

    Attributes:
        kernel: Called with NumPy, what it fills, what it reads, and attributes.
        inputs: Numbers of what it reads.
        made: Numbers of what it fills, and their specs.
        single: Whether it is given an array to fill, not a tuple of them.
        dead: Numbers of values that nobody reads behind it.
    """

    kernel: Run
    inputs: tuple[int, ...]
    made: tuple[tuple[int, Spec], ...]
    single: bool
    dead: tuple[int, ...]


class _Plan:
    """A rule for one signature.

    Args:
        rule: What it computes.
        op: The operator whose gradient it is.
        given: How many values it is given.
    """

    __slots__ = ("_calls", "_count", "fresh", "inline", "name", "on_team", "results")

    def __init__(self, rule: Rule, op: Operator, given: int) -> None:
        self.name = f"{op.name}_backward"
        self.results = rule.results
        # What it fills: of which input it is the gradient, its number, its spec. One stands for
        # several inputs where they have the same gradient.
        first = {n: i for i, n in reversed([*enumerate(rule.results)]) if n is not None}
        self.fresh = tuple([(i, n, rule.specs[n]) for n, i in first.items() if n >= given])
        self._count = len(rule.specs)
        heavy = any(step.op.heavy for step in rule.steps)
        limit = HEAVY_INLINE_SIZE if heavy else LIGHT_INLINE_SIZE
        self.inline = max(spec.size for spec in rule.specs) <= limit
        found = None if self.inline else fuse(rule, op.name, LIGHT_INLINE_SIZE)
        self.on_team = found is not None
        kept = {number for number in rule.results if number is not None}
        calls = []
        for step in reversed(rule.steps if found is None else found.steps):
            numbers: Sequence[int] = range(step.first, step.first + len(step.specs))
            single = step.op.single
            if found is not None and step is found.joined:
                numbers, single, run = found.made, False, cast(Run, found.kernel)
            else:
                run = self._chosen(rule, step)
            read = {*step.inputs}
            dead = tuple(n for n in {*read, *numbers} if n not in kept and n >= given)
            kept |= read
            made = tuple(zip(numbers, step.specs, strict=True))
            calls.append(_Call(run, step.inputs, made, single, dead))
        self._calls = tuple(reversed(calls))

    def _chosen(self, rule: Rule, step: Step) -> Run:
        op, attrs = step.op, step.attrs
        kernel, on_team = op.kernel, False
        if op.fast_kernels and not (self.inline and op.large_only):
            specs = [rule.specs[number] for number in step.inputs]
            kernel, on_team = op.chosen_kernel("numpy", specs, attrs)
        self.on_team = self.on_team or on_team
        return partial(kernel, **attrs) if attrs else kernel

    def run(self, given: Sequence[Any], targets: dict[int, Any]) -> None:
        """Compute the results.

        Args:
            given: The arrays that the rule is given.
            targets: What to fill, by number.
        """
        values: list[Any] = [*given, *(None,) * (self._count - len(given))]
        for kernel, inputs, made, single, dead in self._calls:
            for number, (shape, dtype) in made:
                target = targets.get(number)
                values[number] = np.empty(shape, dtype) if target is None else target
            out = values[made[0][0]] if single else tuple([values[n] for n, _ in made])
            kernel(np, out, *[values[n] for n in inputs])
            for number in dead:
                values[number] = None


_plans: dict[tuple[Any, ...], _Plan | None] = {}


def planned_gradients(
    node: OperatorNode, grads: Sequence[NDArray | None], targets: Sequence[NDArray | None]
) -> Found | None:
    """Return the gradient of every input of a recorded call, None for none.

    Args:
        node: The call; what it kept is there.
        grads: Gradients of the outputs.
        targets: For each input an array that its gradient may be written to, or None.

    Returns:
        None where the call has no plan.
    """
    heads: Sequence[Any] = grads
    if len(grads) > 1 or grads[0] is None:
        heads = [g for g in grads if g is not None]
    given = (*heads, *node.inputs, *node.outputs)
    if given[0].stype != "default":
        return None
    device = given[0]._device
    for x in given:
        if x.stype != "default" or x._device is not device or not x._data.flags.c_contiguous:
            return None
    if device.xp_name != "numpy" or "key" in node.attrs:
        return None
    plan = _plan(node, grads, len(heads), given)
    if plan is None:
        return None
    if not plan.fresh:
        return [None if n is None else given[n] for n in plan.results]
    results = {}
    for i, number, spec in plan.fresh:
        target = targets[i] if targets else None
        if target is None or not _fits(target, spec, given):
            target = empty_like_spec(spec, device)
        results[number] = target
    _push(plan, given, results, device)
    return [None if n is None else given[n] if n < len(given) else results[n] for n in plan.results]


def _fits(target: NDArray, spec: Spec, given: Sequence[NDArray]) -> bool:
    """Whether a gradient can be written to an array."""
    return (
        target._spec == spec
        and target._device is given[0]._device
        and target._data.flags.c_contiguous
        and not any(target._var is x._var for x in given)
    )


def _is_own(op: Operator, attrs: Attrs) -> bool:
    """Whether a call of the operator is the eager path's own: a layout, or a sparse result."""
    return starts_layout(op, attrs) or (op.diverted is not None and bool(attrs.get("sparse_grad")))


def _plan(
    node: OperatorNode, grads: Sequence[NDArray | None], heads: int, given: Sequence[NDArray]
) -> _Plan | None:
    """Find or make the plan of a call that got so many of the gradients of its outputs."""
    op, parents = node.op, node.parents
    there = None if heads == len(grads) else tuple([g is not None for g in grads])
    among = None if None not in parents else tuple([parent is not None for parent in parents])
    key = (op, there, among, kernel_switches(), *map(_spec_of, given), *node.attrs.items())
    try:
        return _plans[key]
    except KeyError:
        pass
    wanted = [parent is not None for parent in parents]
    if len(_plans) >= _MAX_PLANS:
        _plans.clear()
    specs = [None if g is None else g._spec for g in grads]
    inputs, outputs = ([x._spec for x in part] for part in (node.inputs, node.outputs))
    rule = trace_rule(op, node.attrs, specs, inputs, outputs, wanted)
    plan = None
    if rule is not None and not any(_is_own(step.op, step.attrs) for step in rule.steps):
        plan = _Plan(rule, op, len(given))
    _plans[key] = plan
    return plan


def _push(
    plan: _Plan, given: Sequence[NDArray], results: Mapping[int, NDArray], device: Device
) -> None:
    inline = plan.inline
    if plan.on_team:
        inline = teams.claim(small=inline)
    raw = {number: array._data for number, array in results.items()}
    current_engine().push(
        partial(plan.run, list(map(_data_of, given)), raw),
        list(map(_var_of, given)),
        list(map(_var_of, results.values())),
        device.lane,
        0,
        plan.name,
        inline,
    )
    if not inline:
        keep_pace(device, next(iter(results.values())))
