"""Rules for operators that are functions, defined by a model or by ONNX."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gluonish.core.errors import NotSupportedError
from gluonish.onnx.importing.arrays import plain
from gluonish.onnx.importing.elements import element_of
from gluonish.onnx.importing.nodes import Call, Node
from gluonish.onnx.importing.package import onnx_package
from gluonish.onnx.importing.running import Program, run


class _Kind(NamedTuple):
    """The type of an input, which determines the body of an operator.

    Attributes:
        number: ONNX's number of the element type.
        shape: Shape of a tensor; None for a sequence.
    """

    number: int
    shape: tuple[int, ...] | None


class FunctionRule:
    """The rule of a node that calls a function.

    Attributes:
        program: The compiled body of the function.
    """

    takes_narrow = True

    def __init__(self, program: Program) -> None:
        self.program = program

    def __call__(self, call: Call, *inputs: Any) -> tuple[Any, ...]:
        """Run the function and return its outputs."""
        padded = [*inputs, *[None] * (len(self.program.inputs) - len(inputs))]
        return tuple(run(self.program, padded))


class SchemaFunction:
    """The rule of an operator whose body ONNX generates from the types of its inputs.

    Args:
        schema: ONNX's description of the operator.
        proto: The NodeProto.
        node: The same node, as passed to rules.
        compile_function: Compiles a FunctionProto and attributes into a program.
    """

    takes_narrow = True

    def __init__(
        self,
        schema: Any,
        proto: Any,
        node: Node,
        compile_function: Callable[[Any, Mapping[str, Any]], Program],
    ) -> None:
        self._schema, self._proto, self._node = schema, proto, node
        self._compile = compile_function
        self._made: dict[Any, FunctionRule] = {}

    def __call__(self, call: Call, *inputs: Any) -> tuple[Any, ...]:
        """Run the operator and return its outputs.

        Raises:
            NotSupportedError: ONNX defines no body for these types.
        """
        key = tuple([None if x is None else _kind_of(x) for x in inputs])
        rule = self._made.get(key)
        if rule is None:
            rule = self._made[key] = self._rule(key)
        return rule(call, *inputs)

    def _rule(self, key: tuple[_Kind | None, ...]) -> FunctionRule:
        onnx = onnx_package(self._node.where)
        types = [_type(onnx, kind) for kind in key]
        body = self._schema.get_context_dependent_function_with_opset_version(
            self._node.version, self._resolved(onnx).SerializeToString(), types
        )
        if not body:
            raise NotSupportedError(
                f"{self._node.where}: expected an operator that can be expressed here, got one "
                "that cannot for these element types"
            )
        function = onnx.FunctionProto.FromString(body)
        return FunctionRule(self._compile(function, self._node.attrs))

    def _resolved(self, onnx: Any) -> Any:
        """Return the NodeProto with references to attributes of the enclosing function resolved."""
        proto = onnx.NodeProto()
        proto.CopyFrom(self._proto)
        del proto.attribute[:]
        for attribute in self._proto.attribute:
            if not attribute.ref_attr_name:
                proto.attribute.append(attribute)
            elif attribute.name in self._node.attrs:
                value = self._node.attrs[attribute.name]
                proto.attribute.append(onnx.helper.make_attribute(attribute.name, value))
        return proto


def _kind_of(value: Any) -> _Kind:
    if isinstance(value, list):
        return _Kind(element_of(value[0]).number if value else 1, None)
    return _Kind(element_of(value).number, tuple(plain(value).shape))


def _type(onnx: Any, kind: _Kind | None) -> bytes:
    proto = onnx.TypeProto()
    if kind is not None and kind.shape is None:
        proto.sequence_type.elem_type.tensor_type.elem_type = kind.number
    elif kind is not None and kind.shape is not None:
        proto = onnx.helper.make_tensor_type_proto(kind.number, kind.shape)
    found: bytes = proto.SerializeToString()
    return found
