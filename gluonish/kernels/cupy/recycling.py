"""Recycler: memory of uploaded arrays on its way back to the pool, so that uploads never wait.

Batches are uploaded on a stream of their own while ``compute`` works on the ones before. Their
memory is that stream's; when an array goes, ``compute`` may still be reading it. So its block is
set aside, an event is recorded on ``compute`` at the next upload, and once that is reached the
block is free for uploads. A program that runs far ahead of its GPU would collect batches without
end, on both sides: where more than four groups of blocks are set aside, it waits for the oldest.

Invariants: a destructor only appends to ``_returned``, whatever its thread was doing. The rest may
be done by several at once, as letting a block go runs destructors, and those of a program may make
arrays: each block, and each group, is taken out by one of them.
"""

import contextlib
from collections import deque
from typing import Any

from gluonish.kernels.cupy.health import Mark
from gluonish.kernels.cupy.stream import DeviceStream

_MOST_WAITING = 4


class Recycler:
    """Blocks that come back from one device's uploads.

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

    def give(self, lease: Any) -> None:
        """Take what owns a block, which goes back to the pool when nobody holds it any more."""
        self._returned.append(lease)

    def turn(self) -> None:
        """Let go what nobody uses any more; call it before each upload.

        Raises:
            DeviceError: The device is lost.
        """
        self._let_go(_MOST_WAITING)
        self._ahead.release()

    def clear(self) -> None:
        """Let everything go that was given back by now, waiting for the kernels that use it.

        Raises:
            DeviceError: The device is lost.
        """
        self._let_go(0)

    def _let_go(self, most: int) -> None:
        """Let go what is done, and wait for the oldest groups until no more than ``most`` wait."""
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
            with contextlib.suppress(ValueError):  # it was let go on the way
                self._waiting.remove(group)
