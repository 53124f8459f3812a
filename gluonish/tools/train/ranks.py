"""The processes of one training run, and their shares of the work."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.gluon.parameter import Parameter
from gluonish.kvstore import create
from gluonish.kvstore.create import SYNCHRONOUS
from gluonish.ndarray import NDArray


class Ranks:
    """The processes that train together, or this process if it trains alone.

    Args:
        store: The store that connects them; None for this process alone.

    Attributes:
        store: The store, or None.
        rank: Number of this process, from 0.
        size: Number of processes.
    """

    def __init__(self, store: Any = None) -> None:
        self.store = store
        self.rank: int = 0 if store is None else store.rank
        self.size: int = 1 if store is None else store.num_workers

    @property
    def is_first(self) -> bool:
        """Whether this process writes the output files."""
        return self.rank == 0

    def gather(self, value: Any) -> list[Any]:
        """Return the values of all processes, by rank, in each process."""
        return [value] if self.store is None else self.store.gather(value)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Print only in the first process, since the others would print the same lines."""
        if self.is_first:
            yield
            return
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
            yield
        sys.stdout.flush()

    def average(self, parameters: Sequence[Parameter]) -> None:
        """Replace parameters, such as running statistics, by their means over the processes."""
        if self.size == 1 or not parameters:
            return
        of_ranks = self.gather([parameter.data().asnumpy() for parameter in parameters])
        for parameter, values in zip(parameters, zip(*of_ranks, strict=True), strict=True):
            parameter.set_data(_mean(values))

    def average_arrays(self, arrays: Sequence[NDArray]) -> None:
        """Replace arrays by their means over the processes."""
        if self.size == 1 or not arrays:
            return
        of_ranks = self.gather([x.asnumpy() for x in arrays])
        for x, values in zip(arrays, zip(*of_ranks, strict=True), strict=True):
            x[:] = _mean(values)


def _mean(values: Sequence[Any]) -> Any:
    return np.mean(values, axis=0, dtype=np.float64).astype(values[0].dtype)


def share(count: int, part: int, parts: int) -> slice:
    """Return the slice of ``count`` samples for process ``part`` of ``parts``."""
    return slice(count * part // parts, count * (part + 1) // parts)


def joined(kv_store: str, batch_size: int) -> Ranks:
    """Join the processes of a training run, if its store is distributed.

    Args:
        kv_store: Name of the store.
        batch_size: Images in a step, divided equally among processes.

    Raises:
        ArgumentError: The batch cannot be divided.
        NotSupportedError: MPI is missing, or has not connected the launched processes.
    """
    ranks = Ranks(create(kv_store) if kv_store.lower() in SYNCHRONOUS else None)
    if batch_size % ranks.size:
        raise ArgumentError(
            f"--batch-size: expected a multiple of {ranks.size}, the number of processes, which "
            f"share each batch, got {batch_size}"
        )
    return ranks
