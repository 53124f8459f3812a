"""Rows of a row-sparse array put at their places among zeros."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.registry import Operator, register

__all__ = ["ROWS_TO_DENSE"]


def _infer(values: Spec, rows: Spec, *, shape: Shape) -> tuple[Spec]:
    if not shape or values.shape != (rows.size, *shape[1:]):
        raise OperatorError(
            f"_sparse_rows_to_dense: expected values ({rows.size}, *{shape[1:]}), "
            f"got {values.shape}"
        )
    return (Spec(shape, values.dtype),)


def _kernel(xp: ModuleType, out: Any, values: Any, rows: Any, *, shape: Shape) -> None:
    if len(rows) < shape[0]:
        out[...] = 0
    out[rows] = values


ROWS_TO_DENSE = register(
    Operator(
        "_sparse_rows_to_dense",
        _infer,
        _kernel,
        None,
        doc=(
            "Zeros of a shape, with the given rows filled in.\n\n"
            "Shapes: values (K, *shape[1:]), rows (K,) of distinct integers below shape[0],\n"
            "output shape."
        ),
        inputs=("values", "rows"),
        schema=Schema(shape=shape_attr()),
    )
)
