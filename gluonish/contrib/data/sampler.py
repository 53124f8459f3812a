"""IntervalSampler: indices that stand apart by an interval."""

from collections.abc import Iterator
from itertools import chain

from gluonish.core.errors import ArgumentError
from gluonish.data.sampler import Sampler

__all__ = ["IntervalSampler"]


class IntervalSampler(Sampler):
    """Indices that stand ``interval`` apart: 0, 3, 6 ..., then 1, 4, 7 ... and so on.

    Args:
        length: How many elements there are.
        interval: How far apart indices are.
        rollover: Whether it goes on with the skipped indices until all were drawn; else it ends
            after the first round.

    Raises:
        ArgumentError: ``interval`` is not in 1..length.
    """

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        if not 1 <= interval <= length:
            raise ArgumentError(
                f"IntervalSampler: expected an interval in 1..length = {length}, got {interval}"
            )
        self._length = length
        self._interval = interval
        self._rollover = rollover

    def __iter__(self) -> Iterator[int]:
        starts = range(self._interval if self._rollover else 1)
        return chain.from_iterable(range(i, self._length, self._interval) for i in starts)

    def __len__(self) -> int:
        return self._length if self._rollover else len(range(0, self._length, self._interval))
