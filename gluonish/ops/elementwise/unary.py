"""Elementwise functions of one array: one table.

A gradient rule is written in ``g`` (the output's gradient), ``x`` and, where that is cheaper, the
output ``y``. Rules use arithmetic and other operators of this table, so that they can be
differentiated again. A real function of an integer array returns integers truncated toward zero,
as in MXNet.
"""

import math
from types import ModuleType
from typing import Any

from gluonish.ops.support.unary_row import Unary, real, rounding, row, special, ufunc, whole, wide

__all__ = [
    "ABS",
    "ARCCOS",
    "ARCCOSH",
    "ARCSIN",
    "ARCSINH",
    "ARCTAN",
    "ARCTANH",
    "CBRT",
    "CEIL",
    "COS",
    "COSH",
    "DEGREES",
    "DIGAMMA",
    "ERF",
    "ERFINV",
    "EXP",
    "EXPM1",
    "FIX",
    "FLOOR",
    "GAMMA",
    "GAMMALN",
    "LOG",
    "LOG1P",
    "LOG2",
    "LOG10",
    "LOGICAL_NOT",
    "LOG_SIGMOID",
    "MISH",
    "NEGATIVE",
    "RADIANS",
    "RCBRT",
    "RECIPROCAL",
    "RELU",
    "RINT",
    "ROUND",
    "RSQRT",
    "SIGMOID",
    "SIGN",
    "SIN",
    "SINH",
    "SOFTPLUS",
    "SOFTSIGN",
    "SQRT",
    "SQUARE",
    "TAN",
    "TANH",
    "TRIGAMMA",
    "TRUNC",
    "Unary",
]


def _sign(xp: ModuleType, out: Any, data: Any) -> None:
    negative = data < 0  # before writing out, which may alias data; NaN gives 0
    out[...] = data > 0
    xp.subtract(out, negative.astype(out.dtype), out)


def _round(xp: ModuleType, data: Any) -> Any:
    truncated = xp.trunc(data)
    return truncated + xp.copysign(xp.abs(data - truncated) >= 0.5, data)


def _rint(xp: ModuleType, data: Any) -> Any:
    floor = xp.floor(data)
    return floor + (data - floor > 0.5)


def _relu(xp: ModuleType, out: Any, data: Any) -> None:
    xp.maximum(data, data.dtype.type(0), out=out)


def _logical_not(xp: ModuleType, out: Any, data: Any) -> None:
    out[...] = data == 0


def _sigmoid(xp: ModuleType, x: Any) -> Any:
    # Far below 0 exp(-x) overflows, and 1 / inf is right; tanh would lose the small results.
    power = xp.empty_like(x)
    xp.negative(x, out=power)
    xp.exp(power, out=power)
    power += 1
    return xp.divide(1, power, out=power)


def _softplus(xp: ModuleType, x: Any) -> Any:
    return xp.logaddexp(x, x.dtype.type(0))


def _mish(xp: ModuleType, x: Any) -> Any:
    return x * xp.tanh(_softplus(xp, x))


def _mish_gradient(g: Any, x: Any) -> Any:
    t = TANH(SOFTPLUS(x))
    return g * (t + x * SIGMOID(x) * (1.0 - SQUARE(t)))


# Powers, exponentials and logarithms.
SQUARE = row("square _sparse_square", "square", ufunc("square"), lambda g, x: g * x * 2.0)
SQRT = row("sqrt _sparse_sqrt", "square root", real("sqrt"), None, lambda g, x, y: g * 0.5 / y)
RSQRT = row(
    "rsqrt _sparse_rsqrt",
    "1 / square root",
    wide(lambda xp, x: 1 / xp.sqrt(x)),
    None,
    lambda g, x, y: g * y / x * -0.5,
)
CBRT = row(
    "cbrt _sparse_cbrt", "cube root", real("cbrt"), None, lambda g, x, y: g / (SQUARE(y) * 3.0)
)
RCBRT = row(
    "rcbrt",
    "1 / cube root",
    wide(lambda xp, x: 1 / xp.cbrt(x)),
    None,
    lambda g, x, y: g * y / (x * -3.0),
)
RECIPROCAL = row(
    "reciprocal", "1 / data", wide(lambda xp, x: 1 / x), None, lambda g, x, y: -(g * SQUARE(y))
)
EXP = row("exp _sparse_exp", "e to the power of data", real("exp"), None, lambda g, x, y: g * y)
EXPM1 = row(
    "expm1 _sparse_expm1",
    "e to the power of data, minus 1",
    real("expm1"),
    None,
    lambda g, x, y: g * (y + 1.0),
)
LOG = row("log _sparse_log", "natural logarithm", real("log"), lambda g, x: g / x)
LOG2 = row(
    "log2 _sparse_log2", "binary logarithm", real("log2"), lambda g, x: g / (x * math.log(2))
)
LOG10 = row(
    "log10 _sparse_log10", "decimal logarithm", real("log10"), lambda g, x: g / (x * math.log(10))
)
LOG1P = row(
    "log1p _sparse_log1p",
    "natural logarithm of 1 + data",
    real("log1p"),
    lambda g, x: g / (x + 1.0),
)

