"""How far apart two arrays may be and still count as equal, by their dtypes."""

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
    """Return the dtype that tests use where they name none: float32."""
    return np.float32


def default_rtols() -> dict[DType, float]:
    """Return the relative tolerance of each dtype; integers are compared exactly."""
    return _by_dtype(1e-2, 1e-4, 1e-5, bfloat16=5e-2)


def default_atols() -> dict[DType, float]:
    """Return the absolute tolerance of each dtype; integers are compared exactly."""
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
    """Return the step of finite differences of each dtype: powers of two, so that it is exact."""
    return {
        np.dtype(np.float16): 2.0**-6,
        np.dtype(np.float32): 2.0**-9,
        _FLOAT64: 2.0**-14,
    }


def effective_dtype(dat: Any) -> DType:
    """Return the dtype whose tolerance fits values: their own.

    Args:
        dat: An NDArray, a NumPy array or scalar, or nested lists. A Python number counts as
            float64, for NumPy computes with it in full.

    Raises:
        ArgumentTypeError: It is nothing of numbers.
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
        tol: The tolerance itself; or one for each dtype, of which that of ``dat`` is taken; or
            None.
        default_tol: Tolerances by dtype, for what ``tol`` leaves open.

    Raises:
        ArgumentTypeError: Neither has one for the dtype of ``dat``.
    """
    if tol is not None and not isinstance(tol, Mapping):
        return tol
    dtype = effective_dtype(dat)
    for tolerances in (tol or {}, default_tol):
        for key, tolerance in tolerances.items():
            if np.dtype(key) == dtype:
                return tolerance
    raise ArgumentTypeError(
        f"get_tolerance: expected values of a dtype with a tolerance, got {dtype}; give a number"
    )


def get_tols(x: Any, y: Any, rtol: Tolerance, atol: Tolerance) -> tuple[float, float]:
    """Return the relative and the absolute tolerance for comparing two: that of the coarser dtype.

    Args:
        x: Values.
        y: Other values.
        rtol: A relative tolerance, some by dtype, or None for the defaults.
        atol: An absolute tolerance, some by dtype, or None for the defaults.

    Raises:
        ArgumentTypeError: There is none for the dtypes.
    """
    relative = max(get_tolerance(v, rtol, default_rtols()) for v in (x, y))
    absolute = max(get_tolerance(v, atol, default_atols()) for v in (x, y))
    return relative, absolute


def get_atol(atol: Tolerance = None, dtype: Any = _FLOAT64) -> Any:
    """Return the absolute tolerance given, or that of a dtype.

    Args:
        atol: The tolerance, None for the default.
        dtype: The dtype whose default is used.
    """
    return default_atols()[np.dtype(dtype)] if atol is None else atol


def get_rtol(rtol: Tolerance = None, dtype: Any = _FLOAT64) -> Any:
    """Return the relative tolerance given, or that of a dtype.

    Args:
        rtol: Relative tolerance; None for the default of the dtype.
        dtype: The dtype whose default is used.
    """
    return default_rtols()[np.dtype(dtype)] if rtol is None else rtol


def get_etol(etol: float | None = None) -> float:
    """Return the share of elements that may differ: the one given, else none.

    Args:
        etol: The share, in [0, 1].
    """
    return 0 if etol is None else etol
