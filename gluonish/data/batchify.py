"""From a list of samples to the arrays of a batch."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import NDArray, array, concatenate
from gluonish.numpy.array import gluon_array

__all__ = ["default_batchify_fn", "default_mp_batchify_fn", "stack_on_host"]


def default_batchify_fn(data: Sequence[Any]) -> Any:
    """Stack samples along a new first axis.

    Args:
        data: Samples of one shape: NDArrays, NumPy arrays, numbers, or tuples of them.

    Returns:
        An NDArray of the samples' dtype (Python's ints give int64, its floats float64); for
        tuples a list with one for each part.

    Raises:
        ArgumentError: Samples differ in shape, or tuples in length.
        ArgumentTypeError: Samples are neither arrays nor numbers.
    """
    if isinstance(data[0], tuple):
        return [default_batchify_fn(column) for column in _columns(data)]
    if isinstance(data[0], NDArray):
        _check_alike(data)
        return concatenate([sample.reshape((1, *sample.shape)) for sample in data])
    values = _as_one(data)
    return gluon_array(array(values, dtype=values.dtype))


def default_mp_batchify_fn(data: Sequence[Any]) -> Any:
    """Stack samples along a new first axis, computing on the host only.

    Args:
        data: As for `default_batchify_fn`.

    Returns:
        What `default_batchify_fn` returns, with NDArrays on the CPU.

    Raises:
        ArgumentError: Samples differ in shape, or tuples in length.
        ArgumentTypeError: Samples are neither arrays nor numbers.
    """
    return _as_ndarrays(stack_on_host(data))


def stack_on_host(data: Sequence[Any]) -> Any:
    """Do as `default_mp_batchify_fn` but return NumPy arrays."""
    if isinstance(data[0], tuple):
        return [stack_on_host(column) for column in _columns(data)]
    if isinstance(data[0], NDArray):
        _check_alike(data)
        return np.stack([sample.asnumpy() for sample in data])
    return _as_one(data)


def _as_ndarrays(batch: Any) -> Any:
    if isinstance(batch, list):
        return [_as_ndarrays(part) for part in batch]
    return gluon_array(array(batch, dtype=batch.dtype))


def _columns(data: Sequence[Any]) -> list[tuple[Any, ...]]:
    lengths = {len(sample) if isinstance(sample, tuple) else None for sample in data}
    if len(lengths) != 1:
        raise ArgumentError(
            f"default_batchify_fn: expected tuples of one length, got lengths {lengths}"
        )
    return list(zip(*data, strict=True))


def _check_alike(data: Sequence[Any]) -> None:
    strange = [sample for sample in data if not isinstance(sample, NDArray)]
    if strange:
        raise ArgumentTypeError(
            f"default_batchify_fn: expected NDArrays only, got {type(strange[0]).__name__} too"
        )
    shapes = {sample.shape for sample in data}
    if len(shapes) > 1:
        raise ArgumentError(
            f"default_batchify_fn: expected samples of one shape, got {sorted(shapes)}"
        )


def _as_one(data: Sequence[Any]) -> np.ndarray[Any, Any]:
    try:
        values = np.asarray(data)
    except ValueError as error:
        shapes = sorted({np.shape(sample) for sample in data if hasattr(sample, "shape")})
        raise ArgumentError(
            f"default_batchify_fn: expected samples of one shape, got {shapes or data!r}"
        ) from error
    if values.dtype.kind in "biufV":
        normalize_dtype(values.dtype)
        return values
    raise ArgumentTypeError(
        f"default_batchify_fn: expected samples of numbers, got {type(data[0]).__name__}; "
        "give DataLoader a batchify_fn for others"
    )
