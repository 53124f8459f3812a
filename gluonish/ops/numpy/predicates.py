"""Elementwise predicates with bool results: isnan, isinf, ..., and logical_not."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.dtype import BOOL, is_floating
from gluonish.core.spec import Spec
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.precision import widen
from gluonish.ops.support.zero_gradient import zero_gradient

Question = Callable[[ModuleType, Any], Any]


def _infer(x: Spec) -> tuple[Spec]:
    return (Spec(x.shape, BOOL),)


def _row(name: str, word: str, question: Question) -> None:
    def kernel(xp: ModuleType, out: Any, x: Any) -> None:
        out[...] = question(xp, x)

    register(
        Operator(
            name,
            _infer,
            kernel,
            zero_gradient,
            doc=f"Whether each element {word}, as bool.\n\nShapes: x any, output the same.",
            inputs=("x",),
        )
    )


def _of_reals(question: Question, otherwise: bool) -> Question:
    """Test floats only; the result is constant for integers."""
    return lambda xp, x: question(xp, widen(x)) if is_floating(x.dtype) else otherwise


_row("_npi_isnan", "is NaN", _of_reals(lambda xp, x: xp.isnan(x), otherwise=False))
_row("_npi_isinf", "is infinite", _of_reals(lambda xp, x: xp.isinf(x), otherwise=False))
_row("_npi_isfinite", "is finite", _of_reals(lambda xp, x: xp.isfinite(x), otherwise=True))
_row("_npi_isposinf", "is positive infinity", _of_reals(lambda xp, x: x == xp.inf, otherwise=False))
_row(
    "_npi_isneginf", "is negative infinity", _of_reals(lambda xp, x: x == -xp.inf, otherwise=False)
)
_row("_npi_logical_not", "is 0", lambda xp, x: x == 0)
