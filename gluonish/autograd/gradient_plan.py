"""Gradient rules as plans: what a rule computes is found once, and then runs as one operation.

A rule is written in operators, most of which take less time than their calls. Where nobody will
differentiate the gradient again, the operators of a rule are listed once for each signature of a
call, with their kernels; the list runs as one operation of the engine, and may write gradients
where they are kept. Only calls on contiguous arrays of a CPU have plans. For others, and for rules
that do more than call operators, the rule itself runs.

Plans are shared by all threads; making one twice does no harm.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.device import Device
from gluonish.core.errors import GluonishError
from gluonish.core.loading import load
from gluonish.core.spec import UNKNOWN, Spec
from gluonish.engine import submit
from gluonish.graph.ir import Graph, Node, Value, namer, variable
from gluonish.graph.work import work
from gluonish.kernels import back_ends
from gluonish.ndarray.eager import HEAVY_INLINE_SIZE, LONE_INLINE_SIZE, keep_pace
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE, NDArray, empty_like_spec
from gluonish.ndarray.recording import OperatorNode
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.composite import input_gradients
from gluonish.ops.support.memory_layout import starts_layout
from gluonish.ops.support.work import SMALL

Found = list[NDArray | None]
Run = Callable[..., None]

_MAX_PLANS = 4096  # beyond it all are dropped; keeps memory bounded where shapes never repeat

_data_of, _spec_of, _var_of = attrgetter("_data"), attrgetter("_spec"), attrgetter("_var")


class Rule(NamedTuple):
    """What a gradient rule computes for one signature of a call.

    Attributes:
        graph: Its inputs stand for what the rule is given, its outputs are the gradients.
        wanted: For each output, of which input of the operator it is the gradient.
        inputs: How many inputs the operator has.
    """

    graph: Graph
    wanted: tuple[int, ...]
    inputs: int


def trace_rule(
    op: Operator,
    attrs: Attrs,
    grads: Sequence[Spec | None],
    inputs: Sequence[Spec],
    outputs: Sequence[Spec],
    wanted: Iterable[bool],
) -> Rule | None:
    """Return what an operator's gradient rule computes.

    The values that it is given are the gradients that are there, the inputs, and the outputs.

    Args:
        op: The operator.
        attrs: Its parsed attributes.
        grads: For each output the spec of its gradient, or None.
        inputs: Specs of the inputs.
        outputs: Specs of the outputs; none unless the rule reads them.
        wanted: For each input whether its gradient is asked for.

    Returns:
        None where the rule does more than call plain operators on these values.
    """
    heads = [None if spec is None else variable("head", spec) for spec in grads]
    read = [variable("input", spec) for spec in inputs]
    made = [variable("output", spec) for spec in outputs]
    named = namer.set(None)
    try:
        found = input_gradients(op, heads, read, made, attrs, wanted)
    except (GluonishError, AttributeError, TypeError):
        return None  # what is wrong with it, if anything, shows on arrays
    finally:
        namer.reset(named)
    there = {i: x for i, x in enumerate(found) if x is not None}
    if not all(isinstance(x, Value) for x in there.values()):
        return None
    given = [x.node for x in (*heads, *read, *made) if x is not None]
    graph = Graph(given, list(there.values()))
    if not all(map(_is_plain, graph.nodes)):
        return None
    return Rule(graph, tuple(there), len(found))


def _is_plain(node: Node) -> bool:
    """Whether a node is given, or follows from its inputs, of which it overwrites none."""
    op = node.op
    if op is None:
        return node.array is None
    if op.train_dependent or op.draws(node.attrs) or op.mutated_inputs(node.attrs):
        return False
    return all(UNKNOWN not in spec.shape for spec in node.specs)


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
    """

    __slots__ = ("_calls", "_count", "fresh", "inline", "name", "on_team", "results")

    def __init__(self, rule: Rule, op: Operator) -> None:
        self.name = f"{op.name}_backward"
        graph = rule.graph
        nodes = [node for node in graph.nodes if node.op is not None]
        sizes = [spec.size for node in (*graph.inputs, *nodes) for spec in node.specs]
        heavy = any(node.op.heavy for node in nodes if node.op is not None)
        few = max(sizes) <= (HEAVY_INLINE_SIZE if heavy else LIGHT_INLINE_SIZE)
        small = work(nodes).is_within(SMALL) and max(sizes) <= SMALL.elements
        self.on_team = False
        fusion = None if few else back_ends.passes("cpu").get("fuse_pointwise")
        if fusion is not None:
            fuse = load("gluonish.graph.passes").fuse_pointwise
            graph = fuse(graph, LIGHT_INLINE_SIZE, alone=False, **fusion)
            nodes = [node for node in graph.nodes if node.op is not None]
        given = len(graph.inputs)
        numbers = {Value(node).key: i for i, node in enumerate(graph.inputs)}
        for node in nodes:
            for i in range(len(node.specs)):
                numbers[id(node), i] = len(numbers)
        self._count = len(numbers)
        wanted = [numbers[value.key] for value in graph.outputs]
        self.results = _spread(wanted, rule)
        # What it fills: of which input it is the gradient, its number, its spec. One stands for
        # several inputs where they have the same gradient.
        every = reversed([*zip(wanted, rule.wanted, graph.outputs, strict=True)])
        first = {n: (i, n, value.spec) for n, i, value in every if n >= given}
        self.fresh = tuple(first.values())
        kept = {*wanted}
        calls = []
        for node in reversed(nodes):
            read = tuple([numbers[value.key] for value in node.inputs])
            made = tuple([(numbers[id(node), i], spec) for i, spec in enumerate(node.specs)])
            dead = {n for n in (*read, *(n for n, _ in made)) if n not in kept and n >= given}
            kept.update(read)
            single = node.op is None or node.op.single
            calls.append(_Call(self._chosen(node, few), read, made, single, tuple(dead)))
        self._calls = tuple(reversed(calls))
        alone = not heavy and max(sizes) <= LONE_INLINE_SIZE
        self.inline = few or (small if self.on_team else alone)

    def _chosen(self, node: Node, few: bool) -> Run:
        op, attrs = node.op, node.attrs
        assert op is not None
        if "program" in attrs:
            self.on_team = True
            make = load("gluonish.kernels.generated.elementwise").LargeProgram
            run: Run = make(attrs["program"], self.name)
            return run
        kernel, on_team = op.kernel, False
        if op.may_be_fast and not (few and op.large_only):
            kernel, on_team, _ = op.chosen_kernel("cpu", [x.spec for x in node.inputs], attrs)
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


