"""Functions of one array, element by element.

Special functions that ONNX lacks use the series of common numerical libraries.

References:
    C. Lanczos, A Precision Approximation of the Gamma Function, 1964.
    M. Giles, Approximating the erfinv Function, 2010.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT64, is_floating
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import clip, select
from gluonish.onnx.exporting.tensors import Tensor

_LANCZOS_G = 7.0
_LANCZOS = (
    *(0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313),
    *(-176.61502916214059, 12.507343278686905, -0.13857109526572012),
    *(9.9843695780195716e-6, 1.5056327351493116e-7),
)
_CENTRAL = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087),
    *(-0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
)
_TAIL = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773),
    *(-0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)


def _log_gamma_above_half(x: Tensor) -> Tensor:
    """Return the logarithm of gamma for x of at least 1/2."""
    x = x - 1.0
    series = x * 0.0 + _LANCZOS[0]
    for i, factor in enumerate(_LANCZOS[1:], 1):
        series = series + factor / (x + float(i))
    t = x + (_LANCZOS_G + 0.5)
    log = x.emitter("Log", t)
    return (x + 0.5) * log - t + (0.5 * math.log(2 * math.pi)) + x.emitter("Log", series)


def _reflected(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return a mask of x < 1/2, the argument reflected above 1/2, and sin(pi x)."""
    below = x < 0.5
    sine = x.emitter("Sin", (x - 2.0 * x.emitter("Floor", x * 0.5)) * math.pi)
    return below, select(below, 1.0 - x, x), sine


def gammaln(x: Tensor) -> Tensor:
    """Return the logarithm of the absolute value of the gamma function."""
    dtype, x = x.dtype, x.to(FLOAT64)
    below, above, sine = _reflected(x)
    log = _log_gamma_above_half(above)
    size = select(below, x.emitter("Abs", sine), 1.0)
    return select(below, math.log(math.pi) - x.emitter("Log", size) - log, log).to(dtype)


def gamma(x: Tensor) -> Tensor:
    """Return the gamma function."""
    dtype, x = x.dtype, x.to(FLOAT64)
    below, above, sine = _reflected(x)
    value = x.emitter("Exp", _log_gamma_above_half(above))
    return select(below, math.pi / (select(below, sine, 1.0) * value), value).to(dtype)


def _polynomial(factors: Sequence[float], x: Tensor) -> Tensor:
    value = x * factors[0] + factors[1]
    for factor in factors[2:]:
        value = value * x + factor
    return value


def erfinv(x: Tensor) -> Tensor:
    """Return the inverse of the error function; Newton's method adds float64's last digits."""
    dtype, x = x.dtype, x.to(FLOAT64)
    w = -x.emitter("Log", (1.0 - x) * (1.0 + x))
    root = x.emitter("Sqrt", select(w < 5.0, 5.0, w))
    y = select(w < 5.0, _polynomial(_CENTRAL, w - 2.5), _polynomial(_TAIL, root - 3.0)) * x
    for _ in range(2 if dtype == FLOAT64 else 0):
        slope = x.emitter("Exp", -(y * y)) * (2 / math.sqrt(math.pi))
        y = y - (x.emitter("Erf", y) - x) / slope
    edge = x.emitter("Abs", x).equals(1.0)
    return select(edge, x * math.inf, y).to(dtype)


Function = Callable[[Tensor], Tensor]


def _node(kind: str) -> Function:
    return lambda x: x.emitter(kind, x)


def _cube_root(x: Tensor) -> Tensor:
    return x.emitter("Sign", x) * x.emitter("Abs", x) ** (1 / 3)


def _rsqrt(x: Tensor) -> Tensor:
    return 1.0 / x.emitter("Sqrt", x)


def truncated(x: Tensor) -> Tensor:
    """Truncate toward zero."""
    return x.emitter("Sign", x) * x.emitter("Floor", x.emitter("Abs", x))


def _rounded(x: Tensor) -> Tensor:
    """Round to the nearest integer, halves away from zero."""
    size = x.emitter("Abs", x)
    whole = x.emitter("Floor", size)
    return x.emitter("Sign", x) * (whole + (size - whole >= 0.5).to(x.dtype))


def _halves_down(x: Tensor) -> Tensor:
    whole = x.emitter("Floor", x)
    return whole + (x - whole > 0.5).to(x.dtype)


