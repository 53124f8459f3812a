"""Buckets and pieces: how the arrays of exchanges are grouped and packed into host memory."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from gluonish.ndarray import NDArray

BUCKET_NBYTES = 4 << 20  # of arrays in one exchange
_PACKED_NBYTES = 1 << 16  # smaller arrays are packed together

Edges = Sequence[int]  # first elements of the ranks' shards of an array, and the end of the last


class NamedArray(NamedTuple):
    """An array with its name, the same on all ranks.

    Attributes:
        name: The name.
        array: The array.
        label: Name in messages, which may differ between ranks; empty for ``name``.
    """

    name: str
    array: NDArray
    label: str = ""

    def __str__(self) -> str:
        return f"{self.name} {np.dtype(self.array.dtype).name}{self.array.shape}"

    def labelled(self) -> str:
        """Return the label, with dtype and shape."""
        return str(self._replace(name=self.label or self.name))


class Purpose(str):
    """The purpose of an exchange: a text that ranks compare, and a labelled one for messages."""

    labelled: str

    def __new__(cls, what: str, labelled: str) -> "Purpose":
        """Create a purpose from both texts."""
        purpose = super().__new__(cls, what)
        purpose.labelled = labelled
        return purpose

    @classmethod
    def of(cls, what: str, first: NamedArray) -> "Purpose":
        """Create a purpose from the operation and its first array."""
        return cls(f"{what} {first.name}", f"{what} {first.label or first.name}")


class Piece(NamedTuple):
    """One-dimensional host memory to exchange.

    Attributes:
        memory: The memory.
        edges: Edges of the ranks' shards in the memory, if sharded.
        arrays: Arrays to copy the memory back to; empty if the memory is an array's own.
    """

    memory: Any
    edges: Edges
    arrays: Sequence[NDArray]


def buckets(arrays: Sequence[NamedArray], nbytes: int = BUCKET_NBYTES) -> list[list[NamedArray]]:
    """Split a list of arrays into buckets of about ``nbytes`` bytes."""
    found: list[list[NamedArray]] = []
    free = 0
    for named in arrays:
        size = named.array._spec.nbytes
        if size > free:
            found.append([])
            free = nbytes
        found[-1].append(named)
        free -= size
    return found


def pieces(arrays: Sequence[NDArray], edges: Sequence[Edges] | None = None) -> list[Piece]:
    """Return pieces of host memory to exchange.

    A large array in host memory is a piece by itself; small arrays of one dtype are packed into one
    piece, and arrays on devices are copied.

    Args:
        arrays: The arrays.
        edges: Edges of the ranks' shards of each array; small arrays, which belong to one rank, are
            sorted by rank.
    """
    found: list[Piece] = []
    small: dict[np.dtype[Any], list[tuple[int, NDArray]]] = {}
    for i, x in enumerate(arrays):
        raw, limits = x._data, edges[i] if edges else ()
        direct = x._device.is_host and raw.flags.c_contiguous
        owners = [rank for rank, (a, b) in enumerate(pairwise(limits)) if b > a] or [0]
        if direct and raw.nbytes > _PACKED_NBYTES:
            found.append(Piece(raw.reshape(-1), limits, []))
        elif len(owners) > 1:
            found.append(Piece(np.array(on_host(x)).reshape(-1), limits, [x]))
        else:
            small.setdefault(np.dtype(x.dtype), []).append((owners[0], x))
    count = len(edges[0]) - 1 if edges else 1
    for members in small.values():
        members.sort(key=itemgetter(0))
        sizes = [sum(x.size for owner, x in members if owner == rank) for rank in range(count)]
        packed = [x for _, x in members]
        memory = np.concatenate([on_host(x).reshape(-1) for x in packed])
        found.append(Piece(memory, [0, *accumulate(sizes)], packed))
    return found


def on_host(x: NDArray) -> Any:
    """Return an array's values in host memory, without a copy if possible."""
    return x._data if x._device.is_host else x._device.to_host(x._data)


def unpack(memory: Any, arrays: Sequence[NDArray]) -> None:
    """Copy the memory of a piece back to its arrays."""
    first = 0
    devices: set[Any] = set()
    for x in arrays:
        values = memory[first : first + x.size].reshape(x.shape)
        if x._device.is_host:
            x._data[...] = values
        else:
            x._device.from_host(values, x._data)
            devices.add(x._device)
        first += x.size
    for device in devices:
        # Later readers of the arrays wait for this operation only, not for the stream.
        stream = device.current_stream()
        stream.synchronize_event(stream.record())
