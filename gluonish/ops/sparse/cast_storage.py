"""cast_storage: the same values in another storage type; dense arrays stay as they are."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.broadcasting import complete_same

__all__ = ["CAST_STORAGE", "cast_storage"]


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
            "The values of data in the storage type stype: default (dense), row_sparse or csr.\n\n"
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
    """Return ``data`` in a storage type: ``"default"``, ``"row_sparse"`` or ``"csr"``."""
    return apply(CAST_STORAGE, (data,), {"stype": stype})