# Functions of real numbers: integers are converted to floating point.
_REAL: dict[str, Function] = {
    "exp": _node("Exp"),
    "log": _node("Log"),
    "sqrt": _node("Sqrt"),
    "sin": _node("Sin"),
    "cos": _node("Cos"),
    "tan": _node("Tan"),
    "sinh": _node("Sinh"),
    "cosh": _node("Cosh"),
    "tanh": _node("Tanh"),
    "arcsin": _node("Asin"),
    "arccos": _node("Acos"),
    "arctan": _node("Atan"),
    "arcsinh": _node("Asinh"),
    "arccosh": _node("Acosh"),
    "arctanh": _node("Atanh"),
    "erf": _node("Erf"),
    "erfinv": erfinv,
    "gamma": gamma,
    "gammaln": gammaln,
    "sigmoid": _node("Sigmoid"),
    "softsign": lambda x: x / (x.emitter("Abs", x) + 1.0),
    "_softplus": _node("Softplus"),
    "log_sigmoid": lambda x: -x.emitter("Softplus", -x),
    "mish": lambda x: x * x.emitter("Tanh", x.emitter("Softplus", x)),
    "expm1": lambda x: x.emitter("Exp", x) - 1.0,
    "log1p": lambda x: x.emitter("Log", x + 1.0),
    "log2": lambda x: x.emitter("Log", x) / math.log(2),
    "log10": lambda x: x.emitter("Log", x) / math.log(10),
    "rsqrt": _rsqrt,
    "cbrt": _cube_root,
    "rcbrt": lambda x: _cube_root(1.0 / x),
    "degrees": lambda x: x * (180 / math.pi),
    "radians": lambda x: x * (math.pi / 180),
    "reciprocal": _node("Reciprocal"),
}


_IN_NUMPY = frozenset(
    (
        *("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos"),
        *("arctan", "arcsinh", "arccosh", "arctanh", "expm1", "log1p", "log2", "log10", "cbrt"),
        *("degrees", "radians", "reciprocal"),
    )
)


def real(function: Function) -> Callable[[Call], Tensor]:
    """Return a translator that computes in floating point."""

    def translate(call: Call) -> Tensor:
        x = call.x
        if not is_floating(x.dtype):
            out = call.out.dtype
            if not is_floating(out):
                # Integral results, such as gamma(3), must not be truncated to the number below.
                y = function(x.to(FLOAT64))
                return (y + call("Sign", y) * 1e-9).to(out)
            x = x.to(out)
        return function(x)

    return translate


def _whole(function: Function) -> Callable[[Call], Tensor]:
    """Return a translator of a rounding function, which leaves integers unchanged."""
    return lambda call: function(call.x) if is_floating(call.x.dtype) else call.x.to(call.out.dtype)


_ROUNDINGS: dict[str, Function] = {
    "floor": _node("Floor"),
    "ceil": _node("Ceil"),
    "trunc": truncated,
    "fix": truncated,
    "round": _rounded,
    "rint": _halves_down,
}


def _same(call: Call) -> Tensor:
    return call.x


def _not(call: Call) -> Tensor:
    return call.x.equals(0) if call.x.dtype != BOOL else ~call.x


def _clip(call: Call) -> Tensor:
    x, low, high = call.x, call["a_min"], call["a_max"]
    if low > high and is_floating(x.dtype):
        return select(x > high, high, select(x < low, low, x))
    return clip(call.x, *_limits(call.x.dtype, call["a_min"], call["a_max"]))


def _limits(dtype: np.dtype[Any], *limits: float | None) -> list[float | None]:
    """Return limits within the range of an integer type."""
    if is_floating(dtype):
        return list(limits)
    bounds = np.iinfo(dtype)
    return [None if x is None else min(max(int(x), bounds.min), bounds.max) for x in limits]


def _cast(call: Call) -> Tensor:
    x, dtype = call.x, call.out.dtype
    if is_floating(x.dtype) and dtype.kind in "iu" and dtype.itemsize < 4:
        x = x.to(np.dtype(np.int32))  # wraps around, where a cast of the float may saturate
    return x.to(dtype)


def _sign(call: Call) -> Tensor:
    x = call.x
    if not is_floating(x.dtype):
        return call("Sign", x)
    made = call("Sign", x)
    return made if call.op == "_npi_sign" else select(call("IsNaN", x), 0.0, made)


def _hard_sigmoid(call: Call) -> Tensor:
    return call("HardSigmoid", call.x, alpha=float(call["alpha"]), beta=float(call["beta"]))


