"""Vectorized parsing of numbers in text.

NumPy's parser handles the remaining cases. CSVIter reads 80, 460 and 220 MB/s of pixels, numbers
with six decimals and with 17 digits by the kernel of `gluonish.kernels.generated.number_lines`, and
19, 49 and 17 by `_simple_decimals`, where `np.fromstring` gives 5, 15 and 18 and `np.loadtxt` 6, 18
and 21 (10 to 15 MB, float32, one thread of a loaded Zen 4).
"""

from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating

_MINUS, _POINT, _ZERO = b"-.0"
_MAX_DIGITS = 15
_MAX_CHARACTERS = _MAX_DIGITS + 2
_EXACT_LIMIT = 2**53  # float64 represents all smaller integers exactly
_POWERS = 10.0 ** np.arange(_MAX_CHARACTERS)


def parse_numbers(numbers: bytes, separator: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Parse the numbers in a text.

    Args:
        numbers: The text.
        separator: Character between two numbers; white space is allowed around it.
        dtype: Element type of the result.

    Raises:
        ValueError: A number cannot be parsed, or does not fit an integer dtype.
    """
    if dtype in (np.float32, np.float64):
        return _parsed(numbers, separator, dtype)
    if is_floating(dtype):
        return _cast(_parsed(numbers, separator, np.dtype(np.float64)), dtype)
    return _integers(numbers, separator, dtype)


def converted_numbers(
    values: np.ndarray[Any, Any], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any] | None:
    """Convert numbers to a dtype; return None if this may not be exact.

    Args:
        values: Finite numbers, parsed as float64.
        dtype: Element type of the result.

    Raises:
        ValueError: A number does not fit an integer dtype.
    """
    if is_floating(dtype):
        return _cast(values, dtype)
    if values.size and np.abs(values).max() >= _EXACT_LIMIT:
        return None
    return _checked_integers(values, dtype)


def _cast(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    with np.errstate(over="ignore"):  # overflow to infinity
        return values.astype(dtype, copy=False)


def _integers(numbers: bytes, separator: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    values: Any = _simple_decimals(np.frombuffer(numbers, np.uint8), ord(separator))
    if values is None:
        try:
            # Python's parser: NumPy's reads a lone sign as 0 and truncates large numbers.
            values = np.array(
                [int(number) for number in numbers.replace(b"_", b"?").split(separator.encode())],
                object,
            )
        except ValueError:
            values = _parsed(numbers, separator, np.dtype(np.float64))
    return _checked_integers(values, dtype)


def _checked_integers(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if values.dtype != object and np.any((values != np.trunc(values)) | ~np.isfinite(values)):
        raise ValueError(f"whole numbers for dtype {dtype}")
    bounds = np.iinfo(dtype)
    if values.size and (values.min() < bounds.min or values.max() > bounds.max):
        raise ValueError(f"numbers from {bounds.min} to {bounds.max} for dtype {dtype}")
    return np.asarray(values.astype(dtype))


def _parsed(numbers: bytes, separator: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if is_floating(dtype):
        values = _simple_decimals(np.frombuffer(numbers, np.uint8), ord(separator))
        if values is not None:
            return _cast(values, dtype)
    try:
        return np.fromstring(numbers, dtype, sep=separator)
    except (ValueError, DeprecationWarning):
        raise ValueError("numbers") from None


def _simple_decimals(text: np.ndarray[Any, Any], separator: int) -> np.ndarray[Any, Any] | None:
    """Parse numbers such as ``-12.5`` at once; return None if any has another form.

    Up to 15 digits and their power of ten are exact in float64, so their quotient is correctly
    rounded, as by NumPy's parser.
    """
    point = text == _POINT
    minus = text == _MINUS
    between = text == separator
    if not np.all((text - _ZERO < 10) | point | minus | between):
        return None
    ends = np.append(np.flatnonzero(between), len(text))
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts
    if lengths.min() < 1 or lengths.max() > _MAX_CHARACTERS:
        return None
    negative = minus[starts]
    points = np.flatnonzero(point)
    owners = np.searchsorted(ends, points)
    digits = lengths - negative
    digits[owners] -= 1
    if (
        np.count_nonzero(minus) != np.count_nonzero(negative)
        or np.any(owners[1:] == owners[:-1])
        or digits.min() < 1
        or digits.max() > _MAX_DIGITS
    ):
        return None
    mantissas = np.zeros(len(starts), np.int64)
    for column in range(int(lengths.max())):
        characters = text[np.minimum(starts + column, len(text) - 1)] - _ZERO
        is_digit = (characters < 10) & (column < lengths)
        mantissas = np.where(is_digit, mantissas * 10 + characters, mantissas)
    values = mantissas.astype(np.float64)
    values[owners] /= _POWERS[ends[owners] - 1 - points]
    return np.where(negative, -values, values)
