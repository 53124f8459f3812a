"""Element types of a program's values, inferred and checked by ONNX's schemas of the operators.

A schema describes types by variables: ``Add`` has two inputs of type ``T`` and an output of type
``T``. Inputs of the same variable but different types violate ONNX's rules, although gluonish's
arrays could be added. Where a schema does not determine a type (the output of a Cast, of a Loop),
the value has no known type and is not checked.
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
    """Infer and check the types of a graph's values, and return the known ones.

    Args:
        program: The graph.
        inputs: Known types of the graph's inputs and of values of enclosing graphs.

    Raises:
        FileFormatError: A node has inputs of two types, where ONNX requires one; or the declared
            type of an output, or of an input with a value, is not the actual one.
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
    """Return types without those of names that the inputs of an inner graph shadow."""
    hidden = {*names}
    return {name: kind for name, kind in known.items() if name not in hidden}


def _outputs_of(node: Node, known: Mapping[str, Element]) -> dict[str, Element]:
    """Return the types of a node's outputs, as far as its inputs determine them.

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
    """Return the types that a schema's type variables have in a node.

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
    """Yield type variables of a schema that allow a single type, with this type."""
    for constraint in schema.type_constraints:
        words = list(constraint.allowed_type_strs)
        if len(words) == 1 and words[0] in _BY_WORD:
            yield constraint.type_param_str, _BY_WORD[words[0]]


def _formals(formals: Any) -> Iterator[Any]:
    """Yield descriptions of inputs or outputs; a variadic last one is repeated without end."""
    yield from formals
    while formals and formals[-1].option == type(formals[-1].option).Variadic:
        yield formals[-1]


def _wrong(what: str, expected: Element, found: Element) -> FileFormatError:
    return FileFormatError(
        f"ONNX graph: expected {expected.name} for {what}, as the graph says, got {found.name}"
    )
