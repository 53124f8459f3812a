"""BatchEndParam: the argument of callbacks at the end of a batch."""

from typing import Any, NamedTuple


class BatchEndParams(NamedTuple):
    """The argument of callbacks at the end of a batch, a named tuple.

    Attributes:
        epoch: Number of the epoch, from 0.
        nbatch: Number of the batch in the epoch.
        eval_metric: Metric of the training data, or None.
        locals: Local variables of the training loop.
    """

    epoch: int
    nbatch: int
    eval_metric: Any
    locals: Any


BatchEndParam = BatchEndParams


def call_back(callbacks: Any, *args: Any) -> None:
    """Call one callback, or each callback of a list.

    Args:
        callbacks: A function, a list of functions, or None for none.
        *args: Arguments of the calls.
    """
    if callbacks is None:
        return
    for callback in callbacks if isinstance(callbacks, list | tuple) else [callbacks]:
        callback(*args)
