"""Creation of arrays (array, zeros, full, arange ...), concatenate and moveaxis."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.context import Context
from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.habits import keyword_advice
from gluonish.core.tables import kind_of, numbers_of
from gluonish.ndarray.eager import source
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish.ndarray.sparse.array import BaseSparseNDArray
from gluonish.ndarray.sparse.creation import array as sparse_array
from gluonish.ndarray.sparse.creation import zeros as sparse_zeros
from gluonish.ops.registry import apply, find_operator

__all__ = [
    "arange",
    "array",
    "concatenate",
    "empty",
    "eye",
    "full",
    "linspace",
    "moveaxis",
    "ones",
    "zeros",
]

Extents = int | Sequence[int]


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Create an array from a copy of other values.

    Args:
        source_array: NDArray, NumPy array, number, or nested sequence; a column or table of polars,
            pandas or pyarrow, whose missing values are NaN; an image of PIL; for a sparse NDArray
            or SciPy matrix the result is sparse.
        ctx: Device; the current context by default.
        dtype: Element type; by default the dtype of a source NDArray, and float32 for all other
            sources, even a NumPy array of another dtype.

    Raises:
        ArgumentTypeError: The source is not an array of numbers.
    """
    if isinstance(source_array, BaseSparseNDArray) or hasattr(source_array, "tocsr"):
        return sparse_array(source_array, ctx, dtype)
    if isinstance(source_array, NDArray):
        dtype = source_array._spec.dtype if dtype is None else dtype
        return from_host(source_array.asnumpy(), ctx, dtype)
    source_array = numbers_of("array", source_array, dtype)
    try:
        values = np.asarray(source_array)
    except ValueError as error:
        raise ArgumentTypeError(
            "array: expected nested sequences of equal lengths, got "
            f"{type(source_array).__name__} ({error})"
        ) from None
    if values.dtype.kind not in "biufV":
        raise ArgumentTypeError(
            f"array: expected numbers, got {type(source_array).__name__} of {kind_of(values)}"
        )
    return from_host(values, ctx, FLOAT32 if dtype is None else dtype)


def _extents(shape: Extents, what: str) -> tuple[int, ...]:
    extents = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    if any(not isinstance(n, int | np.integer) or n < 0 for n in extents):
        raise ArgumentError(f"{what}: expected a shape of non-negative integers, got {shape!r}")
    return tuple(int(n) for n in extents)


def _make(
    operator: str,
    args: dict[str, Any],
    ctx: Context | None,
    dtype: Any,
    out: NDArray | None = None,
) -> NDArray:
    """Run an operator without inputs on a device."""
    op = find_operator(operator)
    args["dtype"] = FLOAT32 if dtype is None else dtype
    made: NDArray = source(op, op.schema.parse(operator.lstrip("_"), args), ctx, out)
    return made


def full(
    shape: Extents,
    val: float,
    ctx: Context | None = None,
    dtype: Any = FLOAT32,
    out: NDArray | None = None,
) -> NDArray:
    """Return an array filled with one value.

    Args:
        shape: Shape of the array.
        val: The value.
        ctx: Device; the current context by default.
        dtype: Element type.
        out: Array to fill instead of a new one.
    """
    return _make("_full", {"shape": _extents(shape, "full"), "value": val}, ctx, dtype, out)


_FOREIGN = ("device", "requires_grad")  # arguments of PyTorch that would change the result


def _refuse_habits(function: str, ignored: Mapping[str, Any]) -> None:
    """Raise an error for an argument of another framework, which would have no effect.

    Raises:
        ArgumentTypeError: There is one.
    """
    for name in _FOREIGN:
        if name in ignored:
            known = ("shape", "ctx", "dtype", "out")
            raise ArgumentTypeError(
                f"{function}: expected arguments among {', '.join(known)}, got {name!r}"
                f"{keyword_advice(name, known)}"
            )


