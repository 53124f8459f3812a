"""Arguments that CuPy's functions have, with values that they refuse (tried on CuPy 14.2)."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_WIDE_INTEGERS = {np.dtype(c) for c in ("i4", "u4", "i8", "u8")}
_ORDERED = _WIDE_INTEGERS | {np.dtype(c) for c in ("f4", "f8")}
# What each universal function takes in its method ``at``.
ATOMIC: dict[str, set[np.dtype[Any]]] = {
    "add": _ORDERED | {np.dtype("f2")},
    "subtract": {np.dtype("i4"), np.dtype("u4")},
    "maximum": _ORDERED,
    "minimum": _ORDERED,
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), _WIDE_INTEGERS),
}
_PERCENTILES = ("linear", "lower", "higher", "midpoint", "nearest")


def _is_array(x: Any) -> bool:
    return hasattr(x, "_raw")


def _matmul(*args: Any, **_: Any) -> None:
    if not all(map(_is_array, args)):
        raise TypeError("matmul: expected cupy.ndarrays")
    if any(x.dtype == _BFLOAT16 and x.ndim > 2 for x in args):
        raise TypeError("data type 'E' not understood")


def _einsum(_subscripts: str, *operands: Any, **_: Any) -> None:
    if any(x.dtype == _BFLOAT16 for x in operands):
        raise TypeError("einsum of bfloat16 ends in stacked products, which CuPy does not have")


def _lexsort(keys: Any) -> None:
    if not _is_array(keys):
        raise TypeError(f"lexsort: expected a cupy.ndarray, got {type(keys)}")
    if keys.ndim > 2:
        raise NotImplementedError("Keys with the rank of three or more is not supported in lexsort")


def _sort(_a: Any, _axis: Any = -1, kind: Any = None, **_: Any) -> None:
    if kind not in (None, "stable"):
        raise ValueError("kind can only be None or 'stable'")


def _where(condition: Any, *_: Any) -> None:
    if not _is_array(condition):
        raise AttributeError(f"{type(condition).__name__!r} object has no attribute 'astype'")


def _searchsorted(a: Any, v: Any, *_: Any, **__: Any) -> None:
    if not _is_array(a):
        raise NotImplementedError("Only int or ndarray are supported for a")


def _pad(_a: Any, _width: Any, mode: Any = "constant", **_: Any) -> None:
    if mode == "median":
        raise ValueError("mode 'median' is not supported")


def _percentile(_a: Any, _q: Any, **options: Any) -> None:
    if options.get("method", "linear") not in _PERCENTILES:
        raise ValueError(f"expected a method out of {_PERCENTILES}")


def _min(_a: Any, _axis: Any = None, out: Any = None, *_: Any, **__: Any) -> None:
    if out is not None:
        raise TypeError("CuPy 14.2 takes min's out for its dtype where CUB adds up")


_CHECKS: dict[str, Callable[..., None]] = {
    "amin": _min,
    "min": _min,
    "argsort": _sort,
    "einsum": _einsum,
    "lexsort": _lexsort,
    "matmul": _matmul,
    "pad": _pad,
    "percentile": _percentile,
    "searchsorted": _searchsorted,
    "sort": _sort,
    "where": _where,
}


def refuse(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise what CuPy raises for a call of one of its functions or of an array's methods."""
    check = _CHECKS.get(name)
    if check is not None:
        check(*args, **{k: v for k, v in kwargs.items() if k != "out"})