def _spread(numbers: Sequence[int], rule: Rule) -> tuple[int | None, ...]:
    """Return for each input of the operator the number of its gradient; None for no gradient."""
    found = dict(zip(rule.wanted, numbers, strict=True))
    return tuple([found.get(i) for i in range(rule.inputs)])


_plans: dict[tuple[Any, ...], _Plan | None] = {}


def planned_gradients(
    node: OperatorNode,
    grads: Sequence[NDArray | None],
    targets: Sequence[NDArray | None],
    switches: tuple[object, ...],
) -> Found | None:
    """Return the gradient of every input of a recorded call, None for none.

    Args:
        node: The call; what it kept is there.
        grads: Gradients of the outputs.
        targets: For each input an array that its gradient may be written to, or None.
        switches: The `kernel_switches`.

    Returns:
        None where the call has no plan.
    """
    heads: Sequence[Any] = grads
    if len(grads) > 1 or grads[0] is None:
        heads = [g for g in grads if g is not None]
    given = (*heads, *node.inputs, *node.outputs)
    device: Any = None
    for x in given:
        if x.stype != "default" or not x._data.flags.c_contiguous:
            return None
        if x._device is not device:
            if device is not None or not x._device.is_host:
                return None
            device = x._device
    op, attrs, parents = node.op, node.attrs, node.parents
    if "key" in attrs:
        return None
    there = None if len(heads) == len(grads) else tuple([g is not None for g in grads])
    among = None if None not in parents else tuple([parent is not None for parent in parents])
    key = (op, there, among, switches, *map(_spec_of, given), *attrs.items())
    try:
        plan = _plans[key]
    except KeyError:
        plan = _planned(key, node, grads)
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
    if target._spec != spec or target._device is not given[0]._device:
        return False
    var = target._var
    for x in given:
        if x._var is var:
            return False
    return bool(target._data.flags.c_contiguous)


def _is_own(node: Node) -> bool:
    """Whether a call of the operator is the eager path's own: a layout, or a sparse result."""
    op, attrs = node.op, node.attrs
    if op is None:
        return False
    return starts_layout(op, attrs) or (op.diverted is not None and bool(attrs.get("sparse_grad")))


def _planned(
    key: tuple[Any, ...], node: OperatorNode, grads: Sequence[NDArray | None]
) -> _Plan | None:
    """Make the plan of a call that got some of the gradients of its outputs."""
    op = node.op
    wanted = [parent is not None for parent in node.parents]
    if len(_plans) >= _MAX_PLANS:
        _plans.clear()
    specs = [None if g is None else g._spec for g in grads]
    inputs, outputs = ([x._spec for x in part] for part in (node.inputs, node.outputs))
    rule = trace_rule(op, node.attrs, specs, inputs, outputs, wanted)
    plan = None
    if rule is not None and not any(map(_is_own, rule.graph.nodes)):
        plan = _Plan(rule, op)
    _plans[key] = plan
    return plan


def _push(
    plan: _Plan, given: Sequence[NDArray], results: Mapping[int, NDArray], device: Device
) -> None:
    raw = {number: array._data for number, array in results.items()}
    inline = submit(
        partial(plan.run, list(map(_data_of, given)), raw),
        list(map(_var_of, given)),
        list(map(_var_of, results.values())),
        device.lane,
        plan.name,
        small=plan.inline,
        on_team=plan.on_team,
    )
    if not inline:
        keep_pace(device, next(iter(results.values())))
