"""round_ste, sign_ste and gradientmultiplier: functions with a gradient that is not their own.

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


def _estimator(name: str, function: Unary, word: str) -> Operator:
    return register(
        Operator(
            name,
            infer_numbers(name),
            function.operator.kernel,
            _pass_through,
            doc=f"{word} of data; the gradient is passed straight through, as that of data itself.",
            aliases=(f"_sparse_{name}",),
            shapes=ShapeFacts(complete=complete_same),
            execution=Execution(elementwise=True),
        )
    )


ROUND_STE = _estimator("_contrib_round_ste", ROUND, "Nearest integer")
SIGN_STE = _estimator("_contrib_sign_ste", SIGN, "Sign (-1, 0 or 1)")


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
            "data itself; its gradient is multiplied by scalar, and a negative scalar reverses\n"
            "it.\n\n"
            "is_int says that scalar was written as an integer; it is ignored."
        ),
        schema=Schema(scalar=number(1.0), is_int=boolean(True)),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True, identity=True),
    )
)
