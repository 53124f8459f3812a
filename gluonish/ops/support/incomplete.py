"""Incomplete gamma and beta functions, their derivatives and inverses, in float64.

The gamma density in y = log x, and the beta density in y = logit x, are log-concave: from the mode
on they decay. The integral of a tail that begins at x is front * sum(weights * exp(exponent)), with
front the density in y at x. The substitution u = scale * exp(t - exp(-t)) makes the trapezoidal sum
converge exponentially, so that `_NODES` terms give all digits but one or two.

References:
    H. Takahasi, M. Mori, Double Exponential Formulas for Numerical Integration, 1974.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.ops.support.special import apply_special

__all__ = [
    "beta_cdf",
    "beta_quantile",
    "beta_slopes",
    "gamma_cdf",
    "gamma_quantile",
    "gamma_sample_slope",
    "gamma_slopes",
    "in_chunks",
]

_NODES = 128
_FIRST, _LAST = -3.5, 4.6  # of t
_ELEMENTS = 1 << 17  # of the temporaries of a chunk: nodes times elements; more on GPUs
_ELEMENTS_GPU = 1 << 25
_STEPS = 100  # at most, of Newton's method, which needs about 8, or of bisection
_CLOSE = 1e-8  # a step of Newton's method, after which the error is of the order of its square
_FURTHEST = 700.0  # of log x and logit x, whose exponentials are finite
_STIRLING = 12.0  # from here on, Stirling's series is exact to round-off

_T = np.linspace(_FIRST, _LAST, _NODES)
_PHI = np.exp(_T - np.exp(-_T))
_WEIGHTS = (_T[1] - _T[0]) * _PHI * (1 + np.exp(-_T))


def in_chunks(
    xp: ModuleType,
    function: Callable[..., tuple[Any, ...]],
    outputs: tuple[Any, ...],
    inputs: tuple[Any, ...],
) -> None:
    """Fill arrays with ``function(xp, *columns)``, evaluated in float64 chunk by chunk.

    Args:
        function: Takes vectors and returns a vector for each output.
        outputs: Arrays of one shape.
        inputs: Arrays that broadcast to it.
    """
    shape = outputs[0].shape
    columns = [xp.broadcast_to(x, shape).reshape(-1) for x in inputs]
    found = [xp.empty(outputs[0].size, xp.float64) for _ in outputs]
    size = (_ELEMENTS if xp is np else _ELEMENTS_GPU) // _NODES
    with np.errstate(all="ignore"):
        for start in range(0, outputs[0].size, size):
            chunk = slice(start, start + size)
            results = function(xp, *(x[chunk].astype(xp.float64) for x in columns))
            for whole, result in zip(found, results, strict=True):
                whole[chunk] = result
        for out, whole in zip(outputs, found, strict=True):
            out[...] = whole.reshape(shape).astype(out.dtype)


def _special(xp: ModuleType, name: str, x: Any) -> Any:
    out = xp.empty_like(x)
    apply_special(xp, name, out, x)
    return out


def _stirling(xp: ModuleType, a: Any) -> Any:
    """Compute log gamma(a) - ((a - 1/2) log a - a + log(2 pi) / 2) for a >= `_STIRLING`."""
    w = 1 / (a * a)
    return (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188)))) / a


def _excess(xp: ModuleType, a: Any, x: Any) -> Any:
    """Compute a (log(x / a) - x / a + 1) without cancellation near x = a."""
    d = (x - a) / a
    return a * xp.where(xp.abs(d) < 0.5, xp.log1p(d) - d, xp.log(x) - xp.log(a) - d)


def _gamma_front(xp: ModuleType, a: Any, x: Any) -> Any:
    """Compute x^a exp(-x) / gamma(a)."""
    wide = xp.maximum(a, _STIRLING)
    large = xp.exp(_excess(xp, wide, x) - _stirling(xp, wide)) * xp.sqrt(wide / (2 * math.pi))
    small = xp.exp(a * xp.log(x) - x - _special(xp, "gammaln", a))
    return xp.where(a >= _STIRLING, large, small)


def _nodes(xp: ModuleType, scale: Any) -> tuple[Any, Any]:
    return scale[:, None] * xp.asarray(_PHI), scale[:, None] * xp.asarray(_WEIGHTS)


def _gamma_tail(xp: ModuleType, a: Any, x: Any) -> tuple[Any, Any, Any]:
    """Return whether the tail is the lower one; its integrals of 1, |log(t / x)| over front."""
    lower = x <= xp.maximum(a, 1)
    near = xp.where(x < 1, a, xp.sqrt((a - x) ** 2 + a))
    u, weights = _nodes(xp, 1 / xp.where(lower, near, xp.sqrt((x - a) ** 2 + x)))
    sign = xp.where(lower, -1.0, 1.0)[:, None]
    exponent = sign * a[:, None] * u - x[:, None] * xp.expm1(xp.minimum(sign * u, 700))
    terms = xp.exp(exponent) * weights
    return lower, terms.sum(1), (terms * u).sum(1)


def _inside(xp: ModuleType, ok: Any, x: Any, interior: float) -> Any:
    return xp.where(ok, x, interior)


def gamma_cdf(xp: ModuleType, a: Any, x: Any) -> tuple[Any]:
    """Compute P(a, x), the gamma distribution's probability of a sample below x."""
    ok = (a > 0) & (x > 0) & (x < xp.inf)
    a, z = _inside(xp, a > 0, a, 1), _inside(xp, ok, x, 1)
    lower, total, _ = _gamma_tail(xp, a, z)
    tail = _gamma_front(xp, a, z) * total
    found = xp.where(lower, tail, 1 - tail)
    return (xp.where(ok, found, xp.where(x <= 0, 0.0, xp.where(x == xp.inf, 1.0, xp.nan))),)


