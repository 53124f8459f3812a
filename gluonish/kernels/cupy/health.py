"""The state of a GPU: its recent launches, and the error once the device is lost.

An invalid memory access of a kernel destroys the CUDA context: every later call on that device
fails with the same error, in this process. CUDA reports it at a later, unrelated call. So each
stream has a `Trail` of launched operators that are not known to have finished: one of these caused
it.

The message is made once, when the failure is first seen; later uses of the device raise it again
without calling CUDA.
"""

from collections import deque
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.context import Context
from gluonish.core.errors import DeviceError

# Statuses of CUDA (cudaError_t, CUresult) that make the context unusable:
# uncorrectable memory errors, illegal addresses, time-outs, destroyed contexts, assertions, stack,
# instruction, alignment, address space and program counter errors, failed launches, lost devices.
_FATAL = frozenset({214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721})
_MAX_NAMES = 32  # launches that a trail remembers
_MAX_SHOWN = 6  # operators in a message


class Mark(NamedTuple):
    """A CUDA event, and the number of launches on its stream before the event."""

    event: Any
    launched: int


class Trail:
    """The most recent launches of one stream, which counts and names them itself.

    Two threads may launch on a stream at a time. A count lost in such a race only makes the list of
    suspects longer or shorter by one.

    Attributes:
        launched: Number of launches.
        names: Number and operator of the most recent ones.
    """

    __slots__ = ("_ended", "launched", "names")

    def __init__(self) -> None:
        self.launched = 0
        self._ended = 0
        self.names: deque[tuple[int, str]] = deque(maxlen=_MAX_NAMES)

    def end(self, launched: int) -> None:
        """Record that ``launched`` launches have finished."""
        if launched > self._ended:
            self._ended = launched

    def suspects(self) -> Iterator[str]:
        """Yield the operators that are not known to have finished, the oldest first."""
        for number, name in tuple(self.names):
            if number > self._ended:
                yield name or "an operator without a name"


class Health:
    """The state of a GPU: working, or lost after an error that destroyed its context.

    Attributes:
        lost: The error message once the device is lost; empty before.
        trails: One trail for each stream of the device.
    """

    __slots__ = ("_context", "_errors", "lost", "trails")

    def __init__(self, context: Context, cupy: ModuleType) -> None:
        cuda = cupy.cuda
        self._context = context
        self._errors: Any = (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError)
        self.lost = ""
        self.trails: list[Trail] = []

    def check(self) -> None:
        """Raise an error if the device is lost.

        Raises:
            DeviceError: The device is lost.
        """
        if self.lost:
            raise DeviceError(self.lost)

    def explained(self, error: BaseException) -> BaseException:
        """Return an error for the user: a `DeviceError` if the device is lost, else unchanged.

        Args:
            error: An error of a CUDA call, or one that an operator raised because of it.
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
        shown = ", ".join(names[-_MAX_SHOWN:])
        if len(names) > 1:
            found = f"one of the operators under way ({shown})"
            advice = ", with MXNET_ENGINE_TYPE=NaiveEngine to learn which of them"
        else:
            found, advice = shown or "no operator of gluonish", ""
        return (
            f"{self._context}: expected kernels that run to their end, got {error}, in {found}. "
            "The device is lost to this process, and so are its arrays; start the program "
            f"again{advice}"
        )
