"""shape_array and size_array: shape and number of elements as arrays."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT64
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.zero_gradient import zero_gradient


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
