"""foreach, while_loop and cond on values of graphs: their functions become bodies of a node.

What the two kinds of graph values, Symbols and values with shapes, have in common is here; a `Face`
knows what differs.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from gluonish.core.errors import ArgumentError
from gluonish.graph.body import Body
from gluonish.graph.body_cut import CutBody, cut_body
from gluonish.graph.ir import Node, Value
from gluonish.graph.pytree import Constant, Keys, flatten, regroup
from gluonish.ndarray.control_flow import check_pair
from gluonish.ops.control_flow.branch import COND
from gluonish.ops.control_flow.foreach import FOREACH
from gluonish.ops.control_flow.while_loop import WHILE_LOOP
from gluonish.ops.registry import Attrs, Operator

_MARK = "__subgraph_name__"


class Face(Protocol):
    """A kind of graph values.

    Attributes:
        kind: Their class.
    """

    kind: type

    def unique(self, name: str) -> str:
        """Return a name for a new body."""
        raise NotImplementedError

    def scope(self, name: str) -> AbstractContextManager[Any]:
        """Return a scope in which nodes are marked as parts of the body of that name."""
        raise NotImplementedError

    def loop_variable(self, value: Value, *, sliced: bool) -> Any:
        """Return a new variable for one iteration's slice of a value, or for all of it."""
        raise NotImplementedError

    def value(self, x: Any) -> Value:
        """Return the graph's value of one of theirs."""
        raise NotImplementedError

    def parts(self, x: Any) -> Sequence[Any]:
        """Return the values that one of theirs stands for: a Symbol may be several."""
        raise NotImplementedError

    def copy(self, x: Any) -> Any:
        """Return a new node's value that is the same."""
        raise NotImplementedError

    def key(self, value: Value) -> Any:
        """Return what values that come from outside share where they are one input."""
        raise NotImplementedError

    def name_of(self, value: Value) -> str:
        """Return the name of a value."""
        raise NotImplementedError

    def node(self, op: Operator, inputs: Sequence[Value], attrs: Attrs) -> list[Any]:
        """Return the visible outputs of a new node."""
        raise NotImplementedError


class _Traced(NamedTuple):
    """A traced function: its body, and how its results were nested."""

    cut: CutBody
    variables: list[Node]
    structures: list[Any]
    counts: list[int]
    name: str


def _trace(
    face: Face,
    function: Callable[..., Any],
    variables: Sequence[tuple[Value, bool]],
    name: str,
    call: Callable[[Callable[..., Any], list[Any]], Sequence[Any]],
) -> _Traced:
    """Run a function on new variables and cut out what it traced.

    Args:
        face: The kind of values.
        variables: What the variables stand for, and whether for one slice of it.
        name: The scope's name; a number is put behind it.
        call: Calls the function on the variables; returns its results in groups.
    """
    name = face.unique(name)
    with face.scope(name):
        made = [face.loop_variable(value, sliced=sliced) for value, sliced in variables]
        groups = call(function, made)
        leaves, structures, counts = [], [], []
        for group in groups:
            found, structure = _flat(face, group)
            leaves.append(found)
            structures.append(structure)
            counts.append(len(found))
        results = _distinct(face, leaves, name)
    own = [face.value(x).node for x in made]
    cut = cut_body(results, own, lambda node: node.extra.get(_MARK) == name, face.name_of)
    return _Traced(cut, own, structures, counts, name)


def _distinct(face: Face, groups: Sequence[Sequence[Any]], name: str) -> list[Value]:
    """Return results that are nodes of the body.

    Variables and what was computed outside are copied; so are states of a node of outputs.
    """
    taken: set[str] = set()
    results = []
    for group in groups:
        values = [face.value(x) for x in group]
        for x, value in zip(group, values, strict=True):
            node = value.node
            inside = node.op is not None and node.extra.get(_MARK) == name
            if inside and node.name not in taken:
                results.append(value)
            else:
                results.append(face.value(face.copy(x)))
        taken |= {value.node.name for value in values}
    return results


def _check_used(what: str, traced: _Traced, variables: Sequence[Node]) -> None:
    used = {id(node) for node in traced.cut.inputs}
    for i, node in enumerate(variables):
        if id(node) not in used:
            raise ArgumentError(
                f"{what}: expected a function that uses all of its arguments, got "
                f"one that leaves out argument {i} ({node.name})"
            )


