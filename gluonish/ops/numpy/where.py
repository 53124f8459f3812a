"""where: elements of two arrays or numbers, selected by a condition; all shapes broadcast."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT32
from gluonish.core.schema import Schema, number
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.facts import Execution, ShapeFacts, zero_gradient
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import unbroadcast
from gluonish.ops.support.broadcasting import broadcast_shapes, check_same_dtype
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.precision import check_number, in_dtype


def _infer(condition: Spec, x: Spec, y: Spec) -> tuple[Spec]:
    check_same_dtype("_npi_where", x, y)
    shape = broadcast_shapes("_npi_where", x.shape, y.shape)
    return (Spec(broadcast_shapes("_npi_where", condition.shape, shape), x.dtype),)


def _kernel(xp: ModuleType, out: Any, condition: Any, x: Any, y: Any) -> None:
    out[...] = xp.where(condition != 0, x, y)


def _gradient(g: V, condition: V, x: V, y: V) -> tuple[Any, ...]:
    return (
        None,
        lambda: unbroadcast(where(condition, g, zeros_like(g)), x.shape),
        lambda: unbroadcast(where(condition, zeros_like(g), g), y.shape),
    )


WHERE = register(
    Operator(
        "_npi_where",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "x where condition is not 0, else y; shapes broadcast, and x and y have the same\n"
            "dtype.\n\n"
            "Shapes: condition, x and y broadcast to the output's."
        ),
        inputs=("condition", "x", "y"),
        shapes=ShapeFacts(complete=dtype_rule(1, 2)),
        execution=Execution(several_passes=True),
    )
)


def where(condition: Any, x: Any, y: Any) -> Any:
    """Return ``x`` where ``condition`` is not 0, else ``y``; shapes broadcast."""
    return apply(WHERE, (condition, x, y), {})


def _with_scalar(name: str, given: str, *, scalar_first: bool) -> Operator:
    def infer(condition: Spec, data: Spec, *, scalar: float) -> tuple[Spec]:
        check_number(name, data.dtype, scalar)
        return (Spec(broadcast_shapes(name, condition.shape, data.shape), data.dtype),)

    def kernel(xp: ModuleType, out: Any, condition: Any, data: Any, *, scalar: float) -> None:
        value = in_dtype(data.dtype, scalar) if data.dtype.kind != "b" else bool(scalar)
        one, other = (value, data) if scalar_first else (data, value)
        out[...] = xp.where(condition != 0, one, other)

    def gradient(g: V, condition: V, data: V, *, scalar: float) -> tuple[Any, ...]:
        zeros = zeros_like(g)
        one, other = (zeros, g) if scalar_first else (g, zeros)
        return None, unbroadcast(where(condition, one, other), data.shape)

    chosen, rest = ("scalar", given) if scalar_first else (given, "scalar")
    return register(
        Operator(
            name,
            infer,
            kernel,
            gradient,
            doc=(
                f"{chosen} where condition is not 0, else {rest}, in the dtype of {given}.\n\n"
                f"Shapes: condition and {given} broadcast to the output's."
            ),
            inputs=("condition", given),
            schema=Schema(scalar=number(0.0)),
            shapes=ShapeFacts(complete=dtype_rule(1)),
            execution=Execution(several_passes=True),
        )
    )


WHERE_LSCALAR = _with_scalar("_npi_where_lscalar", "x", scalar_first=True)
WHERE_RSCALAR = _with_scalar("_npi_where_rscalar", "y", scalar_first=False)


def _scalars_infer(condition: Spec, *, x: float, y: float) -> tuple[Spec]:
    return (Spec(condition.shape, FLOAT32),)


def _scalars_kernel(xp: ModuleType, out: Any, condition: Any, *, x: float, y: float) -> None:
    out[...] = xp.where(condition != 0, FLOAT32.type(x), FLOAT32.type(y))


WHERE_SCALAR2 = register(
    Operator(
        "_npi_where_scalar2",
        _scalars_infer,
        _scalars_kernel,
        zero_gradient,
        doc=(
            "The number x where condition is not 0, else the number y, as float32.\n\n"
            "Shapes: condition any, output the same."
        ),
        inputs=("condition",),
        schema=Schema(x=number(0.0), y=number(0.0)),
        shapes=ShapeFacts(complete=dtype_rule()),
    )
)
