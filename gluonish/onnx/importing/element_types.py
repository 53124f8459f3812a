"""Element types of all values of a program, by ONNX's descriptions of the operators.

A description names types of inputs and outputs by variables: ``Add`` takes two arrays of ``T`` and
returns one of ``T``. Two inputs of one variable and of two types break ONNX's rules, although
arrays here could be added. A value whose type the descriptions leave open (the output of a Cast, of
a function, of a Loop) has none here, and is compared with nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from gluonish.core.errors import FileFormatError
from gluonish.onnx.importing.elements import ELEMENTS, Element
from gluonish.onnx.importing.functions import FunctionRule
from gluonish.onnx.importing.nodes import Node
from gluonish.onnx.importing.package import schema_of
from gluonish.onnx.importing.running import Program

_BY_WORD = {f"tensor({entry.name.lower()})": entry for entry in ELEMENTS.values()}


def check_element_types(program: Program, inputs: Mapping[str, Element]) -> dict[str, Element]:
    """Return the known types of a graph's values.

    Args:
        program: The graph.
        inputs: Known types of its inputs and of outer values.

    Raises:
        FileFormatError: A node has inputs of two types, where ONNX requires one; or the graph says
            another type of an output, or of an input with a value, than it has.
    """
    known = dict(inputs)
    for name, stored in program.constants.items():
        if known.setdefault(name, stored.element) != stored.element:
            raise _wrong(f"input {name!r}", known[name], stored.element)
    for node in program.nodes:
        for value in node.attrs.values():
            if isinstance(value, Program):
                check_element_types(value, _without(known, value.inputs))
        known.update(_outputs_of(node, known))
    for value in program.declared:
        name, number = value.name, value.type.tensor_type.elem_type
        found = known.get(name)
        if found is not None and number in ELEMENTS and ELEMENTS[number] != found:
            raise _wrong(f"output {name!r}", ELEMENTS[number], found)
    return known


def _without(known: Mapping[str, Element], names: Any) -> dict[str, Element]:
    """Return types without names that an inner graph shadows by its inputs."""
    hidden = {*names}
    return {name: kind for name, kind in known.items() if name not in hidden}


def _outputs_of(node: Node, known: Mapping[str, Element]) -> dict[str, Element]:
    """Return the types of a node's outputs, if they follow from its inputs.

    Raises:
        FileFormatError: The inputs have two types, where ONNX requires one.
    """
    if isinstance(node.rule, FunctionRule):
        body = node.rule.program
        given = {a: known[b] for a, b in zip(body.inputs, node.inputs, strict=False) if b in known}
        inner = check_element_types(body, given)
        pairs = zip(node.outputs, body.outputs, strict=False)
        return {outer: inner[name] for outer, name in pairs if outer and name in inner}
    schema = schema_of(node.kind, node.domain, node.version)
    if schema is None:
        return {}
    bound = _bound(node, schema, known)
    outputs = zip(node.outputs, _formals(schema.outputs), strict=False)
    kinds = {
        name: _BY_WORD.get(formal.type_str) or bound.get(formal.type_str)
        for name, formal in outputs
        if name and formal.is_homogeneous
    }
    return {name: kind for name, kind in kinds.items() if kind is not None}


def _bound(node: Node, schema: Any, known: Mapping[str, Element]) -> dict[str, Element]:
    """Return the types of a description's type variables in a node.

    Raises:
        FileFormatError: The inputs have two types, where ONNX requires one.
    """
    bound = dict(_fixed(schema))
    givers: dict[str, str] = {}
    for name, formal in zip(node.inputs, _formals(schema.inputs), strict=False):
        found, variable = known.get(name), formal.type_str
        if found is None or not formal.is_homogeneous or variable in _BY_WORD:
            continue
        giver = givers.setdefault(variable, name)
        if bound.setdefault(variable, found) != found and giver != name:
            raise FileFormatError(
                f"{node.where}: expected inputs of one element type, got {bound[variable].name} "
                f"{giver!r} and {found.name} {name!r}"
            )
    return bound


def _fixed(schema: Any) -> Iterator[tuple[str, Element]]:
    """Return the type variables with a single allowed type."""
    for constraint in schema.type_constraints:
        words = list(constraint.allowed_type_strs)
        if len(words) == 1 and words[0] in _BY_WORD:
            yield constraint.type_param_str, _BY_WORD[words[0]]


def _formals(formals: Any) -> Iterator[Any]:
    """Return descriptions of inputs or outputs; the last one without end if it takes several."""
    yield from formals
    while formals and formals[-1].option == type(formals[-1].option).Variadic:
        yield formals[-1]


def _wrong(what: str, expected: Element, found: Element) -> FileFormatError:
    return FileFormatError(
        f"ONNX graph: expected {expected.name} for {what}, as the graph says, got {found.name}"
    )
