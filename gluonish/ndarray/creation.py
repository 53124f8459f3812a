"""Arrays from values: array, zeros, ones, full, arange and the like, and joining a list of arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.dtype import FLOAT32, normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.ndarray.eager import source
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish.ops.registry import apply, find_operator

__all__ = [
    "arange",
    "array",
    "concatenate",
    "empty",
    "eye",
    "from_numpy",
    "full",
    "linspace",
    "moveaxis",
    "ones",
    "zeros",
]

Extents = int | Sequence[int]


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Return an array with a copy of values.

    Args:
        source_array: NDArray, NumPy array, number or nested sequence.
        ctx: Device; the current context by default.
        dtype: Element type; by default that of a source NDArray, and float32 for anything else,
            also a NumPy array of another dtype.

    Raises:
        ArgumentTypeError: if the source is not an array of numbers.
    """
    if isinstance(source_array, NDArray):
        kept = source_array._spec.dtype if dtype is None else dtype
        return from_host(source_array.asnumpy(), ctx, kept)
    try:
        values = np.asarray(source_array)
    except ValueError as error:
        raise ArgumentTypeError(
            f"array: expected nested sequences of equal lengths, got {type(source_array).__name__} ({error})"
        ) from error
    if values.dtype.kind not in "biufV":
        raise ArgumentTypeError(
            f"array: expected numbers, got {type(source_array).__name__} of {values.dtype}"
        )
    return from_host(values, ctx, FLOAT32 if dtype is None else dtype)


def _extents(shape: Extents, what: str) -> tuple[int, ...]:
    extents = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    if any(not isinstance(n, int | np.integer) or n < 0 for n in extents):
        raise ArgumentError(f"{what}: expected extents of at least 0, got shape {shape!r}")
    return tuple(int(n) for n in extents)


def _check_stype(stype: str | None, what: str) -> None:
    if stype not in (None, "default"):
        raise NotSupportedError(
            f"{what}: expected stype 'default', got {stype!r}; sparse arrays are not there yet, use a dense one"
        )


def full(
    shape: Extents,
    val: float,
    ctx: Context | None = None,
    dtype: Any = FLOAT32,
    out: NDArray | None = None,
) -> NDArray:
    """Return an array with ``val`` everywhere, or fill ``out`` with it."""
    op = find_operator("_full")
    attrs = op.schema.parse(
        "full", {"shape": _extents(shape, "full"), "value": val, "dtype": normalize_dtype(dtype)}
    )
    result: NDArray = source(op, attrs, ctx, out)
    return result


def zeros(
    shape: Extents,
    ctx: Context | None = None,
    dtype: Any = None,
    stype: str | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return an array of zeros, float32 unless told otherwise."""
    _check_stype(stype, "zeros")
    return full(shape, 0, ctx, dtype, kwargs.get("out"))


def ones(shape: Extents, ctx: Context | None = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """Return an array of ones, float32 unless told otherwise."""
    return full(shape, 1, ctx, dtype, kwargs.get("out"))


def empty(
    shape: Extents, ctx: Context | None = None, dtype: Any = None, stype: str | None = None
) -> NDArray:
    """Return an array of the given shape; its values are zeros, so that nothing depends on old memory."""
    _check_stype(stype, "empty")
    return zeros(shape, ctx, dtype)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | None = None,
    ctx: Context | None = None,
    dtype: Any = FLOAT32,
) -> NDArray:
    """Return evenly spaced values in [start, stop), each repeated; a single bound counts from 0."""
    if stop is None:
        start, stop = 0, start
    values = np.repeat(np.arange(start, stop, step), repeat)
    return from_host(values, ctx, dtype)


def linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    ctx: Context | None = None,
    dtype: Any = FLOAT32,
) -> NDArray:
    """Return ``num`` evenly spaced values from start to stop, the latter included unless ``endpoint`` is False."""
    return from_host(np.linspace(start, stop, num, endpoint=endpoint), ctx, dtype)


def eye(
    N: int,  # noqa: N803  # MXNet's name
    M: int = 0,  # noqa: N803
    k: int = 0,
    ctx: Context | None = None,
    dtype: Any = None,
    **kwargs: Any,
) -> NDArray:
    """Return a matrix with ones on diagonal ``k``: (N, N), or (N, M)."""
    return from_host(np.eye(N, M or None, k), ctx, FLOAT32 if dtype is None else dtype)


def from_numpy(
    ndarray: np.ndarray[Any, Any], zero_copy: bool = True, array_cls: Any = NDArray
) -> NDArray:
    """Return an array over a NumPy array's values.

    Args:
        ndarray: C-contiguous values of a dtype that gluonish has; the dtype is kept.
        zero_copy: Accepted; the values are copied, so that the engine alone writes its memory.
        array_cls: Accepted for compatibility.

    Raises:
        ArgumentError: if the values are not C-contiguous.
    """
    if not ndarray.flags.c_contiguous:
        raise ArgumentError(
            "from_numpy: expected a C-contiguous array, got one that is not; use numpy.ascontiguousarray"
        )
    return from_host(ndarray, None, ndarray.dtype)


def concatenate(arrays: Sequence[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """Return arrays joined along an axis; a single one comes back as it is unless ``always_copy``."""
    if not arrays:
        raise ArgumentError("concatenate: expected at least one array, got none")
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    op = find_operator("Concat")
    attrs = op.schema.parse("concatenate", {"num_args": len(arrays), "dim": axis})
    joined: NDArray = apply(op, list(arrays), attrs)
    return joined


def moveaxis(tensor: NDArray, source: Extents, destination: Extents) -> NDArray:
    """Return the array with some axes moved to new places, the others in order."""
    sources = [source] if isinstance(source, int) else list(source)
    targets = [destination] if isinstance(destination, int) else list(destination)
    if len(sources) != len(targets):
        raise ArgumentError(f"moveaxis: expected {len(sources)} destinations, got {len(targets)}")
    sources = [axis % tensor.ndim for axis in sources]
    order = [axis for axis in range(tensor.ndim) if axis not in sources]
    for target, axis in sorted(zip([t % tensor.ndim for t in targets], sources, strict=True)):
        order.insert(target, axis)
    moved: NDArray = tensor.transpose(axes=tuple(order))
    return moved
