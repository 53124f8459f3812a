"""Tables and drawings of networks: `print_summary` and `plot_network`."""

import math
import re
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.loading import IMPORT_FAILURES, import_text
from gluonish.graph.interpreter import output_names
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.symbol.symbol import Symbol, operator_attributes

Shape = tuple[int, ...]

_POSITIONS = (0.44, 0.64, 0.74, 1.0)
_FIELDS = ("Layer (type)", "Output Shape", "Param #", "Previous Layer")
# Inputs that are parameters, without auxiliary states.
_PARAMETERS = frozenset({"weight", "bias", "gamma", "beta", "parameters"})
_WEIGHT_SUFFIXES = (
    *("_weight", "_bias", "_beta", "_gamma"),
    *("_moving_var", "_moving_mean", "_running_var", "_running_mean"),
)

_NODE_STYLE = {
    "shape": "box",
    "fixedsize": "false",  # width and height are the least ones: a longer label has a larger box
    "width": "1.3",
    "height": "0.8034",
    "style": "filled",
}
_LIKE_MARKS = {ord(":"): "\N{RATIO}", ord("<"): "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"}
_VARIABLE_COLOR = "#8dd3c7"
_OPERATOR_COLOR = "#fccde5"
_COLORS = {
    "Convolution": "#fb8072",
    "FullyConnected": "#fb8072",
    "BatchNorm": "#bebada",
    "Activation": "#ffffb3",
    "LeakyReLU": "#ffffb3",
    "Pooling": "#80b1d3",
    "Concat": "#fdb462",
    "Flatten": "#fdb462",
    "Reshape": "#fdb462",
}


def print_summary(
    symbol: Symbol,
    shape: Mapping[str, Sequence[int]] | None = None,
    line_length: int = 120,
    positions: Sequence[float] = _POSITIONS,
) -> None:
    """Print a table of a network's layers: type, output shape, number of parameters, inputs.

    Shapes omit the batch axis. Only parameters of known shape are counted; a shared parameter
    counts in each layer, and once in the total.

    Args:
        symbol: The network.
        shape: Shapes of its inputs by name; without them the column of shapes stays empty.
        line_length: Width of a line in characters.
        positions: End of each of the four columns, as fractions of the line or in characters.

    Raises:
        ArgumentTypeError: ``symbol`` is not a Symbol, or ``shape`` is not a dict.
        ArgumentError: There are not four positions, or some shapes cannot be inferred.
        OperatorError: The shapes contradict each other.
    """
    _check_symbol("print_summary", symbol)
    if len(positions) < len(_FIELDS):
        raise ArgumentError(
            f"print_summary: expected {len(_FIELDS)} positions, got {list(positions)}"
        )
    ends = [int(line_length * p) if positions[-1] <= 1 else int(p) for p in positions]
    shapes = _output_shapes("print_summary", symbol, shape)
    sizes = _variable_sizes(symbol, shape)
    layers = _layers(symbol)
    shown = set(map(id, layers))
    lines = ["_" * line_length, _line(_FIELDS, ends), "=" * line_length]
    counted: dict[str, int] = {}
    for node in layers:
        parameters = {name: sizes[name] for name in _parameter_names(node)}
        counted.update(parameters)
        rows = _rows(node, shapes, sum(parameters.values()), shown)
        lines += [_line(row, ends) for row in rows]
        lines.append(("=" if node is layers[-1] else "_") * line_length)
    lines += [f"Total params: {sum(counted.values())}", "_" * line_length]
    print("\n".join(lines))  # noqa: T201  # this is its purpose


