"""PlacedGraph: a graph whose nodes lie on several devices, cut into parts that run on one each.

A part is as many nodes of one device as can run without another device's results in between. What
one part reads of another is copied in between; the copies are recorded like any others, so that
gradients find their way back over them.
"""

from collections.abc import Callable, Mapping, Sequence

from gluonish.core.context import Context
from gluonish.core.spec import Spec
from gluonish.graph import interpreter
from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import Monitor
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray

Key = tuple[int, int]
# Where each part's random numbers started.
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
        place: Function that returns the device of an operator node.
        name: Name of the graph, for engine jobs and messages.

    Attributes:
        output_specs: Specs of the outputs found so far, by the specs of the variables.
    """

    def __init__(
        self,
        variables: Sequence[Node],
        outputs: Sequence[Value],
        place: Callable[[Node], Context],
        name: str,
    ) -> None:
        self.output_specs: dict[tuple[Spec, ...], list[Spec]] = {}
        self._variables = [Value(node).key for node in variables]
        self._outputs = tuple(outputs)
        found = _cut(outputs, place)
        self._parts = [
            _Part(context, inputs, results, f"{name}_{context}" if len(found) > 1 else name)
            for context, inputs, results in found
        ]
        self._constants = {
            value.key: value.node.array for value in outputs if value.node.array is not None
        }

    def contexts(self) -> dict[Key, Context]:
        """Return the device of each value: of the first part that reads it, and of each output."""
        found: dict[Key, Context] = {}
        for part in self._parts:
            for value in part.inputs:
                found.setdefault(value.key, part.context)
            found.update((value.key, part.context) for value in part.outputs)
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
            Handles of the outputs, linked to the tape if the call was recorded, and the random
            state at its start.
        """
        values = self._constants | dict(zip(self._variables, arrays, strict=True))
        handles: dict[Key, NDArray] = {}
        for value, output in zip(self._outputs, outputs, strict=True):
            handles.setdefault(value.key, output.detach())
        drawn = []
        for i, part in enumerate(self._parts):
            drawn.append(part.fill(values, handles, None if keys is None else keys[i]))
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
        for part in self._parts:
            part.monitored(values, hook)
        return self._delivered(values, outputs)

    def _delivered(
        self, values: Mapping[Key, NDArray], outputs: Sequence[NDArray]
    ) -> list[NDArray]:
        """Return the outputs' handles; copy those that were computed elsewhere."""
        delivered = []
        for value, output in zip(self._outputs, outputs, strict=True):
            handle = values[value.key]
            if handle._var is not output._var:
                handle.detach().copyto(output)
            delivered.append(handle)
        return delivered


class _Part:
    """What runs on one device without a break.

    Attributes:
        context: The device.
        inputs: Values that it reads: variables and other parts' outputs.
        outputs: Values that others read or that are outputs of the whole.
    """

    def __init__(
        self, context: Context, inputs: Sequence[Value], outputs: Sequence[Value], name: str
    ) -> None:
        self.context = context
        self.inputs = inputs
        self.outputs = outputs
        stands_for = {
            value.key: value if value.node.op is None else Value(Node(None, f"input{i}"))
            for i, value in enumerate(inputs)
        }
        self._nodes = [stands_for[value.key].node for value in inputs]
        self._heads = _restarted(outputs, stands_for)
        self._cached = CachedGraph(self._nodes, self._heads, static_alloc=True, name=name)

    def fill(
        self, values: dict[Key, NDArray], handles: Mapping[Key, NDArray], key: Key | None
    ) -> Key:
        """Compute the part's outputs: into ``handles``, or into new arrays."""
        if not self._nodes:
            return self._fill_constants(values)
        targets = [handles.get(value.key) for value in self.outputs]
        here = [y if y is not None and y.context == self.context else None for y in targets]
        results, drawn = self._cached.fill(self._gathered(values), here, key)
        values.update((v.key, result) for v, result in zip(self.outputs, results, strict=True))
        return drawn

    def _fill_constants(self, values: dict[Key, NDArray]) -> Key:
        train = bool(recording.mode.get() & recording.TRAINING)
        with self.context:
            results = interpreter.evaluate(specialize([], self._heads, [], train=train), [])
        values.update((v.key, result) for v, result in zip(self.outputs, results, strict=True))
        return (0, 0)

    def monitored(self, values: dict[Key, NDArray], hook: tuple[Monitor, bool]) -> None:
        """Compute the part's outputs operator by operator."""
        inputs = self._gathered(values)
        train = bool(recording.mode.get() & recording.TRAINING)
        graph = specialize(self._nodes, self._heads, [x._spec for x in inputs], train=train)
        with self.context:
            results = interpreter.evaluate(graph, inputs, monitor=hook, variables=True)
        values.update((v.key, result) for v, result in zip(self.outputs, results, strict=True))

    def _gathered(self, values: Mapping[Key, NDArray]) -> list[NDArray]:
        return [values[value.key].as_in_context(self.context) for value in self.inputs]


def _cut(
    outputs: Sequence[Value], place: Callable[[Node], Context]
) -> list[tuple[Context, list[Value], list[Value]]]:
    """Return the parts in an order in which they can run: device, inputs and outputs of each."""
    order = topological_order(outputs)
    homes = _homes(order, place)
    parts: dict[tuple[int, Context], list[Node]] = {}
    for node in order:
        if id(node) in homes:
            parts.setdefault(homes[id(node)], []).append(node)
    wanted = {value.key for value in outputs if value.node.op is not None}
    for node in order:
        if node.op is not None:
            home = homes[id(node)]
            wanted |= {x.key for x in node.inputs if homes.get(id(x.node), home) != home}
    found = []
    for home in sorted(parts, key=lambda home: home[0]):
        nodes = parts[home]
        reads = {x.key: x for node in nodes for x in node.inputs if x.node.array is None}
        inputs = [x for x in reads.values() if homes.get(id(x.node)) != home]
        results = [
            Value(node, i)
            for node in nodes
            for i in range(node.num_outputs)
            if (id(node), i) in wanted
        ]
        found.append((home[1], inputs, results))
    return found


def _homes(
    order: Sequence[Node], place: Callable[[Node], Context]
) -> dict[int, tuple[int, Context]]:
    """Return the part of each operator node: a level, and the device.

    A step to another device is a step to the next level, so that parts never wait for each other.
    """
    homes: dict[int, tuple[int, Context]] = {}
    for node in order:
        if node.op is None:
            continue
        context = place(node)
        level = 0
        for value in node.inputs:
            before = homes.get(id(value.node))
            if before is not None:
                level = max(level, before[0] + (before[1] != context))
        homes[id(node)] = (level, context)
    return homes


def _restarted(outputs: Sequence[Value], stands_for: Mapping[Key, Value]) -> list[Value]:
    """Return copies of values over a graph that begins at the stand-ins."""
    made: dict[Key, Value] = dict(stands_for)
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
