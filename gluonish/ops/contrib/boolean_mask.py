"""boolean_mask: select rows by a mask."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import UNKNOWN, Shape, Spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.dtype_rules import dtype_rule


def _infer(data: Spec, index: Spec, *, axis: int) -> tuple[Spec]:
    if axis != 0 or not data.shape:
        raise OperatorError(
            f"_contrib_boolean_mask: expected axis 0 of data (N, ...), got axis {axis} of "
            f"{data.shape}"
        )
    if index.shape != data.shape[:1]:
        raise OperatorError(
            f"_contrib_boolean_mask: expected index {data.shape[:1]} for data {data.shape}, "
            f"got {index.shape}"
        )
    return (Spec((UNKNOWN, *data.shape[1:]), data.dtype),)


def _measure(xp: ModuleType, data: Any, index: Any, *, axis: int) -> tuple[Shape]:
    return ((int(xp.count_nonzero(index)), *data.shape[1:]),)


def _kernel(xp: ModuleType, out: Any, data: Any, index: Any, *, axis: int) -> None:
    out[...] = data[index != 0]


def _gradient(g: V, data: V, index: V, *, axis: int) -> tuple[Any, None]:
    return apply(_PUT, (g, index), {"shape": data.shape}), None


BOOLEAN_MASK = register(
    Operator(
        "_contrib_boolean_mask",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Select the rows of data where index is not 0, in order; axis must be 0.\n\n"
            "Shapes: data (N, ...), index (N,), output (count, ...)."
        ),
        inputs=("data", "index"),
        schema=Schema(axis=integer(0)),
        aliases=("_npi_boolean_mask",),
        shapes=ShapeFacts(complete=dtype_rule(0), measure=_measure),
    )
)


def _put_kernel(xp: ModuleType, out: Any, data: Any, index: Any, *, shape: Shape) -> None:
    out.fill(0)
    out[index != 0] = data


def _put_gradient(g: V, data: V, index: V, *, shape: Shape) -> tuple[Any, None]:
    return apply(BOOLEAN_MASK, (g, index), {"axis": 0}), None


_PUT = register(
    Operator(
        "_boolean_mask_put",
        lambda data, index, *, shape: (Spec(shape, data.dtype),),
        _put_kernel,
        _put_gradient,
        doc="Write data to the rows of zeros where index is not 0.",
        inputs=("data", "index"),
        schema=Schema(shape=shape_attr()),
        shapes=ShapeFacts(complete=dtype_rule(0)),
    )
)
