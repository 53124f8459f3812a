"""Comparison of arrays: exact, or with tolerances and a report of the largest errors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.ndarray import NDArray
from gluonish.test_utils.tolerances import Tolerance, get_atol, get_etol, get_rtol, get_tols

Array = np.ndarray[Any, Any]
Names = Sequence[str]

_TINY = 1e-20  # keeps a relative error finite if the tolerance is zero


def on_host(values: Any) -> Array:
    """Convert values of any kind to a NumPy array; bfloat16 becomes float32."""
    if isinstance(values, list | tuple):
        return np.asarray([on_host(x) if isinstance(x, NDArray) else x for x in values])
    array = values.asnumpy() if isinstance(values, NDArray) else np.asarray(values)
    return array.astype(np.float32) if array.dtype == BFLOAT16 else array


def same(a: Any, b: Any) -> bool:
    """Return whether two arrays have the same shape and values; NaN is not equal to NaN.

    Args:
        a: First array.
        b: Second array.
    """
    return bool(np.array_equal(on_host(a), on_host(b)))


def checkShapes(a: Any, b: Any) -> None:
    """Check that two arrays have the same shape.

    Args:
        a: First array.
        b: Second array.

    Raises:
        AssertionError: The check fails.
    """
    if a.shape != b.shape:
        raise AssertionError(
            f"checkShapes: expected arrays of equal shape, got {a.shape} and {b.shape}\n"
            f" a: {on_host(a)!r}\n b: {on_host(b)!r}"
        )


def almost_equal(
    a: Any,
    b: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    use_broadcast: bool = True,
) -> bool:
    """Return whether ``|a - b| <= atol + rtol * |b|`` everywhere.

    Args:
        a: First array.
        b: Second array.
        rtol: Relative tolerance, 1e-5 by default.
        atol: Absolute tolerance, 1e-20 by default.
        equal_nan: Whether to treat two NaN as equal.
        use_broadcast: Whether shapes may differ and are broadcast.

    Raises:
        ArgumentError: The shapes cannot be broadcast.
        AssertionError: Shapes differ without ``use_broadcast``.
    """
    if not use_broadcast:
        checkShapes(a, b)
    x, y = _broadcast("almost_equal", a, b)
    return bool(np.all(_close(x, y, get_rtol(rtol), get_atol(atol), equal_nan)))


def _broadcast(name: str, a: Any, b: Any) -> tuple[Array, Array]:
    x, y = on_host(a), on_host(b)
    if x.dtype.kind not in "biufc" or y.dtype.kind not in "biufc":
        raise ArgumentTypeError(
            f"{name}: expected arrays or numbers, got {type(a).__name__} and {type(b).__name__}"
        )
    try:
        x, y = np.broadcast_arrays(x, y)
    except ValueError:
        raise ArgumentError(
            f"{name}: expected shapes that broadcast, got {x.shape} and {y.shape}"
        ) from None
    return x, y


def _close(x: Array, y: Array, rtol: float, atol: float, equal_nan: bool) -> Array:
    """Return which elements are within the tolerance; integers must be equal if it is 0."""
    if rtol == 0 and atol == 0 and x.dtype.kind in "biu" and y.dtype.kind in "biu":
        return np.asarray(x == y)
    with np.errstate(all="ignore"):
        wide, other = (v if v.dtype.kind == "c" else v.astype(np.float64) for v in (x, y))
        return np.asarray(np.isclose(wide, other, rtol=rtol, atol=atol, equal_nan=equal_nan))


def locationError(
    a: Any, b: Any, index: Sequence[int], names: Names, maxError: bool = False
) -> str:
    """Describe a difference between two arrays as text: its location, and both values.

    Args:
        a: First array.
        b: Second array.
        index: Index of the element.
        names: Names of the arrays.
        maxError: Whether to describe the difference as the maximum error.
    """
    location = tuple(int(i) for i in index)
    kind = "maximum error" if maxError else "error"
    values = ", ".join(f"{name}={x[location]:.8f}" for name, x in zip(names, (a, b), strict=False))
    return f"Location of {kind}: {location}, {values}"


def assert_almost_equal(
    a: Any,
    b: Any,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    names: Names = ("a", "b"),
    equal_nan: bool = False,
    use_broadcast: bool = True,
    mismatches: tuple[int, int] = (10, 10),
) -> None:
    """Check that ``|a - b| <= atol + rtol * |b|`` holds for every element.

    Args:
        a: First array.
        b: Second array, the reference.
        rtol: Relative tolerance, or a dict of tolerances by dtype; by default that of the less
            precise dtype.
        atol: Absolute tolerance, in the same forms.
        names: Names of the arrays in the error message.
        equal_nan: Whether to treat two NaN as equal.
        use_broadcast: Whether shapes may differ and are broadcast.
        mismatches: Number of the largest errors to list in the message, and maximum number of
            differing elements to count (no limit if not positive).

    Raises:
        ArgumentError: The shapes cannot be broadcast.
        ArgumentTypeError: An argument is not an array of numbers.
        AssertionError: An element exceeds the tolerance, or shapes differ without
            ``use_broadcast``.
    """
    if not use_broadcast:
        checkShapes(a, b)
    x, y = _broadcast("assert_almost_equal", a, b)
    relative, absolute = get_tols(a, b, rtol, atol)
    close = _close(x, y, relative, absolute, equal_nan)
    if not close.all():
        raise AssertionError(_difference(x, y, close, relative, absolute, names, mismatches))


def _difference(
    x: Array,
    y: Array,
    close: Array,
    rtol: float,
    atol: float,
    names: Names,
    mismatches: tuple[int, int],
) -> str:
    """Return the error message for two arrays that differ, with the largest errors first."""
    error = _relative_error(x, y, close, rtol, atol)
    order = np.argsort(-np.nan_to_num(error, nan=np.inf), axis=None, kind="stable")
    counted = wrong = int(np.size(close) - np.count_nonzero(close))
    shown, limit = mismatches
    if 0 < limit < wrong:
        counted = limit + 1
    share = f"{'at least ' if counted < wrong else ''}{100 * counted / close.size:f}%"
    first, second = names
    lines = [
        f"assert_almost_equal: expected {first} and {second} to be equal, got a difference",
        f"Error {error.flat[order[0]]:f} exceeds tolerance rtol={rtol:e}, atol={atol:e}"
        f" (mismatch {share}).",
    ]
    if x.ndim:
        indices: list[Any] = [
            np.unravel_index(i, x.shape) for i in order[: max(1, min(shown, counted))]
        ]
        lines.append(locationError(x, y, indices[0], names, maxError=True))
        if len(indices) > 1 and shown > 1:
            lines.append("Largest errors, in units of the tolerance:")
            lines += [
                f"{rank:3}: Error {error[index]:f}  {locationError(x, y, index, names)}"
                for rank, index in enumerate(indices, 1)
            ]
    return "\n".join([*lines, f" {first}: {x!r}", f" {second}: {y!r}"])


def _relative_error(x: Array, y: Array, close: Array, rtol: float, atol: float) -> Array:
    """Return the difference divided by the tolerance, or 0 for elements within the tolerance."""
    kind = np.complex128 if "c" in (x.dtype.kind, y.dtype.kind) else np.float64
    with np.errstate(all="ignore"):
        wide, other = x.astype(kind), y.astype(kind)
        error = np.abs(wide - other) / (atol + rtol * np.abs(other) + _TINY)
    return np.where(close, 0.0, error)


def assert_allclose(
    a: Any, b: Any, rtol: Tolerance = 1e-07, atol: Tolerance = 0, equal_nan: bool = True
) -> None:
    """Check as `assert_almost_equal` does, with the defaults of ``numpy.testing``.

    Args:
        a: First array.
        b: Second array.
        rtol: Relative tolerance.
        atol: Absolute tolerance.
        equal_nan: Whether to treat two NaN as equal.

    Raises:
        AssertionError: The arrays differ.
    """
    assert_almost_equal(a, b, rtol, atol, equal_nan=equal_nan)


def assert_almost_equal_with_err(
    a: Any,
    b: Any,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    etol: float | None = None,
    names: Names = ("a", "b"),
    equal_nan: bool = False,
    mismatches: tuple[int, int] = (10, 10),
) -> None:
    """Check as `assert_almost_equal` does, but let a fraction of the elements differ.

    Args:
        a: First array.
        b: Second array, the reference.
        rtol: Relative tolerance, or a dict of tolerances by dtype; by default that of the less
            precise dtype.
        atol: Absolute tolerance, in the same forms.
        etol: Fraction of elements that may differ, in [0, 1]; none by default.
        names: Names of the arrays in the error message.
        equal_nan: Whether to treat two NaN as equal.
        mismatches: As in `assert_almost_equal`.

    Raises:
        AssertionError: A larger fraction of the elements differs.
    """
    x, y = _broadcast("assert_almost_equal_with_err", a, b)
    close = _close(x, y, *get_tols(a, b, rtol, atol), equal_nan)
    wrong = close.size - np.count_nonzero(close)
    if wrong > get_etol(etol) * close.size:
        assert_almost_equal(a, b, rtol, atol, names, equal_nan, mismatches=mismatches)


def assert_almost_equal_ignore_nan(
    a: Any,
    b: Any,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    names: Names = ("a", "b"),
) -> None:
    """Check as `assert_almost_equal` does, but skip elements where either array is NaN.

    Args:
        a: First array.
        b: Second array, the reference.
        rtol: Relative tolerance, or a dict of tolerances by dtype; by default that of the less
            precise dtype.
        atol: Absolute tolerance, in the same forms.
        names: Names of the arrays in the error message.

    Raises:
        AssertionError: The arrays differ elsewhere.
    """
    x, y = (v.copy() for v in _broadcast("assert_almost_equal_ignore_nan", a, b))
    either = np.isnan(x) | np.isnan(y)
    x[either] = y[either] = 0
    relative, absolute = get_tols(a, b, rtol, atol)
    assert_almost_equal(x, y, relative, absolute, names)


def compare_ndarray_tuple(t1: Any, t2: Any, rtol: Tolerance = None, atol: Tolerance = None) -> None:
    """Check that two nested tuples hold almost equal arrays; None matches anything.

    Args:
        t1: An array, None, or a tuple or list of these.
        t2: The other tuple.
        rtol: Relative tolerance.
        atol: Absolute tolerance.

    Raises:
        AssertionError: The arrays differ, or the nesting differs.
    """
    if t1 is None or t2 is None:
        return
    counts = [len(t) if isinstance(t, tuple | list) else None for t in (t1, t2)]
    if counts[0] != counts[1]:
        kinds = ["an array" if n is None else f"a tuple of {n}" for n in counts]
        raise AssertionError(f"compare_ndarray_tuple: expected t2 as {kinds[0]}, got {kinds[1]}")
    if counts[0] is None:
        assert_almost_equal(t1, t2, rtol, atol)
        return
    for first, second in zip(t1, t2, strict=True):
        compare_ndarray_tuple(first, second, rtol, atol)


def same_array(array1: NDArray, array2: NDArray) -> bool:
    """Return whether two arrays share their memory; their values are restored afterwards.

    Args:
        array1: First array.
        array2: Second array, of the same shape.
    """
    if not same(array1, array2):
        return False
    saved = array1.copy()
    array1[:] = saved == saved.zeros_like()  # changes every element
    shared = same(array1, array2)
    array1[:] = saved
    return shared
