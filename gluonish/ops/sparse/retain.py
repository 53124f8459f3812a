"""_sparse_retain: some rows of an array, the others zero."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.registry import Operator, V, apply, register

__all__ = ["RETAIN"]


def _infer(data: Spec, indices: Spec) -> tuple[Spec]:
    if not data.shape or len(indices.shape) != 1:
        raise OperatorError(
            "_sparse_retain: expected data with rows and indices of 1 axis, got "
            f"{data.shape} and {indices.shape}"
        )
    return (data,)


def _kernel(xp: ModuleType, out: Any, data: Any, indices: Any) -> None:
    rows = indices.astype(xp.int64)
    rows = rows[(rows >= 0) & (rows < data.shape[0])]
    kept = data[rows]
    out[...] = 0
    out[rows] = kept


def _gradient(g: V, data: V, indices: V) -> tuple[Any, None]:
    return apply(RETAIN, (g, indices), {}), None


RETAIN = register(
    Operator(
        "_sparse_retain",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "The rows of data listed in indices; all other rows are zero.\n\n"
            "A row-sparse result stores only the listed rows. Indices of rows that are not\n"
            "stored are ignored.\n\n"
            "Shapes: data (rows, ...), usually row-sparse, indices (K,), output that of data."
        ),
        inputs=("data", "indices"),
    )
)
