"""NCCL communicators of GPUs of this process.

A process drives all its GPUs, each with a dedicated stream. The streams wait for the operations
that the engine ordered before a collective, and later operations wait for all streams.

A group of calls that fails may be launched in part: some devices then wait for others for ever. So
a `Team` aborts its communicators when a call of a group raises, and rejects later sums.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from gluonish.core.config import GLUONISH_KVSTORE_BUCKET_MB
from gluonish.core.device import gpu_count
from gluonish.core.errors import DeviceError, OperatorError
from gluonish.core.loading import IMPORT_FAILURES
from gluonish.kernels.cupy import libraries
from gluonish.kernels.cupy.device import health_of
from gluonish.kernels.cupy.health import Mark
from gluonish.kernels.cupy.stream import HIGH_PRIORITY, DeviceStream
from gluonish.ndarray import NDArray

# NumPy's dtype names, and NCCL's constants.
_DTYPES = {
    "int8": "NCCL_INT8",
    "uint8": "NCCL_UINT8",
    "int32": "NCCL_INT32",
    "int64": "NCCL_INT64",
    "float16": "NCCL_FLOAT16",
    "bfloat16": "NCCL_BFLOAT16",
    "float32": "NCCL_FLOAT32",
    "float64": "NCCL_FLOAT64",
}


def _import_nccl() -> ModuleType:
    libraries.load("nccl")  # otherwise CuPy's module is empty, with a warning
    from cupy.cuda import nccl

    module: ModuleType = nccl
    return module


def find_nccl(load: Callable[[], ModuleType] = _import_nccl) -> ModuleType:
    """Return CuPy's NCCL module.

    Args:
        load: Function that imports the module.

    Raises:
        DeviceError: There is no CuPy, no GPU, or no NCCL library.
    """
    try:
        module = load()
    except IMPORT_FAILURES as error:
        raise DeviceError(f"nccl: expected CuPy with NCCL, got {error}") from error
    if not getattr(module, "available", True):
        raise DeviceError(
            "nccl: expected the NCCL library, got none that CuPy finds; see gluonish doctor"
        )
    if not gpu_count():
        raise DeviceError("nccl: expected a GPU, got none")
    return module


@contextmanager
def group(nccl: Any) -> Iterator[None]:
    """Launch the NCCL calls of a ``with`` block together; the group ends even if one raises."""
    nccl.groupStart()
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):  # the error of the call comes first
            nccl.groupEnd()
        raise
    nccl.groupEnd()


class Team:
    """NCCL communicators of GPUs of this process, with a stream for each.

    Args:
        nccl: CuPy's NCCL module, or a stand-in.
        cupy: CuPy.
        devices: Numbers of the GPUs.
        communicators: A communicator for each GPU.
    """

    def __init__(
        self, nccl: Any, cupy: Any, devices: tuple[int, ...], communicators: Sequence[Any]
    ) -> None:
        self._nccl, self._cupy = nccl, cupy
        self.communicators = communicators
        self.failed = False
        self.streams = [
            DeviceStream(cupy, cupy.cuda.Device(number), health_of(number), priority=HIGH_PRIORITY)
            for number in devices
        ]

    def run(self, launch: Callable[[], None]) -> None:
        """Launch collectives on the streams as one group, ordered with the current stream.

        Raises:
            OperatorError: An earlier sum failed, and the communicators were aborted.
            Exception: The error of a call, or one that NCCL reported since the last sum. The
                communicators are aborted.
        """
        if self.failed:
            raise OperatorError(
                "nccl: expected working communicators, got some that were aborted after an earlier "
                "failure of a sum; see the first error, and start the training again"
            )
        try:
            for communicator in self.communicators:
                communicator.check_async_error()
            self._run(launch)
        except BaseException:
            self._abort()
            raise

    def places(self, lists: Sequence[Sequence[NDArray]]) -> Iterator[tuple[int, NDArray, Any, int]]:
        """Yield each array of some lists with the list's position, its communicator and stream.

        Args:
            lists: Lists with an array on each device.
        """
        for i, arrays in enumerate(lists):
            for x, communicator, stream in zip(
                arrays, self.communicators, self.streams, strict=True
            ):
                yield i, x, communicator, stream.raw.ptr

    def _run(self, launch: Callable[[], None]) -> None:
        cupy = self._cupy
        current = cupy.cuda.get_current_stream()
        ready = cupy.cuda.Event(disable_timing=True)
        ready.record(current)
        for stream in self.streams:
            stream.wait_event(Mark(ready, 0))
        with group(self._nccl):
            launch()
        for stream in self.streams:
            current.wait_event(stream.record().event)

    def _abort(self) -> None:
        self.failed = True
        abort_all(self.communicators)


def abort_all(communicators: Sequence[Any]) -> None:
    """Abort communicators, so that nothing waits for other devices forever."""
    for communicator in communicators:
        with contextlib.suppress(Exception):  # all are to be aborted
            communicator.abort()


def nccl_dtype(nccl: Any, x: NDArray) -> int:
    """Return NCCL's constant for an array's dtype."""
    number: int = getattr(nccl, _DTYPES[x.dtype.__name__])
    return number


def fits(values: Sequence[NDArray]) -> bool:
    """Whether arrays are dense, contiguous, on different GPUs, and of dtypes that NCCL supports."""
    return len({value.context for value in values}) == len(values) and all(
        x.context.is_gpu
        and x.stype == "default"
        and x.dtype.__name__ in _DTYPES
        and x._data.flags.c_contiguous
        for x in values
    )


def bucket_nbytes() -> int:
    """Return about how many bytes of arrays one group of calls sums; 0 for one array each."""
    return GLUONISH_KVSTORE_BUCKET_MB.value << 20


def sum_in_place(nccl: Any, team: Team, lists: Sequence[Sequence[NDArray]]) -> None:
    """Launch the sums of a bucket as one group.

    Args:
        nccl: CuPy's NCCL module.
        team: Communicators of the devices.
        lists: For each key an array on each device, which becomes the sum.
    """

    def sums() -> None:
        for _, x, comm, stream in team.places(lists):
            pointer, dtype = x._data.data.ptr, nccl_dtype(nccl, x)
            comm.allReduce(pointer, pointer, x.size, dtype, nccl.NCCL_SUM, stream)

    team.run(sums)