def gamma_sample_slope(xp: ModuleType, a: Any, x: Any) -> tuple[Any]:
    """Compute dx/da where P(a, x) is constant."""
    ok = (a > 0) & (x > 0) & (x < xp.inf)
    a, z = _inside(xp, a > 0, a, 1), _inside(xp, ok, x, 1)
    lower, total, moment = _gamma_tail(xp, a, z)
    lag = _special(xp, "digamma", a) - xp.log(z)
    slope = z * (xp.where(lower, lag, -lag) * total + moment)
    return (xp.where(ok, slope, xp.where(x == 0, 0.0, xp.nan)),)


def gamma_slopes(xp: ModuleType, a: Any, x: Any) -> tuple[Any, Any]:
    """Compute the derivatives of P(a, x) by a and by x."""
    ok = (x > 0) & (x < xp.inf)
    z = _inside(xp, ok, x, 1)
    density = _gamma_front(xp, a, z) / z
    by_a = -gamma_sample_slope(xp, a, z)[0] * density
    return xp.where(ok, by_a, 0.0), xp.where(ok, density, 0.0)


def _beta_front(xp: ModuleType, a: Any, b: Any, x: Any, xc: Any) -> Any:
    """Compute x^a (1 - x)^b / B(a, b), where xc is 1 - x."""
    n = a + b
    large = (a >= _STIRLING) & (b >= _STIRLING)
    p, q = xp.where(large, a, _STIRLING), xp.where(large, b, _STIRLING)
    m = p + q
    correction = _stirling(xp, m) - _stirling(xp, p) - _stirling(xp, q)
    power = _excess(xp, p, m * x) + _excess(xp, q, m * xc) + correction
    high = xp.exp(power) * xp.sqrt(p / m * q / (2 * math.pi))
    logarithms = [_special(xp, "gammaln", v) for v in (a, b, n)]
    exponent = a * xp.log(x) + b * xp.log(xc) - logarithms[0] - logarithms[1] + logarithms[2]
    return xp.where(large, high, xp.exp(exponent))


def _beta_tail(
    xp: ModuleType, a: Any, b: Any, x: Any, xc: Any, moments: bool
) -> tuple[Any, Any, Any, Any]:
    """Return whether the tail is the lower one, and its integrals over front.

    The integrals are of 1, log t and log(1 - t); the latter None unless ``moments``.
    """
    n = a + b
    lower = x * b <= xc * a
    lower = xp.where((a < 1) & (b >= 1), x * n <= 1, lower)
    lower = xp.where((b < 1) & (a >= 1), xc * n > 1, lower)
    p, z, zc = xp.where(lower, a, b), xp.where(lower, x, xc), xp.where(lower, xc, x)
    height = -n * xp.log(zc)
    flat = (height < 1) | (p < 1)
    scale = xp.where(flat, 1 / p, 1 / xp.sqrt((p - n * z) ** 2 + n * z * zc))
    u, weights = _nodes(xp, xp.minimum(scale, (1 + height) / p))
    z, zc = z[:, None], zc[:, None]
    drop = xp.where(z > 0.5, xp.log(zc + z * xp.exp(-u)), xp.log1p(z * xp.expm1(-u)))
    terms = xp.exp(-p[:, None] * u - n[:, None] * drop) * weights
    if not moments:
        return lower, terms.sum(1), None, None
    near = (terms * (xp.log(z) - u - drop)).sum(1)
    far = (terms * (xp.log(zc) - drop)).sum(1)
    return lower, terms.sum(1), xp.where(lower, near, far), xp.where(lower, far, near)


def _beta_arguments(xp: ModuleType, a: Any, b: Any, x: Any) -> tuple[Any, Any, Any, Any]:
    valid = (a > 0) & (b > 0)
    ok = valid & (x > 0) & (x < 1)
    return ok, _inside(xp, valid, a, 1), _inside(xp, valid, b, 1), _inside(xp, ok, x, 0.5)


