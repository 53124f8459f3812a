"""Quantized operators that preserve the range: relu, flattening, pooling, embedding."""

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, dtype_attr, integer
from gluonish.core.spec import Spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.nn.embedding import check_ids
from gluonish.ops.nn.pooling import POOLING
from gluonish.ops.numpy.axes_order import TRANSPOSE as NUMPY_TRANSPOSE
from gluonish.ops.numpy.reshape import NPX_RESHAPE as NUMPY_RESHAPE
from gluonish.ops.quantization.ranges import (
    OUTPUT_NAMES,
    RANGE,
    check_quantized,
    check_ranges,
    complete_ranges,
    fill_range,
    fill_rounded,
)
from gluonish.ops.registry import Attrs, Operator, apply, register
from gluonish.ops.shape.reshape import FLATTEN


def infer_as(name: str, op: Operator, *specs: Spec, **attrs: Any) -> Spec:
    """Return the output spec of another operator for float32 arrays of these shapes.

    Raises:
        OperatorError: The error of that operator, prefixed by ``name``.
    """
    try:
        return op.infer(*(Spec(spec.shape, FLOAT32) for spec in specs), **attrs)[0]
    except OperatorError as error:
        raise OperatorError(f"{name}: {error}") from error


def _passing(
    name: str,
    doc: str,
    shapes: str,
    infer: Callable[..., Spec],
    fill: Callable[..., None],
    schema: Schema | None = None,
    on_bytes: Operator | None = None,
) -> Operator:
    """Register an operator on a quantized array that preserves the range.

    Args:
        doc: Public documentation.
        shapes: Shapes of data and of the result, for the documentation.
        infer: ``infer(name, data, **attrs)`` returns the spec of the result.
        fill: ``fill(xp, out, data, **attrs)`` computes the result.
        on_bytes: Operator on 8-bit data that replaces this one in graphs, with equal attributes.
    """

    def expand(inputs: Sequence[Any], attrs: Attrs) -> list[Any]:
        return [apply(on_bytes, inputs[:1], attrs), *inputs[1:]]  # type: ignore[arg-type]  # not None

    def infer_all(data: Spec, min_data: Spec, max_data: Spec, **attrs: Any) -> tuple[Spec, ...]:
        check_quantized(name, data)
        check_ranges(name, min_data, max_data)
        return infer(name, data, **attrs), RANGE, RANGE

    def kernel(
        xp: ModuleType, out: Any, data: Any, min_data: Any, max_data: Any, **attrs: Any
    ) -> None:
        fill(xp, out[0], data, **attrs)
        fill_range(xp, out[1:], min_data, max_data)

    return register(
        Operator(
            name,
            infer_all,
            kernel,
            None,
            doc=(
                f"{doc}\n\nData is int8 or uint8; the range does not change.\n\n"
                f"Shapes: {shapes}, minimum and maximum (1,)."
            ),
            inputs=("data", "min_data", "max_data"),
            schema=schema,
            outputs=3,
            output_names=OUTPUT_NAMES,
            shapes=ShapeFacts(
                complete=complete_ranges(None), expand=None if on_bytes is None else expand
            ),
        )
    )


def _act_infer(name: str, data: Spec, *, act_type: str) -> Spec:
    if act_type != "relu":
        raise OperatorError(f"{name}: expected act_type 'relu', got {act_type!r}")
    return data


def _act_fill(xp: ModuleType, out: Any, data: Any, *, act_type: str) -> None:
    xp.maximum(data, data.dtype.type(0), out=out)


QUANTIZED_ACT = _passing(
    "_contrib_quantized_act",
    "Apply an activation to a quantized array; act_type must be relu.",
    "data any, output the same",
    _act_infer,
    _act_fill,
    Schema(act_type=choice("relu", "sigmoid", "softrelu", "softsign", "tanh")),
)


def _flatten_infer(name: str, data: Spec) -> Spec:
    if not data.shape:
        raise OperatorError(f"{name}: expected data of at least 1 axis, got ()")
    return Spec((data.shape[0], math.prod(data.shape[1:])), data.dtype)


def _flatten_fill(xp: ModuleType, out: Any, data: Any) -> None:
    out[...] = data.reshape(out.shape)


QUANTIZED_FLATTEN = _passing(
    "_contrib_quantized_flatten",
    "Flatten all axes of a quantized array after the first.",
    "data (N, ...), output (N, elements)",
    _flatten_infer,
    _flatten_fill,
    on_bytes=FLATTEN,
)


def _reshape_infer(name: str, data: Spec, **attrs: Any) -> Spec:
    return Spec(infer_as(name, NUMPY_RESHAPE, data, **attrs).shape, data.dtype)


def _reshape_fill(xp: ModuleType, out: Any, data: Any, **_attrs: Any) -> None:
    out[...] = data.reshape(out.shape)


QUANTIZED_RESHAPE = _passing(
    "_npx_quantized_reshape",
    "Reshape a quantized array; attributes are as in npx.reshape.",
    "data any, output newshape",
    _reshape_infer,
    _reshape_fill,
    NUMPY_RESHAPE.schema,
)


