"""foreach, while_loop and cond on graph values: the functions passed become bodies of a node.

This code serves Symbols and values with shapes; a `Frontend` adapts it to each.

Extraction of a control-flow body from the graph that its function was traced into.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from gluonish.core.errors import ArgumentError
from gluonish.core.order import post_order
from gluonish.graph.body import Body
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.graph.pytree import Constant, Keys, flatten, regroup
from gluonish.ndarray.control_flow import check_pair
from gluonish.ops.control_flow.branch import COND
from gluonish.ops.control_flow.while_loop import FOREACH, WHILE_LOOP
from gluonish.ops.registry import Attrs, Operator


class CutBody(NamedTuple):
    """A control-flow body, extracted from the graph that it was traced into.

    Attributes:
        inputs: Variables, depth first, as in files.
        outputs: Outputs of the body.
        free: The outer value of each input, by node id; loop variables have none.
    """

    inputs: list[Node]
    outputs: list[Value]
    free: dict[int, Value]


def cut_body(
    outputs: Sequence[Value],
    loop_variables: Collection[Node],
    inside: Callable[[Node], bool],
    name_of: Callable[[Value], str],
) -> CutBody:
    """Return the subgraph that was traced for a body.

    Outer variables keep their names; a value computed outside becomes a variable with the name of
    the value.

    Args:
        outputs: Results of the traced function.
        loop_variables: The loop variables.
        inside: Function that returns whether an operator node belongs to the body.
        name_of: Function that returns the name of a value.
    """
    made: dict[tuple[int, int], Value] = {}
    free: dict[int, Value] = {}
    variables = {id(node) for node in loop_variables}

    def inner(value: Value) -> Value:
        found = made.get(value.key)
        if found is None:
            specs = value.node.specs
            spec = (value.spec,) if specs else ()
            found = made[value.key] = Value(Node(None, name_of(value), specs=spec))
            free[id(found.node)] = value
        return found

    def before(node: Node) -> list[Node]:
        belongs = node.op is not None and inside(node)
        return [value.node for value in node.inputs] if belongs else []

    for node in post_order([value.node for value in outputs], before):
        if node.op is None:
            made[id(node), 0] = Value(node)
            if node.array is None and id(node) not in variables:
                free[id(node)] = Value(node)
        elif inside(node):
            inputs = [inner(value) for value in node.inputs]
            copy = Node(
                *(node.op, node.name, inputs, node.attrs, node.specs, node.extra), given=node.given
            )
            made.update({(id(node), i): Value(copy, i) for i in range(node.num_outputs)})
    results = [inner(value) for value in outputs]
    variables_in_order = [x for x in topological_order(results) if x.op is None and x.array is None]
    return CutBody(variables_in_order, results, free)


_MARK = "__subgraph_name__"


class Frontend(Protocol):
    """Operations on graph values of the class ``kind``."""

    kind: type

    def unique(self, name: str) -> str:
        """Return a name for a new body."""
        raise NotImplementedError

    def scope(self, name: str) -> AbstractContextManager[Any]:
        """Return a scope in which new nodes are marked as nodes of a body."""
        raise NotImplementedError

    def loop_variable(self, value: Value, *, sliced: bool) -> Any:
        """Return a new variable for a slice of a value, or for the full value."""
        raise NotImplementedError

    def value(self, x: Any) -> Value:
        """Return the graph value of an array."""
        raise NotImplementedError

    def outputs(self, x: Any) -> Sequence[Any]:
        """Return the outputs of an array: a Symbol may have several."""
        raise NotImplementedError

    def copy(self, x: Any) -> Any:
        """Return a copy of a value, computed by a new node."""
        raise NotImplementedError

    def key(self, value: Value) -> Any:
        """Return a key that is equal for outer values that become the same input."""
        raise NotImplementedError

    def name_of(self, value: Value) -> str:
        """Return the name of a value."""
        raise NotImplementedError

    def node(self, op: Operator, inputs: Sequence[Value], attrs: Attrs) -> list[Any]:
        """Return the visible outputs of a new node."""
        raise NotImplementedError


class _Traced(NamedTuple):
    """A traced function: its body, loop variables and name, and the structure of its results."""

    cut: CutBody
    variables: list[Node]
    structures: list[Any]
    counts: list[int]
    name: str


def _trace(
    frontend: Frontend,
    function: Callable[..., Any],
    variables: Sequence[tuple[Value, bool]],
    name: str,
    call: Callable[[Callable[..., Any], list[Any]], Sequence[Any]],
) -> _Traced:
    """Trace a function on new variables, and extract its body.

    Args:
        frontend: Operations on the class of values.
        function: The function to trace.
        variables: Outer value of each variable, and whether the variable is a slice of it.
        name: Name of the scope; a number is appended.
        call: Calls the function on the variables, and returns its results in groups.
    """
    name = frontend.unique(name)
    with frontend.scope(name):
        made = [frontend.loop_variable(value, sliced=sliced) for value, sliced in variables]
        groups = call(function, made)
        leaves, structures, counts = [], [], []
        for group in groups:
            found, structure = _flat(frontend, group)
            leaves.append(found)
            structures.append(structure)
            counts.append(len(found))
        results = _distinct(frontend, leaves, name)
    nodes = [frontend.value(x).node for x in made]
    cut = cut_body(results, nodes, lambda node: node.extra.get(_MARK) == name, frontend.name_of)
    return _Traced(cut, nodes, structures, counts, name)


def _distinct(frontend: Frontend, groups: Sequence[Sequence[Any]], name: str) -> list[Value]:
    """Return a distinct node of the body for each result.

    Variables and outer values are copied, and so are states of a node that also computes outputs.
    """
    used: set[str] = set()
    results = []
    for group in groups:
        values = [frontend.value(x) for x in group]
        for x, value in zip(group, values, strict=True):
            node = value.node
            inside = node.op is not None and node.extra.get(_MARK) == name
            if inside and node.name not in used:
                results.append(value)
            else:
                results.append(frontend.value(frontend.copy(x)))
        used |= {value.node.name for value in values}
    return results


def _check_used(name: str, traced: _Traced, variables: Sequence[Node]) -> None:
    used = {id(node) for node in traced.cut.inputs}
    for i, node in enumerate(variables):
        if id(node) not in used:
            raise ArgumentError(
                f"{name}: expected a function that uses all of its arguments, got "
                f"one that does not use argument {i} ({node.name})"
            )


def _values(frontend: Frontend, name: str, arrays: Any) -> tuple[list[Value], Any]:
    leaves, structure = _flat(frontend, arrays)
    if _has_constants(structure):
        raise ArgumentError(
            f"{name}: expected {frontend.kind.__name__}s or nested lists of them, got {arrays!r}"
        )
    return [frontend.value(x) for x in leaves], structure


def _flat(frontend: Frontend, group: Any) -> tuple[list[Any], Any]:
    return flatten(_widened(frontend, group), lambda x: isinstance(x, frontend.kind))


def _widened(frontend: Frontend, group: Any) -> Any:
    """Return a pytree in which a Symbol with several outputs becomes a list of them."""
    if isinstance(group, frontend.kind):
        outputs = frontend.outputs(group)
        return group if len(outputs) == 1 else list(outputs)
    if isinstance(group, list | tuple):
        return type(group)(_widened(frontend, item) for item in group)
    return group


def _has_constants(structure: Any) -> bool:
    if structure is None:
        return False
    return isinstance(structure, Constant) or any(map(_has_constants, structure[1]))


def foreach(
    frontend: Frontend, body: Callable[..., Any], data: Any, init_states: Any, name: str
) -> Any:
    """Return outputs and final states of a body applied to each slice of the data.

    Args:
        frontend: Operations on the class of values.
        body: ``body(data, states)`` returns outputs and new states.
        data: A value, or a nested list of values, sliced along axis 0.
        init_states: States before the first slice, a value or a nested list.
        name: Name of the body.

    Raises:
        ArgumentError: The states change their nesting, or data or a state is not used.
    """
    sources, data_structure = _values(frontend, "foreach", data)
    states, state_structure = _values(frontend, "foreach", init_states)
    if not sources:
        raise ArgumentError("foreach: expected data, got none")

    def call(function: Callable[..., Any], made: list[Any]) -> Sequence[Any]:
        slices = regroup(made[: len(sources)], data_structure)
        return check_pair(
            "foreach", function(slices, regroup(made[len(sources) :], state_structure))
        )

    variables = [*((x, True) for x in sources), *((x, False) for x in states)]
    traced = _trace(frontend, body, variables, name, call)
    if traced.counts[1] != len(states):
        raise ArgumentError(
            f"foreach: expected a body that returns {len(states)} states, got {traced.counts[1]}"
        )
    _check_used("foreach", traced, traced.variables)
    indices = {id(node): i for i, node in enumerate(traced.cut.inputs)}
    locations = [indices[id(node)] for node in traced.variables]
    free_nodes = [node for node in traced.cut.inputs if id(node) in traced.cut.free]
    attrs = {
        "num_args": 1 + len(traced.cut.inputs),
        "num_outputs": sum(traced.counts),
        "num_out_data": traced.counts[0],
        "in_state_locs": tuple(locations[len(sources) :]),
        "in_data_locs": tuple(locations[: len(sources)]),
        "remain_locs": tuple(indices[id(node)] for node in free_nodes),
        "subgraphs": (Body([*traced.variables, *free_nodes], traced.cut.outputs, traced.name),),
    }
    free = [traced.cut.free[id(node)] for node in free_nodes]
    results = frontend.node(FOREACH, [*sources, *states, *free], attrs)
    return _regrouped(results, traced)


def _regrouped(results: list[Any], traced: _Traced) -> tuple[Any, Any]:
    outs = traced.counts[0]
    first, second = (_listed(structure) for structure in traced.structures)
    return regroup(results[:outs], first), regroup(results[outs:], second)


def _listed(structure: Any) -> Any:
    """Return a structure with lists in place of tuples, as in MXNet's results."""
    if structure is None or isinstance(structure, Constant):
        return structure
    kind, inner = structure
    return (kind if isinstance(kind, Keys) else list, tuple(map(_listed, inner)))


