"""Plans of gradient rules: a rule is traced once, and then runs as one engine operation.

A rule is written in operators, most of which take less time than their calls. If the gradient is
not recorded itself, the kernels of a rule are listed once for each signature of a call; the list
runs as one operation of the engine, and may write into the gradient buffers. Only calls on
contiguous CPU arrays have plans. Other calls, and rules that do more than call operators, run the
rule itself.

Plans are shared by all threads; making one twice is harmless.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.device import Device
from gluonish.core.errors import GluonishError
from gluonish.core.loading import load
from gluonish.core.spec import UNKNOWN, Spec
from gluonish.engine import submit
from gluonish.graph.ir import Graph, Node, Value, namer, variable
from gluonish.graph.schedule import work
from gluonish.kernels import back_ends
from gluonish.ndarray.eager import HEAVY_INLINE_SIZE, LONE_INLINE_SIZE, limit_pending
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE, NDArray, empty_like_spec
from gluonish.ndarray.recording import OperatorNode
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.composite import input_gradients
from gluonish.ops.support.memory_layout import starts_layout
from gluonish.ops.support.work import SMALL

Gradients = Sequence[NDArray | None]
Run = Callable[..., None]

_MAX_PLANS = 4096  # when exceeded, all plans are dropped, to bound memory if shapes never repeat

_data_of, _spec_of, _var_of = attrgetter("_data"), attrgetter("_spec"), attrgetter("_var")


class Rule(NamedTuple):
    """A gradient rule, traced for one signature of a call.

    Attributes:
        graph: Graph that computes gradients from the arguments of the rule.
        needed: Index of the operator input that each output of the graph is the gradient of.
        inputs: Number of inputs of the operator.
    """

    graph: Graph
    needed: tuple[int, ...]
    inputs: int


def trace_rule(
    op: Operator,
    attrs: Attrs,
    grads: Sequence[Spec | None],
    inputs: Sequence[Spec],
    outputs: Sequence[Spec],
    needed: Iterable[bool],
) -> Rule | None:
    """Trace an operator's gradient rule over gradients, inputs and outputs with these specs.

    ``grads`` has None for outputs without a gradient, and ``outputs`` is empty unless the rule
    reads them. The result is None if the rule does more than call simple operators.
    """
    heads = [None if spec is None else variable("head", spec) for spec in grads]
    read = [variable("input", spec) for spec in inputs]
    made = [variable("output", spec) for spec in outputs]
    named = namer.set(None)
    try:
        found = input_gradients(op, heads, read, made, attrs, needed)
    except (GluonishError, AttributeError, TypeError):
        return None  # an error of the rule itself will be raised on arrays
    finally:
        namer.reset(named)
    present = {i: x for i, x in enumerate(found) if x is not None}
    if not all(isinstance(x, Value) for x in present.values()):
        return None
    graph_inputs = [x.node for x in (*heads, *read, *made) if x is not None]
    graph = Graph(graph_inputs, list(present.values()))
    if not all(map(_is_simple, graph.nodes)):
        return None
    return Rule(graph, tuple(present), len(found))


def _is_simple(node: Node) -> bool:
    """Whether a node is a variable, or a pure function of its inputs with known shapes."""
    op = node.op
    if op is None:
        return node.array is None
    if op.train_dependent or op.draws(node.attrs) or op.mutated_inputs(node.attrs):
        return False
    return all(UNKNOWN not in spec.shape for spec in node.specs)


class _Call(NamedTuple):
    """An instruction of a plan, which refers to values by index.

    Attributes:
        kernel: Function that is called with NumPy, outputs, and inputs.
        inputs: Indices of the inputs.
        made: Indices and specs of the outputs.
        single: Whether the kernel receives a single output array, not a tuple.
        dead: Indices of values that no later instruction reads.
    """

    kernel: Run
    inputs: tuple[int, ...]
    made: tuple[tuple[int, Spec], ...]
    single: bool
    dead: tuple[int, ...]


class _Plan:
    """The kernels of a traced gradient rule, which run as one engine operation."""

    __slots__ = ("_calls", "_count", "inline", "name", "on_team", "outputs", "passed", "results")

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
        num_inputs = len(graph.inputs)
        numbers = {Value(node).key: i for i, node in enumerate(graph.inputs)}
        for node in nodes:
            for i in range(len(node.specs)):
                numbers[id(node), i] = len(numbers)
        self._count = len(numbers)
        needed = [numbers[value.key] for value in graph.outputs]
        self.results = _by_input(needed, rule)
        # The results of a rule without outputs, of its arguments and None behind them.
        picks: Sequence[int | slice] = self.results
        if rule.inputs == 1:  # `itemgetter` gives a tuple for several
            picks = (slice(self.results[0], self.results[0] + 1 or None),)
        self.passed: Callable[[tuple[Any, ...]], Gradients] = itemgetter(*picks)
        # Outputs: index of the operator's input, index of the value, spec. Inputs with the same
        # gradient share one.
        every = reversed([*zip(needed, rule.needed, graph.outputs, strict=True)])
        first = {n: (i, n, value.spec) for n, i, value in every if n >= num_inputs}
        self.outputs = tuple(first.values())
        live = {*needed}
        calls = []
        for node in reversed(nodes):
            read = tuple([numbers[value.key] for value in node.inputs])
            made = tuple([(numbers[id(node), i], spec) for i, spec in enumerate(node.specs)])
            dead = {n for n in (*read, *(n for n, _ in made)) if n not in live and n >= num_inputs}
            live.update(read)
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

    def run(self, operands: Sequence[Any], targets: dict[int, Any]) -> None:
        """Compute the gradients.

        Args:
            operands: Arrays of the rule's arguments.
            targets: Arrays to fill, by index.
        """
        values: list[Any] = [*operands, *(None,) * (self._count - len(operands))]
        for kernel, inputs, made, single, dead in self._calls:
            for number, (shape, dtype) in made:
                target = targets.get(number)
                values[number] = np.empty(shape, dtype) if target is None else target
            out = values[made[0][0]] if single else tuple([values[n] for n, _ in made])
            kernel(np, out, *[values[n] for n in inputs])
            for number in dead:
                values[number] = None


def _by_input(numbers: Sequence[int], rule: Rule) -> tuple[int, ...]:
    """Return the index of the gradient of each operator input; -1 for no gradient."""
    found = dict(zip(rule.needed, numbers, strict=True))
    return tuple([found.get(i, -1) for i in range(rule.inputs)])


# In place of a plan, for attributes with a zero, whose sign counts: 0.0 and -0.0 are equal keys.
_BY_SIGN: Any = object()
_plans: dict[tuple[Any, ...], _Plan | None] = {}


def _has_zero(value: Any) -> bool:
    """Whether a value of an attribute is or holds a floating zero."""
    if isinstance(value, tuple):
        return any(map(_has_zero, value))
    return isinstance(value, float) and not value


def planned_gradients(
    node: OperatorNode,
    grads: Sequence[NDArray | None],
    targets: Sequence[NDArray | None],
    switches: Hashable,
) -> Gradients | None:
    """Return the gradients of the inputs of a recorded call; None if the call has no plan.

    Args:
        node: The recorded call, with its saved arrays.
        grads: Gradients of the outputs.
        targets: For each input, an array that the gradient may be written to, or None.
        switches: The `kernel_switches`, and whose rules apply, which rules of gradients read.
    """
    heads: Sequence[Any] = grads
    if len(grads) > 1 or grads[0] is None:
        heads = [g for g in grads if g is not None]
    operands = (*heads, *node.inputs, *node.outputs)
    device: Any = None
    for x in operands:
        if x.stype != "default" or not x._data.flags.c_contiguous:
            return None
        if x._device is not device:
            if device is not None or not x._device.is_host:
                return None
            device = x._device
    op, attrs, parents = node.op, node.attrs, node.parents
    if "key" in attrs:
        return None
    present = None if len(heads) == len(grads) else tuple([g is not None for g in grads])
    needed = None if None not in parents else tuple([parent is not None for parent in parents])
    key = (op, present, needed, switches, *map(_spec_of, operands), *attrs.items())
    plan = _plans.get(key, _BY_SIGN)
    if plan is _BY_SIGN:
        plan = _found_by_sign(key, node, grads)
    if plan is None:
        return None
    if not plan.outputs:
        passed: Gradients = plan.passed((*operands, None))
        return passed
    results = {}
    for i, number, spec in plan.outputs:
        target = targets[i] if targets else None
        if target is None or not _fits(target, spec, operands):
            target = empty_like_spec(spec, device)
        results[number] = target
    _push(plan, operands, results, device)
    return [
        None if n < 0 else operands[n] if n < len(operands) else results[n] for n in plan.results
    ]


def _fits(target: NDArray, spec: Spec, operands: Sequence[NDArray]) -> bool:
    """Whether a gradient can be written to an array."""
    if target._spec != spec or target._device is not operands[0]._device:
        return False
    var = target._var
    for x in operands:
        if x._var is var:
            return False
    return bool(target._data.flags.c_contiguous)


def _is_eager_only(node: Node) -> bool:
    """Whether a call must run eagerly: it starts a memory layout, or its result is sparse."""
    op, attrs = node.op, node.attrs
    if op is None:
        return False
    return starts_layout(op, attrs) or (
        op.overridden is not None and bool(attrs.get("sparse_grad"))
    )


def _found_by_sign(
    key: tuple[Any, ...], node: OperatorNode, grads: Sequence[NDArray | None]
) -> _Plan | None:
    """Return the plan of a call that is new, or has attributes with a zero, whose sign counts."""
    if any(map(_has_zero, node.attrs.values())):
        _plans[key] = _BY_SIGN
        key = (*key, repr([*node.attrs.values()]))
        plan: _Plan | None = _plans.get(key, _BY_SIGN)
        if plan is not _BY_SIGN:
            return plan
    return _planned(key, node, grads)


def _planned(
    key: tuple[Any, ...], node: OperatorNode, grads: Sequence[NDArray | None]
) -> _Plan | None:
    """Plan the gradient of a call for these output gradients, and cache the plan."""
    op = node.op
    needed = [parent is not None for parent in node.parents]
    if len(_plans) >= _MAX_PLANS:
        _plans.clear()
    specs = [None if g is None else g._spec for g in grads]
    inputs, outputs = ([x._spec for x in arrays] for arrays in (node.inputs, node.outputs))
    rule = trace_rule(op, node.attrs, specs, inputs, outputs, needed)
    plan = None
    if rule is not None and not any(map(_is_eager_only, rule.graph.nodes)):
        plan = _Plan(rule, op)
    _plans[key] = plan
    return plan


def _push(
    plan: _Plan, operands: Sequence[NDArray], results: Mapping[int, NDArray], device: Device
) -> None:
    raw = {number: array._data for number, array in results.items()}
    inline = submit(
        partial(plan.run, list(map(_data_of, operands)), raw),
        list(map(_var_of, operands)),
        list(map(_var_of, results.values())),
        device.lane,
        plan.name,
        small=plan.inline,
        on_team=plan.on_team,
    )
    if not inline:
        limit_pending(device, next(iter(results.values())))
