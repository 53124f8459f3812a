"""The quantization pass: quantized operators, and sign analysis of values."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from gluonish.contrib.quantization.fusion import CONV, DENSE, layer_nodes
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ops.registry import find_operator


class Form(NamedTuple):
    """Describes how an operator is quantized.

    Attributes:
        op: Name of the quantized operator.
        data: Number of leading inputs that are data to quantize; -1 for all.
        weights: Whether the data inputs are followed by a weight and a bias to quantize.
        must: Whether the operator is a layer, not an operator between layers.
        wide: Whether the quantized operator returns int32, which must be requantized.
        ranged: Whether the quantized operator needs a range from calibration.
        fits: Function that returns whether the attributes of a node are supported.
    """

    op: str
    data: int = 1
    weights: bool = False
    must: bool = False
    wide: bool = False
    ranged: bool = False
    fits: Callable[[Node], bool] = lambda node: True


def _is_relu(node: Node) -> bool:
    return bool(node.attrs["act_type"] == "relu")


def _is_window(node: Node) -> bool:
    return node.attrs["pool_type"] in ("max", "avg")


def _is_channels(node: Node) -> bool:
    return bool(node.attrs["axis"] == 1) and not node.attrs["output_mean_var"]


FORMS: Mapping[str, Form] = {
    CONV: Form(CONV, must=True, wide=True),
    DENSE: Form(DENSE, must=True, wide=True),
    "Convolution": Form("_contrib_quantized_conv", weights=True, must=True, wide=True),
    "FullyConnected": Form(
        "_contrib_quantized_fully_connected", weights=True, must=True, wide=True
    ),
    "Pooling": Form("_contrib_quantized_pooling", fits=_is_window),
    "Flatten": Form("_contrib_quantized_flatten"),
    "Concat": Form("_contrib_quantized_concat", data=-1),
    "Activation": Form("_contrib_quantized_act", fits=_is_relu),
    "BatchNorm": Form("_contrib_quantized_batch_norm", ranged=True, fits=_is_channels),
    "Embedding": Form("_contrib_quantized_embedding", data=0, weights=True),
    "elemwise_add": Form("_contrib_quantized_elemwise_add", data=2, wide=True),
    "elemwise_mul": Form("_contrib_quantized_elemwise_mul", data=2, wide=True),
}


def form_of(node: Node) -> Form | None:
    """Return the quantized form of a node; None if it cannot be quantized."""
    if node.op is None:
        return None
    found = FORMS.get(node.op.name)
    return found if found is not None and found.fits(node) else None


_Keys = set[tuple[int, int]]
# Operators whose results are never negative.
_SOURCES = frozenset(
    {"relu", "sigmoid", "hard_sigmoid", "softmax", "SoftmaxActivation", "SoftmaxOutput"}
    | {"abs", "square", "sqrt", "exp", "norm"}
)
# Operators whose results are not negative if no input is.
_PRESERVING = frozenset(
    {"Flatten", "Reshape", "reshape_like", "expand_dims", "squeeze", "transpose", "SwapAxis"}
    | {"Concat", "stack", "slice", "slice_axis", "slice_like", "SliceChannel", "tile", "repeat"}
    | {"elemwise_add", "elemwise_mul", "broadcast_add", "broadcast_mul", "add_n", "_copy"}
    | {"Dropout", "UpSampling", "mean", "sum", "max", "min", "BlockGrad", "take"}
    | {"broadcast_maximum", "broadcast_minimum"}
)
# Operators whose attributes decide two things: whether the result is not negative if no input is,
# and whether the result is never negative.
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
    """Return the keys of the values of a graph that are never negative (or NaN).

    Args:
        outputs: Outputs of the graph, without shapes; its layers may be fused.
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
    """Whether the output of a fused layer's body is never negative."""
    body = node.attrs["subgraphs"][0]
    pairs = zip(body.inputs, node.inputs, strict=False)
    inside = {(id(variable), 0) for variable, value in pairs if value.key in known}
    return body.outputs[0].key in _found(body.outputs, inside)


Triple = tuple[Value, Value, Value]

# Operators whose only output is named after its index in MXNet.
_NUMBERED = ("Reshape", "Flatten", "Cast", "SwapAxis", "BlockGrad", "MakeLoss")


