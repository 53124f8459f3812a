"""Elementwise functions of one array, defined by a table of operators."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT16, FLOAT32, normalize_dtype
from gluonish.core.errors import ArgumentTypeError, NotSupportedError
from gluonish.core.mxnet_rules import follows_mxnet1
from gluonish.numpy.calls import (
    NUMBERS,
    as_value,
    call,
    name_function,
    official,
    parse_signature,
)

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_invert",
    "bitwise_not",
    "cbrt",
    "ceil",
    "check_options",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "exp",
    "expm1",
    "fabs",
    "fix",
    "floor",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_not",
    "negative",
    "rad2deg",
    "radians",
    "reciprocal",
    "rint",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
    "unary_call",
]

_SIGNATURE = parse_signature("x, out=None, **kwargs")


def _is_dtype(value: Any) -> bool:
    """Whether a value is the name of a dtype, or a NumPy dtype or scalar type."""
    try:
        normalize_dtype(value)
    except ArgumentTypeError:
        return False
    return not isinstance(value, type) or issubclass(value, np.generic)


# The options of NumPy's ufuncs: the supported value, and a predicate of other values valid in
# NumPy.
_OPTIONS: Mapping[str, tuple[Any, Callable[[Any], bool]]] = {
    "where": (True, lambda value: True),
    "casting": ("same_kind", {"no", "equiv", "safe", "unsafe"}.__contains__),
    "order": ("K", lambda value: isinstance(value, str)),
    "dtype": (None, _is_dtype),
    "subok": (True, lambda value: isinstance(value, bool)),
}


def check_options(what: str, options: Mapping[str, Any]) -> None:
    """Reject options of NumPy's functions that would change the result.

    Raises:
        ArgumentTypeError: An option is unknown, or its value is invalid.
        NotSupportedError: An option differs from its default.
    """
    for key, value in options.items():
        if key not in _OPTIONS:
            raise ArgumentTypeError(
                f"{what}: expected options among {sorted(_OPTIONS)}, got {key!r}"
            )
        default, is_valid = _OPTIONS[key]
        if value is not default and value != default:
            message = f"{what}: expected {key}={default!r}, got {value!r}; convert the result"
            raise (NotSupportedError if is_valid(value) else ArgumentTypeError)(message)


def unary_call(name: str, operator: str, x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Apply an operator to an array, or NumPy's function to a number."""
    if kwargs:
        check_options(name, kwargs)
    if isinstance(x, NUMBERS):
        return official(name, x)
    spec = getattr(x, "_spec", None)  # a Symbol has none
    if spec is not None and spec.dtype.kind in "iub":
        x = _as_float(x, name, operator, spec.dtype)
    return call(operator, (x,), out=out, what=name)


# Operators whose results are floats, by the kinds of dtypes ("i", "u", "b") that they convert.
_CONVERTED = {
    **dict.fromkeys(
        (
            *("_npi_arccos", "_npi_arccosh", "_npi_arcsin", "_npi_arcsinh", "_npi_arctan"),
            *("_npi_arctanh", "_npi_cbrt", "_npi_cos", "_npi_cosh", "_npi_degrees", "_npi_exp"),
            *("_npi_expm1", "_npi_fix", "_npi_log", "_npi_log10", "_npi_log1p", "_npi_log2"),
            *("_npi_radians", "_npi_rint", "_npi_sin", "_npi_sinh", "_npi_sqrt", "_npi_tan"),
            "_npi_tanh",
        ),
        "iub",
    ),
    **dict.fromkeys(("_npi_ceil", "_npi_floor", "_npi_trunc"), "b"),
}


def _as_float(x: Any, what: str, operator: str, dtype: np.dtype[Any]) -> Any:
    """Return integers that an operator converts as floats: float16 for types of 8 bits, or float32.

    In MXNet 1.9 the result has the type of the argument, and its values lose their fractions.
    """
    if dtype.kind not in _CONVERTED.get(operator, "") or follows_mxnet1():
        return x
    return as_value(x, what).astype(FLOAT16 if dtype.itemsize == 1 else FLOAT32)


def _function(name: str, operator: str, first: str) -> Callable[..., Any]:
    def function(x: Any, out: Any = None, **kwargs: Any) -> Any:
        return unary_call(name, operator, x, out, **kwargs)

    doc = (
        f"{first}\n\nArgs:\n    x: Array of any shape, or a number"
        + "; integers become floats.\n" * (operator in _CONVERTED)
        + ".\n" * (operator not in _CONVERTED)
        + "    out: Array to store the result in, of its shape and dtype.\n"
        "    **kwargs: NumPy's options, with their defaults only.\n\n"
        "Returns:\n    Array of the shape of ``x``; for a number, NumPy's result."
    )
    return name_function(function, name, doc, _SIGNATURE)


