"""Helpers of `mx.module.executor_group` for programs with their own executor groups."""

from collections.abc import Iterable, Sequence
from typing import Any

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentTypeError
from gluonish.io.data_iter import DataBatch
from gluonish.kvstore import KVStoreBase, create
from gluonish.ndarray import NDArray

__all__ = [
    "call_all",
    "create_sparse_kvstore",
    "load_batch_data",
    "load_batch_label",
    "load_data",
    "load_general",
    "load_label",
    "load_rows",
    "merge_multi_context",
]

# For each array of a batch: a target, or a list with a slice of rows and a target per device.
Targets = Sequence[NDArray | Sequence[tuple[slice, NDArray]]]


def load_general(data: Sequence[Any], targets: Targets, major_axis: Sequence[int]) -> None:
    """Copy the arrays of a batch to devices.

    Args:
        data: Arrays; NumPy arrays are converted.
        targets: For each array a target of the same size, or a list with, for each device, a slice
            along the batch axis and a target.
        major_axis: Batch axis of each array; negative to copy the full array to every device.
    """
    for source, target, axis in zip(data, targets, major_axis, strict=True):
        source = source if isinstance(source, NDArray) else nd.array(source)
        if isinstance(target, NDArray):
            source.astype(target.dtype, copy=False).copyto(target)
            continue
        for rows, destination in target:
            chunk = source
            if axis >= 0 and source.shape != destination.shape:
                chunk = nd.slice_axis(source, axis=axis, begin=rows.start, end=rows.stop)
            chunk.astype(destination.dtype, copy=False).copyto(destination)


def load_data(batch: DataBatch, targets: Targets, major_axis: Sequence[int]) -> None:
    """Copy the data of a batch to devices; see `load_general`."""
    load_general(batch.data, targets, major_axis)


def load_label(batch: DataBatch, targets: Targets, major_axis: Sequence[int]) -> None:
    """Copy the labels of a batch to devices; see `load_general`."""
    load_general(batch.label, targets, major_axis)


def load_rows(data: Sequence[Any], targets: Targets) -> None:
    """Copy arrays with batch axis 0 to devices; see `load_general`."""
    load_general(data, targets, (0,) * len(data))


def load_batch_data(batch: DataBatch, targets: Targets) -> None:
    """Copy the data of a batch, with batch axis 0, to devices."""
    load_rows(batch.data, targets)


def load_batch_label(batch: DataBatch, targets: Targets) -> None:
    """Copy the labels of a batch, with batch axis 0, to devices."""
    load_rows(batch.label, targets)


def merge_multi_context(
    outputs: Iterable[Sequence[NDArray]], major_axis: Sequence[int]
) -> list[NDArray]:
    """Concatenate each output of several devices on the first device.

    Args:
        outputs: For each output a list with one array for each device.
        major_axis: Axis along which to concatenate; negative to return the first device's array.
    """
    merged = []
    for chunks, axis in zip(outputs, major_axis, strict=True):
        if axis < 0 or len(chunks) == 1:
            merged.append(chunks[0])
            continue
        context = chunks[0].context
        merged.append(nd.concat(*[chunk.as_in_context(context) for chunk in chunks], dim=axis))
    return merged


def create_sparse_kvstore(kvstore: str | KVStoreBase) -> tuple[KVStoreBase, bool]:
    """Return the store for row_sparse weights, and True, as the store always updates them.

    Args:
        kvstore: A KVStore, or the name of one.

    Raises:
        ArgumentTypeError: ``kvstore`` has another type; row_sparse weights need a store.
    """
    if isinstance(kvstore, str):
        return create(kvstore), True
    if isinstance(kvstore, KVStoreBase):
        return kvstore, True
    raise ArgumentTypeError(
        f"create_sparse_kvstore: expected a KVStore or its name, because there are "
        f"row_sparse weights, got {kvstore!r}"
    )


def call_all(callbacks: Any, *args: Any, **kwargs: Any) -> None:
    """Call a function, or each function of a list; None calls nothing."""
    if isinstance(callbacks, list):
        for callback in callbacks:
            callback(*args, **kwargs)
    elif callbacks:
        callbacks(*args, **kwargs)
