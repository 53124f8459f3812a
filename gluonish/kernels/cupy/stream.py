"""DeviceStream: a CUDA stream as the engine sees it, and what stays alive until it is through.

CuPy gives a freed block to the next array at once, whatever streams still use it. Whoever uses an
array on another stream than that of its allocation, or host memory on any stream, therefore hands
it to `DeviceStream.keep`.

Invariant: the marks of ``_kept`` are in the order of the stream, but for those of threads that
launch on it at once. There is no lock: an entry goes if it is still the one asked for.

What the engine is given as an event is a `Mark`. On a device that is lost every method raises at
once, and what was kept is let go.
"""

from collections import deque
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from gluonish.core.errors import DeviceError, OperatorError
from gluonish.kernels.cupy.health import Health, Mark, Trail


class DeviceStream:
    """A non-blocking stream of one device; implements the engine's ``Stream``.

    Args:
        cupy: The module.
        device: CuPy's Device.
        health: The device's.
        after: A stream of the same device: every launch here comes behind all that was launched
            there before.
        keeps: Whether each launch keeps what it uses until it is done, because its arrays are
            another stream's.

    Attributes:
        beside: Streams of the same device that take the engine's launches in turn with this one.
        raw: CuPy's Stream.
    """

    __slots__ = (
        "_after",
        "_cupy",
        "_device",
        "_health",
        "_keeps",
        "_kept",
        "_trail",
        "beside",
        "raw",
    )

    def __init__(
        self,
        cupy: ModuleType,
        device: Any,
        health: Health,
        after: "DeviceStream | None" = None,
        *,
        keeps: bool = False,
    ) -> None:
        self.beside: tuple[DeviceStream, ...] = ()
        self._keeps = keeps
        self._cupy = cupy
        self._device = device
        self._health = health
        self._after = after
        self._trail = Trail()
        health.trails.append(self._trail)
        self._kept: deque[tuple[Mark, tuple[Any, ...]]] = deque()
        with device:
            self.raw = cupy.cuda.Stream(non_blocking=True)

    def launch(self, fn: Callable[[], None], name: str = "") -> None:
        """Run ``fn`` in the calling thread with this device and stream current.

        Args:
            fn: Launches kernels.
            name: The operator, which the message names if the device is lost to it.

        Raises:
            DeviceError: The device is lost.
            Exception: What ``fn`` raises.
        """
        if self._health.lost:
            self._refuse()
        self._trail.add(name)
        try:
            with self._device, self.raw:
                if self._after is not None:
                    self.raw.wait_event(self._after.record().event)
                fn()
            if self._keeps:
                self.keep(fn)
        except Exception as error:
            self._raise(error)

    def record(self) -> Mark:
        """Return a mark behind everything launched so far.

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
        """Hold later work of this stream back until an event, which may be another device's.

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
        """Block the calling thread until an event of this stream.

        Raises:
            DeviceError: The device is lost; the message names the operators it may be due to.
            Exception: What else the device reports.
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
        """Hold references until everything launched so far is done."""
        mark = self.record()
        self.release()
        self._kept.append((mark, used))

    def note(self, name: str) -> None:
        """Name an operator of those that a launch consists of, before its kernels."""
        self._trail.add(name)

    def release(self) -> None:
        """Drop the references whose work is done."""
        kept = self._kept
        while True:
            try:  # a loop turns where others may come: no look before it is read
                first = kept[0]
            except IndexError:
                return
            if not self.event_done(first[0]):
                return
            if kept and kept[0] is first:  # a step, up to the call
                kept.popleft()

    def _raise(self, error: Exception) -> NoReturn:
        """Raise an error as the program is to see it."""
        told = self._health.explained(error)
        if told is error and isinstance(error, DeviceError | OperatorError):
            told = self._asked(error)
        if told is error:
            raise error
        self._kept.clear()
        raise told from error

    def _asked(self, error: Exception) -> BaseException:
        """Return the error of a library, as cuBLAS, as what CUDA says of the device."""
        try:
            with self._device:
                self._cupy.cuda.Event(disable_timing=True).record(self.raw)
        except Exception as reported:
            told = self._health.explained(reported)
            return error if told is reported else told
        return error

    def _refuse(self) -> None:
        """Raise for a device that is lost."""
        self._kept.clear()
        self._health.check()