def plot_network(
    symbol: Symbol,
    title: str = "plot",
    save_format: str = "pdf",
    shape: Mapping[str, Sequence[int]] | None = None,
    dtype: Mapping[str, Any] | None = None,
    node_attrs: Mapping[str, str] | None = None,
    hide_weights: bool = True,
) -> Any:
    """Draw a network: return a ``graphviz.Digraph``, whose `render` and `view` make the picture.

    Args:
        symbol: The network; nodes of the same name are drawn as one.
        title: Title of the graph, and name of the file that `render` writes.
        save_format: Format of the file, such as ``"pdf"``, ``"png"`` or ``"svg"``.
        shape: Shapes of the inputs by name, to label edges with shapes, without the batch axis.
        dtype: Dtypes of the inputs by name, to label edges with dtypes.
        node_attrs: Graphviz attributes of the nodes, which override the default style.
        hide_weights: Whether to hide variables named ``*_weight``, ``*_bias`` and the like.

    Raises:
        NotSupportedError: The package ``graphviz`` is not installed.
        ArgumentTypeError: ``symbol`` is not a Symbol, or ``shape`` or ``dtype`` is not a dict.
        ArgumentError: Shapes or dtypes cannot be inferred, or ``save_format`` is unknown.
        OperatorError: The shapes contradict each other.
    """
    try:
        from graphviz import Digraph, escape
    except IMPORT_FAILURES as error:
        raise NotSupportedError(
            "plot_network: expected the package graphviz to be installed, got "
            f"{import_text(error)}; pip install graphviz"
        ) from error
    _check_symbol("plot_network", symbol)
    nodes = topological_order(symbol._values)
    _warn_of_duplicates([node.name for node in nodes])
    labels = _edge_labels(symbol, shape, dtype)
    style = {**_NODE_STYLE, **(node_attrs or {})}
    try:
        dot = Digraph(name=title, format=save_format)
    except ValueError as error:
        raise ArgumentError(
            f"plot_network: expected a format of Graphviz, got {save_format!r}"
        ) from error
    hidden = {id(n) for n in nodes if n.op is None and n.name.endswith(_WEIGHT_SUFFIXES)}
    for node in nodes:
        if id(node) in hidden:
            continue
        outline = {"shape": "oval"} if node.op is None else {}
        outline["fillcolor"] = _node_color(node)
        label = escape(_node_label(node))
        dot.node(name=_identifier(node.name), label=label, **{**style, **outline})
    for node in nodes:
        for value in node.inputs:
            if not (hide_weights and id(value.node) in hidden):
                dot.edge(
                    tail_name=_identifier(node.name),
                    head_name=_identifier(value.node.name),
                    label=labels.get((id(value.node), value.index), ""),
                    dir="back",
                    arrowtail="open",
                )
    return dot


def _identifier(name: str) -> str:
    """Return the name of a node for Graphviz, which reads colons and ``<`` as its own marks."""
    return name.translate(_LIKE_MARKS)