class _Inputs:
    """The inputs of a node whose bodies may share inputs, in order."""

    def __init__(self, frontend: Frontend) -> None:
        self._frontend = frontend
        self.values: list[Value] = []
        self._indices: dict[Any, int] = {}

    def indices(self, traced: _Traced, outer: Sequence[Value]) -> list[int]:
        """Return the index of each input of a body, adding new inputs.

        Args:
            traced: The traced body.
            outer: Outer values of the body's loop variables.
        """
        numbers = {id(node): i for i, node in enumerate(traced.variables)}
        indices = []
        for node in traced.cut.inputs:
            number = numbers.get(id(node))
            value = traced.cut.free[id(node)] if number is None else outer[number]
            key = self._frontend.key(value) if number is None else number
            if key not in self._indices:
                self._indices[key] = len(self.values)
                self.values.append(value)
            indices.append(self._indices[key])
        return indices


def while_loop(
    frontend: Frontend,
    condition: Callable[..., Any],
    function: Callable[..., Any],
    loop_vars: Any,
    max_iterations: int | None,
    name: str,
) -> Any:
    """Return stacked outputs and final variables of a function that runs while a condition holds.

    Args:
        frontend: Operations on the class of values.
        condition: ``condition(*loop_vars)`` returns one number.
        function: ``function(*loop_vars)`` returns outputs and new variables.
        loop_vars: The variables, a value or a list of values.
        max_iterations: Maximum number of iterations.
        name: Name of the bodies.

    Raises:
        ArgumentError: There is no limit or no variable, or the number of variables changes.
    """
    if max_iterations is None:
        raise ArgumentError("while_loop: expected max_iterations, got none")
    outer, structure = _values(frontend, "while_loop", loop_vars)
    if not outer:
        raise ArgumentError("while_loop: expected at least one loop variable, got none")

    def unpack(made: list[Any]) -> Sequence[Any]:
        nested = regroup(made, structure)
        return nested if isinstance(nested, list | tuple) else [nested]

    variables = [(x, False) for x in outer]
    tested = _trace(
        frontend, condition, variables, f"{name}_cond", lambda f, made: [f(*unpack(made))]
    )
    if tested.counts != [1]:
        raise ArgumentError(
            f"while_loop: expected a condition that returns one value, got {tested.counts[0]}"
        )
    traced = _trace(
        frontend,
        function,
        variables,
        f"{name}_func",
        lambda f, made: [
            x if x is not None else [] for x in check_pair("while_loop", f(*unpack(made)))
        ],
    )
    if traced.counts[1] != len(outer):
        raise ArgumentError(
            f"while_loop: expected {len(outer)} loop variables after an iteration, got "
            f"{traced.counts[1]}"
        )
    _check_used("while_loop", traced, traced.variables)
    inputs = _Inputs(frontend)
    positions = {id(node): i for i, node in enumerate(traced.cut.inputs)}
    attrs = {
        "num_outputs": sum(traced.counts),
        "num_out_data": traced.counts[0],
        "max_iterations": int(max_iterations),
        "cond_input_locs": tuple(inputs.indices(tested, outer)),
        "func_input_locs": tuple(inputs.indices(traced, outer)),
        "func_var_locs": tuple(positions[id(node)] for node in traced.variables),
        "subgraphs": (_body(tested), _body(traced)),
    }
    attrs["num_args"] = 2 + len(inputs.values)
    results = frontend.node(WHILE_LOOP, inputs.values, attrs)
    return _regrouped(results, traced._replace(structures=[traced.structures[0], structure]))


