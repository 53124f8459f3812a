"""Compiles ONNX graphs into programs: sorts the nodes, finds their rules, and checks all names."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gluonish.core.errors import FileFormatError, NotSupportedError
from gluonish.onnx.importing.functions import FunctionRule, SchemaFunction
from gluonish.onnx.importing.nodes import Node, attributes_of, tidy_domain
from gluonish.onnx.importing.package import schema_of
from gluonish.onnx.importing.running import Program, find_rule, reads_of
from gluonish.onnx.importing.tensors import Stored, dense_of, read_tensor

_MAX_DEPTH = 24


class Compiler:
    """Compiles the graphs and functions of a model into programs.

    Args:
        functions: The model's own functions (FunctionProto).
        opsets: The model's operator versions, by domain.
        folder: The folder of the model's file; None without a file.
    """

    def __init__(
        self, functions: Iterable[Any], opsets: Mapping[str, int], folder: Path | None
    ) -> None:
        self._functions: dict[tuple[str, str, str], Any] = {}
        for function in functions:
            key = tidy_domain(function.domain), function.name, getattr(function, "overload", "")
            if self._functions.setdefault(key, function) is not function:
                raise FileFormatError(
                    f"ONNX model: expected one function {function.name!r} of the domain "
                    f"{function.domain!r}, got several"
                )
        self._opsets = opsets
        self._folder = folder
        self._depth = 0
        self._active: list[Any] = []  # functions that are being compiled

    def graph(
        self, graph: Any, opsets: Mapping[str, int] | None = None, given: Mapping[str, Any] = {}
    ) -> Program:
        """Compile a GraphProto.

        Args:
            graph: The GraphProto.
            opsets: Operator versions by domain; those of the model by default.
            given: Attributes in the call of the enclosing function.

        Raises:
            FileFormatError: The graph is damaged.
            NotSupportedError: It has an operator that cannot be expressed.
        """
        constants: dict[str, Stored] = {}
        for tensor in graph.initializer:
            what = _new_tensor(constants, graph.name, tensor.name)
            constants[tensor.name] = read_tensor(tensor, self._folder, what)
        for sparse in graph.sparse_initializer:
            what = _new_tensor(constants, graph.name, sparse.values.name)
            constants[sparse.values.name] = dense_of(sparse, self._folder, what)
        inputs = [value.name for value in graph.input]
        outputs = [value.name for value in graph.output]
        nodes = self._nodes(graph.node, opsets or self._opsets, given)
        program = _program(graph.name, nodes, inputs, outputs, constants)
        return program._replace(declared=tuple(graph.output))

    def whole(self, graph: Any) -> Program:
        """Compile a model's main graph, which has no enclosing graph.

        Raises:
            FileFormatError: The graph is damaged.
            NotSupportedError: It has an operator that cannot be expressed.
        """
        program = self.graph(graph)
        if program.free:
            raise _missing(program.name, program.free)
        return program

    def function(self, function: Any, given: Mapping[str, Any]) -> Program:
        """Compile a FunctionProto for a call with attributes ``given``."""
        defaults: dict[str, Any] = attributes_of(
            getattr(function, "attribute_proto", ()), {}, self.graph, self._folder, function.name
        )
        opsets = opset_versions(function.opset_import)
        if any(function is one for one in self._active):
            raise FileFormatError(
                f"ONNX function {function.name!r}: expected a body without itself, got a recursion"
            )
        self._active.append(function)
        try:
            nodes = self._nodes(function.node, {**self._opsets, **opsets}, {**defaults, **given})
        finally:
            self._active.pop()
        program = _program(function.name, nodes, function.input, function.output, {})
        made = {out for node in program.nodes for out in node.outputs} | {*program.inputs}
        unmade = program.free - {name for name in program.outputs if name not in made}
        if unmade:
            raise _missing(program.name, unmade)
        # A body that ONNX makes for a node may lack outputs that the node does not use.
        return program._replace(outputs=[name if name in made else "" for name in program.outputs])

    def _nodes(
        self, protos: Sequence[Any], opsets: Mapping[str, int], given: Mapping[str, Any]
    ) -> list[Node]:
        self._depth += 1
        try:
            if self._depth > _MAX_DEPTH:
                raise FileFormatError(
                    f"ONNX graph: expected graphs at most {_MAX_DEPTH} deep in each other, got more"
                )
            return [self._node(proto, opsets, given) for proto in protos]
        finally:
            self._depth -= 1

    def _node(self, proto: Any, opsets: Mapping[str, int], given: Mapping[str, Any]) -> Node:
        domain = tidy_domain(proto.domain)
        function = self._functions.get((domain, proto.op_type, getattr(proto, "overload", "")))
        version = opsets.get(domain, 0 if function is not None else opsets.get("", 0))
        names = proto.op_type, domain, version, proto.name, proto.input, proto.output
        node = Node(*names, {})
        node.attrs = attributes_of(
            proto.attribute,
            given,
            lambda graph: self.graph(graph, opsets, given),
            self._folder,
            node.where,
        )
        if function is not None:
            node.rule = FunctionRule(self.function(function, node.attrs))
            return node
        _check_arity(node)
        node.rule = find_rule(node) or self._by_schema(node, proto)
        return node

    def _by_schema(self, node: Node, proto: Any) -> Any:
        """Return a rule made from the body that ONNX defines for an operator.

        Raises:
            NotSupportedError: ONNX defines no body.
        """
        schema = schema_of(node.kind, node.domain, node.version)
        if schema is not None and schema.has_function:
            return FunctionRule(self.function(schema.function_body, _with_defaults(node, schema)))
        if schema is not None and schema.has_context_dependent_function:
            return SchemaFunction(schema, proto, node, self.function)
        raise NotSupportedError(
            f"{node.where}: expected an operator that can be expressed here, got one that cannot"
            + ("" if schema is not None else ", nor does the package onnx know it")
        )


def _new_tensor(known: Mapping[str, Stored], graph: str, name: str) -> str:
    """Return the description of a graph's tensor in error messages, if the name is new.

    Raises:
        FileFormatError: The graph has another tensor with this name.
    """
    if name in known:
        raise FileFormatError(
            f"ONNX graph {graph!r}: expected one initializer of the name {name!r}, got several"
        )
    return f"ONNX tensor {name!r}"


def opset_versions(entries: Iterable[Any]) -> dict[str, int]:
    """Return operator versions by domain.

    Raises:
        FileFormatError: A domain has two versions.
    """
    versions: dict[str, int] = {}
    for entry in entries:
        domain, version = tidy_domain(entry.domain), int(entry.version)
        if versions.setdefault(domain, version) != version:
            raise FileFormatError(
                f"ONNX model: expected one version of the domain {domain or 'ai.onnx'!r}, got "
                f"{versions[domain]} and {version}"
            )
    return versions


def _with_defaults(node: Node, schema: Any) -> dict[str, Any]:
    """Return a node's attributes, with the schema's defaults for absent ones."""
    defaults = [
        entry.default_value
        for entry in schema.attributes.values()
        if entry.default_value.name and entry.default_value.type
    ]
    return {**attributes_of(defaults, {}, lambda graph: graph, None, node.where), **node.attrs}


def _check_arity(node: Node) -> None:
    schema = schema_of(node.kind, node.domain, node.version)
    if schema is None:
        return
    given, low, high = len(node.inputs), schema.min_input, schema.max_input
    if not low <= given <= high or len(node.outputs) > schema.max_output:
        raise FileFormatError(
            f"{node.where}: expected {low} to {high} inputs and up to {schema.max_output} outputs, "
            f"got {given} and {len(node.outputs)}"
        )


def program_of(before: Program, nodes: Sequence[Node], constants: Mapping[str, Stored]) -> Program:
    """Return a program with other nodes and tensors, for the same inputs and outputs.

    Args:
        before: The original program.
        nodes: Nodes of the new program.
        constants: Tensors of the new program.
    """
    made = _program(before.name, nodes, before.inputs, before.outputs, constants)
    return made._replace(declared=before.declared)


def _program(
    name: str,
    nodes: Sequence[Node],
    inputs: Sequence[str],
    outputs: Sequence[str],
    constants: Mapping[str, Stored],
) -> Program:
    known = {*inputs, *constants}
    made = [out for node in nodes for out in node.outputs if out]
    for out in made:
        if out in known:
            raise FileFormatError(f"ONNX graph {name!r}: expected one value {out!r}, got several")
        known.add(out)
    ordered = _ordered(name, nodes)
    read = [reads_of(node) for node in ordered]
    free = frozenset().union(*read, (out for out in outputs)) - known - {""}
    last: dict[str, Node] = {}
    for node, names in zip(ordered, read, strict=True):
        last.update(dict.fromkeys(names, node))
    for node in ordered:
        dead = [out for out in node.outputs if out and out not in last]
        own = [word for word, user in last.items() if user is node and word in made]
        node.frees = tuple(word for word in (*dead, *own) if word not in outputs)
    return Program(name, ordered, tuple(inputs), tuple(outputs), constants, free)


def _ordered(name: str, nodes: Sequence[Node]) -> list[Node]:
    """Return nodes in topological order, as ONNX requires, but not all files have.

    Raises:
        FileFormatError: The graph has a cycle.
    """
    makers = {out: node for node in nodes for out in node.outputs if out}
    if _is_ordered(nodes, makers):
        return list(nodes)
    done: set[int] = set()
    order: list[Node] = []
    waiting: dict[int, int] = {}
    users: dict[int, list[Node]] = {}
    for node in nodes:
        needed = {id(m): m for m in map(makers.get, reads_of(node)) if m is not None}
        waiting[id(node)] = len(needed)
        for maker in needed:
            users.setdefault(maker, []).append(node)
    ready = [node for node in reversed(nodes) if not waiting[id(node)]]
    while ready:
        node = ready.pop()
        order.append(node)
        done.add(id(node))
        for user in reversed(users.get(id(node), ())):
            waiting[id(user)] -= 1
            if not waiting[id(user)]:
                ready.append(user)
    if len(order) < len(nodes):
        stuck = next(node for node in nodes if id(node) not in done)
        raise FileFormatError(f"ONNX graph {name!r}: expected no cycle, got one at {stuck.where}")
    return order


def _is_ordered(nodes: Sequence[Node], makers: Mapping[str, Node]) -> bool:
    made: set[str] = set()
    for node in nodes:
        if any(name in makers and name not in made for name in reads_of(node)):
            return False
        made.update(node.outputs)
    return True


def _missing(name: str, names: Iterable[str]) -> FileFormatError:
    return FileFormatError(
        f"ONNX graph {name!r}: expected each value to be made, got none for {sorted(names)[:5]}"
    )
