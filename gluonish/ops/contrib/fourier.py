"""fft and ifft: Fourier transforms over the last axis, with complex numbers as pairs.

The inverse is not normalized by the number of points.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.precision import widen

_SCHEMA = Schema(compute_size=integer(128, low=1))


def _check(name: str, data: Spec) -> None:
    if not data.shape or not is_floating(data.dtype):
        raise OperatorError(f"{name}: expected floating data of at least 1 axis, got {data}")


def _fft_infer(data: Spec, *, compute_size: int) -> tuple[Spec]:
    _check("_contrib_fft", data)
    return (Spec((*data.shape[:-1], 2 * data.shape[-1]), data.dtype),)


def _fft_kernel(xp: ModuleType, out: Any, data: Any, *, compute_size: int) -> None:
    if data.size:
        with np.errstate(all="ignore"):  # no warnings about infinities and NaN
            points = xp.fft.fft(widen(data), axis=-1)
        out[..., 0::2], out[..., 1::2] = points.real, points.imag


def _fft_gradient(g: V, data: V, **attrs: int) -> tuple[Any]:
    return (apply(IFFT, (g,), attrs),)


FFT = register(
    Operator(
        "_contrib_fft",
        _fft_infer,
        _fft_kernel,
        _fft_gradient,
        doc=(
            "Compute the Fourier transform along the last axis.\n\n"
            "Real and imaginary parts alternate in the output. compute_size is accepted and\n"
            "ignored.\n\n"
            "Shapes: data (..., d) of real numbers, output (..., 2 * d)."
        ),
        schema=_SCHEMA,
        execution=Execution(live=True),  # cuFFT allocates and frees memory for plans
    )
)


def _ifft_infer(data: Spec, *, compute_size: int) -> tuple[Spec]:
    _check("_contrib_ifft", data)
    if data.shape[-1] % 2:
        raise OperatorError(
            f"_contrib_ifft: expected pairs of numbers along the last axis, got {data.shape}"
        )
    return (Spec((*data.shape[:-1], data.shape[-1] // 2), data.dtype),)


def _ifft_kernel(xp: ModuleType, out: Any, data: Any, *, compute_size: int) -> None:
    if data.size:
        wide = widen(data)
        with np.errstate(all="ignore"):
            points = xp.fft.ifft(wide[..., 0::2] + 1j * wide[..., 1::2], axis=-1)
        out[...] = points.real * out.shape[-1]


def _ifft_gradient(g: V, data: V, **attrs: int) -> tuple[Any]:
    return (apply(FFT, (g,), attrs),)


IFFT = register(
    Operator(
        "_contrib_ifft",
        _ifft_infer,
        _ifft_kernel,
        _ifft_gradient,
        doc=(
            "Compute the real part of the inverse Fourier transform along the last axis, times\n"
            "the number of points.\n\n"
            "Real and imaginary parts alternate in data. compute_size is accepted and ignored.\n\n"
            "Shapes: data (..., 2 * d), output (..., d)."
        ),
        schema=_SCHEMA,
        execution=Execution(live=True),  # cuFFT allocates and frees memory for plans
    )
)
