"""Batches of calibration data, from iterators, loaders and whatever else gives arrays in turn."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentTypeError
from gluonish.io import DataBatch, DataIter
from gluonish.ndarray import NDArray
from gluonish.ndarray.creation import array

__all__ = ["arrays_of", "batches", "check_iterable", "examples_of", "first_batch", "with_bar"]


def arrays_of(batch: Any, context: Context) -> list[NDArray]:
    """Return the arrays of a batch, in order, on a device.

    Args:
        batch: An array, arrays in lists or tuples, or a DataBatch, of which the data are used.
        context: The device.

    Raises:
        ArgumentTypeError: It contains something else.
    """
    if isinstance(batch, DataBatch):
        return [x for part in batch.data for x in arrays_of(part, context)]
    if isinstance(batch, list | tuple):
        return [x for part in batch for x in arrays_of(part, context)]
    if isinstance(batch, NDArray):
        return [batch.as_in_context(context)]
    if isinstance(batch, np.ndarray | np.generic):
        return [array(batch, ctx=context, dtype=batch.dtype)]
    raise ArgumentTypeError(
        f"calib_data: expected batches of arrays, got one with {type(batch).__name__}"
    )


def check_iterable(what: str, data: Any) -> None:
    """Check that calibration data can be iterated over.

    Args:
        what: Name of the calling function, for error messages.
        data: The data.

    Raises:
        ArgumentTypeError: They cannot.
    """
    if not isinstance(data, Iterable):
        raise ArgumentTypeError(
            f"{what}: expected calib_data as a DataIter, a DataLoader or another iterable of "
            f"batches, got {type(data).__name__}"
        )


def first_batch(what: str, data: Any, context: Context) -> list[NDArray]:
    """Return the arrays of the first batch; an iterator with `reset` is reset before and after.

    Args:
        what: Name of the calling function, for error messages.
        data: The data.
        context: Device of the arrays.

    Raises:
        ArgumentTypeError: The data cannot be iterated over.
    """
    check_iterable(what, data)
    _reset(data)
    for batch in data:
        _reset(data)
        return arrays_of(batch, context)
    return []


def batches(
    data: Any, num_examples: int | None, context: Context
) -> Iterator[tuple[list[NDArray], int]]:
    """Yield the arrays of each batch, and its number of samples.

    Args:
        data: The batches.
        num_examples: Number of samples after which to stop; None for all.
        context: Device of the arrays.
    """
    _reset(data)
    seen = 0
    for batch in data:
        arrays = arrays_of(batch, context)
        count = arrays[0].shape[0] if arrays and arrays[0].shape else 1
        if isinstance(batch, DataBatch) and batch.pad:
            count -= batch.pad
        yield arrays, count
        seen += count
        if num_examples is not None and seen >= num_examples:
            return


def _reset(data: Any) -> None:
    if isinstance(data, DataIter):
        data.reset()


def with_bar(steps: Iterator[tuple[list[NDArray], int]], total: int | None) -> Iterator[Any]:
    """Yield the arrays of each batch, with a progress bar of samples on a terminal.

    Args:
        steps: Pairs of arrays and a number of samples.
        total: Total number of samples; None if unknown.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        for arrays, _count in steps:
            yield arrays
        return
    from tqdm import tqdm

    with tqdm(desc="calibrate", total=total, unit="example", leave=False) as bar:
        for arrays, count in steps:
            yield arrays
            bar.update(count)


def examples_of(data: Any, num_examples: int | None) -> int | None:
    """Return the number of samples that calibration will use; None if unknown.

    Args:
        data: The batches.
        num_examples: Number of samples after which to stop; None for all.
    """
    dataset: Any = getattr(data, "_dataset", None)
    counts = [
        getattr(data, "num_data", None),
        len(dataset) if hasattr(dataset, "__len__") else None,
    ]
    return min((n for n in (num_examples, *counts) if isinstance(n, int)), default=None)
