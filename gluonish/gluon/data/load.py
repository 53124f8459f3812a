"""Loading one batch: the samples of its indices, batchified."""

from collections.abc import Callable, Sequence
from typing import Any

from gluonish.gluon.data import stacking
from gluonish.gluon.data.stacking import Rows


def load_batch(
    dataset: Any,
    indices: Sequence[Any],
    batchify_fn: Callable[..., Any],
    rows: Rows | None = None,
) -> Any:
    """Load samples from a dataset and combine them into a batch.

    Args:
        dataset: The dataset.
        indices: Indices of the samples.
        batchify_fn: Function that makes a batch of a list of samples.
        rows: Rows of the batch, in which samples may be stored directly.

    Raises:
        Exception: Any error of the dataset or ``batchify_fn``, with a note about the index.
    """
    before = stacking.current.set(rows)
    try:
        return _load(dataset, indices, batchify_fn, rows)
    finally:
        stacking.current.reset(before)


def _load(
    dataset: Any, indices: Sequence[Any], batchify_fn: Callable[..., Any], rows: Rows | None
) -> Any:
    samples = []
    for number, index in enumerate(indices):
        if rows is not None:
            rows.begin(number)
        try:
            samples.append(dataset[index])
        except Exception as error:
            error.add_note(f"DataLoader: raised by dataset[{index}]")
            raise
    if rows is not None:
        rows.begin(None)
    try:
        return batchify_fn(samples)
    except Exception as error:
        shown = ", ".join(dict.fromkeys(map(str, indices)))  # a stream's are all alike
        error.add_note(f"DataLoader: raised by batchify_fn for dataset indices [{shown}]")
        raise
