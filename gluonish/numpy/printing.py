"""Text of ``np`` arrays: as in NumPy, with the device if it is not a CPU."""

from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, BOOL, FLOAT32
from gluonish.ndarray.ndarray import NDArray

__all__ = ["array_repr", "array_str", "set_printoptions"]

_PREFIX = "array("
_UNNAMED = (FLOAT32, BOOL)  # dtypes that are not printed


def _printable(array: NDArray) -> np.ndarray[Any, Any]:
    values = array.asnumpy()
    return values.astype(np.float32) if values.dtype == BFLOAT16 else values


def _is_on_gpu(array: NDArray) -> bool:
    return array.context.device_type != "cpu"


def array_repr(array: NDArray) -> str:
    """Return ``array([1., 2.], dtype=float64, ctx=gpu(0))``; float32 and bool are not named."""
    values = _printable(array)
    body = "[]" if values.size == 0 else np.array2string(values, separator=", ", prefix=_PREFIX)
    notes = []
    if values.size == 0 and values.shape != (0,):
        notes.append(f"shape={values.shape}")
    if array._spec.dtype not in _UNNAMED:
        notes.append(f"dtype={array._spec.dtype.name}")
    if _is_on_gpu(array):
        notes.append(f"ctx={array.context}")
    if not notes:
        return f"{_PREFIX}{body})"
    width = len(body) - body.rfind("\n") - 1 + (0 if "\n" in body else len(_PREFIX))
    fits = width + sum(map(len, notes)) + 2 * len(notes) <= np.get_printoptions()["linewidth"]
    space = " " if fits else "\n" + " " * len(_PREFIX)
    return f"{_PREFIX}{body},{space}{', '.join(notes)})"


def array_str(array: NDArray) -> str:
    """Return the values as NumPy prints them, and the device if it is not a CPU."""
    device = f" @{array.context}" if _is_on_gpu(array) else ""
    return f"{_printable(array)}{device}"


def set_printoptions(
    precision: int | None = None, threshold: int | None = None, **kwarg: Any
) -> None:
    """Set NumPy's print options, which apply to NumPy arrays, too.

    Args:
        precision: Number of digits after the decimal point.
        threshold: Number of elements above which arrays are summarized.
        **kwarg: The other options of ``numpy.set_printoptions``.
    """
    np.set_printoptions(precision=precision, threshold=threshold, **kwarg)
