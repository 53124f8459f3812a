"""Stepwise upgrades of graphs that older versions of MXNet wrote.

The steps need the inputs of operators. The caller passes two functions for them, so that this
module does not depend on operators.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gluonish.symbol.json_format import VARIABLE, Entry, GraphData, NodeData, renumber

CURRENT_VERSION = 10901
# Attributes of nodes that operators do not receive; stored as `__key__` since 0.9.
HIDDEN_KEYS = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")

_FUSED_RELU: Mapping[str, Mapping[str, str]] = {
    "_sg_mkldnn_conv": {"with_relu": "with_act", "with_postsum_relu": "with_postsum_act"},
    "_sg_mkldnn_fully_connected": {"with_relu": "with_eltwise"},
}

# Names of all inputs of a node's operator, auxiliary states included.
InputNames = Callable[[NodeData], Sequence[str]]
# Attributes that a node's operator sets on its input variables, by input name.
InputAttributes = Callable[[NodeData], Mapping[str, Mapping[str, str]]]

_LOG = logging.getLogger("gluonish")


def upgrade(
    graph: GraphData, input_names: InputNames, input_attributes: InputAttributes
) -> GraphData:
    """Return a graph of an older version as MXNet 1.9.1 would have written it.

    Graphs of 1.9.1 and newer are returned unchanged; a newer version is logged.

    Args:
        graph: The graph, from `parse`.
        input_names: Function that returns the names of all inputs of a node's operator; auxiliary
            states come last.
        input_attributes: Function that returns the attributes a node's operator sets on variables
            that are its inputs, such as ``{"moving_mean": {"__init__": '["zero", {}]'}}``.
    """
    version = graph.mxnet_version
    if version > CURRENT_VERSION:
        _LOG.warning(
            "symbol: expected a version up to %d, got %d; it is read as %d",
            *(CURRENT_VERSION, version, CURRENT_VERSION),
        )
    if version >= CURRENT_VERSION:
        return graph
    graph = _move_hidden_keys(graph, input_names)
    if version < 900:
        graph = _add_missing_inputs(graph, input_names)
    if version < 904:
        graph = _set_input_attributes(graph, input_names, input_attributes)
    if version < 905:
        graph = _drop_last_axis(graph)
    graph = _rename_fused_relu(graph)
    return replace(graph, attrs={**graph.attrs, "mxnet_version": ("int", CURRENT_VERSION)})


def _move_hidden_keys(graph: GraphData, input_names: InputNames) -> GraphData:
    """Store ``key`` as ``__key__``, and ``{input}_key`` as ``__key__`` of the input variable."""
    attrs = [dict(node.attrs) for node in graph.nodes]
    for number, node in enumerate(graph.nodes):
        node_attrs = attrs[number]
        for key in HIDDEN_KEYS:
            if key in node_attrs:
                node_attrs[f"__{key}__"] = node_attrs.pop(key)
        pairs = {key: pair for key in node_attrs if (pair := _split_hidden(key))}
        if node.is_variable or not pairs:
            continue
        hidden = {key: node_attrs.pop(key) for key in pairs}
        # The operator would reject these keys.
        names = list(input_names(replace(node, attrs=node_attrs)))
        for key, value in hidden.items():
            variable = _variable_feeding(graph, node, names, pairs[key][0])
            if variable is None:
                node_attrs[key] = value
            else:
                attrs[variable][f"__{pairs[key][1]}__"] = value
    return _with_attrs(graph, attrs)


def _split_hidden(key: str) -> tuple[str, str] | None:
    """Split ``weight_lr_mult`` into ``weight`` and ``lr_mult``."""
    for hidden in HIDDEN_KEYS:
        if key.endswith(f"_{hidden}") and not key.startswith("__"):
            return key.removesuffix(f"_{hidden}"), hidden
    return None


def _variable_feeding(
    graph: GraphData, node: NodeData, names: Sequence[str], name: str
) -> int | None:
    if name not in names or names.index(name) >= len(node.inputs):
        return None
    number = node.inputs[names.index(name)][0]
    return number if graph.nodes[number].is_variable else None


def _add_missing_inputs(graph: GraphData, input_names: InputNames) -> GraphData:
    """Add a variable for each missing trailing input, right before the node.

    The variable has the attributes of the node.
    """
    nodes: list[NodeData] = []
    indices: dict[int, int] = {}
    # Until the graph is renumbered, new variables have numbers beyond the old ones.
    next_number = len(graph.nodes)
    for number, node in enumerate(graph.nodes):
        added: list[Entry] = []
        if not node.is_variable:
            for name in list(input_names(node))[len(node.inputs) :]:
                indices[next_number] = len(nodes)
                nodes.append(NodeData(VARIABLE, f"{node.name}_{name}", dict(node.attrs)))
                added.append((next_number, 0, 0))
                next_number += 1
        indices[number] = len(nodes)
        nodes.append(replace(node, inputs=(*node.inputs, *added)))
    return renumber(graph, nodes, indices)


def _set_input_attributes(
    graph: GraphData, input_names: InputNames, input_attributes: InputAttributes
) -> GraphData:
    """Set the attributes that operators define for their variables, without overriding others."""
    attrs = [dict(node.attrs) for node in graph.nodes]
    for node in graph.nodes:
        inputs = {} if node.is_variable else input_attributes(node)
        names = list(input_names(node)) if inputs else []
        for name, values in inputs.items():
            variable = _variable_feeding(graph, node, names, name)
            if variable is not None:
                attrs[variable] = {**values, **attrs[variable]}
    return _with_attrs(graph, attrs)


def _drop_last_axis(graph: GraphData) -> GraphData:
    """Remove the axis -1 of argmax and argmin, which meant all axes."""
    attrs = [
        {key: value for key, value in node.attrs.items() if (key, value) != ("axis", "-1")}
        if node.op in ("argmax", "argmin")
        else node.attrs
        for node in graph.nodes
    ]
    return _with_attrs(graph, attrs)


def _rename_fused_relu(graph: GraphData) -> GraphData:
    """Rename the attributes that marked the relu of a fused layer, including subgraphs.

    MXNet 1.4 used them in convolutions, 1.4 and 1.5 in dense layers.
    """
    nodes = []
    for node in graph.nodes:
        names = _FUSED_RELU.get(node.op, {})
        attrs = {names.get(key, key): value for key, value in node.attrs.items()}
        bodies = tuple(_rename_fused_relu(body) for body in node.subgraphs)
        nodes.append(replace(node, attrs=attrs, subgraphs=bodies))
    return replace(graph, nodes=tuple(nodes))


def _with_attrs(graph: GraphData, attrs: Sequence[Mapping[str, str]]) -> GraphData:
    nodes = zip(graph.nodes, attrs, strict=True)
    return replace(graph, nodes=tuple(replace(node, attrs=new) for node, new in nodes))
