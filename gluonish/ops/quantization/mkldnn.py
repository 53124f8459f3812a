"""_sg_mkldnn_conv and _sg_mkldnn_fully_connected: a fused layer, as in MXNet's files.

A node owns the subgraph of its layer: a Convolution or FullyConnected, then optionally a BatchNorm,
an activation, a sum with another input, and another activation. If ``quantized`` is set, data is
8-bit, and ranges follow the subgraph's inputs. The node has no kernel: it is expanded to other
operators before it runs, to `gluonish.ops.quantization.layers` if it is quantized.
"""

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import FLOAT32, INT8
from gluonish.core.errors import NotSupportedError, OperatorError
from gluonish.core.schema import Schema, boolean
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.fused.activation import ATTRIBUTES, REVERSIBLE
from gluonish.ops.normalization.fold_batch_norm import FOLD_BATCH_NORM
from gluonish.ops.quantization.layers import INT8_CONVOLUTION, INT8_DENSE
from gluonish.ops.quantization.quantize import DEQUANTIZE, QUANTIZE_V2
from gluonish.ops.quantization.ranges import CALIBRATION, RANGE, byte_dtype, calibrated
from gluonish.ops.quantization.scales import INT8_SCALES, INT8_WEIGHT
from gluonish.ops.registry import Attrs, Operator, apply, register

_LAYERS = {"Convolution": INT8_CONVOLUTION, "FullyConnected": INT8_DENSE}
_NORMALIZATION = "BatchNorm"
_SUM = "elemwise_add"
# Functions f with f(x / s) = f(x) / s for s > 0: they commute with the scale of a sum.
_HOMOGENEOUS = ("relu", "leaky")


_Function = tuple[str, float, float]


def _leaky(attrs: Mapping[str, Any]) -> _Function | None:
    kind = attrs["act_type"]
    slope = attrs["slope"] if kind in ("leaky", "elu") else 0.0
    return (kind, slope, 0.0) if kind in ("leaky", "elu", "gelu", "selu") else None


_FUNCTIONS: Mapping[str, Callable[[Mapping[str, Any]], _Function | None]] = {
    "Activation": lambda attrs: (
        (attrs["act_type"], 0.0, 0.0) if attrs["act_type"] in REVERSIBLE else None
    ),
    "LeakyReLU": _leaky,
    "clip": lambda attrs: ("clip", attrs["a_min"], attrs["a_max"]),
    "relu": lambda attrs: ("relu", 0.0, 0.0),
    "sigmoid": lambda attrs: ("sigmoid", 0.0, 0.0),
    "tanh": lambda attrs: ("tanh", 0.0, 0.0),
}


def _function_of(node: Any) -> _Function | None:
    """Return name, alpha and beta in `gluonish.ops.fused.activation`, None for other nodes."""
    found = _FUNCTIONS.get(node.op.name)
    return None if found is None else found(node.attrs)


class _Form(NamedTuple):
    """The parsed body of a fused node.

    Attributes:
        layer: The Convolution or FullyConnected node.
        rest: The nodes after the layer, in order.
        indices: Index of each variable among the node's inputs, by the variable's id.
    """

    layer: Any
    rest: Sequence[Any]
    indices: dict[int, int]

    def inputs_of(self, node: Any, inputs: Sequence[Any]) -> list[Any]:
        """Return the inputs of the fused node that a node of its body reads."""
        return [inputs[self.indices[id(v.node)]] for v in node.inputs if id(v.node) in self.indices]


def _form(body: Any) -> _Form:
    """Parse the body of a fused node.

    Raises:
        OperatorError: The body is not a chain that begins with a layer.
    """
    indices = {id(node): i for i, node in enumerate(body.inputs)}
    if len(body.outputs) != 1:
        raise OperatorError(f"_sg_mkldnn: expected a body of one output, got {len(body.outputs)}")
    node, rest = body.outputs[0].node, []
    while node.op is not None and node.op.name not in _LAYERS:
        rest.append(node)
        inner = [value for value in node.inputs if value.node.op is not None]
        if len(inner) != 1 or inner[0].index:
            break
        node = inner[0].node
    if node.op is None or node.op.name not in _LAYERS:
        raise OperatorError(
            "_sg_mkldnn: expected a body that begins with Convolution or FullyConnected, got "
            f"{[n.op.name for n in rest if n.op is not None][::-1]}"
        )
    return _Form(node, rest[::-1], indices)


