"""Fusion of a convolution or dense layer with a following sum and function."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.passes.simplify import eliminate_dead_code
from gluonish.graph.rewrite import Reads, count_reads, has_operator, rebuild
from gluonish.ops.fused.activation import ACTIVATIONS, REVERSIBLE
from gluonish.ops.fused.operator import FUSED_CONVOLUTION, FUSED_DENSE
from gluonish.ops.nn.gelu import QUICK
from gluonish.ops.registry import Operator

_FUSED: Mapping[str, Operator] = {
    "Convolution": FUSED_CONVOLUTION,
    "FullyConnected": FUSED_DENSE,
    "_fused_convolution": FUSED_CONVOLUTION,
    "_fused_dense": FUSED_DENSE,
}
_SUMS = ("elemwise_add", "broadcast_add")
_PRODUCTS = ("elemwise_mul", "broadcast_mul")
# Other dtypes have no fast fused kernels, but may have fast kernels for the single operators.
_DTYPES = (FLOAT32, BFLOAT16)
_LAYERS = ("Convolution", "FullyConnected")


class _Function(NamedTuple):
    """An activation of `gluonish.ops.fused.activation`, with its parameters."""

    activation: str
    alpha: float = 0.0
    beta: float = 0.0


def _by_type(attrs: Mapping[str, Any]) -> _Function | None:
    return _Function(attrs["act_type"]) if attrs["act_type"] in REVERSIBLE else None


def _leaky(attrs: Mapping[str, Any]) -> _Function | None:
    kind = attrs["act_type"]
    if kind == "gelu_sigmoid":
        return _Function("swish", QUICK.linear)
    kind = {"gelu_erf": "gelu"}.get(kind, kind)
    slope = attrs["slope"] if kind in ("leaky", "elu") else 0.0
    known = ("leaky", "elu", "gelu", "gelu_tanh", "selu")
    return _Function(kind, slope) if kind in known else None


_FUNCTIONS: Mapping[str, Callable[[Mapping[str, Any]], _Function | None]] = {
    "Activation": _by_type,
    "LeakyReLU": _leaky,
    "clip": lambda attrs: _Function("clip", attrs["a_min"], attrs["a_max"]),
    "hard_sigmoid": lambda attrs: _Function("hard_sigmoid", attrs["alpha"], attrs["beta"]),
    "mish": lambda attrs: _Function("mish"),
    "relu": lambda attrs: _Function("relu"),
    "sigmoid": lambda attrs: _Function("sigmoid"),
    "tanh": lambda attrs: _Function("tanh"),
}


def fuse_primitives(
    graph: Graph,
    *,
    train: bool = False,
    constant: Collection[Node] = (),
    layers: Collection[str] = _LAYERS,
    dtypes: Collection[np.dtype[Any]] = _DTYPES,
    functions: Collection[str] = tuple(ACTIVATIONS),
    inference_only: bool = False,
) -> Graph:
    """Make one operator of a Convolution or FullyConnected, a sum and an elementwise function.

    Args:
        graph: The graph.
        train: Whether a gradient may be required; then only functions whose gradient can be
            computed from their output are fused.
        constant: Variables that rarely change; a dense layer whose weight depends on them only may
            pack it once.
        layers: Names of the layers to fuse.
        dtypes: Dtypes of the layers to fuse.
        functions: Names of the activations to fuse.
        inference_only: Whether to leave graphs alone that may require a gradient.

    Requires: specs on every value, and the training mode on every node that depends on it.
    Ensures: the outputs have the same specs, values and gradients. No fused function or sum of
    equal shapes is the only reader of a layer of these dtypes.
    """
    if not has_operator(graph, layers) or (train and inference_only):
        return graph
    fusion = _Fusion(graph, train, constant, _Choice(layers, dtypes, functions))
    return eliminate_dead_code(rebuild(graph, fusion.rule))


class _Choice(NamedTuple):
    """What to fuse; see `fuse_primitives`."""

    layers: Collection[str]
    dtypes: Collection[np.dtype[Any]]
    functions: Collection[str]


class _Fusion:
    """The rewrite rule, with the readers and the order of the original graph's nodes."""

    def __init__(
        self, graph: Graph, train: bool, constant: Collection[Node], choice: _Choice
    ) -> None:
        self._choice = choice
        self._operators = {_FUSED[name].name for name in choice.layers} | {*choice.layers}
        self._reads: Reads = count_reads(graph)
        self._train = train
        self._constant = {id(node) for node in constant}
        self._order = {id(node): i for i, node in enumerate(graph.nodes)}

    def rule(self, node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if node.op is None or node.specs[0].dtype not in self._choice.dtypes:
            return None
        if inputs and all(id(value.node) in self._constant for value in inputs):
            self._constant.add(id(node))
            return None
        name = node.op.name
        if name == "FullyConnected":
            return self._packed(node, inputs)
        if name in _SUMS:
            return self._with_sum(node, inputs)
        if name in _PRODUCTS:
            return self._with_swish(node, inputs)
        function = _FUNCTIONS[name](node.attrs) if name in _FUNCTIONS else None
        if function is None or function.activation not in self._choice.functions:
            return None
        if self._train and function.activation not in REVERSIBLE:
            return None
        if not self._extends(node.inputs[0], inputs[0]):
            return None
        return _extended(inputs[0].node, node, **function._asdict())

    def _packed(self, node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if "FullyConnected" not in self._choice.layers or self._train:
            return None
        if id(inputs[1].node) not in self._constant:
            return None
        layer = Node(node.op, node.name, inputs, node.attrs, node.specs, node.extra)
        return _extended(layer, node, packed=True)

    def _extends(self, old: Value, new: Value, reads: int = 1) -> bool:
        """Whether a function can be fused into a layer without one, which has ``reads`` readers."""
        node = new.node
        return (
            node.op is not None
            and node.op.name in self._operators
            and node.attrs.get("activation") is None
            and self._reads[old.key] == reads
        )

    def _with_sum(self, node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if any(value.spec != node.specs[0] for value in inputs):
            return None
        fitting = [
            i
            for i, value in enumerate(inputs)
            if self._extends(node.inputs[i], value) and not value.node.attrs.get("with_sum")
        ]
        if not fitting:
            return None
        # The last layer: the addend is computed by then, and the sum may use its memory.
        i = max(fitting, key=lambda i: self._order[id(node.inputs[i].node)])
        return _extended(inputs[i].node, node, inputs[1 - i], with_sum=True)

    def _with_swish(self, node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        """Fuse ``x * sigmoid(alpha * x)``."""
        if self._train or "swish" not in self._choice.functions:
            return None
        for i, value in enumerate(inputs):
            alpha = self._swish_factor(node.inputs[i], node.inputs[1 - i])
            if alpha is not None and self._extends(node.inputs[i], value, reads=2):
                return _extended(value.node, node, activation="swish", alpha=alpha)
        return None

    def _swish_factor(self, x: Value, gate: Value) -> float | None:
        """Return alpha if ``gate`` is ``sigmoid(alpha * x)`` and nothing else reads it."""
        if self._reads[gate.key] != 1 or not _is_sigmoid(gate.node):
            return None
        inner = gate.node.inputs[0]
        if inner.key == x.key:
            return 1.0
        scale = inner.node
        if scale.op is None or scale.op.name != "_mul_scalar" or self._reads[inner.key] != 1:
            return None
        return float(scale.attrs["scalar"]) if scale.inputs[0].key == x.key else None


def _is_sigmoid(node: Node) -> bool:
    if node.op is None:
        return False
    return node.op.name == "sigmoid" or (
        node.op.name == "Activation" and node.attrs["act_type"] == "sigmoid"
    )


def _extended(layer: Node, end: Node, *addend: Value, **attrs: Any) -> Sequence[Value]:
    """Return the value that replaces ``end``: the layer extended by attributes and an addend."""
    assert layer.op is not None
    op = _FUSED[layer.op.name]
    merged = {**op.schema.defaults, **layer.attrs, **attrs}
    made = Node(op, layer.name, (*layer.inputs, *addend), merged, end.specs, layer.extra)
    return [Value(made)]