def _smooth_l1(call: Call) -> Tensor:
    x, square = call.x, call["scalar"] ** 2
    if not is_floating(x.dtype):
        x = x.to(FLOAT64)
    if not square:
        return x * 0.0
    size = call("Abs", x)
    return select(size < 1 / square, x * x * (0.5 * square), size - 0.5 / square)


def _quadratic(call: Call) -> Tensor:
    x = call.x if is_floating(call.x.dtype) else call.x.to(FLOAT64)
    a, b, c = (float(call[name]) for name in "abc")
    return x * x * a + x * b + c


def _isinf(**signs: int) -> Callable[[Call], Tensor]:
    def translate(call: Call) -> Tensor:
        if not is_floating(call.x.dtype):
            return call.x.to(BOOL) & call.constant(False)
        return call("IsInf", call.x, **signs)

    return translate


def _isnan(call: Call) -> Tensor:
    if not is_floating(call.x.dtype):
        return call.x.to(BOOL) & call.constant(False)
    return call("IsNaN", call.x)


def _isfinite(call: Call) -> Tensor:
    if not is_floating(call.x.dtype):
        return call.x.to(BOOL) | call.constant(True)
    return ~(call("IsNaN", call.x) | call("IsInf", call.x))


def _bitwise_not(call: Call) -> Tensor:
    if call.x.dtype == BOOL:
        return ~call.x
    return call("BitwiseNot", call.x) if call.emitter.opset >= 18 else -call.x - 1


def _around(call: Call) -> Tensor:
    if not is_floating(call.x.dtype):
        return call.x
    scale = float(10.0 ** call["decimals"])
    return call("Round", call.x * scale) / scale


def _nan_to_num(call: Call) -> Tensor:
    x = call.x
    if not is_floating(x.dtype):
        return x
    limits = np.finfo(x.dtype) if x.dtype.kind == "f" else None
    largest = 3.3895313892515355e38 if limits is None else float(limits.max)
    above = largest if call["posinf"] is None else call["posinf"]
    below = -largest if call["neginf"] is None else call["neginf"]
    x = select(call("IsInf", x, detect_negative=0), above, x)
    x = select(call("IsInf", x, detect_positive=0), below, x)
    return select(call("IsNaN", x), call["nan"], x)


def _absolute(call: Call) -> Tensor:
    return call.x if call.x.dtype == BOOL else call("Abs", call.x)


def _relu(call: Call) -> Tensor:
    return call("Relu", call.x)


TABLE = {
    **{name: real(function) for name, function in _REAL.items()},
    **{f"_npi_{name}": real(function) for name, function in _REAL.items() if name in _IN_NUMPY},
    **{name: _whole(function) for name, function in _ROUNDINGS.items()},
    **{
        f"_npi_{name}": _whole(function) for name, function in _ROUNDINGS.items() if name != "round"
    },
    "_npx_sigmoid": real(_node("Sigmoid")),
    "_npx_relu": _relu,
    "relu": _relu,
    "abs": _absolute,
    "_npi_absolute": _absolute,
    "negative": lambda call: -call.x,
    "_npi_negative": lambda call: -call.x,
    "sign": _sign,
    "_npi_sign": _sign,
    "square": lambda call: call.x * call.x,
    "_npi_square": lambda call: call.x * call.x,
    "logical_not": _not,
    "_npi_logical_not": _not,
    "_npi_bitwise_not": _bitwise_not,
    "_npi_isnan": _isnan,
    "_npi_isinf": _isinf(),
    "_npi_isposinf": _isinf(detect_negative=0),
    "_npi_isneginf": _isinf(detect_positive=0),
    "_npi_isfinite": _isfinite,
    "_npi_around": _around,
    "_npi_nan_to_num": _nan_to_num,
    "clip": _clip,
    "Cast": _cast,
    "amp_cast": _cast,
    "hard_sigmoid": _hard_sigmoid,
    "smooth_l1": _smooth_l1,
    "_contrib_quadratic": _quadratic,
    "_contrib_round_ste": _whole(_rounded),
    "_contrib_sign_ste": _sign,
    **dict.fromkeys(
        (
            *("_copy", "_np_copy", "BlockGrad", "make_loss", "MakeLoss", "_copyto"),
            *("_CrossDeviceCopy", "_contrib_gradientmultiplier", "cast_storage"),
            *("_identity_with_attr_like_rhs", "IdentityAttachKLSparseReg"),
        ),
        _same,
    ),
}
