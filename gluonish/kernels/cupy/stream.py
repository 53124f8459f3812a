"""DeviceStream: a CUDA stream for the engine, and references held until its work has finished.

CuPy reuses a freed block at once, even if streams still use it. So an array that is used on another
stream than that of its allocation, or host memory used on any stream, must be passed to
`DeviceStream.keep`.

Invariant: the marks of ``_held`` are in stream order, except for those of threads that launch
concurrently. There is no lock: an entry is removed only if it is still the first.

The engine's events are `Mark` objects. On a lost device every method raises at once, and held
references are dropped.
"""

import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, NoReturn

from gluonish.core.errors import DeviceError, OperatorError
from gluonish.kernels.cupy.health import Health, Mark, Trail

# CUDA moves a priority beyond the device's range to the end of the range.
HIGH_PRIORITY = -100


class BoundLaunch(partial[None]):
    """A launch of one kernel by the driver, whose arguments name the stream."""

    __slots__ = ()


class _Thread(threading.local):
    """State of the calling thread.

    Attributes:
        has_context: Whether the thread has the device's context, which CUDA's runtime makes at its
            first call, and the driver requires.
    """

    has_context = False


class DeviceStream:
    """A non-blocking CUDA stream of one device, as the engine's ``Stream``.

    Args:
        device: CuPy's Device.
        after: A stream of the same device; each launch first waits for all its earlier launches.
        keeps: Whether to hold the arrays of each launch until it has finished, because they were
            allocated on another stream.
        priority: Kernels of a stream with a lower number start first; None for CUDA's default, 0.

    Attributes:
        siblings: Streams of the same device that share the engine's launches with this one.
        raw: CuPy's Stream.
    """

    __slots__ = (
        "_after",
        "_cupy",
        "_device",
        "_get_device",
        "_health",
        "_held",
        "_keeps",
        "_number",
        "_thread",
        "_trail",
        "raw",
        "siblings",
    )

    def __init__(
        self,
        cupy: ModuleType,
        device: Any,
        health: Health,
        after: "DeviceStream | None" = None,
        *,
        keeps: bool = False,
        priority: int | None = None,
    ) -> None:
        self.siblings: tuple[DeviceStream, ...] = ()
        self._keeps = keeps
        self._cupy = cupy
        self._device = device
        self._number: int = device.id
        self._thread = _Thread()
        self._get_device = cupy.cuda.runtime.getDevice
        self._health = health
        self._after = after
        self._trail = Trail()
        health.trails.append(self._trail)
        self._held: deque[tuple[Mark, tuple[Any, ...]]] = deque()
        with device:
            self.raw = cupy.cuda.Stream(non_blocking=True, priority=priority)

    def launch(self, fn: Callable[[], None], name: str = "") -> None:
        """Run ``fn`` in the calling thread with this device and stream current.

        Args:
            fn: Function that launches kernels. A `BoundLaunch` must be for this stream, and needs
                no current stream.
            name: The operator, for the message if the device is lost.

        Raises:
            DeviceError: The device is lost.
            Exception: What ``fn`` raises.
        """
        if self._health.lost:
            self._refuse()
        trail = self._trail  # inlined `note`
        trail.launched = number = trail.launched + 1
        trail.names.append((number, name))
        try:
            ready = self._thread.has_context
            if type(fn) is BoundLaunch and ready and self._get_device() == self._number:
                fn()
                return
            with self._device, self.raw:
                if not ready:
                    self._cupy.cuda.runtime.memGetInfo()
                    self._thread.has_context = True
                if self._after is not None:
                    self.raw.wait_event(self._after.record().event)
                fn()
            if self._keeps:
                self.keep(fn)
        except Exception as error:
            self._raise(error)

    def record(self) -> Mark:
        """Return a mark after everything launched so far.

        Raises:
            DeviceError: The device is lost.
        """
        if self._health.lost:
            self._refuse()
        launched = self._trail.launched
        try:
            with self._device:
                event = self._cupy.cuda.Event(disable_timing=True)
                event.record(self.raw)
        except Exception as error:
            self._raise(error)
        return Mark(event, launched)

    def wait_event(self, event: Mark) -> None:
        """Make later work of this stream wait for an event, possibly of another device.

        Raises:
            DeviceError: The device is lost.
        """
        if self._health.lost:
            self._refuse()
        try:
            with self._device:
                self.raw.wait_event(event.event)
        except Exception as error:
            self._raise(error)

    def synchronize_event(self, event: Mark) -> None:
        """Block the calling thread until this stream has reached an event.

        Raises:
            DeviceError: The device is lost; the message names the suspected operators.
            Exception: Another failure that the device reports.
        """
        if self._health.lost:
            self._refuse()
        try:
            event.event.synchronize()
        except Exception as error:
            self._raise(error)
        self._trail.end(event.launched)

    def event_done(self, event: Mark) -> bool:
        """Whether an event of this stream has been reached, without blocking.

        Raises:
            DeviceError: The device is lost.
        """
        if self._health.lost:
            self._refuse()
        try:
            done = bool(event.event.done)
        except Exception as error:
            self._raise(error)
        if done:
            self._trail.end(event.launched)
        return done

    def keep(self, *used: Any) -> None:
        """Hold references until everything launched so far has finished."""
        mark = self.record()
        self.release()
        self._held.append((mark, used))

    def note(self, name: str) -> None:
        """Record the name of an operator, before its kernels are launched."""
        trail = self._trail
        trail.launched = number = trail.launched + 1
        trail.names.append((number, name))

    def release(self) -> None:
        """Drop references held for work that has finished."""
        held = self._held
        while True:
            try:  # another thread may empty it at any time
                first = held[0]
            except IndexError:
                return
            if not self.event_done(first[0]):
                return
            if held and held[0] is first:  # atomic under the GIL, up to the call
                held.popleft()

    def _raise(self, error: Exception) -> NoReturn:
        """Raise the error, or a `DeviceError` if the device is lost."""
        explained = self._health.explained(error)
        if explained is error and isinstance(error, DeviceError | OperatorError):
            explained = self._checked(error)
        if explained is error:
            raise error
        self._held.clear()
        raise explained from error

    def _checked(self, error: Exception) -> BaseException:
        """Return a `DeviceError` if CUDA reports the device as lost, else the library's error."""
        try:
            with self._device:
                self._cupy.cuda.Event(disable_timing=True).record(self.raw)
        except Exception as reported:
            explained = self._health.explained(reported)
            return error if explained is reported else explained
        return error

    def _refuse(self) -> None:
        """Drop held references, and raise the error of a lost device."""
        self._held.clear()
        self._health.check()