def _warn_of_duplicates(names: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        warnings.warn(
            "plot_network: expected distinct node names, got several nodes named "
            f"{', '.join(repeated)}; they are drawn as one, which may look like a cycle",
            RuntimeWarning,
            stacklevel=3,
        )


def _check_symbol(function: str, symbol: object) -> None:
    if not isinstance(symbol, Symbol):
        raise ArgumentTypeError(f"{function}: expected a Symbol, got {type(symbol).__name__}")


def _check_mapping(function: str, name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise ArgumentTypeError(
            f"{function}: expected {name} as a dict by input name, got {type(value).__name__}"
        )


def _internal_values(symbol: Symbol) -> Sequence[Value]:
    return symbol.get_internals()._values


def _inferred(
    function: str, symbol: Symbol, shape: Mapping[str, Sequence[int]]
) -> list[tuple[Value, Shape]]:
    """Return every value of a network with its shape."""
    _check_mapping(function, "shape", shape)
    internals = symbol.get_internals()
    _, shapes, _ = internals.infer_shape(**shape)
    if shapes is None:
        raise ArgumentError(
            f"{function}: expected shapes of enough inputs, got {dict(shape)}, which leaves some "
            f"unknown; the inputs are {symbol.list_inputs()}"
        )
    return list(zip(internals._values, shapes, strict=True))


def _extents(shape: Shape) -> str:
    return "x".join(str(extent) for extent in shape[1:])


def _output_shapes(
    function: str, symbol: Symbol, shape: Mapping[str, Sequence[int]] | None
) -> dict[int, str]:
    """Return output shapes as text, by node id, of nodes with one output."""
    if shape is None:
        return {}
    return {
        id(value.node): _extents(found)
        for value, found in _inferred(function, symbol, shape)
        if output_names([value])[0] in (value.node.name, f"{value.node.name}_output")
    }


def _variable_sizes(symbol: Symbol, shape: Mapping[str, Sequence[int]] | None) -> dict[str, int]:
    """Return the number of elements of each variable; 0 if unknown."""
    arguments, _, auxiliary = symbol.infer_shape_partial(**(shape or {}))
    names = symbol.list_arguments() + symbol.list_auxiliary_states()
    sizes = {
        name: math.prod(found) if found and min(found) > 0 else 0  # 0 and -1 are unknown
        for name, found in zip(names, arguments + auxiliary, strict=True)
    }
    for node in topological_order(symbol._values):
        # The layer determines the size of its bias, which MXNet counts.
        if node.op is not None and node.op.name == "FullyConnected" and len(node.inputs) > 2:
            bias = node.inputs[2].node.name
            sizes[bias] = sizes.get(bias) or node.attrs["num_hidden"]
    return sizes


def _layers(symbol: Symbol) -> list[Node]:
    """Return the nodes in the table: operators, the first input, and output variables."""
    nodes = topological_order(symbol._values)
    heads = {id(value.node) for value in symbol._values}
    return [n for n in nodes if n.op is not None or n is nodes[0] or id(n) in heads]


def _parameter_names(node: Node) -> list[str]:
    if node.op is None:
        return []
    slots = node.op.input_names(node.attrs)
    return [
        value.node.name
        for slot, value in zip(slots, node.inputs, strict=True)
        if slot in _PARAMETERS and value.node.op is None
    ]


def _rows(
    node: Node, shapes: Mapping[int, str], size: int, shown: Collection[int]
) -> list[tuple[str, str, str, str]]:
    """Return the row of a layer, and a row for each further input in the table."""
    kind = "null" if node.op is None else node.op.name
    before = [value.node.name for value in node.inputs if id(value.node) in shown]
    first = (f"{node.name}({kind})", shapes.get(id(node), ""), str(size), "".join(before[:1]))
    return [first, *(("", "", "", name) for name in before[1:])]


def _line(fields: Sequence[str], ends: Sequence[int]) -> str:
    line = ""
    for field, end in zip(fields, ends, strict=False):
        line = (line + field)[:end].ljust(end)
    return line


def _edge_labels(
    symbol: Symbol, shape: Mapping[str, Sequence[int]] | None, dtype: Mapping[str, Any] | None
) -> dict[tuple[int, int], str]:
    """Return the labels of edges, by the value that an edge represents."""
    labels = {(id(value.node), value.index): "" for value in _internal_values(symbol)}
    if shape is not None:
        for value, found in _inferred("plot_network", symbol, shape):
            labels[id(value.node), value.index] = _extents(found)
    if dtype is not None:
        _check_mapping("plot_network", "dtype", dtype)
        internals = symbol.get_internals()
        _, types, _ = internals.infer_type(**dtype)
        if types is None:
            raise ArgumentError(
                f"plot_network: expected types of enough inputs, got {dict(dtype)}, which leaves "
                "some unknown"
            )
        for value, found in zip(internals._values, types, strict=True):
            labels[id(value.node), value.index] += f"({found.__name__})"
    return labels


def _node_color(node: Node) -> str:
    if node.op is None:
        return _VARIABLE_COLOR
    return _COLORS.get(node.op.name, _OPERATOR_COLOR)


def _node_label(node: Node) -> str:
    """Return the label of a node: the type and, for known layers, the main attributes."""
    kind = "" if node.op is None else node.op.name
    attrs = operator_attributes(node)
    if kind == "FullyConnected":
        detail = attrs["num_hidden"]
    elif kind == "Convolution":
        detail = f"{_window(attrs)}, {attrs['num_filter']}"
    elif kind == "Pooling":
        detail = f"{attrs.get('pool_type', 'max')}, {_window(attrs)}"
    elif kind == "Activation":
        detail = attrs["act_type"]
    elif kind == "LeakyReLU":
        detail = attrs.get("act_type", "Leaky")
    elif kind == "Custom":
        return attrs["op_type"]
    else:
        return node.name
    return f"{kind}\n{detail}"


def _window(attrs: Mapping[str, str]) -> str:
    """Return kernel and strides as text, such as ``3x3/2x2``."""
    kernel, stride = (
        "x".join(re.findall(r"\d+", attrs.get(key, ""))) or "1" for key in ("kernel", "stride")
    )
    return f"{kernel}/{stride}"
