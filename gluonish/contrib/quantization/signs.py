"""Which values of a graph are never negative, whatever the data, so that uint8 holds them."""

from collections.abc import Callable, Mapping, Sequence

from gluonish.graph.ir import Node, Value, topological_order

__all__ = ["never_negative"]

_Keys = set[tuple[int, int]]
# Results are no less than 0 by themselves.
_SOURCES = frozenset(
    {"relu", "sigmoid", "hard_sigmoid", "softmax", "SoftmaxActivation", "SoftmaxOutput"}
    | {"abs", "square", "sqrt", "exp", "norm"}
)
# Results are no less than 0 where all inputs are.
_PRESERVING = frozenset(
    {"Flatten", "Reshape", "reshape_like", "expand_dims", "squeeze", "transpose", "SwapAxis"}
    | {"Concat", "stack", "slice", "slice_axis", "slice_like", "SliceChannel", "tile", "repeat"}
    | {"elemwise_add", "elemwise_mul", "broadcast_add", "broadcast_mul", "add_n", "_copy"}
    | {"Dropout", "UpSampling", "mean", "sum", "max", "min", "BlockGrad", "take"}
    | {"broadcast_maximum", "broadcast_minimum"}
)
# What depends on attributes: whether a node's result is no less than 0 where its inputs are, then
# whether it is so in any case.
_BY_ATTRIBUTES: Mapping[str, Callable[[Node], tuple[bool, bool]]] = {
    "Activation": lambda node: (
        node.attrs["act_type"] in ("tanh", "softsign"),
        node.attrs["act_type"] in ("relu", "sigmoid", "softrelu"),
    ),
    "LeakyReLU": lambda node: (node.attrs["act_type"] != "prelu", False),
    "clip": lambda node: (node.attrs["a_max"] >= 0, node.attrs["a_min"] >= 0),
    "Pooling": lambda node: (True, node.attrs["pool_type"] == "lp"),
}


def never_negative(outputs: Sequence[Value]) -> _Keys:
    """Return the keys of the values that are never negative (or NaN).

    Args:
        outputs: Outputs of a graph without shapes, whose layers may be fused.
    """
    return _found(outputs, set())


def _found(outputs: Sequence[Value], known: _Keys) -> _Keys:
    for node in topological_order(outputs):
        if node.op is not None and _is_never_negative(node, known):
            known |= {(id(node), i) for i in range(node.num_outputs)}
    return known


def _is_never_negative(node: Node, known: _Keys) -> bool:
    assert node.op is not None
    name = node.op.name
    preserved = bool(node.inputs) and all(value.key in known for value in node.inputs)
    if "subgraphs" in node.attrs:
        return name.startswith("_sg_") and _body_is_never_negative(node, known)
    if name in _BY_ATTRIBUTES:
        if_preserved, always = _BY_ATTRIBUTES[name](node)
        return always or (preserved and if_preserved)
    return name in _SOURCES or (preserved and name in _PRESERVING)


def _body_is_never_negative(node: Node, known: _Keys) -> bool:
    """Whether what a fused layer's body gives is never negative."""
    body = node.attrs["subgraphs"][0]
    pairs = zip(body.inputs, node.inputs, strict=False)
    inside = {(id(variable), 0) for variable, value in pairs if value.key in known}
    return body.outputs[0].key in _found(body.outputs, inside)
