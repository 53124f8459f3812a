"""Data of FeedForward: iterators over arrays, and the batches of an epoch."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.io.data_iter import DataBatch, DataIter
from gluonish.io.ndarray_iter import NDArrayIter
from gluonish.ndarray import NDArray


def iterator_of(what: str, x: Any, y: Any, batch_size: int, *, is_train: bool) -> DataIter:
    """Return an iterator over arrays; an iterator is returned as it is.

    Args:
        what: Name of the calling method, for error messages.
        x: An iterator; or data as an array, shuffled for training.
        y: Labels; None for an iterator, and for zeros if ``is_train`` is False.
        batch_size: Maximum number of samples in a batch.
        is_train: Whether the data are for training.

    Raises:
        ArgumentError: The arrays do not match.
        ArgumentTypeError: ``x`` is neither an iterator nor an array.
    """
    if isinstance(x, DataIter):
        return x
    if not isinstance(x, np.ndarray | NDArray):
        raise ArgumentTypeError(
            f"FeedForward.{what}: expected X to be a DataIter, an NDArray or a NumPy array, "
            f"got {type(x).__name__}"
        )
    if y is None and is_train:
        raise ArgumentError(f"FeedForward.{what}: expected y with an array X, got None")
    labels = np.zeros(x.shape[0]) if y is None else y
    labels = labels.asnumpy() if isinstance(labels, NDArray) else np.asarray(labels)
    if labels.shape not in ((x.shape[0],), (x.shape[0], 1)):
        raise ArgumentError(
            f"FeedForward.{what}: expected y of shape {x.shape[:1]} for X of shape {x.shape}, "
            f"got {labels.shape}"
        )
    return NDArrayIter(
        x,
        labels.reshape(-1),
        batch_size=min(x.shape[0], batch_size),
        shuffle=is_train,
        last_batch_handle="roll_over" if is_train else "pad",
    )


def evaluation_iterator(eval_data: Any, batch_size: int) -> DataIter | None:
    """Return an iterator over evaluation data.

    Args:
        eval_data: An iterator, a pair of arrays, or None.
        batch_size: Maximum number of samples in a batch.

    Raises:
        ArgumentTypeError: ``eval_data`` is none of these.
    """
    if eval_data is None or isinstance(eval_data, DataIter):
        return eval_data
    if not isinstance(eval_data, tuple | list) or len(eval_data) != 2:
        raise ArgumentTypeError(
            "FeedForward.fit: expected eval_data to be a DataIter or a pair of arrays, got "
            f"{type(eval_data).__name__}"
        )
    x, y = eval_data
    x = np.asarray(x) if isinstance(x, list) else x
    return iterator_of("fit", x, y, batch_size, is_train=False)


def epochs_of(
    data: DataIter, first: int, size: int | None, logger: Any
) -> Iterator[Iterator[DataBatch]]:
    """Yield the batches of each epoch.

    Args:
        data: The iterator, which is reset first.
        first: Number of the first epoch, for the log.
        size: Number of batches in an epoch; the iterator is reset if it ends earlier. None for
            one pass.
        logger: Logs each reset of the iterator.
    """
    data.reset()
    epoch = first

    def batches() -> Iterator[DataBatch]:
        count, restarted = 0, False
        while True:
            empty = True
            for batch in data:
                empty = False
                count += 1
                yield batch
                if count == size:
                    return
            logger.info("Epoch[%d] Resetting Data Iterator", epoch)
            data.reset()
            # An empty iterator would be reset forever.
            if size is None or (empty and restarted):
                return
            restarted = True

    while True:
        yield batches()
        epoch += 1


def joined(batches: Sequence[Sequence[Any]]) -> Any:
    """Concatenate the batches of each output; a single output is returned without a list.

    Args:
        batches: For each output its arrays, one for each batch.
    """
    columns = [np.concatenate(parts) for parts in zip(*batches, strict=True)]
    return columns[0] if len(columns) == 1 else columns