def _values(face: Face, what: str, arrays: Any) -> tuple[list[Value], Any]:
    leaves, structure = _flat(face, arrays)
    if _has_constants(structure):
        raise ArgumentError(
            f"{what}: expected {face.kind.__name__}s or nested lists of them, got {arrays!r}"
        )
    return [face.value(x) for x in leaves], structure


def _flat(face: Face, group: Any) -> tuple[list[Any], Any]:
    return flatten(_widened(face, group), lambda x: isinstance(x, face.kind))


def _widened(face: Face, group: Any) -> Any:
    """Return a nesting with lists in place of what stands for several values."""
    if isinstance(group, face.kind):
        parts = face.parts(group)
        return group if len(parts) == 1 else list(parts)
    if isinstance(group, list | tuple):
        return type(group)(_widened(face, item) for item in group)
    return group


def _has_constants(structure: Any) -> bool:
    if structure is None:
        return False
    return isinstance(structure, Constant) or any(map(_has_constants, structure[1]))


def foreach(face: Face, body: Callable[..., Any], data: Any, init_states: Any, name: str) -> Any:
    """Return outputs and final states of a body that runs on each slice of the data.

    Args:
        face: The kind of values.
        body: ``body(data, states)`` returns outputs and new states.
        data: A value, or a nested list of values, cut along axis 0.
        init_states: States before the first slice, likewise.
        name: What the body is called.

    Raises:
        ArgumentError: The states change their nesting, or data or a state is not used.
    """
    given, data_structure = _values(face, "foreach", data)
    states, state_structure = _values(face, "foreach", init_states)
    if not given:
        raise ArgumentError("foreach: expected data, got none")

    def call(function: Callable[..., Any], made: list[Any]) -> Sequence[Any]:
        slices = regroup(made[: len(given)], data_structure)
        return check_pair("foreach", function(slices, regroup(made[len(given) :], state_structure)))

    variables = [*((x, True) for x in given), *((x, False) for x in states)]
    traced = _trace(face, body, variables, name, call)
    if traced.counts[1] != len(states):
        raise ArgumentError(
            f"foreach: expected a body that returns {len(states)} states, got {traced.counts[1]}"
        )
    _check_used("foreach", traced, traced.variables)
    places = {id(node): i for i, node in enumerate(traced.cut.inputs)}
    locations = [places[id(node)] for node in traced.variables]
    rest = [node for node in traced.cut.inputs if id(node) in traced.cut.free]
    attrs = {
        "num_args": 1 + len(traced.cut.inputs),
        "num_outputs": sum(traced.counts),
        "num_out_data": traced.counts[0],
        "in_state_locs": tuple(locations[len(given) :]),
        "in_data_locs": tuple(locations[: len(given)]),
        "remain_locs": tuple(places[id(node)] for node in rest),
        "subgraphs": (Body([*traced.variables, *rest], traced.cut.outputs, traced.name),),
    }
    free = [traced.cut.free[id(node)] for node in rest]
    results = face.node(FOREACH, [*given, *states, *free], attrs)
    return _regrouped(results, traced)


def _regrouped(results: list[Any], traced: _Traced) -> tuple[Any, Any]:
    outs = traced.counts[0]
    first, second = (_listed(structure) for structure in traced.structures)
    return regroup(results[:outs], first), regroup(results[outs:], second)


def _listed(structure: Any) -> Any:
    """Return a nesting with lists for tuples, as MXNet gives results."""
    if structure is None or isinstance(structure, Constant):
        return structure
    kind, inner = structure
    return (kind if isinstance(kind, Keys) else list, tuple(_listed(part) for part in inner))


