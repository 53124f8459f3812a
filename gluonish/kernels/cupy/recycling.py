"""Recycler: returns memory of uploaded arrays to the pool, so that uploads never wait.

Batches are uploaded on a separate stream while ``compute`` processes the previous ones. Their
memory belongs to that stream. When an array is destroyed, ``compute`` may still read it, so its
block is set aside; the next upload records an event on ``compute``, and the block is free for
uploads once the event is reached. A program that runs far ahead of its GPU would accumulate
batches, so if more than four groups of blocks are set aside, it waits for the oldest.

Invariants: a destructor only appends to ``_returned``, at any point of its thread. The rest may run
concurrently, as releasing a block runs destructors of the program, which may create arrays: each
block, and each group, is removed by one thread.
"""

import contextlib
from collections import deque
from typing import Any

from gluonish.kernels.cupy.health import Mark
from gluonish.kernels.cupy.stream import DeviceStream

_MAX_WAITING = 4


class Recycler:
    """Blocks released by one device's uploaded arrays.

    Args:
        compute: The stream that may still use them.
        ahead: The stream that will fill them again.
    """

    __slots__ = ("_ahead", "_compute", "_returned", "_waiting")

    def __init__(self, compute: DeviceStream, ahead: DeviceStream) -> None:
        self._compute = compute
        self._ahead = ahead
        self._returned: deque[Any] = deque()
        self._waiting: deque[tuple[Mark, list[Any]]] = deque()

    def add(self, owner: Any) -> None:
        """Hold the owner of a block, which returns to the pool when the owner is destroyed."""
        self._returned.append(owner)

    def recycle(self) -> None:
        """Release blocks that are no longer used; call it before each upload.

        Raises:
            DeviceError: The device is lost.
        """
        self._release(_MAX_WAITING)
        self._ahead.release()

    def clear(self) -> None:
        """Release all blocks returned so far, waiting for the kernels that use them.

        Raises:
            DeviceError: The device is lost.
        """
        self._release(0)

    def _release(self, most: int) -> None:
        """Release finished groups, and wait for the oldest until at most ``most`` remain."""
        returned: list[Any] = []
        with contextlib.suppress(IndexError):
            while True:
                returned.append(self._returned.popleft())
        if returned:
            self._waiting.append((self._compute.record(), returned))
        for group in tuple(self._waiting):
            if len(self._waiting) > most:
                self._compute.synchronize_event(group[0])
            elif not self._compute.event_done(group[0]):
                break
            with contextlib.suppress(ValueError):  # a destructor has released it
                self._waiting.remove(group)
