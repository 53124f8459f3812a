"""round_ste, sign_ste and gradientmultiplier: functions with a substitute gradient.

References:
    Y. Bengio, N. Leonard, A. Courville, Estimating or Propagating Gradients Through Stochastic
        Neurons for Conditional Computation, 2013 (the straight-through estimator).
"""

from types import ModuleType
from typing import Any

from gluonish.core.schema import Schema, boolean, number
from gluonish.ops.elementwise.unary import ROUND, SIGN, Unary
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.support.broadcasting import complete_same, infer_numbers, infer_same


def _pass_through(g: V, data: V) -> tuple[Any]:
    return (g,)


def _estimator(name: str, function: Unary, doc: str) -> Operator:
    return register(
        Operator(
            name,
            infer_numbers(name),
            function.operator.kernel,
            _pass_through,
            doc=f"{doc}; the gradient passes through unchanged.",
            aliases=(f"_sparse_{name}",),
            shapes=ShapeFacts(complete=complete_same),
            execution=Execution(elementwise=True),
        )
    )


ROUND_STE = _estimator("_contrib_round_ste", ROUND, "Round data to the nearest integer")
SIGN_STE = _estimator("_contrib_sign_ste", SIGN, "Compute the sign of data (-1, 0 or 1)")


def _copy(xp: ModuleType, out: Any, data: Any, **_: object) -> None:
    out[...] = data


def _multiplied(g: V, data: V, *, scalar: float, is_int: bool) -> tuple[Any]:
    return (g * scalar,)


GRADIENT_MULTIPLIER = register(
    Operator(
        "_contrib_gradientmultiplier",
        infer_same,
        _copy,
        _multiplied,
        doc=(
            "Return data, and multiply the gradient by scalar; a negative scalar reverses it.\n\n"
            "is_int means that scalar was written as an integer; it is ignored."
        ),
        schema=Schema(scalar=number(1.0), is_int=boolean(True)),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True, identity=True),
    )
)
