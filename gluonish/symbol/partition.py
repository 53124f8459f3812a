"""Partitioning of a graph for a user's back end, which selects and replaces subgraphs."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gluonish.core.errors import GluonishError, GraphError
from gluonish.core.spec import UNKNOWN, PartialSpec
from gluonish.graph.clusters import Cluster, find_clusters, replace_clusters
from gluonish.graph.dynamic import is_dynamic
from gluonish.graph.inference import Inference, infer
from gluonish.graph.interpreter import output_names
from gluonish.graph.ir import Node, Value, topological_order, variable
from gluonish.ndarray.ndarray import NDArray
from gluonish.symbol.composition import replaced
from gluonish.symbol.subgraph import OperatorNode, Subgraph, SubgraphBackend, make_backend
from gluonish.symbol.subgraph_call import function_node
from gluonish.symbol.symbol import Symbol

# Adds a new parameter, and returns its name in the graph.
AddParameter = Callable[[str, NDArray], str]


def partition(
    function: str,
    values: Sequence[Value],
    name: str,
    options: Mapping[str, Any],
    known: Mapping[str, PartialSpec] | None,
    arrays: Mapping[str, NDArray],
    add: AddParameter,
) -> list[Value]:
    """Return a graph's outputs after a back end has replaced subgraphs.

    Args:
        function: Name of the calling function, for error messages.
        values: Outputs of the graph.
        name: Registered name of the back end.
        options: Arguments of its constructor.
        known: Known shapes and dtypes of variables, by name; None to infer nothing.
        arrays: Values of parameters, by name.
        add: Called with the name and value of each new parameter.

    Raises:
        ArgumentError: There is no such back end, or it does not accept the options.
        GraphError: The back end fails or its replacement does not fit. The message names the nodes.
    """
    backend = make_backend(function, name, options)
    values = _hooked(function, name, backend, "begin", values)
    work = _Partition(function, name, backend, values, known, arrays, add)
    return _hooked(function, name, backend, "end", work.run())


def _hooked(
    function: str, name: str, backend: SubgraphBackend, hook: str, values: Sequence[Value]
) -> list[Value]:
    """Return a graph's outputs after `begin` or `end` of the back end."""
    graph = Symbol(values)
    made = _called(function, name, hook, "the graph", lambda: getattr(backend, hook)(graph))
    if made is None:
        return list(values)
    if not isinstance(made, Symbol) or len(made) != len(graph):
        raise GraphError(
            f"{function}: expected {hook} of backend {name!r} to return None or a Symbol of "
            f"{len(graph)} outputs, got {made!r}"
        )
    return list(made._values)


def _called(function: str, name: str, method: str, where: str, call: Callable[[], Any]) -> Any:
    """Call a method of the user's back end; errors name the method and the back end."""
    try:
        return call()
    except GluonishError as error:
        raise GraphError(f"{function}: {method} of backend {name!r} at {where}: {error}") from error
    except Exception as error:
        raise GraphError(
            f"{function}: {method} of backend {name!r} failed at {where}: {error!r}"
        ) from error


