"""BatchEndParam: what training loops hand to callbacks at the end of a batch."""

from typing import Any, NamedTuple

__all__ = ["BatchEndParam", "BatchEndParams", "call_back"]


class BatchEndParams(NamedTuple):
    """What a callback at the end of a batch is given.

    Attributes:
        epoch: Number of the epoch, from 0.
        nbatch: Number of the batch in it.
        eval_metric: The metric of the training data, or None.
        locals: Local variables of the training loop.
    """

    epoch: int
    nbatch: int
    eval_metric: Any
    locals: Any


BatchEndParam = BatchEndParams


def call_back(callbacks: Any, *args: Any) -> None:
    """Call one callback, or each of a list; None is none."""
    if callbacks is None:
        return
    for callback in callbacks if isinstance(callbacks, list | tuple) else [callbacks]:
        callback(*args)
