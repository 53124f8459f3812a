"""Pieces: how the arrays of an exchange are put together and cut into what goes at once."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from gluonish.ndarray import NDArray

BUCKET_NBYTES = 4 << 20  # of arrays that are exchanged at once
_PACKED_NBYTES = 1 << 16  # smaller arrays are copied into one piece of memory

Edges = Sequence[int]  # where each rank's share of an array begins, and where the last one ends


class Named(NamedTuple):
    """An array with the name by which other ranks know it.

    Attributes:
        name: The name.
        array: The array.
        label: What messages call it, which may differ from rank to rank; empty for the name.
    """

    name: str
    array: NDArray
    label: str = ""

    def __str__(self) -> str:
        return f"{self.name} {np.dtype(self.array.dtype).name}{self.array.shape}"

    def labelled(self) -> str:
        """Return what messages call it, with dtype and shape."""
        return str(self._replace(name=self.label or self.name))


class Purpose(str):
    """What an exchange is for: a text on which ranks agree, and one with labels for messages."""

    labelled: str

    def __new__(cls, what: str, labelled: str) -> "Purpose":
        """Make it of both texts."""
        made = super().__new__(cls, what)
        made.labelled = labelled
        return made

    @classmethod
    def of(cls, what: str, first: Named) -> "Purpose":
        """Make it of what is done, and the first array that it is done to."""
        return cls(f"{what} {first.name}", f"{what} {first.label or first.name}")


class Piece(NamedTuple):
    """One-dimensional host memory to exchange.

    Attributes:
        whole: The memory.
        edges: Where each rank's share of it begins, and the last one ends, if ranks have shares.
        parts: Arrays to copy it back to; empty if it is an array's own memory.
    """

    whole: Any
    edges: Edges
    parts: Sequence[NDArray]


def buckets(arrays: Sequence[Named], nbytes: int = BUCKET_NBYTES) -> list[list[Named]]:
    """Split a list of arrays into buckets of about equal size.

    Args:
        arrays: The arrays.
        nbytes: Size of a bucket, in bytes.
    """
    found: list[list[Named]] = []
    room = 0
    for named in arrays:
        own = named.array._spec.nbytes
        if own > room:
            found.append([])
            room = nbytes
        found[-1].append(named)
        room -= own
    return found


def pieces(arrays: Sequence[NDArray], edges: Sequence[Edges] | None = None) -> list[Piece]:
    """Return pieces of host memory to exchange.

    A large array in host memory is a piece by itself; small arrays of one dtype are combined into
    one piece, and arrays on devices are copied.

    Args:
        arrays: The arrays.
        edges: For each array where each rank's share begins, and its size at the end; small arrays,
            each in one rank's share as a whole, are sorted by rank.
    """
    found: list[Piece] = []
    small: dict[np.dtype[Any], list[tuple[int, NDArray]]] = {}
    for i, x in enumerate(arrays):
        raw, limits = x._data, edges[i] if edges else ()
        here = x._device.is_host and raw.flags.c_contiguous
        owners = [rank for rank, (a, b) in enumerate(pairwise(limits)) if b > a] or [0]
        if here and raw.nbytes > _PACKED_NBYTES:
            found.append(Piece(raw.reshape(-1), limits, []))
        elif len(owners) > 1:
            found.append(Piece(np.array(on_host(x)).reshape(-1), limits, [x]))
        else:
            small.setdefault(np.dtype(x.dtype), []).append((owners[0], x))
    count = len(edges[0]) - 1 if edges else 1
    for members in small.values():
        members.sort(key=itemgetter(0))
        sizes = [sum(x.size for owner, x in members if owner == rank) for rank in range(count)]
        parts = [x for _, x in members]
        whole = np.concatenate([on_host(x).reshape(-1) for x in parts])
        found.append(Piece(whole, [0, *accumulate(sizes)], parts))
    return found


def on_host(x: NDArray) -> Any:
    """Return an array's values in host memory, without a copy if possible.

    Args:
        x: The array.
    """
    return x._data if x._device.is_host else x._device.to_host(x._data)


def unpack(whole: Any, parts: Sequence[NDArray]) -> None:
    """Copy a piece back to the arrays it was made of.

    Args:
        whole: Memory of the piece.
        parts: The arrays.
    """
    first = 0
    devices: set[Any] = set()
    for x in parts:
        values = whole[first : first + x.size].reshape(x.shape)
        if x._device.is_host:
            x._data[...] = values
        else:
            x._device.from_host(values, x._data)
            devices.add(x._device)
        first += x.size
    for device in devices:
        # Whoever reads the arrays next takes the end of this operation for that of the copies.
        stream = device.current()
        stream.synchronize_event(stream.record())
