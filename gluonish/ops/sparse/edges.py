"""Stored elements of a CSR matrix: their number, and lookup by row and column.

Also arithmetic on the stored elements of a sparse array, such as _scatter_elemwise_div, which is
ordinary arithmetic on dense arrays.
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number, optional
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.binary import ADD, DIVIDE, SUBTRACT
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.broadcasting import complete_same


def _count_infer(data: Spec, *, axis: int | None) -> tuple[Spec]:
    if len(data.shape) != 2 or axis not in (None, 0, 1):
        raise OperatorError(
            f"_contrib_getnnz: expected a matrix and axis None, 0 or 1, got {data.shape} and {axis}"
        )
    return (Spec((1,) if axis is None else (data.shape[1 - axis],), INT64),)


def _count_kernel(xp: ModuleType, out: Any, data: Any, *, axis: int | None) -> None:
    out[...] = (data != 0).sum(axis=axis)


GETNNZ = register(
    Operator(
        "_contrib_getnnz",
        _count_infer,
        _count_kernel,
        None,
        doc=(
            "Count the elements stored in a CSR matrix, including zeros, or the nonzero elements\n"
            "of a dense matrix, as int64.\n\n"
            "Shapes: data (rows, columns), output (1,), or (columns,) for axis 0 and (rows,)\n"
            "for axis 1."
        ),
        schema=Schema(axis=optional(integer())),
    )
)


def _edge_infer(data: Spec, u: Spec, v: Spec) -> tuple[Spec]:
    if len(data.shape) != 2 or len(u.shape) != 1 or u.shape != v.shape:
        raise OperatorError(
            "_contrib_edge_id: expected a matrix and u and v of one axis and equal size, got "
            f"{data.shape}, {u.shape} and {v.shape}"
        )
    if u.shape[0] and not all(data.shape):
        raise OperatorError(f"_contrib_edge_id: expected a nonempty matrix, got {data.shape}")
    if data.dtype.kind in "ub":
        raise OperatorError(f"_contrib_edge_id: expected a signed dtype, got {data.dtype.name}")
    return (Spec(u.shape, data.dtype),)


def _edge_kernel(xp: ModuleType, out: Any, data: Any, u: Any, v: Any) -> None:
    rows = xp.clip(u.astype(xp.int64), 0, data.shape[0] - 1)
    columns = xp.clip(v.astype(xp.int64), 0, data.shape[1] - 1)
    found = data[rows, columns]
    inside = (rows == u) & (columns == v) & (found != 0)
    out[...] = xp.where(inside, found, xp.asarray(-1, dtype=found.dtype))


EDGE_ID = register(
    Operator(
        "_contrib_edge_id",
        _edge_infer,
        _edge_kernel,
        None,
        doc=(
            "Look up the elements of a CSR matrix at rows u and columns v; -1 if not stored.\n\n"
            "Shapes: data (rows, columns), u and v (N,), output (N,)."
        ),
        inputs=("data", "u", "v"),
    )
)


def _scattered(name: str, dense: Operator, formula: str) -> Operator:
    """Register an operator that is equal to ``dense`` on dense arrays."""
    pair = len(dense.inputs) == 2

    def infer(*arrays: Spec, **attrs: Any) -> tuple[Spec, ...]:
        if any(spec != arrays[0] for spec in arrays):
            raise OperatorError(
                f"{name}: expected arrays of equal shape and dtype, got "
                f"{' and '.join(map(str, arrays))}"
            )
        if arrays[0].dtype.kind == "b":
            raise OperatorError(f"{name}: expected a numeric array, got {arrays[0]}")
        return (arrays[0],)

    return register(
        Operator(
            name,
            infer,
            dense.kernel,
            dense.gradient,
            doc=(
                f"Compute {formula} elementwise; in a sparse array only stored elements change.\n\n"
                "Shapes: all the same."
            ),
            inputs=dense.inputs,
            schema=None if pair else Schema(scalar=number(1.0), is_int=boolean(True)),
            shapes=ShapeFacts(complete=complete_same),
            execution=Execution(elementwise=True),
        )
    )


SCATTER_DIVIDE = _scattered("_scatter_elemwise_div", DIVIDE.elemwise, "lhs / rhs")
SCATTER_PLUS_SCALAR = _scattered("_scatter_plus_scalar", ADD.scalar, "data + scalar")
SCATTER_MINUS_SCALAR = _scattered("_scatter_minus_scalar", SUBTRACT.scalar, "data - scalar")
