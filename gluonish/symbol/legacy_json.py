"""What MXNet changes in graphs that older versions wrote, step by step.

The steps need to know the operators' inputs. The caller lends that knowledge as two functions, so
that this file knows no operator.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gluonish.symbol.json_format import VARIABLE, Entry, GraphData, NodeData, renumber

CURRENT_VERSION = 10901
# Attributes that travel with a node and do not reach its operator; stored as `__key__` since 0.9.
HIDDEN_KEYS = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")

_FUSED_RELU: Mapping[str, Mapping[str, str]] = {
    "_sg_mkldnn_conv": {"with_relu": "with_act", "with_postsum_relu": "with_postsum_act"},
    "_sg_mkldnn_fully_connected": {"with_relu": "with_eltwise"},
}

# All inputs that a node's operator takes under the node's attributes, auxiliary ones included.
InputNames = Callable[[NodeData], Sequence[str]]
# The attributes that a node's operator gives to variables it is fed with, by input name.
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
    """Store ``key`` as ``__key__``, and ``{input}_key`` as ``__key__`` of the variable it means."""
    attrs = [dict(node.attrs) for node in graph.nodes]
    for number, node in enumerate(graph.nodes):
        own = attrs[number]
        for key in HIDDEN_KEYS:
            if key in own:
                own[f"__{key}__"] = own.pop(key)
        pairs = {key: pair for key in own if (pair := _split_hidden(key))}
        if node.is_variable or not pairs:
            continue
        moved = {key: own.pop(key) for key in pairs}
        # The operator would refuse these keys, so it is asked about the node without them.
        names = list(input_names(replace(node, attrs=own)))
        for key, value in moved.items():
            variable = _variable_feeding(graph, node, names, pairs[key][0])
            if variable is None:
                own[key] = value
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
    """Give each trailing input that a node lacks a variable, right before the node.

    The variable copies the node's attributes.
    """
    nodes: list[NodeData] = []
    places: dict[int, int] = {}
    # New variables have numbers of their own, beyond the old ones, until all is renumbered.
    next_number = len(graph.nodes)
    for number, node in enumerate(graph.nodes):
        added: list[Entry] = []
        if not node.is_variable:
            for name in list(input_names(node))[len(node.inputs) :]:
                places[next_number] = len(nodes)
                nodes.append(NodeData(VARIABLE, f"{node.name}_{name}", dict(node.attrs)))
                added.append((next_number, 0, 0))
                next_number += 1
        places[number] = len(nodes)
        nodes.append(replace(node, inputs=(*node.inputs, *added)))
    return renumber(graph, nodes, places)


def _set_input_attributes(
    graph: GraphData, input_names: InputNames, input_attributes: InputAttributes
) -> GraphData:
    """Give variables the attributes that operators have for them; a variable's own ones win."""
    attrs = [dict(node.attrs) for node in graph.nodes]
    for node in graph.nodes:
        given = {} if node.is_variable else input_attributes(node)
        names = list(input_names(node)) if given else []
        for name, values in given.items():
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
    """Rename the attributes by which a fused layer's relu was marked before it could be any
    function: 1.4 did so in convolutions, 1.4 and 1.5 in dense layers; their subgraphs, too."""
    nodes = []
    for node in graph.nodes:
        names = _FUSED_RELU.get(node.op, {})
        attrs = {names.get(key, key): value for key, value in node.attrs.items()}
        bodies = tuple(_rename_fused_relu(body) for body in node.subgraphs)
        nodes.append(replace(node, attrs=attrs, subgraphs=bodies))
    return replace(graph, nodes=tuple(nodes))


def _with_attrs(graph: GraphData, attrs: Sequence[Mapping[str, str]]) -> GraphData:
    nodes = zip(graph.nodes, attrs, strict=True)
    return replace(graph, nodes=tuple(replace(node, attrs=own) for node, own in nodes))
