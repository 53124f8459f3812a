"""Nodes and calls as rules read them, and scopes of values."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from gluonish.core.errors import FileFormatError, NotSupportedError
from gluonish.onnx.importing.tensors import dense_of, read_tensor


class Scope:
    """Values by name, during a run of a graph.

    Args:
        outer: The enclosing scope, whose values are visible.
    """

    __slots__ = ("_outer", "_values")

    def __init__(self, outer: "Scope | None" = None) -> None:
        self._outer = outer
        self._values: dict[str, Any] = {}

    def __setitem__(self, name: str, value: Any) -> None:
        self._values[name] = value

    def __getitem__(self, name: str) -> Any:
        scope: Scope | None = self
        while scope is not None:
            if name in scope._values:
                return scope._values[name]
            scope = scope._outer
        raise FileFormatError(f"ONNX graph: expected a value {name!r}, got none of this name")

    def free(self, names: tuple[str, ...]) -> None:
        """Drop values that are no longer needed."""
        for name in names:
            self._values.pop(name, None)


# A function that computes a node: ``rule(call, *inputs)`` returns a value or a tuple.
Rule = Callable[..., Any]
_FLOAT, _INT, _STRING, _TENSOR, _GRAPH, _FLOATS, _INTS, _STRINGS = range(1, 9)
_SPARSE, _TYPE = 11, 13


class Node:
    """A node of a compiled graph.

    Attributes:
        kind: Name of the operator.
        domain: The operator's domain, "" for ONNX's own.
        version: The version of the domain's operators that the model was written for.
        name: Name of the node, "" if it has none.
        inputs: Names of the inputs, "" for an omitted one.
        outputs: Names of the outputs, "" for an omitted one.
        attrs: Attributes by name: numbers, strings, lists, `Stored` tensors, compiled graphs.
        rule: The function that computes the node.
        frees: Names of values that are not needed after the node.
    """

    __slots__ = (
        *("attrs", "domain", "frees", "inputs", "kind", "name", "outputs", "rule"),
        "version",
    )

    def __init__(
        self,
        kind: str,
        domain: str,
        version: int,
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        attrs: Mapping[str, Any],
    ) -> None:
        self.kind, self.domain, self.version, self.name = kind, domain, version, name
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.attrs = attrs
        self.rule: Rule | None = None
        self.frees: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """Describe the node in error messages."""
        kind = f"{self.domain}.{self.kind}" if self.domain else self.kind
        name = self.name or ", ".join(self.outputs)
        return f"ONNX {kind} (node {name!r}, opset {self.version})"


class Call:
    """A call of a rule: the node that it computes, and the enclosing scope.

    Attributes:
        node: The node.
        scope: The values that graphs in the node's attributes may read.
    """

    __slots__ = ("node", "scope")

    def __init__(self, node: Node, scope: "Scope") -> None:
        self.node = node
        self.scope = scope

    @property
    def version(self) -> int:
        """The opset that the node was written for."""
        return self.node.version

    def attr(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or the default if the node lacks it."""
        return self.node.attrs.get(name, default)

    def wants(self, index: int) -> bool:
        """Whether the node has an output of this index."""
        return index < len(self.node.outputs) and self.node.outputs[index] != ""

    def refuse(self, why: str) -> NoReturn:
        """Raise an error: the node is not supported.

        Raises:
            NotSupportedError: Always.
        """
        raise NotSupportedError(f"{self.node.where}: {why}")

    def wrong(self, why: str) -> NoReturn:
        """Raise an error: the file violates ONNX's rules.

        Raises:
            FileFormatError: Always.
        """
        raise FileFormatError(f"{self.node.where}: {why}")


def tidy_domain(domain: str) -> str:
    """Normalize a domain: ONNX's own, "ai.onnx", is ""."""
    return "" if domain == "ai.onnx" else domain


def attributes_of(
    protos: Sequence[Any],
    given: Mapping[str, Any],
    compile_graph: Callable[[Any], Any],
    folder: Path | None,
    where: str,
) -> dict[str, Any]:
    """Convert attributes to Python values.

    Args:
        protos: The AttributeProtos.
        given: Attributes in the call of the enclosing function, to which the node's attributes
            may refer.
        compile_graph: Compiles a graph attribute for rules.
        folder: The folder of the model's file.
        where: The node, for error messages.

    Raises:
        FileFormatError: A tensor is damaged.
        NotSupportedError: An attribute has an unsupported kind.
    """
    found: dict[str, Any] = {}
    for proto in protos:
        if proto.name in found:
            raise FileFormatError(f"{where}: expected one attribute {proto.name!r}, got several")
        if proto.ref_attr_name:
            if proto.ref_attr_name in given:
                found[proto.name] = given[proto.ref_attr_name]
            continue
        what = f"{where}: attribute {proto.name!r}"
        found[proto.name] = _attribute(proto, compile_graph, folder, what)
    return found


def _attribute(
    proto: Any, compile_graph: Callable[[Any], Any], folder: Path | None, what: str
) -> Any:
    kind = proto.type
    if kind == _TENSOR:
        return read_tensor(proto.t, folder, what)
    if kind == _SPARSE:
        return dense_of(proto.sparse_tensor, folder, what)
    if kind == _GRAPH:
        return compile_graph(proto.g)
    simple: dict[int, Callable[[], Any]] = {
        _FLOAT: lambda: proto.f,
        _INT: lambda: proto.i,
        _STRING: lambda: _text(proto.s, what),
        _FLOATS: lambda: list(proto.floats),
        _INTS: lambda: list(proto.ints),
        _STRINGS: lambda: [_text(item, what) for item in proto.strings],
        9: lambda: [read_tensor(item, folder, what) for item in proto.tensors],
        _TYPE: lambda: proto.tp,
    }
    if kind not in simple:
        raise NotSupportedError(
            f"{what}: expected a number, text, tensor or graph, got kind {kind}"
        )
    return simple[kind]()


def _text(data: bytes, what: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{what}: expected text in UTF-8, got {error}") from None