def zeros(
    shape: Extents,
    ctx: Context | None = None,
    dtype: Any = None,
    stype: str | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return an array of zeros.

    Args:
        shape: Shape of the array.
        ctx: Device; the current context by default.
        dtype: Element type; None for float32.
        stype: Storage type: dense by default, ``"row_sparse"`` or ``"csr"``.
        **kwargs: ``out``, an array to fill instead of a new one; others are ignored.
    """
    if stype not in (None, "default"):
        return sparse_zeros(stype, shape, ctx, dtype)
    _refuse_habits("zeros", kwargs)
    args = {"shape": _extents(shape, "zeros"), "value": 0}
    return _make("_full", args, ctx, dtype, kwargs.get("out"))


def ones(shape: Extents, ctx: Context | None = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """Return an array of ones.

    Args:
        shape: Shape of the array.
        ctx: Device; the current context by default.
        dtype: Element type; None for float32.
        **kwargs: ``out``, an array to fill instead of a new one; others are ignored.
    """
    _refuse_habits("ones", kwargs)
    args = {"shape": _extents(shape, "ones"), "value": 1}
    return _make("_full", args, ctx, dtype, kwargs.get("out"))


def empty(
    shape: Extents, ctx: Context | None = None, dtype: Any = None, stype: str | None = None
) -> NDArray:
    """Return an array to be filled later; it is zeroed, to make runs reproducible.

    Args:
        shape: Shape of the array.
        ctx: Device; the current context by default.
        dtype: Element type.
        stype: Storage type: dense by default, ``"row_sparse"`` or ``"csr"``.
    """
    if stype not in (None, "default"):
        return sparse_zeros(stype, shape, ctx, dtype)
    return _make("_full", {"shape": _extents(shape, "empty"), "value": 0}, ctx, dtype)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | None = None,
    ctx: Context | None = None,
    dtype: Any = FLOAT32,
) -> NDArray:
    """Return evenly spaced values in [start, stop).

    Args:
        start: First value; the end of the range, which then starts at 0, if ``stop`` is None.
        stop: End of the range, which is excluded.
        step: Distance between neighbouring values.
        repeat: How often each value appears.
        infer_range: Accepted for compatibility; has no effect.
        ctx: Device; the current context by default.
        dtype: Element type.

    Raises:
        OperatorError: ``step`` is 0 or has the wrong sign.

    Example:
        >>> import gluonish as mx
        >>> mx.nd.arange(2, 6, step=2, repeat=2).tolist()
        [2.0, 2.0, 4.0, 4.0]
    """
    args = {"start": start, "stop": stop, "step": step, "repeat": repeat}
    return _make("_arange", args, ctx, dtype)


def linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    ctx: Context | None = None,
    dtype: Any = FLOAT32,
) -> NDArray:
    """Return evenly spaced values from ``start`` to ``stop``.

    Args:
        start: First value.
        stop: End of the range.
        num: Number of values.
        endpoint: Whether ``stop`` is the last value; if not, it is excluded.
        ctx: Device; the current context by default.
        dtype: Element type.
    """
    args = {"start": start, "stop": stop, "num": num, "endpoint": endpoint}
    return _make("_linspace", args, ctx, dtype)


def eye(
    N: int,
    M: int = 0,
    k: int = 0,
    ctx: Context | None = None,
    dtype: Any = None,
    **kwargs: Any,
) -> NDArray:
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Args:
        N: Number of rows.
        M: Number of columns; 0 for N.
        k: Index of the diagonal: 0 for the main one, positive above it, negative below.
        ctx: Device; the current context by default.
        dtype: Element type.
        **kwargs: ``out``, an array to fill instead of a new one; others are ignored.
    """
    return _make("_eye", {"N": N, "M": M, "k": k}, ctx, dtype, kwargs.get("out"))


def concatenate(arrays: Sequence[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """Concatenate arrays along an axis.

    Args:
        arrays: The arrays, of equal shape except along ``axis``.
        axis: The axis.
        always_copy: Whether to copy a single array, too, instead of returning it.

    Raises:
        ArgumentError: There are no arrays, or they differ in dtype, or in shape along another axis.
    """
    if not arrays:
        raise ArgumentError("concatenate: expected at least one array, got none")
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    if len({(x.dtype, x.shape[:axis], x.shape[axis:][1:]) for x in arrays}) > 1:
        raise ArgumentError(
            f"concatenate: expected arrays of equal dtype that differ in size along axis {axis} "
            f"only, got {', '.join(f'{x.dtype.__name__}{x.shape}' for x in arrays)}"
        )
    op = find_operator("Concat")
    attrs = op.schema.parse("concatenate", {"num_args": len(arrays), "dim": axis})
    joined: NDArray = apply(op, list(arrays), attrs)
    return joined


def _axes(axes: Extents, rank: int) -> list[int]:
    listed = [axes] if isinstance(axes, int) else list(axes)
    for axis in listed:
        if not -rank <= axis < rank:
            raise ArgumentError(f"moveaxis: expected axes in [-{rank}, {rank}), got {axis}")
    found = [axis % rank for axis in listed]
    if len(set(found)) < len(found):
        raise ArgumentError(f"moveaxis: expected each axis once, got {listed}")
    return found


def moveaxis(tensor: NDArray, source: Extents, destination: Extents) -> NDArray:
    """Move axes of an array to new positions; the others keep their order.

    Args:
        tensor: The array.
        source: Original position of each axis to move, an int or several.
        destination: New position of each.

    Raises:
        ArgumentError: An axis is out of range or repeated, or the numbers of axes differ.
    """
    sources, targets = _axes(source, tensor.ndim), _axes(destination, tensor.ndim)
    if len(sources) != len(targets):
        raise ArgumentError(f"moveaxis: expected {len(sources)} destinations, got {len(targets)}")
    order = [axis for axis in range(tensor.ndim) if axis not in sources]
    for target, axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, axis)
    moved: NDArray = tensor.transpose(axes=tuple(order))
    return moved


document_arguments(globals(), __all__)
