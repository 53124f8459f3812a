"""Symbols in ``-symbol.json`` files, written as by MXNet 1.9, and read from 0.8 or later.

Removal of the casts that mixed precision inserted.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core import loading
from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentTypeError, FileFormatError, GraphError, OperatorError
from gluonish.core.file_kind import HEAD_NBYTES, found_text
from gluonish.core.files import AnyPath, atomic_write, open_to_read, path_text
from gluonish.core.numpy_mode import is_np_shape
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ops.registry import Operator, find_operator
from gluonish.symbol.json_format import VARIABLE, GraphData, NodeData, dump, parse
from gluonish.symbol.legacy_json import upgrade
from gluonish.symbol.shapes import with_current_shapes
from gluonish.symbol.subgraph_call import SUBGRAPH_CALL
from gluonish.symbol.symbol import VARIABLE_STARTS, Symbol, operator_attributes

_CASTS = ("amp_cast", "amp_multicast")


def without_casts(outputs: Sequence[Value]) -> tuple[Value, ...]:
    """Return a graph's outputs with the casts that mixed precision inserted removed.

    Args:
        outputs: Outputs of the graph.
    """
    order = topological_order(outputs)
    if not any(node.op is not None and node.op.name in _CASTS for node in order):
        return tuple(outputs)
    made: dict[tuple[int, int], Value] = {}
    for node in order:
        inputs = [made[value.key] for value in node.inputs]
        if node.op is not None and node.op.name in _CASTS:
            made.update({(id(node), i): value for i, value in enumerate(inputs)})
            continue
        copy = node
        if any(new is not old for new, old in zip(inputs, node.inputs, strict=True)):
            copy = Node(
                *(node.op, node.name, inputs, node.attrs, node.specs, node.extra), given=node.given
            )
        made.update({(id(node), i): Value(copy, i) for i in range(node.num_outputs)})
    return tuple(made[value.key] for value in outputs)


__all__ = ["fromjson", "load", "load_json", "save", "symbol_from_state", "to_json"]

_VERSION = 10901  # of MXNet, in the files
# Operators with bodies that files cannot contain: gradients of the operators that files contain.
_IN_GRADIENTS = ("_branch", "_scan")
# Limit of the outputs of all nodes of a graph, whatever its attributes claim.
_MAX_OUTPUTS = 1 << 20


def _is_hidden(key: str) -> bool:
    return key.startswith("__") and key.endswith("__")


def to_json(self: Symbol, remove_amp_cast: bool = True) -> str:
    """Return the graph as JSON, in the format of MXNet's ``-symbol.json`` files.

    Args:
        self: The graph.
        remove_amp_cast: Whether to leave out casts that mixed precision inserted.

    Raises:
        ArgumentTypeError: The graph contains a constant array, which the format cannot store.
        GraphError: The graph contains a Python function of a user's back end.
    """
    outputs = without_casts(self._values) if remove_amp_cast else self._values
    attrs = {"mxnet_version": ("int", _VERSION)}
    if is_np_shape():
        attrs = {"is_np_shape": ("int", 1), **attrs}
    return dump(_data(outputs, attrs), _num_outputs)


def _data(outputs: Sequence[Value], attrs: Mapping[str, tuple[str, Any]]) -> GraphData:
    order = topological_order(outputs)
    indices = {id(node): i for i, node in enumerate(order)}
    nodes = []
    for node in order:
        if node.array is not None:
            raise ArgumentTypeError(
                "save: expected a graph of operators and variables, got an array inside "
                f"({node.name}); pass it as an input or make it a Parameter"
            )
        if node.op is SUBGRAPH_CALL:
            backend = operator_attributes(node)["backend"]
            raise GraphError(
                "save: expected a graph of operators, got a Python function that backend "
                f"{backend!r} put there ({node.name}); save the graph before optimize_for, and "
                "call that again when it is loaded"
            )
        mutated = () if node.op is None else node.op.mutated_inputs(node.attrs)
        inputs = tuple(
            (indices[id(value.node)], value.index, int(i in mutated))
            for i, value in enumerate(node.inputs)
        )
        op_name = VARIABLE if node.op is None else node.op.name
        bodies = tuple(_data(body.outputs, {}) for body in node.attrs.get("subgraphs", ()))
        nodes.append(NodeData(op_name, node.name, _file_attributes(node), inputs, bodies))
    heads = tuple((indices[id(value.node)], value.index, 0) for value in outputs)
    return GraphData(tuple(nodes), heads, attrs)


def _file_attributes(node: Node) -> dict[str, str]:
    attrs = {**operator_attributes(node), **node.extra}
    if node.op is not None and node.op.variadic is not None:
        attrs[node.op.variadic] = str(node.attrs[node.op.variadic])
    return dict(sorted(attrs.items()))


def _num_outputs(node: NodeData) -> int:
    if node.is_variable:
        return 1
    op = find_operator(node.op)
    attrs = op.schema.parse(op.name, _operator_attributes(op, node.attrs))
    if op.name == "RNN" or node.subgraphs:
        return op.num_visible(attrs)  # outputs saved for the gradient do not exist in MXNet
    return op.num_outputs(attrs) + _has_workspace(op, attrs)


def _has_workspace(op: Operator, attrs: Mapping[str, Any]) -> bool:
    """Whether the operator has a hidden output in MXNet that it does not have in gluonish."""
    if op.num_outputs(attrs) > 1:
        return False
    if op.name == "Pooling":
        channels_first = attrs["layout"] in (None, "NCW", "NCHW", "NCDHW")
        return attrs["pool_type"] == "max" and bool(attrs["kernel"]) and channels_first
    return op.name == "topk" and attrs["ret_typ"] == "value"


def _operator(node: NodeData) -> Operator:
    try:
        op = find_operator(node.op)
    except OperatorError:
        raise OperatorError(f"operator {node.op:.80} in node {node.name:.80}") from None
    if op.name in _IN_GRADIENTS:
        raise OperatorError(f"node {node.name:.80} of {op.name}, which only gradients have")
    return op


def _operator_attributes(op: Operator, attrs: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in attrs.items() if not _is_hidden(k) and op.schema.accepts(k)}


def save(self: Symbol, fname: str | os.PathLike[str], remove_amp_cast: bool = True) -> None:
    """Save the graph to a ``-symbol.json`` file that MXNet can read, atomically.

    Args:
        self: The graph.
        fname: Path of the file.
        remove_amp_cast: Whether to leave out casts that mixed precision inserted.

    Raises:
        TypeError: ``fname`` is not a path.
    """
    with atomic_write(path_text(fname, "Symbol.save")) as file:
        file.write(to_json(self, remove_amp_cast).encode())


def load(fname: AnyPath) -> Symbol:
    """Load a graph from a ``-symbol.json`` file of MXNet 0.8 or later.

    Args:
        fname: Path of the file.

    Raises:
        FileFormatError: The file does not contain a graph, or contains an operator or attribute
            that gluonish does not have.
        OSError: The file cannot be read.
        TypeError: ``fname`` is not a path.
    """
    name = path_text(fname, "symbol.load")
    with open_to_read(name, "symbol.load") as file:
        content = file.read()
    if not content.lstrip().startswith(b"{"):
        raise FileFormatError(
            f"{name}: expected the JSON of a graph, which begins with '{{', at byte 0, got "
            f"{found_text(content[:HEAD_NBYTES])}"
        )
    return _read(content, name)


def fromjson(json_str: str) -> Symbol:
    """Load a graph from text: `load_json`, as it is called in MXNet 2.0.

    Args:
        json_str: The JSON text.

    Raises:
        ArgumentTypeError: ``json_str`` is not a str.
        FileFormatError: As for `load`.
    """
    return load_json(json_str)


def load_json(json_str: str) -> Symbol:
    """Load a graph from the text of a ``-symbol.json`` file.

    Args:
        json_str: The JSON text.

    Raises:
        ArgumentTypeError: ``json_str`` is not a str.
        FileFormatError: As for `load`.
    """
    if not isinstance(json_str, str):
        raise ArgumentTypeError(f"load_json: expected a str, got {type(json_str).__name__}")
    return _read(json_str, "symbol")


def symbol_from_state(symbol: Symbol, state: Mapping[str, str | None]) -> None:
    """Restore a symbol from the state in one of MXNet's pickles: the JSON text of a graph.

    Args:
        symbol: The new, empty symbol.
        state: The state.

    Raises:
        FileFormatError: As for `load`.
    """
    text = state["handle"]
    symbol._values = () if text is None else _read(text, "pickled Symbol")._values


def _read(text: str | bytes, name: str) -> Symbol:
    try:
        data = upgrade(parse(text, name), _input_names, _input_attributes)
        return Symbol(_values(with_current_shapes(data)))
    except OperatorError as error:
        raise FileFormatError(
            f"{name}: expected a graph of operators that gluonish knows, got {error}"
        ) from error


def _values(data: GraphData) -> list[Value]:
    made: list[Node] = []
    outputs = 0
    for node in data.nodes:
        made.append(_node(node, made))
        outputs += made[-1].num_outputs
        if outputs > _MAX_OUTPUTS:
            raise OperatorError(
                f"node {node.name:.80} with {made[-1].num_outputs!r:.80} outputs, where a graph "
                f"has up to {_MAX_OUTPUTS}"
            )
    for number, index, _ in data.heads:
        if index >= made[number].num_outputs:
            raise OperatorError(
                f"output {index} of node {made[number].name:.80}, which has "
                f"{made[number].num_outputs}"
            )
    return [Value(made[number], index) for number, index, _ in data.heads]


def _node(node: NodeData, made: Sequence[Node]) -> Node:
    extra = {key: value for key, value in node.attrs.items() if _is_hidden(key)}
    if node.is_variable:
        # A variable that an operator call made has the options of the call, which have no effect.
        return Node(None, node.name, extra=dict(node.attrs))
    op = _operator(node)
    given = {key: value for key, value in node.attrs.items() if not _is_hidden(key)}
    attrs = op.schema.parse(f"node {node.name:.80}: {op.name}", given)
    bodies = loading.load("gluonish.symbol.bodies")
    if node.subgraphs or op.name in bodies.BODY_COUNTS:
        attrs["subgraphs"] = bodies.bodies_of(
            node, attrs, [_values(data) for data in node.subgraphs]
        )
    _check_count(node, op, attrs)
    inputs = [Value(made[number], index) for number, index, _ in node.inputs]
    expected = len(op.input_names(attrs))
    if len(inputs) != expected:
        raise OperatorError(
            f"node {node.name:.80} with {len(inputs)} inputs where {op.name} has {expected}"
        )
    for value in inputs:
        if value.index >= value.node.num_outputs:
            raise OperatorError(
                f"node {node.name:.80} that reads output {value.index} of {value.node.name:.80}, "
                f"which has {value.node.num_outputs}"
            )
    return Node(op, node.name, inputs, attrs, extra=extra, given=given)


def _check_count(node: NodeData, op: Operator, attrs: Mapping[str, Any]) -> None:
    """Raise an error if an operator's attributes claim more inputs than it has.

    The check precedes naming the inputs one by one, because a file may claim any number.
    """
    stated = {key: attrs[key] for key in (op.variadic or "num_args", "num_args") if key in attrs}
    locations = [key for key in attrs if key.endswith("_input_locs")]
    stated |= {key: max(attrs[key], default=0) for key in locations}
    present = len(node.inputs) + len(node.subgraphs)  # some operators count both
    for key, count in stated.items():
        if count > present:
            raise OperatorError(
                f"node {node.name:.80} with {len(node.inputs)} inputs where {op.name} has "
                f"{key}={attrs[key]!r:.80}"
            )


def _input_names(node: NodeData) -> Sequence[str]:
    """Return the names of a node's inputs; those that the operator overwrites come last."""
    op = _operator(node)
    name = f"node {node.name:.80}: {op.name}"
    attrs = op.schema.parse(name, _operator_attributes(op, node.attrs))
    _check_count(node, op, attrs)
    return op.input_names(attrs)


def _input_attributes(node: NodeData) -> dict[str, dict[str, str]]:
    """Return the attributes that an operator sets on its input variables: initializers."""
    starts = VARIABLE_STARTS.get(_operator(node).name, {})
    return {name: {"__init__": start} for name, start in starts.items()}


document_arguments(globals(), __all__)
