"""Arithmetic on the stored elements of a sparse array, such as _scatter_elemwise_div.

On dense arrays it is ordinary arithmetic.
"""

from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, number
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.binary import ADD, DIVIDE, SUBTRACT
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.broadcasting import complete_same


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
