"""Health: what ran on a GPU of late, and what everybody is told once the device is lost.

A kernel that touches memory it may not ends the CUDA context: from then on every call on that
device fails, in this process, with the same error. CUDA reports it at some later call, whose
operator had no part in it. So each stream keeps a `Trail` of the operators that it launched and
that are not known to have ended: one of these did it.

The message is made once, where the failure is first seen; whoever uses the device after that gets
it again, without another call of CUDA.
"""

from collections import deque
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.context import Context
from gluonish.core.errors import DeviceError

# Statuses of CUDA (cudaError_t, CUresult) after which the context can do nothing any more:
# uncorrectable memory errors, illegal addresses, time-outs, destroyed contexts, assertions, stack,
# instruction, alignment, address space and program counter errors, failed launches, lost devices.
_FATAL = frozenset({214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721})
_MOST_NAMES = 32  # launches that a trail remembers
_MOST_TOLD = 6  # operators that a message names


class Mark(NamedTuple):
    """An event, and how many launches of its stream it stands behind."""

    event: Any
    launched: int


class Trail:
    """The newest launches of one stream.

    Two threads may launch on a stream at one time. A count that such a race loses makes the list of
    suspects longer or shorter by one, nothing else.
    """

    __slots__ = ("_ended", "_names", "launched")

    def __init__(self) -> None:
        self.launched = 0
        self._ended = 0
        self._names: deque[tuple[int, str]] = deque(maxlen=_MOST_NAMES)

    def add(self, name: str) -> None:
        """Note a launch."""
        self.launched = number = self.launched + 1
        self._names.append((number, name))

    def end(self, launched: int) -> None:
        """Take note that so many launches have ended."""
        if launched > self._ended:
            self._ended = launched

    def suspects(self) -> Iterator[str]:
        """Yield the names of launches that are not known to have ended, the oldest first."""
        for number, name in tuple(self._names):
            if number > self._ended:
                yield name or "an operator without a name"


class Health:
    """Whether a GPU still works.

    Args:
        context: The device.
        cupy: The module.

    Attributes:
        lost: The message, once the device is lost; empty before.
        trails: One for each of the device's streams.
    """

    __slots__ = ("_context", "_errors", "lost", "trails")

    def __init__(self, context: Context, cupy: ModuleType) -> None:
        cuda = cupy.cuda
        self._context = context
        self._errors: Any = (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError)
        self.lost = ""
        self.trails: list[Trail] = []

    def check(self) -> None:
        """Raise if the device is lost.

        Raises:
            DeviceError: It is; the message says since which operator.
        """
        if self.lost:
            raise DeviceError(self.lost)

    def explained(self, error: BaseException) -> BaseException:
        """Return an error as the program is to see it: a lost device as what it is, others as are.

        Args:
            error: What a call on the device raised, or an operator because of that.
        """
        cause: BaseException | None = error
        while cause is not None:
            status = getattr(cause, "status", 0) if isinstance(cause, self._errors) else 0
            if status in _FATAL:
                if not self.lost:
                    message = self._message(cause)
                    self.lost = self.lost or message
                return DeviceError(self.lost)
            cause = cause.__cause__
        return error

    def _message(self, error: BaseException) -> str:
        names = list(dict.fromkeys(name for trail in self.trails for name in trail.suspects()))
        told = ", ".join(names[-_MOST_TOLD:])
        if len(names) > 1:
            found = f"one of the operators under way ({told})"
            advice = ", with MXNET_ENGINE_TYPE=NaiveEngine to learn which of them"
        else:
            found, advice = told or "no operator of gluonish", ""
        return (
            f"{self._context}: expected kernels that run to their end, got {error}, in {found}. "
            "The device is lost to this process, and so is what lies there; start the program "
            f"again{advice}"
        )
