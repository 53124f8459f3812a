"""Elementwise functions of one array, in its dtype: the classic table under NumPy's names.

Each row shares kernel and gradient with a row of `elementwise.unary`. Unlike the classic operators,
they support 0-d arrays.

Elementwise predicates with bool results: isnan, isinf, ..., and logical_not.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.dtype import BOOL, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.elementwise import unary
from gluonish.ops.elementwise.unary import Unary
from gluonish.ops.facts import Execution, Gradient, ShapeFacts, zero_gradient
from gluonish.ops.numpy.promotion import refuse_bool
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.broadcasting import complete_same
from gluonish.ops.support.precision import widen


def _row(names: str, base: Unary, given: str = "x") -> Operator:
    name, *aliases = names.split()

    def infer(x: Spec) -> tuple[Spec]:
        refuse_bool(name, x)
        return (x,)

    shared = base.operator
    return register(
        Operator(
            name,
            infer,
            shared.kernel,
            Gradient(shared.gradient, uses_output=shared.gradient_uses_output),
            doc=shared.doc,
            inputs=(given,),
            aliases=tuple(aliases),
            shapes=ShapeFacts(complete=complete_same),
            execution=Execution(elementwise=True, heavy=shared.heavy),
        )
    )


# Names, and their classic rows.
SHARED = {
    "_npi_absolute _npi_abs": unary.ABS,
    "_npi_arccos": unary.ARCCOS,
    "_npi_arccosh": unary.ARCCOSH,
    "_npi_arcsin": unary.ARCSIN,
    "_npi_arcsinh": unary.ARCSINH,
    "_npi_arctan": unary.ARCTAN,
    "_npi_arctanh": unary.ARCTANH,
    "_npi_cbrt": unary.CBRT,
    "_npi_ceil": unary.CEIL,
    "_npi_cos": unary.COS,
    "_npi_cosh": unary.COSH,
    "_npi_degrees": unary.DEGREES,
    "_npi_exp": unary.EXP,
    "_npi_expm1": unary.EXPM1,
    "_npi_fix": unary.FIX,
    "_npi_floor": unary.FLOOR,
    "_npi_log": unary.LOG,
    "_npi_log10": unary.LOG10,
    "_npi_log1p": unary.LOG1P,
    "_npi_log2": unary.LOG2,
    "_npi_negative": unary.NEGATIVE,
    "_npi_radians": unary.RADIANS,
    "_npi_reciprocal": unary.RECIPROCAL,
    "_npi_rint": unary.RINT,
    "_npi_sign": unary.SIGN,
    "_npi_sin": unary.SIN,
    "_npi_sinh": unary.SINH,
    "_npi_sqrt": unary.SQRT,
    "_npi_square": unary.SQUARE,
    "_npi_tan": unary.TAN,
    "_npi_tanh": unary.TANH,
    "_npi_trunc": unary.TRUNC,
    "_npx_relu": unary.RELU,
    "_npx_sigmoid": unary.SIGMOID,
}
for _names, _base in SHARED.items():
    _row(_names, _base, "data" if _names.startswith("_npx") else "x")


def _not_infer(x: Spec) -> tuple[Spec]:
    if x.dtype != BOOL and x.dtype.kind not in "iu":
        raise OperatorError(f"_npi_bitwise_not: expected integers or bool, got {x.dtype.name}")
    return (x,)


def _not_kernel(xp: ModuleType, out: Any, x: Any) -> None:
    xp.invert(x, out=out)


BITWISE_NOT = register(
    Operator(
        "_npi_bitwise_not",
        _not_infer,
        _not_kernel,
        zero_gradient,
        doc="Elementwise complement of all bits; of bool, the other value.",
        inputs=("x",),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True),
    )
)


Question = Callable[[ModuleType, Any], Any]


def _infer(x: Spec) -> tuple[Spec]:
    return (Spec(x.shape, BOOL),)


def _row_predicates(name: str, word: str, question: Question) -> None:
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
    """Return a predicate of floats whose result is constant for integers."""
    return lambda xp, x: question(xp, widen(x)) if is_floating(x.dtype) else otherwise


_row_predicates("_npi_isnan", "is NaN", _of_reals(lambda xp, x: xp.isnan(x), otherwise=False))
_row_predicates("_npi_isinf", "is infinite", _of_reals(lambda xp, x: xp.isinf(x), otherwise=False))
_row_predicates(
    "_npi_isfinite", "is finite", _of_reals(lambda xp, x: xp.isfinite(x), otherwise=True)
)
_row_predicates(
    "_npi_isposinf", "is positive infinity", _of_reals(lambda xp, x: x == xp.inf, otherwise=False)
)
_row_predicates(
    "_npi_isneginf", "is negative infinity", _of_reals(lambda xp, x: x == -xp.inf, otherwise=False)
)
_row_predicates("_npi_logical_not", "is 0", lambda xp, x: x == 0)
