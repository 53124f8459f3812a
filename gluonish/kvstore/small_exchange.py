"""`KVStore.pushpull` of many small arrays in two engine operations.

A Trainer passes the same gradients and weights to the store in every step. For small arrays the
look-ups and pushes take longer than the sums, so all sums are one engine operation, and all copies
another. The store caches the exchange as the `Program` of its last call.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.engine import current_engine
from gluonish.kvstore.transfer import new_array, sum_into
from gluonish.ndarray import NDArray
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE
from gluonish.optimizer import Updater

SmallExchange = Callable[[Updater, int], None]

_raw, _var = attrgetter("_data"), attrgetter("_var")


def are_small(arrays: Iterable[NDArray]) -> bool:
    """Whether arrays are dense, small, and on CPUs."""
    return all(
        x.stype == "default" and x._device.is_host and x.size <= LIGHT_INLINE_SIZE for x in arrays
    )


def small_exchange(
    keys: Sequence[Any],
    values: Sequence[Sequence[NDArray]],
    outs: Sequence[Sequence[NDArray]],
    stored: Sequence[NDArray],
    context: Context,
) -> SmallExchange:
    """Return a function (updater, priority) that sums gradients, and updates and copies weights.

    Args:
        keys: Unique keys of the stored weights.
        values: For each key the gradients to sum.
        outs: For each key the arrays that receive the new weight.
        stored: The stored weights; all arrays are dense, small, and on CPUs.
        context: Device of the sums.
    """
    counts, out_counts = list(map(len, values)), list(map(len, outs))
    gradients, targets = list(chain.from_iterable(values)), list(chain.from_iterable(outs))
    # Tuples, as the updater caches bound updates of identical tuples only.
    names, weights = tuple(keys), tuple(stored)
    sums = tuple([new_array(weight, context) for weight in weights])
    device = sums[0]._device
    received = list(map(_var, targets))
    inline = sum(array.size for array in gradients) <= LIGHT_INLINE_SIZE

    def exchange(updater: Updater, priority: int) -> None:
        engine = current_engine()
        add = partial(_sum_all, list(map(_raw, gradients)), counts, list(map(_raw, sums)))
        reads, writes = list(map(_var, gradients)), list(map(_var, sums))
        engine.push(add, reads, writes, device.priority_lane, priority, "kvstore", inline)
        updater(names, sums, weights)
        spread = partial(_copy_all, list(map(_raw, weights)), out_counts, list(map(_raw, targets)))
        # It reads its targets, too, so that they are unchanged if the update failed.
        reads = [*map(_var, weights), *received]
        engine.push(spread, reads, received, device.copy_lane, priority, "_copyto", inline)

    return exchange


def _sum_all(values: Sequence[Any], counts: Sequence[int], sums: Sequence[Any]) -> None:
    first = 0
    for count, out in zip(counts, sums, strict=True):
        sum_into(values[first : first + count], out)
        first += count


def _copy_all(stored: Sequence[Any], counts: Sequence[int], outs: Sequence[Any]) -> None:
    first = 0
    for weight, count in zip(stored, counts, strict=True):
        for out in outs[first : first + count]:
            np.copyto(out, weight, casting="unsafe")
        first += count
