"""Arenas: memory that the executables of one plan take in turn, call after call.

A forward and a backward pass never need their intermediate values at once, so both lie in one
arena. Invariant: an `Arena` belongs to one call from `Arenas.take` to `Arenas.give`, both single
steps of the interpreter.
"""

from typing import Any

import numpy as np

from gluonish.core.device import Device
from gluonish.graph.steps import Frame

__all__ = ["Arena", "Arenas"]

_ALIGNMENT = 64  # bytes: a cache line, and the widest vector
_MAX_IDLE = 8  # more calls at once than this allocate; keeps memory bounded after a burst


class Arena:
    """Bytes, and the frames' tails that executables have made on them.

    Attributes:
        raw: The bytes.
        tails: By the executable's number.
    """

    __slots__ = ("raw", "tails")

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.tails: dict[int, Frame] = {}


class Arenas:
    """The arenas of a plan.

    Args:
        device: Where they lie.
        keep: Whether to keep them between calls.
    """

    __slots__ = ("_device", "_idle", "_keep", "_members", "_nbytes")

    def __init__(self, device: Device, *, keep: bool) -> None:
        self._device = device
        self._keep = keep
        self._idle: list[Arena] = []
        self._members = 0
        self._nbytes = 0

    def join(self, nbytes: int) -> int:
        """Have arenas of at least so many bytes from now on; return a number for the executable."""
        self._nbytes = max(self._nbytes, nbytes)
        self._members += 1
        return self._members - 1

    def take(self) -> Arena:
        """Return an arena that no other call uses."""
        try:
            return self._idle.pop()
        except IndexError:
            return Arena(self._new())

    def give(self, arena: Arena) -> None:
        """Take an arena back after a call."""
        if self._keep and len(self._idle) < _MAX_IDLE:
            self._idle.append(arena)

    def _new(self) -> Any:
        byte = np.dtype(np.uint8)
        if self._device.xp_name != "numpy" or not self._nbytes:
            return self._device.empty((self._nbytes,), byte)
        raw = self._device.empty((self._nbytes + _ALIGNMENT,), byte)
        start = -raw.ctypes.data % _ALIGNMENT
        return raw[start : start + self._nbytes]
