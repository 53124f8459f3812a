"""Arithmetic that touches only what a sparse array holds: _scatter_elemwise_div and the like.

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


def _scattered(name: str, plain: Operator, word: str) -> Operator:
    """Register an operator that computes what another does on dense arrays."""
    pair = len(plain.inputs) == 2

    def infer(*arrays: Spec, **attrs: Any) -> tuple[Spec, ...]:
        if any(spec != arrays[0] for spec in arrays):
            raise OperatorError(
                f"{name}: expected arrays of equal shape and dtype, got "
                f"{' and '.join(map(str, arrays))}"
            )
        if arrays[0].dtype.kind == "b":
            raise OperatorError(f"{name}: expected an array of numbers, got {arrays[0]}")
        return (arrays[0],)

    return register(
        Operator(
            name,
            infer,
            plain.kernel,
            plain.gradient,
            doc=(
                f"Elementwise {word}; in a sparse array only the stored elements change.\n\n"
                "Shapes: all the same."
            ),
            inputs=plain.inputs,
            schema=None if pair else Schema(scalar=number(1.0), is_int=boolean(True)),
            shapes=ShapeFacts(complete=complete_same),
            execution=Execution(elementwise=True),
        )
    )


SCATTER_DIVIDE = _scattered("_scatter_elemwise_div", DIVIDE.elemwise, "lhs / rhs")
SCATTER_PLUS_SCALAR = _scattered("_scatter_plus_scalar", ADD.scalar, "data + scalar")
SCATTER_MINUS_SCALAR = _scattered("_scatter_minus_scalar", SUBTRACT.scalar, "data - scalar")
