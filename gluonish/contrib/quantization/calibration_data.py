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
        batch: A DataBatch, of which the data counts, an array, or arrays in lists or tuples.
        context: The device.

    Raises:
        ArgumentTypeError: There is something else in it.
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
    """Check that calibration data can be gone through.

    Raises:
        ArgumentTypeError: It cannot.
    """
    if not isinstance(data, Iterable):
        raise ArgumentTypeError(
            f"{what}: expected calib_data as a DataIter, a DataLoader or another iterable of "
            f"batches, got {type(data).__name__}"
        )


def first_batch(what: str, data: Any, context: Context) -> list[NDArray]:
    """Return the arrays of the first batch; what can be reset is reset.

    Raises:
        ArgumentTypeError: The data cannot be gone through.
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
    """Give the arrays of batches, and how many examples each has.

    Args:
        data: The batches.
        num_examples: Stop when so many were given; None for all.
        context: The device to give them on.
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
    """Give the arrays of batches, with a bar of examples on a terminal.

    Args:
        steps: Arrays and counts of examples.
        total: How many examples there are; None where that is not known.
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
    """Return how many examples will be gone through, as far as is known."""
    dataset: Any = getattr(data, "_dataset", None)
    counts = [
        getattr(data, "num_data", None),
        len(dataset) if hasattr(dataset, "__len__") else None,
    ]
    return min((n for n in (num_examples, *counts) if isinstance(n, int)), default=None)
