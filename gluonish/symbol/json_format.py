"""Graph files (``-symbol.json``) as data: read from any version of MXNet, written as by 1.9.

This module does not depend on operators. `parse` checks everything else: types, and that every
node follows its inputs, so that the result has no cycles and no references to missing nodes.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from gluonish.core.errors import FileFormatError
from gluonish.core.json_text import parse_json

VARIABLE = "null"
# Files older than 0.9 have no version.
_OLDEST_VERSION = 800
_MAX_SUBGRAPH_DEPTH = 32
_GRAPH_KEYS = frozenset({"nodes", "arg_nodes", "heads", "node_row_ptr", "attrs"})
_NODE_KEYS = frozenset(
    {
        *("op", "name", "inputs", "control_deps", "subgraphs"),
        # Keys of the attributes: since 1.0, in 0.9 to 0.12, and in addition to `attr` in 0.8.
        *("attrs", "attr", "param"),
        "backward_source_id",
    }
)
# A longer list has a line for each item.
_INLINE_ITEMS = 10
_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})

# Node, output and version; the version counts in-place changes of a variable.
Entry = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class NodeData:
    """One node of a graph file.

    Args:
        op: Operator name, ``null`` for a variable.
        name: Node name.
        attrs: The operator's parameters and the user's attributes, as strings.
        inputs: The value that each input reads, of an earlier node.
        subgraphs: Bodies of a control-flow operator.
        control_deps: Earlier nodes that must run before this one.
    """

    op: str
    name: str
    attrs: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[Entry, ...] = ()
    subgraphs: "tuple[GraphData, ...]" = ()
    control_deps: tuple[int, ...] = ()

    @property
    def is_variable(self) -> bool:
        """Whether the node is a variable, not an operator."""
        return self.op == VARIABLE


@dataclass(frozen=True, slots=True)
class GraphData:
    """The content of a graph file.

    Args:
        nodes: The nodes, each after its inputs.
        heads: The outputs.
        attrs: The graph's attributes, pairs of a type name and a value; empty for a subgraph.
    """

    nodes: tuple[NodeData, ...]
    heads: tuple[Entry, ...]
    attrs: Mapping[str, tuple[str, Any]] = field(default_factory=dict)

    @property
    def arg_nodes(self) -> tuple[int, ...]:
        """Indices of the variables among the nodes."""
        return tuple(i for i, node in enumerate(self.nodes) if node.is_variable)

    @property
    def mxnet_version(self) -> int:
        """Version of MXNet that wrote the file: 10000 major + 100 minor + patch."""
        version: int = self.attrs.get("mxnet_version", ("int", _OLDEST_VERSION))[1]
        return version

    @property
    def is_np_shape(self) -> bool:
        """Whether shapes in the file follow NumPy: 0 is a size, and -1 means unknown."""
        return bool(self.attrs.get("is_np_shape", ("int", 0))[1])


def parse(text: str | bytes, name: str = "symbol") -> GraphData:
    """Parse a graph file of any version; text after the closing brace is ignored, as in MXNet.

    Args:
        text: Content of the file.
        name: Name of the file, for error messages.

    Raises:
        FileFormatError: The text is not JSON, or not a graph: a key is missing or unknown, a value
            has the wrong type, an entry refers to nothing, or a node precedes one of its inputs.
    """
    content = parse_json(text, name, "the JSON of a graph")
    return _graph(content, name, _MAX_SUBGRAPH_DEPTH)


def _graph(content: Any, where: str, depth: int) -> GraphData:
    if depth == 0:
        raise FileFormatError(
            f"{where}: expected subgraphs up to {_MAX_SUBGRAPH_DEPTH} deep, got more"
        )
    _check_keys(content, where, _GRAPH_KEYS, ("nodes", "arg_nodes", "heads"))
    items = _list(content["nodes"], f"{where}: nodes")
    nodes = tuple(_node(item, f"{where}: node {i}", i, depth) for i, item in enumerate(items))
    heads = _entries(content["heads"], f"{where}: heads", len(nodes))
    for number in _list(content["arg_nodes"], f"{where}: arg_nodes"):
        _index(number, f"{where}: arg_nodes", len(nodes))
    return GraphData(nodes, heads, _graph_attrs(content.get("attrs", {}), where))


def _graph_attrs(content: Any, where: str) -> dict[str, tuple[str, Any]]:
    if not isinstance(content, dict):
        raise FileFormatError(
            f"{where}: expected an object at the key 'attrs', got {_kind(content)}"
        )
    for key, pair in content.items():
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise FileFormatError(
                f"{where}: expected [type, value] at the key {key!r:.80} of attrs, "
                f"got {_kind(pair)}"
            )
    kind, version = content.get("mxnet_version", ("int", _OLDEST_VERSION))
    if kind != "int" or type(version) is not int:
        raise FileFormatError(
            f"{where}: expected an int at the key 'mxnet_version' of attrs, got {kind:.80} "
            f"{version!r:.80}"
        )
    return {key: (pair[0], pair[1]) for key, pair in content.items()}


def _node(content: Any, where: str, number: int, depth: int) -> NodeData:
    _check_keys(content, where, _NODE_KEYS, ("op", "name", "inputs"))
    op, name = content["op"], content["name"]
    if not isinstance(op, str) or not isinstance(name, str):
        raise FileFormatError(f"{where}: expected op and name as text, got {op!r} and {name!r}")
    where = f"{where} ({name})"
    bodies = _list(content.get("subgraphs", []), f"{where}: subgraphs")
    dependencies = _list(content.get("control_deps", []), f"{where}: control_deps")
    return NodeData(
        op,
        name,
        _node_attrs(content, where),
        _entries(content["inputs"], f"{where}: inputs", number),
        tuple(_graph(body, f"{where}: subgraph {i}", depth - 1) for i, body in enumerate(bodies)),
        tuple(_index(item, f"{where}: control_deps", number) for item in dependencies),
    )


def _node_attrs(content: Mapping[str, Any], where: str) -> dict[str, str]:
    """Merge the keys of attributes: the later of attr and attrs overrides param."""
    attrs: dict[str, str] = {}
    for key in content:
        if key in ("attrs", "attr"):
            attrs = _texts(content[key], where)
    return {**_texts(content.get("param", {}), where), **attrs}


def _texts(content: Any, where: str) -> dict[str, str]:
    if not isinstance(content, dict):
        raise FileFormatError(f"{where}: expected attributes as an object, got {_kind(content)}")
    for key, value in content.items():
        if not isinstance(value, str):
            raise FileFormatError(f"{where}: expected {key!r} as text, got {_kind(value)}")
    return content


def _check_keys(content: Any, where: str, known: frozenset[str], required: Sequence[str]) -> None:
    if not isinstance(content, dict):
        raise FileFormatError(
            f"{where}: expected an object, got {_kind(content)}; its keys are {', '.join(required)}"
        )
    for key in required:
        if key not in content:
            raise FileFormatError(
                f"{where}: expected the key {key!r}, got {sorted(content)!r:.200}"
            )
    for key in content:
        if key not in known:
            raise FileFormatError(f"{where}: expected keys {sorted(known)}, got {key!r:.200}")


def _list(content: Any, where: str) -> list[Any]:
    if not isinstance(content, list):
        raise FileFormatError(f"{where}: expected a list, got {_kind(content)}")
    return content


def _index(value: Any, where: str, end: int) -> int:
    if type(value) is not int or not 0 <= value < end:
        raise FileFormatError(f"{where}: expected a node number below {end}, got {value!r:.80}")
    return value


def _entries(content: Any, where: str, end: int) -> tuple[Entry, ...]:
    entries = []
    for item in _list(content, where):
        if not isinstance(item, list) or len(item) not in (2, 3):
            raise FileFormatError(f"{where}: expected [node, output, version], got {_kind(item)}")
        if not all(type(number) is int and 0 <= number < 1 << 32 for number in item):
            raise FileFormatError(f"{where}: expected 32-bit numbers, got {item!r:.80}")
        version = item[2] if len(item) == 3 else 0
        entries.append((_index(item[0], where, end), item[1], version))
    return tuple(entries)


def _kind(content: Any) -> str:
    return "nothing" if content is None else type(content).__name__


def renumber(graph: GraphData, nodes: Iterable[NodeData], indices: Mapping[int, int]) -> GraphData:
    """Return the graph with new nodes, and with references changed to the new indices.

    Args:
        graph: The graph.
        nodes: The new nodes.
        indices: New index by old index.
    """

    def renumbered(entries: Iterable[Entry]) -> tuple[Entry, ...]:
        return tuple((indices[node], output, version) for node, output, version in entries)

    new_nodes = tuple(
        NodeData(
            node.op,
            node.name,
            node.attrs,
            renumbered(node.inputs),
            node.subgraphs,
            tuple(indices[number] for number in node.control_deps),
        )
        for node in nodes
    )
    return GraphData(new_nodes, renumbered(graph.heads), graph.attrs)


def dump(graph: GraphData, num_outputs: Callable[[NodeData], int]) -> str:
    """Return a graph as JSON, byte for byte as MXNet 1.9 writes it.

    Args:
        graph: The graph; its nodes keep their order.
        num_outputs: Function that returns the number of a node's outputs, including hidden ones; 1
            for a variable.
    """
    return _dump_graph(graph, num_outputs, 0)


def _dump_graph(graph: GraphData, num_outputs: Callable[[NodeData], int], indent: int) -> str:
    counts = (num_outputs(node) for node in graph.nodes)
    fields = [
        (
            "nodes",
            _tall_list([_dump_node(n, num_outputs, indent + 4) for n in graph.nodes], indent + 2),
        ),
        ("arg_nodes", _list_text(map(str, graph.arg_nodes), indent + 2)),
        ("node_row_ptr", _list_text(map(str, accumulate(counts, initial=0)), indent + 2)),
        ("heads", _list_text(map(_entry_text, graph.heads), indent + 2)),
    ]
    if graph.attrs:
        pairs = {
            key: f"[{_quoted(kind)}, {_value_text(value)}]"
            for key, (kind, value) in graph.attrs.items()
        }
        fields.append(("attrs", _object_text(pairs, indent + 2)))
    return _tall_object(fields, indent)


def _dump_node(node: NodeData, num_outputs: Callable[[NodeData], int], indent: int) -> str:
    inner = indent + 2
    fields = [("op", _quoted(node.op)), ("name", _quoted(node.name))]
    if node.attrs:
        texts = {key: _quoted(value) for key, value in node.attrs.items()}
        fields.append(("attrs", _object_text(texts, inner)))
    fields.append(("inputs", _list_text(map(_entry_text, node.inputs), inner)))
    if node.control_deps:
        fields.append(("control_deps", _list_text(map(str, node.control_deps), inner)))
    if node.subgraphs:
        bodies = [_dump_graph(body, num_outputs, inner + 2) for body in node.subgraphs]
        fields.append(("subgraphs", _tall_list(bodies, inner)))
    return _tall_object(fields, indent)


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _value_text(value: Any) -> str:
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _entry_text(entry: Entry) -> str:
    return f"[{entry[0]}, {entry[1]}, {entry[2]}]"


def _list_text(items: Iterable[str], indent: int) -> str:
    texts = list(items)
    return f"[{', '.join(texts)}]" if len(texts) <= _INLINE_ITEMS else _tall_list(texts, indent)


def _tall_list(items: Sequence[str], indent: int) -> str:
    return _tall("[", items, "]", indent)


def _object_text(values: Mapping[str, str], indent: int) -> str:
    fields = sorted(values.items())
    if len(fields) > 1:
        return _tall_object(fields, indent)
    return "{" + ", ".join(f"{_quoted(key)}: {value}" for key, value in fields) + "}"


def _tall_object(fields: Iterable[tuple[str, str]], indent: int) -> str:
    return _tall("{", [f"{_quoted(key)}: {value}" for key, value in fields], "}", indent)


def _tall(opening: str, items: Sequence[str], closing: str, indent: int) -> str:
    """Format one item per line; like MXNet, with a space after the comma at the end of a line."""
    if not items:
        return opening + closing
    margin = "\n" + " " * indent
    return f"{opening}{margin}  " + f", {margin}  ".join(items) + f"{margin}{closing}"
