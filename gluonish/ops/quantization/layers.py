"""_int8_convolution and _int8_dense: a layer on 8-bit data in one operator.

    out = activation((sum of products) * scale + bias + addend) / out_step

Sums of products are integers, exact in the reference kernel, which accumulates in float64. For
integer dtypes the result is rounded to the nearest integer, and clipped to the dtype's range.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, INT8
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean, choice
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution
from gluonish.ops.fused.activation import ATTRIBUTES, Finish, finish
from gluonish.ops.nn.convolution import CONVOLUTION
from gluonish.ops.nn.dense import FULLY_CONNECTED
from gluonish.ops.quantization.range_preserving import infer_as
from gluonish.ops.quantization.ranges import check_quantized, fill_rounded
from gluonish.ops.registry import Attrs, Operator, register

_INPUTS = ("data", "weight", "scale", "bias", "out_step")


def _active_inputs(attrs: Attrs) -> tuple[str, ...]:
    return (*_INPUTS, "addend") if attrs["with_sum"] else _INPUTS


def _layer(
    base: Operator,
    name: str,
    doc: str,
    channel_axis: Callable[[Attrs, int], int],
    **hints: Attribute,
) -> Operator:
    """Register a layer on 8-bit data.

    Args:
        base: The floating-point layer.
        channel_axis: ``channel_axis(attrs, rank)``: the axis of the output's channels.
        **hints: Attributes without effect on the result.
    """

    def base_attrs(attrs: Attrs) -> dict[str, Any]:
        return {key: attrs[key] for key in base.schema.attributes} | {"no_bias": True}

    def infer(data: Spec, weight: Spec, *rest: Spec, **attrs: Any) -> tuple[Spec, ...]:
        check_quantized(name, data)
        if weight.dtype != INT8:
            raise OperatorError(f"{name}: expected an int8 weight, got {weight.dtype.name}")
        shape = infer_as(name, base, data, weight, **base_attrs(attrs)).shape
        vector = Spec((weight.shape[0],), FLOAT32)
        expected = [vector, vector, Spec((1,), FLOAT32)]
        if list(rest[:3]) != expected:
            raise OperatorError(
                f"{name}: expected scale, bias and out_step {', '.join(map(str, expected))}, got "
                f"{', '.join(map(str, rest[:3]))}"
            )
        if attrs["with_sum"] and rest[3].shape != shape:
            raise OperatorError(f"{name}: expected an addend of shape {shape}, got {rest[3].shape}")
        return (Spec(shape, np.dtype(attrs["out_type"])),)

    def kernel(xp: ModuleType, out: Any, data: Any, weight: Any, *rest: Any, **attrs: Any) -> None:
        scale, bias, step, *addend = (x.astype(FLOAT64) for x in rest)
        found = xp.empty(out.shape, dtype=FLOAT64)
        base.kernel(xp, found, data.astype(FLOAT64), weight.astype(FLOAT64), **base_attrs(attrs))
        axis = channel_axis(attrs, found.ndim)
        along = (-1, *(1,) * (found.ndim - 1 - axis))
        found *= scale.reshape(along)
        found += bias.reshape(along)
        activation = Finish(*(attrs[key] for key in Finish._fields))
        result = xp.empty(out.shape, dtype=FLOAT64)
        finish(xp, result, found, addend[0] if addend else None, activation)
        result /= step
        if out.dtype == FLOAT32:
            out[...] = result
        else:
            fill_rounded(xp, out, result)

    return register(
        Operator(
            name,
            infer,
            kernel,
            None,
            doc=doc,
            inputs=(*_INPUTS, "addend"),
            active_inputs=_active_inputs,
            schema=Schema(
                **base.schema.attributes,
                **ATTRIBUTES,
                out_type=choice("float32", "int8", "uint8", "int32", default="float32"),
                **hints,
            ),
            execution=Execution(heavy=base.heavy),
        )
    )


def _convolution_axis(attrs: Attrs, rank: int) -> int:
    last = attrs["layout"] is not None and attrs["layout"].endswith("C")
    return rank - 1 if last else 1


_DETAILS = (
    "data is int8 or uint8, weight is int8; scale and bias are float32 with one value a channel,\n"
    "out_step is a single float32. addend (with_sum) has the shape of the output. alpha and beta\n"
    "are parameters of the activation, out_type is the output's dtype."
)

INT8_CONVOLUTION = _layer(
    CONVOLUTION,
    "_int8_convolution",
    "Compute activation(Convolution(data, weight) * scale + bias + addend) / out_step, rounded.\n\n"
    f"{_DETAILS}",
    _convolution_axis,
)

INT8_DENSE = _layer(
    FULLY_CONNECTED,
    "_int8_dense",
    "Compute activation(FullyConnected(data, weight) * scale + bias + addend) / out_step,\n"
    "rounded.\n\n"
    f"{_DETAILS} packed is a hint that the weight rarely changes.",
    lambda attrs, rank: rank - 1,
    packed=boolean(True),
)
