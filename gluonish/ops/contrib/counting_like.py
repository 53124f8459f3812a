"""arange_like and index_array: ranges and coordinates in the shape of an array.

shape_array and size_array: shape and number of elements as arrays.
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT64
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.core.schema import Schema, integer, number, optional, text
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.facts import ShapeFacts, zero_gradient
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.precision import check_steps
from gluonish.ops.support.shape_rules import normalize_axis


def _arange_infer(
    data: Spec, *, start: float, step: float, repeat: int, axis: int | None, **_: object
) -> tuple[Spec]:
    out = data
    if axis is not None:
        axis = normalize_axis("_contrib_arange_like", axis, len(data.shape))
        out = Spec(data.shape[axis : axis + 1], data.dtype)
    if not follows_mxnet():
        check_steps("arange_like", data.dtype, start, step, -(-out.size // repeat))
    return (out,)


def _arange_kernel(
    xp: ModuleType, out: Any, data: Any, *, start: float, step: float, repeat: int, **_: object
) -> None:
    values = start + step * (xp.arange(out.size) // min(repeat, max(1, out.size))).astype(
        xp.float64
    )
    out[...] = values.astype(out.dtype).reshape(out.shape)


ARANGE_LIKE = register(
    Operator(
        "_contrib_arange_like",
        _arange_infer,
        _arange_kernel,
        zero_gradient,
        doc=(
            "Return values from start in steps of step, each repeated repeat times, in the dtype\n"
            "of data.\n\n"
            "Their number is the size of data along axis; without axis they fill the shape of\n"
            "data in row-major order. ctx is accepted and ignored.\n\n"
            "Shapes: data any, output (size of axis,), or without axis that of data."
        ),
        schema=Schema(
            start=number(0.0),
            step=number(1.0),
            repeat=integer(1, low=1),
            ctx=text(""),
            axis=optional(integer()),
        ),
        aliases=("_npx_arange_like",),
    )
)


def _index_infer(data: Spec, *, axes: Shape | None) -> tuple[Spec]:
    rank = len(data.shape)
    if axes is None:
        return (Spec((*data.shape, rank), INT64),)
    for axis in axes:
        normalize_axis("_contrib_index_array", axis, rank)
    return (Spec((*data.shape, len(axes)), INT64),)


def _index_kernel(xp: ModuleType, out: Any, data: Any, *, axes: Shape | None) -> None:
    rank = data.ndim
    for i, axis in enumerate(range(rank) if axes is None else axes):
        shape = [n if j == axis % rank else 1 for j, n in enumerate(data.shape)]
        out[..., i] = xp.arange(data.shape[axis]).reshape(shape)


def _index_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    outputs[0] = PartialSpec(outputs[0].shape, INT64)


INDEX_ARRAY = register(
    Operator(
        "_contrib_index_array",
        _index_infer,
        _index_kernel,
        zero_gradient,
        doc=(
            "Return the coordinates of every element along axes (all by default), as int64.\n\n"
            "Shapes: data any, output (*data.shape, axes)."
        ),
        schema=Schema(axes=optional(shape_attr())),
        shapes=ShapeFacts(complete=_index_complete),
    )
)


def _shape_kernel(xp: ModuleType, out: Any, data: Any) -> None:
    out[...] = xp.asarray(data.shape, dtype=out.dtype)


def _size_kernel(xp: ModuleType, out: Any, data: Any) -> None:
    out.fill(data.size)


def _shape_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    shape = inputs[0].shape
    outputs[0] = PartialSpec(outputs[0].shape if shape is None else (len(shape),), INT64)


def _size_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    outputs[0] = PartialSpec((1,), INT64)


SHAPE_ARRAY = register(
    Operator(
        "shape_array",
        lambda data: (Spec((len(data.shape),), INT64),),
        _shape_kernel,
        zero_gradient,
        doc="Return the shape of data, as int64.\n\nShapes: data any, output (axes,).",
        aliases=("_npx_shape_array",),
        shapes=ShapeFacts(complete=_shape_complete),
    )
)

SIZE_ARRAY = register(
    Operator(
        "size_array",
        lambda data: (Spec((1,), INT64),),
        _size_kernel,
        zero_gradient,
        doc="Return the number of elements of data, as int64.\n\nShapes: data any, output (1,).",
        shapes=ShapeFacts(complete=_size_complete),
    )
)