class _Partition:
    """Partitions one graph for one back end; takes the arguments of `partition`."""

    def __init__(
        self,
        function: str,
        name: str,
        backend: SubgraphBackend,
        values: Sequence[Value],
        known: Mapping[str, PartialSpec] | None,
        arrays: Mapping[str, NDArray],
        add: AddParameter,
    ) -> None:
        self._function = function
        self._name = name
        self._backend = backend
        self._values = values
        self._arrays = arrays
        self._add = add
        self._nodes = topological_order(values)
        self._inference = Inference(self._nodes, {}) if known is None else infer(values, known)
        self._operators = {
            id(node): self._view(node) for node in self._nodes if node.op is not None
        }
        self._count = 0

    def run(self) -> list[Value]:
        """Return the outputs of the graph after all replacements."""
        clusters = find_clusters(
            self._nodes,
            lambda node: self._select("select", node),
            lambda node, other: self._select("select_input", node, other),
            lambda node, other: self._select("select_output", node, other),
        )
        return replace_clusters(self._values, clusters, self._replace)

    def _select(self, method: str, *nodes: Node) -> bool:
        operators = [self._operators[id(node)] for node in nodes]
        where = ", ".join(node.name for node in nodes)
        return bool(self._call(method, where, lambda: getattr(self._backend, method)(*operators)))

    def _call(self, method: str, where: str, call: Callable[[], Any]) -> Any:
        return _called(self._function, self._name, method, where, call)

    def _view(self, node: Node) -> OperatorNode:
        assert node.op is not None
        found = [self._inference.spec(Value(node, i)) for i in range(node.num_visible)]
        return OperatorNode(
            node.name,
            node.op.name,
            node.attrs,
            node.extra,
            output_names(node.inputs),
            tuple(self._shape(value) for value in node.inputs),
            tuple(_complete(spec) for spec in found),
            tuple(None if spec.dtype is None else spec.dtype.type for spec in found),
        )

    def _shape(self, value: Value) -> tuple[int, ...] | None:
        return _complete(self._inference.spec(value))

    def _replace(
        self, cluster: Cluster, reads: Sequence[Value], results: Sequence[Value]
    ) -> Callable[[Sequence[Value]], Sequence[Value]] | None:
        names = _unique(output_names(reads))
        subgraph = self._subgraph(cluster, dict(zip(names, reads, strict=True)), results)
        where = f"{subgraph.name} ({', '.join(node.name for node in cluster.nodes)})"
        made = self._call("replace", where, lambda: self._backend.replace(subgraph))
        if made is None:
            return None
        if isinstance(made, Symbol):
            self._check(made, subgraph, where)
            return lambda inputs: _inlined(made, dict(zip(names, inputs, strict=True)))
        self._check_function(made, subgraph, where)

        def call(inputs: Sequence[Value]) -> Sequence[Value]:
            by_name = dict(zip(names, inputs, strict=True))
            listed = [by_name[name] for name in subgraph.inputs]
            node = function_node(subgraph, self._name, made, listed)
            return [Value(node, i) for i in range(len(results))]

        return call

    def _check_function(self, made: Any, subgraph: Subgraph, where: str) -> None:
        function = f"{self._function}: expected replace of backend {self._name!r} to return"
        if not callable(made):
            raise GraphError(f"{function} a Symbol, a function or None for {where}, got {made!r}")
        if is_dynamic(subgraph.symbol._values):
            raise GraphError(
                f"{function} a Symbol or None for {where}, whose shapes depend on values, got a "
                "function; leave such operators out in select"
            )

    def _subgraph(
        self, cluster: Cluster, reads: Mapping[str, Value], results: Sequence[Value]
    ) -> Subgraph:
        copies = {value.key: variable(name) for name, value in reads.items()}
        for value in reads.values():
            if value.node.op is None:
                copies[value.key].node.extra = value.node.extra
        for node in cluster.nodes:
            inputs = [copies[value.key] for value in node.inputs]
            copy = Node(node.op, node.name, inputs, node.attrs, extra=node.extra, given=node.given)
            copies |= {(id(node), i): Value(copy, i) for i in range(node.num_outputs)}
        name = f"{self._name}{self._count}"
        self._count += 1
        constants = {
            key: value.node.array for key, value in reads.items() if value.node.array is not None
        }
        named = {key: value for key, value in reads.items() if value.node.op is None}
        given = {key: self._arrays[key] for key in named if key in self._arrays}
        return Subgraph(
            name,
            Symbol([copies[value.key] for value in results]),
            [self._operators[id(node)] for node in cluster.nodes],
            {**given, **constants},
            {key: self._shape(value) for key, value in reads.items()},
            self._add,
        )

    def _check(self, made: Symbol, subgraph: Subgraph, where: str) -> None:
        """Check the number of outputs of a replacement, and their known shapes."""
        function = f"{self._function}: expected the Symbol of backend {self._name!r} for {where}"
        if len(made) != len(subgraph.symbol):
            raise GraphError(f"{function} to have {len(subgraph.symbol)} outputs, got {len(made)}")
        known = {n: PartialSpec(shape) for n, shape in subgraph.shapes.items() if shape is not None}
        shapes = []
        for symbol in (subgraph.symbol, made):
            found = self._call("replace", where, partial(infer, symbol._values, known))
            shapes.append([_complete(found.spec(value)) for value in symbol._values])
        expected, got = shapes
        pairs = zip(expected, got, strict=True)
        if any(a is not None and b is not None and a != b for a, b in pairs):
            raise GraphError(f"{function} to have outputs of shapes {expected}, got {got}")


def _inlined(made: Symbol, given: Mapping[str, Value]) -> Sequence[Value]:
    """Return a replacement's outputs over the input values ``given``; other variables are new."""
    names = (*made.list_arguments(), *made.list_auxiliary_states())
    return replaced(made, {x: Symbol([given[x]]) for x in names if x in given})._values


def _complete(spec: PartialSpec) -> tuple[int, ...] | None:
    """Return the shape of a spec if it is fully known, else None."""
    return None if spec.shape is None or UNKNOWN in spec.shape else spec.shape


def _unique(names: Sequence[str]) -> list[str]:
    """Return the names, made unique by numbers that are appended to duplicates."""
    made: dict[str, None] = {}
    for name in names:
        free, number = name, 0
        while free in made:
            number += 1
            free = f"{name}_{number}"
        made[free] = None
    return list(made)
