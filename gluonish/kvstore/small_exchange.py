"""SmallExchange: `KVStore.pushpull` once more for the small arrays of the call before.

A Trainer hands the same gradients and weights to the store at every step. For small ones, what the
store finds out and asks of the engine for each takes longer than the sums, so all sums are one
operation, and so are all copies.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter, is_
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.engine import current_engine
from gluonish.kvstore.transfer import new_array, sum_into
from gluonish.ndarray import NDArray
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE
from gluonish.optimizer import Updater

__all__ = ["SmallExchange"]

_raw, _var = attrgetter("_data"), attrgetter("_var")


class SmallExchange:
    """Push and pull of many small arrays in two engine operations.

    Args:
        keys: Keys of the stored weights, each once.
        values: For each key the gradients to sum.
        outs: For each key the arrays that receive the new weight.
        stored: The stored weights; all arrays are dense, small, and on CPUs.
        context: Device of the sums.
    """

    __slots__ = (
        *("_counts", "_device", "_inline", "_keys", "_named", "_out_counts", "_outs"),
        *("_stored", "_sums", "_targets", "_values"),
    )

    def __init__(
        self,
        keys: Sequence[Any],
        values: Sequence[Sequence[NDArray]],
        outs: Sequence[Sequence[NDArray]],
        stored: Sequence[NDArray],
        context: Context,
    ) -> None:
        self._keys = list(keys)
        self._counts = list(map(len, values))
        self._out_counts = list(map(len, outs))
        self._values = list(chain.from_iterable(values))
        self._outs = list(chain.from_iterable(outs))
        # Tuples, so that the updater knows them again.
        self._named = tuple(keys)
        self._stored = tuple(stored)
        self._sums = tuple([new_array(array, context) for array in stored])
        self._device = self._sums[0]._device
        self._targets = list(map(_var, self._outs))
        self._inline = sum(array.size for array in self._values) <= LIGHT_INLINE_SIZE

    @staticmethod
    def takes(arrays: Iterable[NDArray]) -> bool:
        """Whether arrays are dense, small, and on CPUs.

        Args:
            arrays: The arrays.
        """
        return all(
            x.stype == "default" and x._device.is_host and x.size <= LIGHT_INLINE_SIZE
            for x in arrays
        )

    def is_for(self, keys: Any, values: Any, outs: Any) -> bool:
        """Whether the arguments of `KVStore.pushpull` are those of the previous call."""
        return (
            keys == self._keys
            and list(map(len, values)) == self._counts
            and list(map(len, outs)) == self._out_counts
            and all(map(is_, chain.from_iterable(values), self._values))
            and all(map(is_, chain.from_iterable(outs), self._outs))
        )

    def run(self, updater: Updater, priority: int) -> None:
        """Sum the gradients, update the weights and copy them.

        Args:
            updater: Updates the stored weights with the sums.
            priority: Operations of higher priority run first.
        """
        engine, device, inline = current_engine(), self._device, self._inline
        sums, stored = self._sums, self._stored
        add = partial(_add_up, list(map(_raw, self._values)), self._counts, list(map(_raw, sums)))
        reads, writes = list(map(_var, self._values)), list(map(_var, sums))
        engine.push(add, reads, writes, device.priority_lane, priority, "kvstore", inline)
        updater(self._named, sums, stored)
        weights, outs = list(map(_raw, stored)), list(map(_raw, self._outs))
        spread = partial(_spread, weights, self._out_counts, outs)
        # It reads its targets, too: those stay as they are where the update failed.
        reads = [*map(_var, stored), *self._targets]
        engine.push(spread, reads, self._targets, device.copy_lane, priority, "_copyto", inline)


def _add_up(values: Sequence[Any], counts: Sequence[int], sums: Sequence[Any]) -> None:
    first = 0
    for count, out in zip(counts, sums, strict=True):
        sum_into(values[first : first + count], out)
        first += count


def _spread(stored: Sequence[Any], counts: Sequence[int], outs: Sequence[Any]) -> None:
    first = 0
    for weight, count in zip(stored, counts, strict=True):
        for out in outs[first : first + count]:
            np.copyto(out, weight, casting="unsafe")
        first += count
