"""Conversion of storage types, and selection of rows."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.broadcasting import complete_same


def _infer(data: Spec, *, stype: str) -> tuple[Spec]:
    fits = len(data.shape) == 2 if stype == "csr" else stype == "default" or data.shape
    if not fits:
        axes = "2 axes" if stype == "csr" else "1 axis or more"
        raise OperatorError(
            f"cast_storage: expected an array of {axes} for {stype}, got shape {data.shape}"
        )
    return (data,)


def _kernel(xp: ModuleType, out: Any, data: Any, *, stype: str) -> None:
    out[...] = data


def _gradient(g: V, data: V, *, stype: str) -> tuple[Any]:
    return (g,)


CAST_STORAGE = register(
    Operator(
        "cast_storage",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Convert data to the storage type stype: default (dense), row_sparse or csr.\n\n"
            "In a graph all values are dense, and this is a copy.\n\n"
            "Shapes: data any for row_sparse, (rows, columns) for csr; output the same."
        ),
        schema=Schema(stype=choice("csr", "default", "row_sparse")),
        aliases=("_sparse_cast_storage",),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True, identity=True),
    )
)


def cast_storage(data: Any, stype: str) -> Any:
    """Convert ``data`` to the storage type ``"default"``, ``"row_sparse"`` or ``"csr"``."""
    return apply(CAST_STORAGE, (data,), {"stype": stype})


def _infer_retain(data: Spec, indices: Spec) -> tuple[Spec]:
    if not data.shape or len(indices.shape) != 1:
        raise OperatorError(
            "_sparse_retain: expected data with rows and indices of 1 axis, got "
            f"{data.shape} and {indices.shape}"
        )
    return (data,)


def _retain_kernel(xp: ModuleType, out: Any, data: Any, indices: Any) -> None:
    rows = indices.astype(xp.int64)
    rows = rows[(rows >= 0) & (rows < data.shape[0])]
    selected = data[rows]  # before writing out, which may alias data
    out[...] = 0
    out[rows] = selected


def _retain_gradient(g: V, data: V, indices: V) -> tuple[Any, None]:
    return apply(RETAIN, (g, indices), {}), None


RETAIN = register(
    Operator(
        "_sparse_retain",
        _infer_retain,
        _retain_kernel,
        _retain_gradient,
        doc=(
            "Retain the rows of data listed in indices; all other rows are zero.\n\n"
            "A row-sparse result stores only the listed rows. Indices of rows that are not\n"
            "stored are ignored.\n\n"
            "Shapes: data (rows, ...), usually row-sparse, indices (K,), output that of data."
        ),
        inputs=("data", "indices"),
    )
)


def _infer_rows(values: Spec, rows: Spec, *, shape: Shape) -> tuple[Spec]:
    if not shape or values.shape != (rows.size, *shape[1:]):
        raise OperatorError(
            f"_sparse_rows_to_dense: expected values ({rows.size}, *{shape[1:]}), "
            f"got {values.shape}"
        )
    return (Spec(shape, values.dtype),)


def _rows_kernel(xp: ModuleType, out: Any, values: Any, rows: Any, *, shape: Shape) -> None:
    if len(rows) < shape[0]:
        out[...] = 0
    out[rows] = values


ROWS_TO_DENSE = register(
    Operator(
        "_sparse_rows_to_dense",
        _infer_rows,
        _rows_kernel,
        None,
        doc=(
            "Write rows to zeros of a shape.\n\n"
            "Shapes: values (K, *shape[1:]), rows (K,) of distinct integers below shape[0],\n"
            "output shape."
        ),
        inputs=("values", "rows"),
        schema=Schema(shape=shape_attr()),
    )
)
