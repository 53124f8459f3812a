"""Samples of one shape as one NumPy array, stacked along a new first axis.

Each function makes its arrays with an ``empty`` that it is given; see `batchify`.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.data import sample_rows
from gluonish.io.shared_batch import values_of
from gluonish.ndarray import NDArray

__all__ = [
    "Array",
    "Empty",
    "as_array",
    "check_alike",
    "columns_of",
    "common_dtype",
    "stack_on_host",
    "stacked_numbers",
]

Array = np.ndarray[Any, Any]


class Empty(Protocol):
    """A function like `numpy.empty`, which returns an uninitialized array."""

    def __call__(self, shape: tuple[int, ...], dtype: Any) -> Array:
        """Return such an array."""
        ...


def stack_on_host(data: Sequence[Any], empty: Empty = np.empty) -> Any:
    """Return the batch of `default_mp_batchify_fn` as new NumPy arrays.

    Args:
        data: As for `default_batchify_fn`.
        empty: Allocates the arrays.
    """
    if isinstance(data[0], tuple):
        return [stack_on_host(column, empty) for column in columns_of(data)]
    if isinstance(data[0], NDArray):
        check_alike(data)
        samples = [values_of(sample) for sample in data]
        rows = sample_rows.current.get()
        there = None if rows is None else rows.batch_of(samples)
        return _stacked(samples, empty) if there is None else there
    return stacked_numbers(data, empty)


def columns_of(data: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the parts of samples that are tuples: all first parts, all second parts, and so on.

    Args:
        data: The samples.

    Raises:
        ArgumentError: The tuples differ in length, or a sample is not a tuple.
    """
    lengths = {len(sample) if isinstance(sample, tuple) else None for sample in data}
    if len(lengths) != 1:
        raise ArgumentError(
            f"default_batchify_fn: expected tuples of equal length, got lengths {lengths}"
        )
    return list(zip(*data, strict=True))


def check_alike(data: Sequence[Any]) -> None:
    """Check that samples are NDArrays of one shape.

    Args:
        data: The samples.

    Raises:
        ArgumentTypeError: A sample is not an NDArray.
        ArgumentError: Shapes differ.
    """
    strange = [sample for sample in data if not isinstance(sample, NDArray)]
    if strange:
        raise ArgumentTypeError(
            f"default_batchify_fn: expected only NDArrays, got {type(strange[0]).__name__}"
        )
    shapes = {sample.shape for sample in data}
    if len(shapes) > 1:
        raise ArgumentError(
            f"default_batchify_fn: expected samples of equal shape, got {sorted(shapes)}"
        )


def _stacked(samples: list[Array], empty: Empty) -> Array:
    batch = empty((len(samples), *samples[0].shape), common_dtype(samples))
    for i, sample in enumerate(samples):
        batch[i] = sample
    return batch


def stacked_numbers(data: Sequence[Any], empty: Empty) -> Array:
    """Stack NumPy arrays of one shape, or numbers.

    Args:
        data: The samples.
        empty: Allocates the array if the samples are arrays of one dtype.

    Raises:
        ArgumentError: Shapes differ.
        ArgumentTypeError: Samples are not numbers, or have a dtype that gluonish does not support.
    """
    first = data[0]
    if type(first) is np.ndarray and first.dtype.kind in "biufV":
        shape, dtype = first.shape, first.dtype
        if all(type(x) is np.ndarray and x.shape == shape and x.dtype == dtype for x in data):
            normalize_dtype(dtype.newbyteorder("="))
            return _stacked(list(data), empty)
    try:
        values = np.array(data)
    except ValueError as error:
        shapes = sorted({np.shape(sample) for sample in data if hasattr(sample, "shape")})
        raise ArgumentError(
            f"default_batchify_fn: expected samples of equal shape, got {shapes or data!r}"
        ) from error
    if values.dtype.kind in "biufV":
        normalize_dtype(values.dtype)
        return values
    raise ArgumentTypeError(
        f"default_batchify_fn: expected samples of numbers, got {type(first).__name__}; "
        "give DataLoader a batchify_fn for others"
    )


def as_array(sample: Any) -> Array:
    """Return a sample as a NumPy array.

    Args:
        sample: An NDArray, or anything that NumPy converts to an array.
    """
    return values_of(sample) if isinstance(sample, NDArray) else np.asarray(sample)


def common_dtype(samples: list[Array]) -> np.dtype[Any]:
    """Return the dtype of a batch of samples: NumPy's promotion, in native byte order.

    Args:
        samples: The samples, NumPy arrays.
    """
    dtype: np.dtype[Any] = samples[0].dtype
    if any(sample.dtype != dtype for sample in samples):
        dtype = np.result_type(*samples)
    return dtype.newbyteorder("=")