def _is_offline(attrs: Attrs) -> bool:
    """Return whether a dense layer's weight is already int8, with its own ranges."""
    return bool(attrs["quantized"]) and not attrs.get("channel_wise_quantize", True)


def _count(attrs: Attrs) -> int:
    """Return the number of inputs of the body."""
    if "subgraphs" in attrs:
        count: int = attrs["subgraphs"][0].num_inputs
        return count
    return 3 + 4 * int(attrs["with_bn"]) + int(attrs["with_sum"])


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    names = [f"arg{i}" for i in range(_count(attrs))]
    if attrs["quantized"]:
        names += ["min_data", "max_data"]
        names += ["min_sum", "max_sum"] * attrs["with_sum"]
        if _is_offline(attrs):
            names += ["min_weight", "max_weight"]
            names += ["min_bias", "max_bias"] * (_layer_inputs(attrs) == 3)
    return tuple(names)


def _layer_inputs(attrs: Attrs) -> int:
    if "subgraphs" not in attrs:
        return 3
    return len(_form(attrs["subgraphs"][0]).layer.inputs)


def _num_outputs(attrs: Attrs) -> int:
    return 3 if attrs["quantized"] and not attrs["enable_float_output"] else 1


def _as_float(specs: Sequence[Any], attrs: Attrs) -> list[Any]:
    return [type(spec)(spec.shape, FLOAT32) for spec in specs[: _count(attrs)]]


def _infer(*specs: Spec, subgraphs: Any = None, **attrs: Any) -> tuple[Spec, ...]:
    if subgraphs is None:
        raise OperatorError("_sg_mkldnn: expected a subgraph, got none; load a symbol file")
    every = {**attrs, "subgraphs": subgraphs}
    if len(specs) != len(_inputs(every)):
        raise OperatorError(f"_sg_mkldnn: expected {len(_inputs(every))} inputs, got {len(specs)}")
    shape = subgraphs[0].infer(_as_float(specs, every))[0].shape
    if not attrs["quantized"] or attrs["enable_float_output"]:
        return (Spec(shape, FLOAT32),)
    found = calibrated("_sg_mkldnn", attrs)
    dtype = np.dtype(np.int32) if found is None else byte_dtype("auto", found)
    return Spec(shape, dtype), RANGE, RANGE


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    count = _count(attrs)
    known = _as_float(inputs, attrs)
    attrs["subgraphs"][0].complete(known, [PartialSpec()])
    form = _form(attrs["subgraphs"][0])
    fixed: dict[int, np.dtype[Any]] = {
        form.indices[id(value.node)]: INT8 for value in form.layer.inputs[1:]
    }
    if not _is_offline(attrs):
        fixed = dict.fromkeys(range(count), FLOAT32)
    if attrs["quantized"]:  # int8 or uint8
        byte_indices = [form.indices[id(form.layer.inputs[0].node)]]
        byte_indices += [
            form.indices[id(v.node)]
            for node in form.rest
            if node.op.name == _SUM
            for v in node.inputs
            if id(v.node) in form.indices
        ]
        for index in byte_indices:
            fixed.pop(index, None)
    for i, spec in enumerate(known):
        inputs[i] = PartialSpec(spec.shape, inputs[i].dtype or fixed.get(i))
    for i in range(count, len(inputs)):
        inputs[i] = PartialSpec(*RANGE)
    for i in range(1, len(outputs)):
        outputs[i] = PartialSpec(*RANGE)


