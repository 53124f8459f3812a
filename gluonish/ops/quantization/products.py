"""_contrib_quantized_fully_connected and _contrib_quantized_conv: 8-bit products in int32.

Sums are accumulated in float64, where they are exact: they are far below 2**53.
"""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT64, INT8, INT32
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.nn.convolution import CONVOLUTION
from gluonish.ops.quantization.range_preserving import infer_as
from gluonish.ops.quantization.ranges import (
    OUTPUT_NAMES,
    RANGE,
    WIDE_STEPS,
    check_quantized,
    check_ranges,
    complete_ranges,
    fill_product_range,
    fill_rounded,
    magnitude,
)
from gluonish.ops.registry import Attrs, Operator, register

_BIASED = (
    "data",
    "weight",
    "bias",
    "min_data",
    "max_data",
    "min_weight",
    "max_weight",
    "min_bias",
    "max_bias",
)
_UNBIASED = tuple(name for name in _BIASED if "bias" not in name)


def _active_inputs(attrs: Attrs) -> tuple[str, ...]:
    return _UNBIASED if attrs["no_bias"] else _BIASED


def _bias_steps(xp: ModuleType, named: dict[str, Any]) -> Any:
    """Convert a bias to steps of the int32 sums, truncated toward zero."""
    steps = {
        name: WIDE_STEPS[named[name].dtype]
        / magnitude(xp, named[f"min_{name}"], named[f"max_{name}"]).astype(FLOAT64)
        for name in ("data", "weight", "bias")
    }
    scaled = named["bias"] * (steps["data"] * steps["weight"] / steps["bias"])
    return xp.trunc(xp.nan_to_num(scaled))


def _product(
    suffix: str,
    doc: str,
    shapes: str,
    infer: Callable[..., Spec],
    multiply: Callable[..., None],
    units: str,
    bias_axis: Callable[[Attrs], int],
    schema: Schema,
) -> Operator:
    """Register a quantized layer.

    Args:
        suffix: Operator name without ``_contrib_quantized_``.
        doc: Public documentation.
        shapes: Shapes of data, weight, bias and the result, for the documentation.
        infer: ``infer(name, data, weight, **attrs)`` returns the spec of the result.
        multiply: ``multiply(xp, out, data, weight, **attrs)`` fills float64 ``out`` without bias.
        units: Attribute with the extent of the bias.
        bias_axis: ``bias_axis(attrs)`` returns the axis of the bias in the result, from the end.
    """
    name = f"_contrib_quantized_{suffix}"

    def infer_all(data: Spec, weight: Spec, *rest: Spec, **attrs: Any) -> tuple[Spec, ...]:
        named = dict(zip(_active_inputs(attrs), (data, weight, *rest), strict=True))
        check_quantized(name, data, weight)
        if weight.dtype != INT8:
            raise OperatorError(f"{name}: expected an int8 weight, got {weight.dtype.name}")
        check_ranges(name, *(spec for key, spec in named.items() if key.startswith("m")))
        bias = named.get("bias")
        if bias is not None and (bias.shape != (attrs[units],) or bias.dtype != INT8):
            raise OperatorError(
                f"{name}: expected an int8 bias of shape ({attrs[units]},), got {bias}"
            )
        return Spec(infer(name, data, weight, **attrs).shape, INT32), RANGE, RANGE

    def kernel(xp: ModuleType, out: Any, *arrays: Any, **attrs: Any) -> None:
        named = dict(zip(_active_inputs(attrs), arrays, strict=True))
        data, weight = named["data"], named["weight"]
        found = xp.empty(out[0].shape, dtype=FLOAT64)
        multiply(xp, found, data.astype(FLOAT64), weight.astype(FLOAT64), **attrs)
        if "bias" in named:
            bias = _bias_steps(xp, named)
            found += bias.reshape(-1, *(1,) * (-1 - bias_axis({**attrs, "rank": found.ndim})))
        fill_rounded(xp, out[0], found)
        ranges = [
            (named[w].dtype, named[f"min_{w}"], named[f"max_{w}"]) for w in ("data", "weight")
        ]
        fill_product_range(xp, out[1:], *ranges)

    return register(
        Operator(
            name,
            infer_all,
            kernel,
            None,
            doc=(
                f"{doc}\n\nData is int8 or uint8, weight and bias are int8; the result is int32 "
                f"with its range.\n\nShapes: {shapes}, minima and maxima (1,)."
            ),
            inputs=_BIASED,
            active_inputs=_active_inputs,
            schema=schema,
            outputs=3,
            output_names=OUTPUT_NAMES,
            execution=Execution(heavy=True),
            shapes=ShapeFacts(complete=_complete),
        )
    )


def _complete(inputs: Any, outputs: Any, attrs: Attrs) -> None:
    bytes_: Sequence[Any] = (None, INT8) if attrs["no_bias"] else (None, INT8, INT8)
    complete_ranges(*bytes_)(inputs, outputs, attrs)


def _dense_infer(name: str, data: Spec, weight: Spec, **attrs: Any) -> Spec:
    units = attrs["num_hidden"]
    flat = attrs["flatten"]
    if len(data.shape) < (1 if not flat else 2) or units < 1:
        raise OperatorError(
            f"{name}: expected data of at least {1 + flat} axes and num_hidden of at least 1, "
            f"got {data.shape} and {units}"
        )
    in_units = data.shape[-1]
    if flat:
        in_units = Spec(data.shape[1:], INT8).size
    if weight.shape != (units, in_units):
        raise OperatorError(f"{name}: expected weight ({units}, {in_units}), got {weight.shape}")
    lead = data.shape[:1] if flat else data.shape[:-1]
    return Spec((*lead, units), INT32)


def _dense(xp: ModuleType, out: Any, data: Any, weight: Any, **_attrs: Any) -> None:
    rows = data.reshape(-1, weight.shape[1]) if weight.shape[1] else data.reshape(out.shape[0], 0)
    out[...] = (rows @ weight.T).reshape(out.shape)


QUANTIZED_FULLY_CONNECTED = _product(
    "fully_connected",
    "Apply the dense layer x W^T + b to quantized arrays.",
    "data (N, ...), weight (num_hidden, features), bias (num_hidden,), output (N,\n"
    "num_hidden) or, without flatten, (..., num_hidden)",
    _dense_infer,
    _dense,
    "num_hidden",
    lambda attrs: -1,
    Schema(num_hidden=integer(), no_bias=boolean(False), flatten=boolean(True)),
)


def _conv_infer(name: str, data: Spec, weight: Spec, **attrs: Any) -> Spec:
    return infer_as(name, CONVOLUTION, data, weight, **{**attrs, "no_bias": True})


def _conv(xp: ModuleType, out: Any, data: Any, weight: Any, **attrs: Any) -> None:
    CONVOLUTION.kernel(xp, out, data, weight, **{**attrs, "no_bias": True})


def _channel_axis(attrs: Attrs) -> int:
    last = attrs["layout"] is not None and attrs["layout"].endswith("C")
    return -1 if last else 1 - int(attrs["rank"])


QUANTIZED_CONV = _product(
    "conv",
    "Convolve quantized arrays, with the attributes of Convolution.",
    "data (N, C, *spatial), weight (num_filter, C / num_group, *kernel), bias\n"
    "(num_filter,), output (N, num_filter, *windows)",
    _conv_infer,
    _conv,
    "num_filter",
    _channel_axis,
    CONVOLUTION.schema,
)