class _Inputs:
    """The inputs of a node whose bodies share some."""

    def __init__(self, face: Face) -> None:
        self._face = face
        self.values: list[Value] = []
        self._places: dict[Any, int] = {}

    def places(self, traced: _Traced, outer: Sequence[Value]) -> list[int]:
        """Return where each input of a body stands, adding those that are new.

        Args:
            traced: The body.
            outer: What its loop variables stand for.
        """
        numbers = {id(node): i for i, node in enumerate(traced.variables)}
        places = []
        for node in traced.cut.inputs:
            number = numbers.get(id(node))
            value = traced.cut.free[id(node)] if number is None else outer[number]
            key = self._face.key(value) if number is None else number
            if key not in self._places:
                self._places[key] = len(self.values)
                self.values.append(value)
            places.append(self._places[key])
        return places


def while_loop(
    face: Face,
    condition: Callable[..., Any],
    function: Callable[..., Any],
    loop_vars: Any,
    max_iterations: int | None,
    name: str,
) -> Any:
    """Return stacked outputs and final variables of a function that runs while a condition holds.

    Args:
        face: The kind of values.
        condition: ``condition(*loop_vars)`` returns one number.
        function: ``function(*loop_vars)`` returns outputs and new variables.
        loop_vars: The variables, a value or a list of values.
        max_iterations: The most iterations.
        name: What the bodies are called.

    Raises:
        ArgumentError: There is no limit or no variable, or the variables change their number.
    """
    if max_iterations is None:
        raise ArgumentError("while_loop: expected max_iterations, got none")
    outer, structure = _values(face, "while_loop", loop_vars)
    if not outer:
        raise ArgumentError("while_loop: expected at least one loop variable, got none")

    def unpack(made: list[Any]) -> Sequence[Any]:
        nested = regroup(made, structure)
        return nested if isinstance(nested, list | tuple) else [nested]

    variables = [(x, False) for x in outer]
    tested = _trace(face, condition, variables, f"{name}_cond", lambda f, made: [f(*unpack(made))])
    if tested.counts != [1]:
        raise ArgumentError(
            f"while_loop: expected a condition that returns one value, got {tested.counts[0]}"
        )
    traced = _trace(
        face,
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
    inputs = _Inputs(face)
    positions = {id(node): i for i, node in enumerate(traced.cut.inputs)}
    attrs = {
        "num_outputs": sum(traced.counts),
        "num_out_data": traced.counts[0],
        "max_iterations": int(max_iterations),
        "cond_input_locs": tuple(inputs.places(tested, outer)),
        "func_input_locs": tuple(inputs.places(traced, outer)),
        "func_var_locs": tuple(positions[id(node)] for node in traced.variables),
        "subgraphs": (_body(tested), _body(traced)),
    }
    attrs["num_args"] = 2 + len(inputs.values)
    results = face.node(WHILE_LOOP, inputs.values, attrs)
    return _regrouped(results, traced._replace(structures=[traced.structures[0], structure]))


def _body(traced: _Traced) -> Body:
    return Body(traced.cut.inputs, traced.cut.outputs, traced.name)


def cond(
    face: Face,
    pred: Any,
    then_func: Callable[[], Any],
    else_func: Callable[[], Any],
    name: str,
) -> Any:
    """Return what one of two functions gives, as a value says.

    Args:
        face: The kind of values.
        then_func: Called without arguments; what it gives where ``pred`` is not 0.
        else_func: The same where it is 0.
        name: What the bodies are called.

    Raises:
        ArgumentError: The functions give different numbers of values.
    """
    tested = _trace(face, lambda: pred, (), f"{name}_pred", lambda f, _: [f()])
    then = _trace(face, then_func, (), f"{name}_then", lambda f, _: [f()])
    otherwise = _trace(face, else_func, (), f"{name}_else", lambda f, _: [f()])
    if then.counts != otherwise.counts:
        raise ArgumentError(
            "cond: expected both functions to return the same number of values, got "
            f"{then.counts[0]} and {otherwise.counts[0]}"
        )
    inputs = _Inputs(face)
    attrs: dict[str, Any] = {
        "num_outputs": then.counts[0],
        "cond_input_locs": tuple(inputs.places(tested, ())),
        "then_input_locs": tuple(inputs.places(then, ())),
        "else_input_locs": tuple(inputs.places(otherwise, ())),
        "subgraphs": (_body(tested), _body(then), _body(otherwise)),
    }
    attrs["num_args"] = 3 + len(inputs.values)
    results = face.node(COND, inputs.values, attrs)
    return regroup(results, _listed(then.structures[0]))