# Signs and integers.
NEGATIVE = row("negative _sparse_negative", "-data", ufunc("negative"), lambda g, x: -g)
SIGN = row("sign _sparse_sign", "sign: -1, 0 or 1", _sign)
ABS = row("abs _sparse_abs", "absolute value", ufunc("absolute"), lambda g, x: g * SIGN(x))
FLOOR = row("floor _sparse_floor", "largest integer not above data", rounding("floor"))
CEIL = row("ceil _sparse_ceil", "smallest integer not below data", rounding("ceil"))
TRUNC = row("trunc _sparse_trunc", "truncation toward zero to an integer", rounding("trunc"))
FIX = row("fix _sparse_fix", "truncation toward zero to an integer", rounding("trunc"))
ROUND = row("round _sparse_round", "nearest integer, halves away from zero", whole(_round))
RINT = row("rint _sparse_rint", "nearest integer, halves downward", whole(_rint))
LOGICAL_NOT = row("logical_not", "1 where data is 0, else 0", _logical_not)

# Trigonometry.
SIN = row("sin _sparse_sin", "sine", real("sin"), lambda g, x: g * COS(x))
COS: Unary = row("cos _sparse_cos", "cosine", real("cos"), lambda g, x: -(g * SIN(x)))
TAN = row("tan _sparse_tan", "tangent", real("tan"), None, lambda g, x, y: g * (SQUARE(y) + 1.0))
ARCSIN = row(
    "arcsin _sparse_arcsin",
    "inverse sine",
    real("arcsin"),
    lambda g, x: g * RSQRT(1.0 - SQUARE(x)),
)
ARCCOS = row(
    "arccos _sparse_arccos",
    "inverse cosine",
    real("arccos"),
    lambda g, x: -(g * RSQRT(1.0 - SQUARE(x))),
)
ARCTAN = row(
    "arctan _sparse_arctan", "inverse tangent", real("arctan"), lambda g, x: g / (SQUARE(x) + 1.0)
)
SINH = row("sinh _sparse_sinh", "hyperbolic sine", real("sinh"), lambda g, x: g * COSH(x))
COSH: Unary = row("cosh _sparse_cosh", "hyperbolic cosine", real("cosh"), lambda g, x: g * SINH(x))
TANH = row(
    "tanh _sparse_tanh",
    "hyperbolic tangent",
    real("tanh"),
    None,
    lambda g, x, y: g * (1.0 - SQUARE(y)),
)
ARCSINH = row(
    "arcsinh _sparse_arcsinh",
    "inverse hyperbolic sine",
    real("arcsinh"),
    lambda g, x: g * RSQRT(SQUARE(x) + 1.0),
)
ARCCOSH = row(
    "arccosh _sparse_arccosh",
    "inverse hyperbolic cosine",
    real("arccosh"),
    lambda g, x: g * RSQRT(SQUARE(x) - 1.0),
)
ARCTANH = row(
    "arctanh _sparse_arctanh",
    "inverse hyperbolic tangent",
    real("arctanh"),
    lambda g, x: g / (1.0 - SQUARE(x)),
)
DEGREES = row(
    "degrees _sparse_degrees",
    "conversion of radians to degrees",
    real("degrees"),
    lambda g, x: g * (180 / math.pi),
)
RADIANS = row(
    "radians _sparse_radians",
    "conversion of degrees to radians",
    real("radians"),
    lambda g, x: g * (math.pi / 180),
)

# Activations.
_RELU_SLOPE = row("_relu_slope", "slope of relu: NaN at NaN, 1 above 0, else 0", real("sign"))
RELU = row(
    "relu _sparse_relu", "maximum of data and 0", _relu, None, lambda g, x, y: g * _RELU_SLOPE(y)
)
SIGMOID = row(
    "sigmoid _sparse_sigmoid",
    "1 / (1 + exp(-data))",
    wide(_sigmoid),
    None,
    lambda g, x, y: g * y * (1.0 - y),
    several_passes=True,
)
SOFTSIGN = row(
    "softsign",
    "data / (1 + abs(data))",
    wide(lambda xp, x: x / (1 + xp.abs(x))),
    lambda g, x: g / SQUARE(ABS(x) + 1.0),
)
SOFTPLUS = row("_softplus", "log(1 + exp(data))", wide(_softplus), lambda g, x: g * SIGMOID(x))
LOG_SIGMOID = row(
    "log_sigmoid",
    "log of the sigmoid",
    wide(lambda xp, x: -_softplus(xp, -x)),
    lambda g, x: g * SIGMOID(-x),
)
MISH = row("mish", "data * tanh(log(1 + exp(data)))", wide(_mish), _mish_gradient)

# Special functions.
ERF = row(
    "erf _npx_erf",
    "error function",
    special("erf"),
    lambda g, x: g * EXP(-SQUARE(x)) * (2 / math.sqrt(math.pi)),
    heavy=True,
)
ERFINV = row(
    "erfinv _npx_erfinv",
    "inverse of the error function",
    special("erfinv"),
    None,
    lambda g, x, y: g * EXP(SQUARE(y)) * (math.sqrt(math.pi) / 2),
    heavy=True,
)
TRIGAMMA = row("_trigamma", "second derivative of log gamma", special("trigamma"), heavy=True)
# No third derivative is implemented.
TRIGAMMA.operator.gradient = None
DIGAMMA = row(
    "digamma _npx_digamma",
    "derivative of log gamma",
    special("digamma"),
    lambda g, x: g * TRIGAMMA(x),
    heavy=True,
)
GAMMA = row(
    "gamma _npx_gamma _sparse_gamma",
    "gamma function",
    special("gamma"),
    None,
    lambda g, x, y: g * y * DIGAMMA(x),
    heavy=True,
)
GAMMALN = row(
    "gammaln _npx_gammaln _sparse_gammaln",
    "logarithm of the gamma function's absolute value",
    special("gammaln"),
    lambda g, x: g * DIGAMMA(x),
    heavy=True,
)
