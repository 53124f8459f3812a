"""DeviceStream: a CUDA stream as the engine sees it, and what stays alive until it is through.

CuPy gives a freed block to the next array at once, whatever streams still use it. Whoever uses an
array on another stream than that of its allocation, or host memory on any stream, therefore hands
it to `DeviceStream.keep`.

Invariant: ``_lock`` guards ``_kept``, whose events are in the order of the stream. Asking whether
an event is done does not block and is the only call made with the lock held.
"""

import threading
from collections import deque
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["DeviceStream"]


class DeviceStream:
    """A non-blocking stream of one device; implements the engine's ``Stream``.

    Args:
        cupy: The module.
        device: CuPy's Device.
        after: A stream of the same device: every launch here comes behind all that was launched
            there before.
        keeps: Whether each launch keeps what it uses until it is done, because its arrays are
            another stream's.

    Attributes:
        beside: Streams of the same device that take the engine's launches in turn with this one.
        raw: CuPy's Stream.
    """

    __slots__ = ("_after", "_cupy", "_device", "_keeps", "_kept", "_lock", "beside", "raw")

    def __init__(
        self,
        cupy: ModuleType,
        device: Any,
        after: "DeviceStream | None" = None,
        *,
        keeps: bool = False,
    ) -> None:
        self.beside: tuple[DeviceStream, ...] = ()
        self._keeps = keeps
        self._cupy = cupy
        self._device = device
        self._after = after
        self._lock = threading.Lock()
        self._kept: deque[tuple[Any, tuple[Any, ...]]] = deque()
        with device:
            self.raw = cupy.cuda.Stream(non_blocking=True)

    def launch(self, fn: Callable[[], None]) -> None:
        """Run ``fn`` in the calling thread with this device and stream current."""
        with self._device, self.raw:
            if self._after is not None:
                self.raw.wait_event(self._after.record())
            fn()
        if self._keeps:
            self.keep(fn)

    def record(self) -> Any:
        """Return a new event behind everything launched so far."""
        with self._device:
            event = self._cupy.cuda.Event(disable_timing=True)
            event.record(self.raw)
        return event

    def wait_event(self, event: Any) -> None:
        """Hold later work of this stream back until ``event``, which may be another device's."""
        with self._device:
            self.raw.wait_event(event)

    def synchronize_event(self, event: Any) -> None:
        """Block the calling thread until ``event``; raise what the device reports."""
        event.synchronize()

    def event_done(self, event: Any) -> bool:
        """Whether ``event`` has been reached, without blocking."""
        return bool(event.done)

    def keep(self, *used: Any) -> None:
        """Hold references until everything launched so far is done."""
        event = self.record()
        with self._lock:
            self._drop_done()
            self._kept.append((event, used))

    def release(self) -> None:
        """Drop the references whose work is done."""
        with self._lock:
            self._drop_done()

    def _drop_done(self) -> None:
        while self._kept and self._kept[0][0].done:
            self._kept.popleft()
