"""Elementwise functions of one array, in its dtype: the classic table under NumPy's names.

Each row shares kernel and gradient with a row of `elementwise.unary`. Unlike the classic operators,
they support 0-d arrays.
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import BOOL
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.elementwise import unary
from gluonish.ops.elementwise.unary import Unary
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.numpy.promotion import refuse_bool
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.broadcasting import complete_same
from gluonish.ops.support.zero_gradient import zero_gradient


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
