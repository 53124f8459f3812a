"""Parameters and special functions of distributions: numbers, or arrays that broadcast.

A function of numbers only returns a number; one of any array returns an array.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as official

import gluonish.numpy as np
from gluonish.core.dtype import BFLOAT16, FLOAT32, is_floating, normalize_dtype
from gluonish.core.errors import ArgumentTypeError
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.calls import NUMBERS, as_value, call, is_value
from gluonish.ops.support.special import apply_special

__all__ = [
    "as_array",
    "as_parameter",
    "betainc",
    "betaincinv",
    "choose",
    "digamma",
    "erf",
    "erfinv",
    "gammainc",
    "gammaincinv",
    "gammaln",
    "is_number",
    "log_beta",
    "narrow",
    "open_uniform",
    "softplus",
    "solve_lower",
    "standard_gamma",
    "wide",
    "widest",
    "within",
    "xlogy",
]


def is_number(value: Any) -> bool:
    """Return whether a parameter is a number, not an array."""
    return isinstance(value, NUMBERS)


def as_parameter(what: str, name: str, value: Any) -> Any:
    """Return an argument of a distribution as a number or a floating array.

    Raises:
        ArgumentTypeError: The argument is neither a number nor an array.
    """
    if is_number(value):
        return value
    if isinstance(value, list | tuple | official.ndarray):
        value = np.array(value)
    if not is_value(value):
        raise ArgumentTypeError(
            f"{what}: expected {name} to be a number or an array, got {type(value).__name__}"
        )
    value = as_value(value, what)
    return value if is_floating(value.dtype) else value.astype("float32")


def widest(values: tuple[Any, ...]) -> Any:
    """Return the dtype that arrays promote to; float32 if all are numbers."""
    dtypes = [normalize_dtype(x.dtype) for x in values if not is_number(x)]
    if len(set(dtypes)) > 1:
        if BFLOAT16 in dtypes:
            return FLOAT32
        return official.result_type(*dtypes)
    return dtypes[0] if dtypes else FLOAT32


def as_array(value: Any, dtype: Any, like: Any = None) -> Any:
    """Return a value as a floating array.

    Args:
        value: Number, sequence, NumPy array, or array.
        dtype: Element type of numbers, sequences and arrays of ints.
        like: Array whose device numbers are put on; None for the current context.
    """
    if is_value(value):
        return value if is_floating(value.dtype) else value.astype(dtype)
    ctx = like.ctx if isinstance(like, NDArray) and not like.is_traced else None
    return np.array(value, dtype=dtype, ctx=ctx)


def choose(condition: Any, x: Any, y: Any) -> Any:
    """Return x where the condition holds, else y; the condition may be a bool."""
    if is_value(condition):
        return np.where(condition, x, y)
    return x if condition else y


def _special(name: str) -> Callable[[Any], Any]:
    operator = f"_npx_{name}"

    def function(x: Any) -> Any:
        if is_value(x):
            return call(operator, (x,))
        out = official.empty((), official.float64)
        apply_special(official, name, out, official.asarray(x, official.float64))
        return float(out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Compute {name} of a number or an array."
    return function


digamma = _special("digamma")
erf = _special("erf")
erfinv = _special("erfinv")
gammaln = _special("gammaln")


def _several(name: str, *values: Any) -> Any:
    dtype = widest(values)
    like = next((x for x in values if not is_number(x)), None)
    return call(name, [as_array(x, dtype, like).astype(dtype) for x in values])


def log_beta(a: Any, b: Any) -> Any:
    """Compute the logarithm of the beta function."""
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def gammainc(a: Any, x: Any) -> Any:
    """Compute the regularized lower incomplete gamma function P(a, x)."""
    return _several("_gammainc", a, x)


def gammaincinv(a: Any, p: Any) -> Any:
    """Compute the x with P(a, x) = p."""
    return _several("_gammaincinv", a, p)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """Compute the regularized incomplete beta function I_x(a, b)."""
    return _several("_betainc", a, b, x)


def betaincinv(a: Any, b: Any, p: Any) -> Any:
    """Compute the x with I_x(a, b) = p."""
    return _several("_betaincinv", a, b, p)


def softplus(x: Any) -> Any:
    """Compute log(1 + exp(x))."""
    return call("_softplus", (x,)) if is_value(x) else float(official.logaddexp(x, 0.0))


def solve_lower(root: Any, columns: Any) -> Any:
    """Solve root x = columns, for lower triangular matrices (..., N, N) and (..., N, K)."""
    dtype = widest((root, columns))
    batch = official.broadcast_shapes(root.shape[:-2], columns.shape[:-2])
    sides = (
        np.broadcast_to(side.astype(dtype), batch + side.shape[-2:]) for side in (root, columns)
    )
    return call("_linalg_trsm", tuple(sides))


def wide(x: Any) -> Any:
    """Return a parameter as float64, for differences of large terms."""
    return x.astype("float64") if is_value(x) else x


def narrow(x: Any, dtype: Any) -> Any:
    """Return a result as an array of a dtype; numbers unchanged."""
    return x.astype(dtype) if is_value(x) else x


def xlogy(x: Any, y: Any) -> Any:
    """Compute x log y, which is 0 where both are 0."""
    return x * np.log(choose((x == 0) & (y == 0), 1.0, y))


def within(inside: Any, function: Callable[[Any], Any], value: Any, interior: Any) -> Any:
    """Compute the logarithm of a density inside its support; -inf elsewhere.

    The function and its derivative are evaluated at an interior point where the value is outside,
    so that no NaN reaches a gradient.
    """
    density = function(np.where(inside, value, interior))
    return np.where(inside, density, -math.inf)


def open_uniform(shape: tuple[int, ...], dtype: Any, ctx: Any) -> Any:
    """Draw uniform samples from (0, 1): neither 0 nor 1."""
    drawn = np.random.uniform(0.0, 1.0, shape, dtype, ctx)
    step = float(official.finfo(dtype).eps) if dtype != BFLOAT16 else 2.0**-8
    return np.maximum(drawn, step / 4)


def standard_gamma(alpha: Any, shape: tuple[int, ...], dtype: Any, like: Any = None) -> Any:
    """Draw from gamma distributions of scale 1, with a gradient by the shape parameter alpha."""
    alpha = as_array(alpha, dtype, like)
    return call("_draw_gamma", (alpha,), {"size": shape, "dtype": dtype})