class Choice(NamedTuple):
    """Options of the quantization pass.

    Attributes:
        excluded: Names of nodes that are not quantized.
        excluded_operators: Names of operators that are not quantized.
        out_type: Quantized dtype of data: ``"auto"``, ``"int8"`` or ``"uint8"``; with
            ``"uint8"``, data that may be negative are quantized as with ``"auto"``.
        smart: Whether to quantize only layers and operators between two of them.
        offline: Names of variables with known values, which are quantized in advance.
        channel_wise: Whether a dense layer's weight has one scale per channel.
        calibrated: Whether the graph will be calibrated; if not, operators that need ranges are not
            quantized.
    """

    excluded: Collection[str] = ()
    excluded_operators: Collection[str] = ()
    out_type: str = "int8"
    smart: bool = True
    offline: Collection[str] = ()
    channel_wise: bool = False
    calibrated: bool = True


def quantize(outputs: Sequence[Value], choice: Choice) -> list[Value]:
    """Return a graph's outputs after quantization.

    Args:
        outputs: Outputs of a graph without shapes; its layers may be fused. It is not changed.
        choice: The options.
    """
    order = topological_order(outputs)
    unsigned = never_negative(outputs) if choice.out_type == "uint8" else frozenset()
    work = _Pass(choice, _chosen(order, choice), unsigned)
    for node in order:
        work.add(node)
    return [work.float_of(value) for value in outputs]


def _chosen(order: Sequence[Node], choice: Choice) -> dict[int, Form]:
    """Return the forms of the nodes to quantize, by the ``id`` of the node."""
    found: dict[int, Form] = {}
    for node in order:
        form = form_of(node)
        excluded = any(
            inner.name in choice.excluded
            or (inner.op is not None and inner.op.name in choice.excluded_operators)
            for inner in layer_nodes(node)
        )
        if form is not None and not (excluded or (form.ranged and not choice.calibrated)):
            found[id(node)] = form
    if not choice.smart:
        return found
    behind: set[int] = set()
    for node in order:
        form = found.get(id(node))
        sources = any(id(value.node) in behind for value in node.inputs)
        if form is not None and (form.must or sources):
            behind.add(id(node))
    before: set[int] = set()
    for node in reversed(order):
        if id(node) in behind and (id(node) in before or found[id(node)].must):
            before.add(id(node))
            before.update(id(value.node) for value in node.inputs)
    return {key: form for key, form in found.items() if key in behind and key in before}


def float_name(value: Value) -> str:
    """Return the name of a value; the node that quantizes the value gets its name from it."""
    node = value.node
    if node.op is None:
        return node.name
    if node.op.name[0].islower() or node.op.name in _NUMBERED:
        return f"{node.name}_{value.index}"
    return f"{node.name}_output" if node.num_visible == 1 else f"{node.name}_output{value.index}"


