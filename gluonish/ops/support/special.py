"""erf, erfinv, gamma and the derivatives of its logarithm, which NumPy lacks.

`apply_special` uses cupyx.scipy on CuPy, and the float64 functions of this file on NumPy. The error
function is a piecewise polynomial, interpolated at its first use from `math.erf` and `math.erfc`,
so that it agrees with the C library.
"""

import math
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

_CHUNK = 1 << 13  # elements per chunk, so that a few float64 temporaries stay in the cache
_EDGE = 1.0  # below: erf(x) / x as a function of x squared; above: the complement
_FAR = 6.0  # erf is 1 in float64 from 5.93 on
_TAIL_SCALE = 3.0


def _near(square: Any) -> Any:
    root = np.sqrt(square)
    return np.array([math.erf(x) / x if x else 2 / math.sqrt(math.pi) for x in root])


def _tail(position: Any) -> Any:
    """Compute exp(x^2) erfc(x), which varies slowly, as a function of x / (x + 3)."""
    x = _TAIL_SCALE * position / (1 - position)
    return np.array([math.exp(v * v) * math.erfc(v) for v in x])


@cache
def _pieces() -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the polynomials that interpolate `_near` and `_tail`."""
    interpolate = np.polynomial.Chebyshev.interpolate
    ends = [_EDGE / (_EDGE + _TAIL_SCALE), 6.5 / (6.5 + _TAIL_SCALE)]
    return interpolate(_near, 14, [0.0, _EDGE**2]), interpolate(_tail, 24, ends)


def _erfc_positive(x: Any) -> Any:
    """Compute erfc(x) for x >= `_EDGE`; it is 0 from `_FAR` on."""
    x = np.minimum(x, _FAR)
    return np.where(x == _FAR, 0.0, np.exp(-x * x) * _pieces()[1](x / (x + _TAIL_SCALE)))


def _erf(x: Any) -> Any:
    out = np.empty_like(x)
    size = np.abs(x)
    near = size < _EDGE
    far = ~near
    out[near] = x[near] * _pieces()[0](x[near] ** 2)
    out[far] = np.copysign(1.0 - _erfc_positive(size[far]), x[far])
    out[np.isnan(x)] = np.nan
    return out


def _erfinv(y: Any) -> Any:
    """Solve erf(x) = y by Halley's method, from Winitzki's closed form with three digits.

    References:
        S. Winitzki, A handy approximation for the error function and its inverse, 2008.
    """
    z = np.abs(y)
    with np.errstate(all="ignore"):
        logarithm = np.log1p(-z * z)
        half = 2 / (math.pi * 0.147) + logarithm / 2
        x = np.sqrt(np.sqrt(half * half - logarithm / 0.147) - half)
        for _ in range(3):
            step = _erfinv_error(x, z) * (math.sqrt(math.pi) / 2) * np.exp(x * x)
            x = x - step / (1 + x * step)
    x[z == 0] = 0.0
    x[z == 1] = np.inf
    x[~(z <= 1)] = np.nan
    return np.copysign(x, y)


def _erfinv_error(x: Any, z: Any) -> Any:
    """Return erf(x) - z, computed from the complements above `_EDGE` to preserve digits."""
    error = np.empty_like(x)
    near = ~(x >= _EDGE)
    error[near] = _erf(x[near]) - z[near]
    error[~near] = (1 - z[~near]) - _erfc_positive(x[~near])
    return error


def _gamma_scalar(x: float) -> float:
    try:
        return math.gamma(x)
    except ValueError:  # a pole
        return math.copysign(math.inf, x) if x == 0 else math.nan
    except OverflowError:
        return math.inf


def _gammaln_scalar(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


_gamma_object: Callable[[Any], Any] = np.frompyfunc(_gamma_scalar, 1, 1)
_gammaln_object: Callable[[Any], Any] = np.frompyfunc(_gammaln_scalar, 1, 1)


def _gamma(x: Any) -> Any:
    return _gamma_object(x).astype(np.float64)


def _gammaln(x: Any) -> Any:
    return _gammaln_object(x).astype(np.float64)


_SHIFT = 12  # from here on, the asymptotic series below are exact to round-off


def _digamma(x: Any) -> Any:
    """Compute digamma by reflection, recurrence up to `_SHIFT`, and an asymptotic series."""
    with np.errstate(all="ignore"):
        reflected = x <= 0
        z = np.where(reflected, 1 - x, x)
        total = np.zeros_like(z)
        for i in range(_SHIFT):
            total -= np.where(z + i < _SHIFT, 1 / (z + i), 0)
        z = z + np.clip(np.ceil(_SHIFT - z), 0, _SHIFT)
        w = 1 / (z * z)
        series = w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w / 132))))
        total += np.log(z) - 0.5 / z - series
        total = np.where(reflected, total - math.pi / np.tan(math.pi * x), total)
    total[reflected & (x == np.floor(x))] = np.inf  # MXNet's value at a pole
    return total


def _trigamma(x: Any) -> Any:
    """Compute trigamma in the same way as `_digamma`."""
    with np.errstate(all="ignore"):
        reflected = x <= 0
        z = np.where(reflected, 1 - x, x)
        total = np.zeros_like(z)
        for i in range(_SHIFT):
            total += np.where(z + i < _SHIFT, 1 / (z + i) ** 2, 0)
        z = z + np.clip(np.ceil(_SHIFT - z), 0, _SHIFT)
        w = 1 / (z * z)
        series = 1 / 6 - w * (1 / 30 - w * (1 / 42 - w * (1 / 30 - w * 5 / 66)))
        total += (1 + (0.5 + series / z) / z) / z
        mirror = (math.pi / np.sin(math.pi * x)) ** 2 - total
    return np.where(reflected, mirror, total)


_NUMPY: dict[str, Callable[[Any], Any]] = {
    "erf": _erf,
    "erfinv": _erfinv,
    "gamma": _gamma,
    "gammaln": _gammaln,
    "digamma": _digamma,
    "trigamma": _trigamma,
}


def apply_special(xp: ModuleType, name: str, out: Any, data: Any) -> None:
    """Fill ``out`` with a special function of ``data`` of any dtype, computed in float64.

    Args:
        name: ``erf``, ``erfinv``, ``gamma``, ``gammaln``, ``digamma`` or ``trigamma``.
    """
    if xp is not np:
        import cupyx.scipy.special as special  # pyright: ignore[reportMissingImports]  # optional

        real = data.astype(xp.float64)
        # CuPy's polygamma does not accept a scalar order; for order 1 it equals this series.
        found = special.zeta(2.0, real) if name == "trigamma" else getattr(special, name)(real)
        if name == "digamma":
            found = xp.where((real <= 0) & (real == xp.floor(real)), xp.inf, found)
        out[...] = found.astype(out.dtype)
        return
    function = _NUMPY[name]
    source = data.reshape(-1)
    target = out.reshape(-1) if out.flags.c_contiguous else np.empty(out.size, out.dtype)
    for start in range(0, target.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        target[part] = function(source[part].astype(np.float64)).astype(out.dtype)
    if not out.flags.c_contiguous:
        out[...] = target.reshape(out.shape)
