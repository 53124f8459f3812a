"""Tolerances of comparisons, by dtype."""

from collections.abc import Mapping
from numbers import Number
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16
from gluonish.core.errors import ArgumentTypeError
from gluonish.ndarray.ndarray import NDArray

DType = np.dtype[Any]
Tolerance = float | Mapping[Any, float] | None

_EXACT = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_FLOAT64 = np.dtype(np.float64)


def default_dtype() -> type[np.float32]:
    """Return the default dtype of tests, float32."""
    return np.float32


def default_rtols() -> dict[DType, float]:
    """Return the relative tolerance for each dtype; integers are compared exactly."""
    return _by_dtype(1e-2, 1e-4, 1e-5, bfloat16=5e-2)


def default_atols() -> dict[DType, float]:
    """Return the absolute tolerance for each dtype; integers are compared exactly."""
    return _by_dtype(1e-1, 1e-3, 1e-20, bfloat16=1e-1)


def _by_dtype(half: float, single: float, double: float, bfloat16: float) -> dict[DType, float]:
    floats = {
        np.dtype(np.float16): half,
        BFLOAT16: bfloat16,
        np.dtype(np.float32): single,
        _FLOAT64: double,
    }
    return {**floats, **{np.dtype(name): 0 for name in _EXACT}}


def default_numeric_eps() -> dict[DType, float]:
    """Return the step of finite differences for each dtype, an exact power of two."""
    return {
        np.dtype(np.float16): 2.0**-6,
        np.dtype(np.float32): 2.0**-9,
        _FLOAT64: 2.0**-14,
    }


def effective_dtype(dat: Any) -> DType:
    """Return the dtype of values, which determines the tolerance.

    Args:
        dat: An NDArray, a NumPy array or scalar, nested lists, or a Python number, which is float64
            as in NumPy.

    Raises:
        ArgumentTypeError: ``dat`` is not an array or a number.
    """
    if isinstance(dat, NDArray | np.ndarray | np.generic):
        return np.dtype(dat.dtype)
    if isinstance(dat, Number):
        return _FLOAT64
    if isinstance(dat, list | tuple):
        dtype = np.asarray([x.asnumpy() if isinstance(x, NDArray) else x for x in dat]).dtype
        if dtype.kind in "biuf" or dtype == BFLOAT16:
            return dtype
    raise ArgumentTypeError(
        f"effective_dtype: expected an array or a number, got {type(dat).__name__}"
    )


def get_tolerance(dat: Any, tol: Tolerance, default_tol: Mapping[Any, float]) -> float:
    """Return the tolerance for values.

    Args:
        dat: The values.
        tol: The tolerance, a dict of tolerances by dtype, or None for the default.
        default_tol: Default tolerances by dtype.

    Raises:
        ArgumentTypeError: There is no tolerance for the dtype of ``dat``.
    """
    if tol is not None and not isinstance(tol, Mapping):
        return tol
    dtype = effective_dtype(dat)
    for tolerances in (tol or {}, default_tol):
        for key, tolerance in tolerances.items():
            if np.dtype(key) == dtype:
                return tolerance
    raise ArgumentTypeError(
        f"get_tolerance: expected values of a dtype with a tolerance, got {dtype}; pass a number"
    )


def get_tols(x: Any, y: Any, rtol: Tolerance, atol: Tolerance) -> tuple[float, float]:
    """Return the relative and absolute tolerance for comparing values of two dtypes.

    These are the tolerances of the less precise dtype.

    Args:
        x: Values.
        y: Other values.
        rtol: A relative tolerance, tolerances by dtype, or None for the defaults.
        atol: An absolute tolerance, tolerances by dtype, or None for the defaults.

    Raises:
        ArgumentTypeError: There is no tolerance for a dtype.
    """
    relative = max(get_tolerance(v, rtol, default_rtols()) for v in (x, y))
    absolute = max(get_tolerance(v, atol, default_atols()) for v in (x, y))
    return relative, absolute


def get_atol(atol: Tolerance = None, dtype: Any = _FLOAT64) -> Any:
    """Return an absolute tolerance, or the default for a dtype if it is None.

    Args:
        atol: Absolute tolerance; None for the default.
        dtype: Dtype that determines the default.
    """
    return default_atols()[np.dtype(dtype)] if atol is None else atol


def get_rtol(rtol: Tolerance = None, dtype: Any = _FLOAT64) -> Any:
    """Return a relative tolerance, or the default for a dtype if it is None.

    Args:
        rtol: Relative tolerance; None for the default.
        dtype: Dtype that determines the default.
    """
    return default_rtols()[np.dtype(dtype)] if rtol is None else rtol


def get_etol(etol: float | None = None) -> float:
    """Return the fraction of elements that may differ; 0 if ``etol`` is None.

    Args:
        etol: The fraction, in [0, 1].
    """
    return 0 if etol is None else etol