abs = _function("abs", "_npi_absolute", "Absolute value.")
absolute = _function("absolute", "_npi_absolute", "Absolute value.")
arccos = _function("arccos", "_npi_arccos", "Inverse cosine, in radians.")
arccosh = _function("arccosh", "_npi_arccosh", "Inverse hyperbolic cosine.")
arcsin = _function("arcsin", "_npi_arcsin", "Inverse sine, in radians.")
arcsinh = _function("arcsinh", "_npi_arcsinh", "Inverse hyperbolic sine.")
arctan = _function("arctan", "_npi_arctan", "Inverse tangent, in radians.")
arctanh = _function("arctanh", "_npi_arctanh", "Inverse hyperbolic tangent.")
acos = _function("acos", "_npi_arccos", "Inverse cosine, in radians: `arccos`.")
acosh = _function("acosh", "_npi_arccosh", "Inverse hyperbolic cosine: `arccosh`.")
asin = _function("asin", "_npi_arcsin", "Inverse sine, in radians: `arcsin`.")
asinh = _function("asinh", "_npi_arcsinh", "Inverse hyperbolic sine: `arcsinh`.")
atan = _function("atan", "_npi_arctan", "Inverse tangent, in radians: `arctan`.")
atanh = _function("atanh", "_npi_arctanh", "Inverse hyperbolic tangent: `arctanh`.")
bitwise_invert = _function("bitwise_invert", "_npi_bitwise_not", "Bitwise not: `invert`.")
bitwise_not = _function("bitwise_not", "_npi_bitwise_not", "Bitwise not; logical not for bool.")
cbrt = _function("cbrt", "_npi_cbrt", "Cube root.")
ceil = _function("ceil", "_npi_ceil", "The smallest integer that is not less than x.")
cos = _function("cos", "_npi_cos", "Cosine of radians.")
cosh = _function("cosh", "_npi_cosh", "Hyperbolic cosine.")
deg2rad = _function("deg2rad", "_npi_radians", "Degrees as radians.")
degrees = _function("degrees", "_npi_degrees", "Radians as degrees.")
exp = _function("exp", "_npi_exp", "e to the power of x.")
expm1 = _function("expm1", "_npi_expm1", "exp(x) - 1, accurate for small x.")
fabs = _function("fabs", "_npi_absolute", "Absolute value.")
fix = _function("fix", "_npi_fix", "The nearest integer towards zero.")
floor = _function("floor", "_npi_floor", "The largest integer that is not greater than x.")
invert = _function("invert", "_npi_bitwise_not", "Bitwise not; logical not for bool.")
isfinite = _function("isfinite", "_npi_isfinite", "Whether x is neither infinite nor NaN.")
isinf = _function("isinf", "_npi_isinf", "Whether x is infinite.")
isnan = _function("isnan", "_npi_isnan", "Whether x is NaN.")
isneginf = _function("isneginf", "_npi_isneginf", "Whether x is negative infinity.")
isposinf = _function("isposinf", "_npi_isposinf", "Whether x is positive infinity.")
log = _function("log", "_npi_log", "Natural logarithm.")
log10 = _function("log10", "_npi_log10", "Logarithm to the base 10.")
log1p = _function("log1p", "_npi_log1p", "log(1 + x), accurate for small x.")
log2 = _function("log2", "_npi_log2", "Logarithm to the base 2.")
logical_not = _function("logical_not", "_npi_logical_not", "Whether x is zero.")
negative = _function("negative", "_npi_negative", "-x.")
rad2deg = _function("rad2deg", "_npi_degrees", "Radians as degrees.")
radians = _function("radians", "_npi_radians", "Degrees as radians.")
reciprocal = _function("reciprocal", "_npi_reciprocal", "1 / x.")
rint = _function("rint", "_npi_rint", "The nearest integer; halves to the even one.")
sign = _function("sign", "_npi_sign", "-1, 0 or 1.")
sin = _function("sin", "_npi_sin", "Sine of radians.")
sinh = _function("sinh", "_npi_sinh", "Hyperbolic sine.")
sqrt = _function("sqrt", "_npi_sqrt", "Square root.")
square = _function("square", "_npi_square", "x * x.")
tan = _function("tan", "_npi_tan", "Tangent of radians.")
tanh = _function("tanh", "_npi_tanh", "Hyperbolic tangent.")
trunc = _function("trunc", "_npi_trunc", "The nearest integer towards zero.")
