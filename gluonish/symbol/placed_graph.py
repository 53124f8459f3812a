"""PlacedGraph: a graph on several devices, split into subgraphs on one device each.

A subgraph has as many nodes of one device as can run without results of another device in between.
Inputs from other subgraphs are copied; the copies are recorded, so that gradients flow through
them.
"""

from collections.abc import Callable, Mapping, Sequence

from gluonish.core.context import Context
from gluonish.core.spec import Spec
from gluonish.graph import interpreter
from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import Monitor
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.graph.value_checks import checked_run, named_origins
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray

Key = tuple[int, int]
# The random key at the start of each subgraph.
CallKeys = list[Key]


def node_context(node: Node, groups: Mapping[str, Context], default: Context) -> Context:
    """Return the device of a node: that of its ``ctx_group``, or the default.

    Args:
        node: The node.
        groups: Device of each ``ctx_group``.
        default: Device of nodes without a group.
    """
    return groups.get(node.extra.get("__ctx_group__", ""), default)


class PlacedGraph:
    """A graph on one or several devices, called with the arrays of its variables.

    Args:
        variables: The variables, in the order of the arrays.
        outputs: The outputs.
        context_of: Function that returns the device of an operator node.
        name: Name of the graph, for engine jobs and messages.

    Attributes:
        output_specs: Cached specs of the outputs, by the specs of the variables.
    """

    def __init__(
        self,
        variables: Sequence[Node],
        outputs: Sequence[Value],
        context_of: Callable[[Node], Context],
        name: str,
    ) -> None:
        self.output_specs: dict[tuple[Spec, ...], list[Spec]] = {}
        self._variables = [Value(node).key for node in variables]
        self._outputs = tuple(outputs)
        found = _split(outputs, context_of)
        self._subgraphs = [
            _Subgraph(context, inputs, results, f"{name}_{context}" if len(found) > 1 else name)
            for context, inputs, results in found
        ]
        self._constants = {
            value.key: value.node.array for value in outputs if value.node.array is not None
        }

    def contexts(self) -> dict[Key, Context]:
        """Return the device of each output, and of each input's first reader, by key."""
        found: dict[Key, Context] = {}
        for subgraph in self._subgraphs:
            for value in subgraph.inputs:
                found.setdefault(value.key, subgraph.context)
            found.update((value.key, subgraph.context) for value in subgraph.outputs)
        return found

    def fill(
        self, arrays: Sequence[NDArray], outputs: Sequence[NDArray], keys: CallKeys | None = None
    ) -> tuple[list[NDArray], CallKeys]:
        """Compute the outputs into existing arrays.

        Args:
            arrays: A contiguous array for each variable.
            outputs: An array for each output.
            keys: Random state that an earlier call returned, to draw the same random numbers again.

        Returns:
            Handles of the outputs, connected to the tape if the call was recorded, and the random
            state at the start of the call.
        """
        values = self._constants | dict(zip(self._variables, arrays, strict=True))
        handles: dict[Key, NDArray] = {}
        for value, output in zip(self._outputs, outputs, strict=True):
            handles.setdefault(value.key, output.detach())
        drawn = []
        for i, subgraph in enumerate(self._subgraphs):
            drawn.append(subgraph.fill(values, handles, None if keys is None else keys[i]))
        return self._delivered(values, outputs), drawn

    def monitored(
        self, arrays: Sequence[NDArray], outputs: Sequence[NDArray], hook: tuple[Monitor, bool]
    ) -> list[NDArray]:
        """Compute the outputs operator by operator, and report each result.

        Args:
            arrays: An array for each variable.
            outputs: An array for each output.
            hook: Function that receives each result, and whether it receives inputs, too.
        """
        values = self._constants | dict(zip(self._variables, arrays, strict=True))
        for subgraph in self._subgraphs:
            subgraph.monitored(values, hook)
        return self._delivered(values, outputs)

    def _delivered(
        self, values: Mapping[Key, NDArray], outputs: Sequence[NDArray]
    ) -> list[NDArray]:
        """Return handles of the outputs, copying those not computed into their own arrays."""
        delivered = []
        for value, output in zip(self._outputs, outputs, strict=True):
            handle = values[value.key]
            if handle._var is not output._var:
                handle.detach().copyto(output)
            delivered.append(handle)
        return delivered


