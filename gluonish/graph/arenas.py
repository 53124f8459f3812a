"""Arenas: memory that the executables of one plan take in turn, call after call.

A forward and a backward pass never need their intermediate values at once, so both lie in one
arena. Invariant: an `Arena` belongs to one call from `Arenas.take` to `Arenas.give`, both single
steps of the interpreter.
"""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from gluonish.core.config import MXNET_EXEC_NUM_TEMP
from gluonish.core.device import Device
from gluonish.graph.memory_plan import ALIGNMENT
from gluonish.graph.steps import Frame

__all__ = ["Arena", "Arenas", "aligned_empty"]

# More calls at once than this allocate; keeps memory bounded after a burst. Of large arenas, the
# environment says how many.
_MAX_SMALL_IDLE = 8
_SMALL_NBYTES = 32 << 20


class Arena:
    """Bytes, and the frames' tails that executables have made on them.

    Attributes:
        raw: The bytes.
        tails: By the executable's number, of those that use no state.
    """

    __slots__ = ("_tails_on_states", "raw", "tails")

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.tails: dict[int, Frame] = {}
        self._tails_on_states: WeakKeyDictionary[object, dict[int, Frame]] = WeakKeyDictionary()

    def tails_on(self, state: object) -> dict[int, Frame]:
        """Return the tails on the arena and a state, by the executable's number.

        They go with the state: they hold the state's bytes, but not the state.
        """
        tails = self._tails_on_states.get(state)
        if tails is None:
            tails = self._tails_on_states[state] = {}
        return tails


class Arenas:
    """The arenas of a plan.

    Between calls, it keeps up to 8 of them, of large ones as many as ``MXNET_EXEC_NUM_TEMP`` says
    when the plan is made.

    Args:
        device: Where they lie.
        keep: Whether to keep them between calls.
    """

    __slots__ = ("_device", "_idle", "_keep", "_members", "_most", "_nbytes")

    def __init__(self, device: Device, *, keep: bool) -> None:
        self._device = device
        self._keep = keep
        self._idle: list[Arena] = []
        self._members = 0
        self._most = _MAX_SMALL_IDLE if keep else 0
        self._nbytes = 0

    def join(self, nbytes: int) -> int:
        """Have arenas of at least so many bytes from now on; return a number for the executable."""
        self._nbytes = max(self._nbytes, nbytes)
        if self._keep and self._nbytes > _SMALL_NBYTES:
            self._most = MXNET_EXEC_NUM_TEMP.value
        self._members += 1
        return self._members - 1

    def take(self) -> Arena:
        """Return an arena that no other call uses."""
        try:
            return self._idle.pop()
        except IndexError:
            return Arena(aligned_empty(self._device, self._nbytes))

    def give(self, arena: Arena) -> None:
        """Take an arena back after a call."""
        if len(self._idle) < self._most:
            self._idle.append(arena)


def aligned_empty(device: Device, nbytes: int) -> Any:
    """Return new bytes on a device that start at a cache line."""
    byte = np.dtype(np.uint8)
    if device.xp_name != "numpy" or not nbytes:
        return device.empty((nbytes,), byte)
    raw = device.empty((nbytes + ALIGNMENT,), byte)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + nbytes]