class _Pass:
    """Builds the quantized graph: maps each value to its floating-point and quantized versions."""

    def __init__(
        self,
        choice: Choice,
        chosen: Mapping[int, Form],
        unsigned: Collection[tuple[int, int]],
    ) -> None:
        self._choice = choice
        self._chosen = chosen
        self._unsigned = unsigned
        self._float: dict[tuple[int, int], Value] = {}
        self._bytes: dict[tuple[int, int], Triple] = {}

    def add(self, node: Node) -> None:
        """Add a node, or its quantized form, to the new graph."""
        form = self._chosen.get(id(node))
        if form is None:
            inputs = [self.float_of(value) for value in node.inputs]
            new = node
            if any(a.node is not b.node for a, b in zip(inputs, node.inputs, strict=True)):
                new = Node(
                    node.op, node.name, inputs, node.attrs, extra=node.extra, given=node.given
                )
            for i in range(node.num_outputs):
                self._float[id(node), i] = Value(new, i)
        else:
            self._quantized(node, form)

    def float_of(self, value: Value) -> Value:
        """Return the floating-point version of a value, dequantized if needed."""
        found = self._float.get(value.key)
        if found is None:
            op = find_operator("_contrib_dequantize")
            name = f"{value.node.name}_dequantize"
            made = Node(op, name, self._bytes[value.key], op.schema.parse(name, {}), given={})
            found = self._float[value.key] = Value(made)
        return found

    def bytes_of(self, value: Value, out_type: str | None = None) -> Triple:
        """Return the quantized version of a value, and the minimum and maximum of its range."""
        found = self._bytes.get(value.key)
        if found is None:
            node, name = value.node, float_name(value)
            if node.op is None and node.name in self._choice.offline:
                found = _offline(name)
            else:
                made = _node(
                    "_contrib_quantize_v2",
                    f"{name}_quantize",
                    [self._float[value.key]],
                    {"out_type": out_type or self._out_type(value)},
                )
                found = _triple(made)
            self._bytes[value.key] = found
        return found

    def _out_type(self, value: Value) -> str:
        """Return the ``out_type`` of a value: auto instead of uint8 if it may contain negatives."""
        chosen = self._choice.out_type
        return "auto" if chosen == "uint8" and value.key not in self._unsigned else chosen

    def _quantized(self, node: Node, form: Form) -> None:
        assert node.op is not None
        make = self._fused_layer if form.op in (CONV, DENSE) else self._operator
        made = make(node, form)
        if form.wide:
            name = f"requantize_{node.name}"
            given = {"out_type": self._out_type(Value(node))}
            made = _node("_contrib_requantize", name, _triple(made), given)
        self._bytes[id(node), 0] = _triple(made)

    def _operator(self, node: Node, form: Form) -> Node:
        """Return the quantized operator for a node; its inputs are all arrays, then all ranges."""
        count = len(node.inputs) if form.data < 0 else form.data
        data = [self.bytes_of(value) for value in node.inputs[:count]]
        rest = list(node.inputs[count:])
        arrays = []
        if form.op.endswith("embedding"):  # the data of an embedding are indices
            arrays.append(self.float_of(rest.pop(0)))
        if form.weights:
            data += [self.bytes_of(value, "int8") for value in rest]
            rest = []
        arrays += [triple[0] for triple in data] + [self.float_of(value) for value in rest]
        ends = [end for triple in data for end in triple[1:]]
        given = {} if node.given is None else dict(node.given)
        given = given or dict(node.op.schema.to_strings(node.attrs))  # type: ignore[union-attr]  # not a variable
        return _node(form.op, f"quantized_{node.name}", [*arrays, *ends], given, node.extra)

    def _fused_layer(self, node: Node, form: Form) -> Node:
        """Return the quantized operator for a fused layer; ranges follow the layer's inputs."""
        body = node.attrs["subgraphs"][0]
        indices = {id(variable): i for i, variable in enumerate(body.inputs)}
        inputs: list[Any] = [None] * len(node.inputs)
        ranges: list[Value] = []
        layer, addends = _roles(body, indices)
        for i in (layer[0], *addends):
            triple = self.bytes_of(node.inputs[i])
            inputs[i] = triple[0]
            ranges += triple[1:]
        given = {**(node.given or {}), "quantized": "true" if form.op == CONV else "True"}
        if form.op == DENSE and self._choice.channel_wise:
            given["channel_wise_quantize"] = "True"
        elif form.op == DENSE:
            for i in layer[1:]:
                triple = self.bytes_of(node.inputs[i], "int8")
                inputs[i] = triple[0]
                ranges += triple[1:]
        for i, value in enumerate(node.inputs):
            if inputs[i] is None:
                inputs[i] = self.float_of(value)
        made = {"subgraphs": node.attrs["subgraphs"]}
        return _node(form.op, f"quantized_{node.name}", [*inputs, *ranges], given, {}, made)


def _roles(body: Any, indices: Mapping[int, int]) -> tuple[list[int], list[int]]:
    """Return the indices of a body's inputs: those of the layer, and those added to its output."""
    layer: list[int] = []
    addends: list[int] = []
    for node in topological_order(body.outputs):
        found = [indices[id(value.node)] for value in node.inputs if id(value.node) in indices]
        if node.op is not None and node.op.name in ("Convolution", "FullyConnected"):
            layer = found
        elif node.op is not None and node.op.name == "elemwise_add":
            addends = found
    return layer, addends


def _offline(name: str) -> Triple:
    """Return variables for a parameter that is quantized in advance, and for its range."""
    suffixes = ("quantize", "quantize_min", "quantize_max")
    first, low, high = (Value(Node(None, f"{name}_{suffix}")) for suffix in suffixes)
    return first, low, high


def _triple(node: Node) -> Triple:
    return Value(node, 0), Value(node, 1), Value(node, 2)


def _node(
    op_name: str,
    name: str,
    inputs: Sequence[Value],
    given: Mapping[str, str],
    extra: Mapping[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Node:
    op = find_operator(op_name)
    known = {key: text for key, text in given.items() if op.schema.accepts(key)}
    attrs = {**op.schema.parse(name, known), **(more or {})}
    return Node(op, name, inputs, attrs, extra=extra, given=known)