def _body(traced: _Traced) -> Body:
    return Body(traced.cut.inputs, traced.cut.outputs, traced.name)


def cond(
    frontend: Frontend,
    pred: Any,
    then_func: Callable[[], Any],
    else_func: Callable[[], Any],
    name: str,
) -> Any:
    """Return the result of one of two functions, selected by a value.

    Args:
        frontend: Operations on the class of values.
        pred: The condition, a scalar.
        then_func: Function without arguments, for a condition that is not 0.
        else_func: Function without arguments, for a condition of 0.
        name: Name of the bodies.

    Raises:
        ArgumentError: The functions return different numbers of values.
    """
    tested = _trace(frontend, lambda: pred, (), f"{name}_pred", lambda f, _: [f()])
    then = _trace(frontend, then_func, (), f"{name}_then", lambda f, _: [f()])
    otherwise = _trace(frontend, else_func, (), f"{name}_else", lambda f, _: [f()])
    if then.counts != otherwise.counts:
        raise ArgumentError(
            "cond: expected both functions to return the same number of values, got "
            f"{then.counts[0]} and {otherwise.counts[0]}"
        )
    inputs = _Inputs(frontend)
    attrs: dict[str, Any] = {
        "num_outputs": then.counts[0],
        "cond_input_locs": tuple(inputs.indices(tested, ())),
        "then_input_locs": tuple(inputs.indices(then, ())),
        "else_input_locs": tuple(inputs.indices(otherwise, ())),
        "subgraphs": (_body(tested), _body(then), _body(otherwise)),
    }
    attrs["num_args"] = 3 + len(inputs.values)
    results = frontend.node(COND, inputs.values, attrs)
    return regroup(results, _listed(then.structures[0]))