def _kernel(xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
    raise NotSupportedError("_sg_mkldnn: expected a graph with known shapes, got a single call")


def _replayed(body: Any, inputs: Sequence[Any]) -> Any:
    """Compute a body on floating-point inputs."""
    form = _form(body)
    value = apply(form.layer.op, form.inputs_of(form.layer, inputs), form.layer.attrs)
    for node in form.rest:
        value = _call(node, value, form.inputs_of(node, inputs))
    return value


def _call(node: Any, value: Any, others: Sequence[Any]) -> Any:
    """Apply a node after the layer to a value and its other inputs."""
    attrs = {**node.attrs, "train": False} if node.op.train_dependent else node.attrs
    found = apply(node.op, (value, *others), attrs)
    return found[0] if isinstance(found, list | tuple) else found


def _name(x: Any) -> str:
    name: str = np.dtype(x.dtype).name
    return name


def _expand(inputs: Sequence[Any], attrs: Attrs) -> list[Any]:
    body = attrs["subgraphs"][0]
    if not attrs["quantized"]:
        return [_replayed(body, inputs)]
    return _Expansion(_form(body), inputs, attrs).run()


class _Expansion:
    """Expands one quantized node to operators."""

    def __init__(self, form: _Form, inputs: Sequence[Any], attrs: Attrs) -> None:
        self.form = form
        self.inputs = inputs
        self.attrs = attrs
        names = _inputs(attrs)
        self.ranges = {
            name: x for name, x in zip(names, inputs, strict=True) if not name.startswith("arg")
        }

    def run(self) -> list[Any]:
        """Return the outputs: 8-bit or int32 data and their range, or float32 data."""
        rest = list(self.form.rest)
        weight, bias = self._weights(rest)
        addend, finish, late = self._finish(rest)
        out_type = "float32" if late else self._out_type()
        scales = self._scales(weight, bias, addend, out_type)
        layer = self.form.layer
        op = _LAYERS[layer.op.name]
        layer_attrs = {**op.schema.defaults, **layer.attrs, **finish, "out_type": out_type}
        layer_attrs |= {"no_bias": False, "with_sum": addend is not None}
        data = self.form.inputs_of(layer, self.inputs)[0]
        args = [data, weight[0], *scales[:3], *([] if addend is None else [addend])]
        value = apply(op, args, layer_attrs)
        if not late:
            return [value] if out_type == "float32" else [value, *scales[3:]]
        return self._outputs(self._after(value, late))

    def _out_type(self) -> str:
        if self.attrs["enable_float_output"]:
            return "float32"
        found = calibrated("_sg_mkldnn", self.attrs)
        if found is None:
            return "int32"
        return "uint8" if found[0] >= 0 else "int8"

    def _weights(self, rest: list[Any]) -> tuple[list[Any], Any]:
        """Return the int8 weight with its steps (no steps if it was int8 before), and the bias.

        A BatchNorm is removed from ``rest``, and folded into weight and bias.
        """
        weight, *biases = self.form.inputs_of(self.form.layer, self.inputs)[1:]
        if rest and rest[0].op.name == _NORMALIZATION:
            node = rest.pop(0)
            fold = {key: node.attrs[key] for key in ("eps", "fix_gamma")} | {"no_bias": not biases}
            statistics = self.form.inputs_of(node, self.inputs)
            weight, bias = apply(FOLD_BATCH_NORM, (weight, *biases, *statistics), fold)
            biases = [bias]
        if _name(weight) == "int8":
            return [weight], (biases or [None])[0]
        quantized = apply(INT8_WEIGHT, (weight,), {"channel_wise": True})
        return list(quantized), (biases or [None])[0]

    def _finish(self, rest: Sequence[Any]) -> tuple[Any, dict[str, Any], Sequence[Any]]:
        """Return the 8-bit addend, the activation's attributes, and the nodes to run in float32."""
        addend, function, count = None, None, 0
        if rest and rest[0].op.name == _SUM and not self.attrs["enable_float_output"]:
            (addend,) = self.form.inputs_of(rest[0], self.inputs)
            count = 1
        if len(rest) > count:
            function = _function_of(rest[count])
            if function is not None and (addend is None or function[0] in _HOMOGENEOUS):
                count += 1
            elif addend is not None:
                return None, _no_function(), rest
            else:
                function = None
        late = rest[count:]
        if late and addend is not None:
            return None, _no_function(), rest
        if function is None:
            return addend, _no_function(), late
        names = ("activation", "alpha", "beta")
        return addend, dict(zip(names, function, strict=True)), late

    def _scales(self, weight: Sequence[Any], bias: Any, addend: Any, out_type: str) -> Any:
        ranges, offline = self.ranges, len(weight) == 1
        args = [ranges["min_data"], ranges["max_data"]]
        args += [ranges["min_weight"], ranges["max_weight"]] if offline else [weight[1]]
        if bias is not None:
            args.append(bias)
            args += [ranges["min_bias"], ranges["max_bias"]] if offline else []
        if addend is not None:
            args += [ranges["min_sum"], ranges["max_sum"]]
        attrs = {
            **INT8_SCALES.schema.defaults,
            "channels": weight[0].shape[0],
            "data_type": _name(self.form.inputs_of(self.form.layer, self.inputs)[0]),
            "sum_type": "int8" if addend is None else _name(addend),
            "out_type": out_type,
            "with_bias": bias is not None,
            "with_sum": addend is not None,
            "offline": offline,
        }
        if out_type != "float32":
            attrs |= {key: self.attrs[key] for key in CALIBRATION}
        return apply(INT8_SCALES, args, attrs)

    def _after(self, value: Any, late: Sequence[Any]) -> Any:
        """Apply the remaining nodes to a float32 value."""
        for node in late:
            others = self.form.inputs_of(node, self.inputs)
            if node.op.name == _SUM:
                ends = self.ranges["min_sum"], self.ranges["max_sum"]
                others = [apply(DEQUANTIZE, (others[0], *ends), DEQUANTIZE.schema.defaults)]
            value = _call(node, value, others)
        return value

    def _outputs(self, value: Any) -> list[Any]:
        """Convert a float32 result to the node's outputs."""
        if self.attrs["enable_float_output"]:
            return [value]
        if calibrated("_sg_mkldnn", self.attrs) is None:
            raise NotSupportedError(
                "_sg_mkldnn: expected calibration for an activation without 8-bit kernel, got "
                "none; calibrate with calib_mode 'naive' or 'entropy'"
            )
        attrs = {**{key: self.attrs[key] for key in CALIBRATION}, "out_type": "auto"}
        return list(apply(QUANTIZE_V2, (value,), attrs))


def _no_function() -> dict[str, Any]:
    return {key: ATTRIBUTES[key].default for key in ("activation", "alpha", "beta")}


def _mutates(attrs: Attrs) -> tuple[int, ...]:
    return tuple(attrs["subgraphs"][0].mutated) if "subgraphs" in attrs else ()


def _subgraph(name: str, doc: str, schema: Schema) -> Operator:
    return register(
        Operator(
            name,
            _infer,
            _kernel,
            None,
            doc=doc,
            active_inputs=_inputs,
            schema=schema,
            outputs=_num_outputs,
            output_names=_output_names,
            execution=Execution(mutates=_mutates),
            shapes=ShapeFacts(complete=_complete, expand=_expand),
        )
    )


def _output_names(attrs: Attrs) -> tuple[str, ...]:
    return ("output", "min_output", "max_output") if _num_outputs(attrs) == 3 else ("output",)


_BOTH = {
    **dict.fromkeys(("quantized", "enable_float_output"), boolean(False)),
    **dict.fromkeys(("with_sum", "with_bn"), boolean(False)),
    **CALIBRATION,
}

SG_CONV = _subgraph(
    "_sg_mkldnn_conv",
    "Apply a Convolution fused with a BatchNorm, an activation and a sum, as a subgraph.",
    Schema(**_BOTH, **dict.fromkeys(("with_act", "with_postsum_act"), boolean(False))),
)

SG_FULLY_CONNECTED = _subgraph(
    "_sg_mkldnn_fully_connected",
    "Apply a FullyConnected fused with an activation, as a subgraph.",
    Schema(**_BOTH, **dict.fromkeys(("with_eltwise", "channel_wise_quantize"), boolean(False))),
)