def beta_cdf(xp: ModuleType, a: Any, b: Any, x: Any) -> tuple[Any]:
    """Compute I_x(a, b), the beta distribution's probability of a sample below x."""
    ok, p, q, z = _beta_arguments(xp, a, b, x)
    lower, total, _, _ = _beta_tail(xp, p, q, z, 1 - z, moments=False)
    tail = _beta_front(xp, p, q, z, 1 - z) * total
    found = xp.where(lower, tail, 1 - tail)
    valid = (a > 0) & (b > 0)
    outside = xp.where(valid & (x <= 0), 0.0, xp.where(valid & (x >= 1), 1.0, xp.nan))
    return (xp.where(ok, found, outside),)


def beta_slopes(xp: ModuleType, a: Any, b: Any, x: Any) -> tuple[Any, Any, Any]:
    """Compute the derivatives of I_x(a, b) by a, b and x."""
    ok, p, q, z = _beta_arguments(xp, a, b, x)
    lower, total, first, second = _beta_tail(xp, p, q, z, 1 - z, moments=True)
    front = _beta_front(xp, p, q, z, 1 - z)
    both = _special(xp, "digamma", p + q)
    signed = xp.where(lower, front, -front)
    by_a = signed * (first - (_special(xp, "digamma", p) - both) * total)
    by_b = signed * (second - (_special(xp, "digamma", q) - both) * total)
    slopes = (by_a, by_b, front / (z * (1 - z)))
    return tuple(xp.where(ok, slope, 0.0) for slope in slopes)


def _solve(
    xp: ModuleType,
    log_tail: Callable[[Any], tuple[Any, Any]],
    target: Any,
    bounds: tuple[Any, Any],
    start: Any,
    rising: Any,
) -> Any:
    """Solve log_tail(y) = target for y by Newton's method, with bisection where it leaves bounds.

    Args:
        log_tail: Returns the logarithm of a tail's integral, which is concave, and its derivative.
        target: Values of log_tail.
        bounds: Ends of the interval that contains the solutions.
        start: First values of y.
        rising: Where log_tail increases.
    """
    y = start
    low, high = bounds
    for _ in range(_STEPS):
        value, slope = log_tail(y)
        right = (value > target) == rising
        low, high = xp.where(right, low, y), xp.where(right, y, high)
        proposed = y - (value - target) / slope
        close = xp.abs(proposed - y) < _CLOSE * (1 + xp.abs(y))
        inside = (proposed > low) & (proposed < high)  # False for NaN
        y = xp.where(inside | close, proposed, (low + high) / 2)
        if bool(close.all()):
            break
    return y


def gamma_quantile(xp: ModuleType, a: Any, p: Any) -> tuple[Any]:
    """Compute the x with P(a, x) = p."""
    ok = (a > 0) & (p > 0) & (p < 1)
    a, q = _inside(xp, a > 0, a, 1), _inside(xp, ok, p, 0.5)
    middle = gamma_cdf(xp, a, a)[0]
    below = q <= middle

    def log_tail(y: Any) -> tuple[Any, Any]:
        x = xp.exp(y)
        lower, total, _ = _gamma_tail(xp, a, x)
        front = _gamma_front(xp, a, x)
        tail = front * total
        wanted = xp.where(below == lower, tail, 1 - tail)
        return xp.log(wanted), xp.where(below, front, -front) / wanted

    start = xp.log(a)
    bounds = start * 0 - _FURTHEST, xp.log(2 * a + 2000)
    target = xp.log(xp.where(below, q, 1 - q))
    found = xp.exp(_solve(xp, log_tail, target, bounds, start, below))
    return (xp.where(ok, found, xp.where(p == 0, 0.0, xp.where(p == 1, xp.inf, xp.nan))),)


def beta_quantile(xp: ModuleType, a: Any, b: Any, p: Any) -> tuple[Any]:
    """Compute the x with I_x(a, b) = p."""
    valid = (a > 0) & (b > 0)
    ok = valid & (p > 0) & (p < 1)
    a, b, q = _inside(xp, valid, a, 1), _inside(xp, valid, b, 1), _inside(xp, ok, p, 0.5)
    below = q <= beta_cdf(xp, a, b, a / (a + b))[0]

    def log_tail(y: Any) -> tuple[Any, Any]:
        x, xc = 1 / (1 + xp.exp(-y)), 1 / (1 + xp.exp(y))
        lower, total, _, _ = _beta_tail(xp, a, b, x, xc, moments=False)
        front = _beta_front(xp, a, b, x, xc)
        tail = front * total
        wanted = xp.where(below == lower, tail, 1 - tail)
        return xp.log(wanted), xp.where(below, front, -front) / wanted

    start = xp.log(a) - xp.log(b)
    bounds = start * 0 - _FURTHEST, start * 0 + _FURTHEST
    target = xp.log(xp.where(below, q, 1 - q))
    found = 1 / (1 + xp.exp(-_solve(xp, log_tail, target, bounds, start, below)))
    return (xp.where(ok, found, xp.where(p == 0, 0.0, xp.where(p == 1, 1.0, xp.nan))),)