class _Subgraph:
    """A subgraph on one device.

    Attributes:
        context: The device.
        inputs: Variables and outputs of other subgraphs that the subgraph reads.
        outputs: Values that other subgraphs read, and outputs of the graph.
    """

    def __init__(
        self, context: Context, inputs: Sequence[Value], outputs: Sequence[Value], name: str
    ) -> None:
        self.context = context
        self.inputs = inputs
        self.outputs = outputs
        replaced = {
            value.key: value if value.node.op is None else Value(Node(None, f"input{i}"))
            for i, value in enumerate(inputs)
        }
        self._nodes = [replaced[value.key].node for value in inputs]
        self._heads = _copied(outputs, replaced)
        self._cached = CachedGraph(self._nodes, self._heads, static_alloc=True, name=name)

    def fill(
        self, values: dict[Key, NDArray], handles: Mapping[Key, NDArray], key: Key | None
    ) -> Key:
        """Compute the outputs into ``handles``, or into new arrays."""
        if not self._nodes:
            return self._fill_constants(values)
        targets = [handles.get(value.key) for value in self.outputs]
        local = [y if y is not None and y.context == self.context else None for y in targets]
        inputs, drawn = self._gathered(values), (0, 0)

        def run() -> list[NDArray]:
            nonlocal drawn
            results, drawn = self._cached.fill(inputs, local, key)
            return results

        if recording.mode.get() & recording.CHECKED:
            results = checked_run(self._cached, inputs, run, named_origins(self._cached.name))
        else:
            results = run()
        values.update((v.key, result) for v, result in zip(self.outputs, results, strict=True))
        return drawn

    def _fill_constants(self, values: dict[Key, NDArray]) -> Key:
        train = bool(recording.mode.get() & recording.TRAINING)
        with self.context:
            results = interpreter.evaluate(specialize([], self._heads, [], train=train), [])
        values.update((v.key, result) for v, result in zip(self.outputs, results, strict=True))
        return (0, 0)

    def monitored(self, values: dict[Key, NDArray], hook: tuple[Monitor, bool]) -> None:
        """Compute the outputs operator by operator, and report each result to ``hook``."""
        inputs = self._gathered(values)
        train = bool(recording.mode.get() & recording.TRAINING)
        graph = specialize(self._nodes, self._heads, [x._spec for x in inputs], train=train)
        with self.context:
            results = interpreter.evaluate(graph, inputs, monitor=hook, variables=True)
        values.update((v.key, result) for v, result in zip(self.outputs, results, strict=True))

    def _gathered(self, values: Mapping[Key, NDArray]) -> list[NDArray]:
        return [values[value.key].as_in_context(self.context) for value in self.inputs]


def _split(
    outputs: Sequence[Value], context_of: Callable[[Node], Context]
) -> list[tuple[Context, list[Value], list[Value]]]:
    """Return device, inputs and outputs of each subgraph, in execution order."""
    order = topological_order(outputs)
    subgraph_of = _assignments(order, context_of)
    subgraphs: dict[tuple[int, Context], list[Node]] = {}
    for node in order:
        if id(node) in subgraph_of:
            subgraphs.setdefault(subgraph_of[id(node)], []).append(node)
    needed = {value.key for value in outputs if value.node.op is not None}
    for node in order:
        if node.op is not None:
            assigned = subgraph_of[id(node)]
            needed |= {
                x.key for x in node.inputs if subgraph_of.get(id(x.node), assigned) != assigned
            }
    found = []
    for assigned in sorted(subgraphs, key=lambda assigned: assigned[0]):
        nodes = subgraphs[assigned]
        reads = {x.key: x for node in nodes for x in node.inputs if x.node.array is None}
        inputs = [x for x in reads.values() if subgraph_of.get(id(x.node)) != assigned]
        results = [
            Value(node, i)
            for node in nodes
            for i in range(node.num_outputs)
            if (id(node), i) in needed
        ]
        found.append((assigned[1], inputs, results))
    return found


def _assignments(
    order: Sequence[Node], context_of: Callable[[Node], Context]
) -> dict[int, tuple[int, Context]]:
    """Return the subgraph of each operator node, as its level and device.

    An edge to another device leads to the next level, so that subgraphs have no cycles.
    """
    subgraph_of: dict[int, tuple[int, Context]] = {}
    for node in order:
        if node.op is None:
            continue
        context = context_of(node)
        level = 0
        for value in node.inputs:
            before = subgraph_of.get(id(value.node))
            if before is not None:
                level = max(level, before[0] + (before[1] != context))
        subgraph_of[id(node)] = (level, context)
    return subgraph_of


def _copied(outputs: Sequence[Value], replaced: Mapping[Key, Value]) -> list[Value]:
    """Return copies of the outputs that read the values in ``replaced``."""
    made: dict[Key, Value] = dict(replaced)
    stack = [value.node for value in outputs]
    while stack:
        node = stack[-1]
        missing = (
            [] if (id(node), 0) in made else [x.node for x in node.inputs if x.key not in made]
        )
        if missing:
            stack += missing
            continue
        stack.pop()
        if (id(node), 0) in made:
            continue
        if node.op is None:
            made[id(node), 0] = Value(node)
            continue
        copy = Node(
            node.op,
            node.name,
            [made[x.key] for x in node.inputs],
            node.attrs,
            extra=node.extra,
            given=node.given,
        )
        made.update({(id(node), i): Value(copy, i) for i in range(node.num_outputs)})
    return [made[value.key] for value in outputs]