def _transpose_infer(name: str, data: Spec, *, axes: tuple[int, ...] | None) -> Spec:
    return Spec(infer_as(name, NUMPY_TRANSPOSE, data, axes=axes).shape, data.dtype)


def _transpose_fill(xp: ModuleType, out: Any, data: Any, *, axes: tuple[int, ...] | None) -> None:
    out[...] = data.transpose(axes or None)


QUANTIZED_TRANSPOSE = _passing(
    "_npx_quantized_transpose",
    "Permute the axes of a quantized array; without axes, reverse them.",
    "data any, output its axes in the order of axes",
    _transpose_infer,
    _transpose_fill,
    NUMPY_TRANSPOSE.schema,
)


def _pooling_infer(name: str, data: Spec, **attrs: Any) -> Spec:
    if attrs["pool_type"] not in ("max", "avg"):
        raise OperatorError(
            f"{name}: expected pool_type 'max' or 'avg', got {attrs['pool_type']!r}"
        )
    return Spec(infer_as(name, POOLING, data, **attrs).shape, data.dtype)


def _pooling_fill(xp: ModuleType, out: Any, data: Any, **attrs: Any) -> None:
    layout = attrs["layout"]
    if (
        attrs["global_pool"]
        and attrs["pool_type"] == "avg"
        and (layout is None or layout[1] == "C")
    ):
        axes = tuple(range(2, data.ndim))
        total = data.sum(axis=axes, keepdims=True, dtype=np.int64)  # exact, as in float64
        fill_rounded(xp, out, total / math.prod(data.shape[2:]))
        return
    found = xp.empty(out.shape, dtype=FLOAT64)
    POOLING.kernel(xp, found, data.astype(FLOAT64), **attrs)
    fill_rounded(xp, out, found)


def _int8_pooling_infer(data: Spec, **attrs: Any) -> tuple[Spec]:
    check_quantized("_int8_pooling", data)
    return (_pooling_infer("_int8_pooling", data, **attrs),)


INT8_POOLING = register(
    Operator(
        "_int8_pooling",
        _int8_pooling_infer,
        _pooling_fill,
        None,
        doc=(
            "Compute the maximum or mean over windows of 8-bit data, rounded; attributes are as\n"
            "in Pooling.\n\n"
            "Shapes: data (N, C, *spatial), output (N, C, *windows)."
        ),
        schema=POOLING.schema,
    )
)

QUANTIZED_POOLING = _passing(
    "_contrib_quantized_pooling",
    "Compute the maximum or mean over windows of a quantized array; attributes are as in\nPooling.",
    "data (N, C, *spatial), output (N, C, *windows)",
    _pooling_infer,
    _pooling_fill,
    POOLING.schema,
    INT8_POOLING,
)

_EMBEDDING = "_contrib_quantized_embedding"


def _embedding_infer(
    data: Spec, weight: Spec, min_weight: Spec, max_weight: Spec, **attrs: Any
) -> tuple[Spec, ...]:
    check_quantized(_EMBEDDING, weight)
    check_ranges(_EMBEDDING, min_weight, max_weight)
    expected = (attrs["input_dim"], attrs["output_dim"])
    if weight.shape != expected or 0 in expected:
        raise OperatorError(
            f"{_EMBEDDING}: expected weight (input_dim, output_dim) = {expected}, got "
            f"{weight.shape}"
        )
    return Spec((*data.shape, expected[1]), weight.dtype), RANGE, RANGE


def _embedding_kernel(
    xp: ModuleType, out: Any, data: Any, weight: Any, low: Any, high: Any, **_attrs: Any
) -> None:
    check_ids(_EMBEDDING, data, weight.shape[0])
    rows = xp.clip(xp.nan_to_num(data.astype(FLOAT64)), 0, weight.shape[0] - 1)
    out[0][...] = weight[rows.astype(np.int64)]
    fill_range(xp, out[1:], low, high)


QUANTIZED_EMBEDDING = register(
    Operator(
        _EMBEDDING,
        _embedding_infer,
        _embedding_kernel,
        None,
        doc=(
            "Look up rows of a quantized weight; the range does not change.\n\n"
            "Indices out of range are an error on CPUs; on GPUs, and under the name mxnet, they\n"
            "read the first or last row. dtype and sparse_grad are ignored.\n\n"
            "Shapes: data any, weight (input_dim, output_dim), minimum and maximum (1,),\n"
            "outputs (*data.shape, output_dim), (1,) and (1,)."
        ),
        inputs=("data", "weight", "min_weight", "max_weight"),
        schema=Schema(
            input_dim=integer(),
            output_dim=integer(),
            dtype=dtype_attr(FLOAT32),
            sparse_grad=boolean(False),
        ),
        outputs=3,
        output_names=OUTPUT_NAMES,
        shapes=ShapeFacts(complete=complete_ranges(None, None)),
    )
)
