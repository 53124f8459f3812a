"""Special functions that ONNX does not have, by the series that numerical libraries use.

References:
    C. Lanczos, A Precision Approximation of the Gamma Function, 1964.
    M. Giles, Approximating the erfinv Function, 2010.
"""

import math
from collections.abc import Sequence

from gluonish.core.dtype import FLOAT64
from gluonish.onnx.exporting.steps import select
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
    """Return where x is below 1/2, the argument above it, and sin(pi x)."""
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
