"""NCCLReduction: sums of arrays of several GPUs through NVIDIA's library of collectives, by CuPy.

One process drives all GPUs. Each has a stream for its part: that waits for the work that the engine
ordered before the sum, and what comes after the sum waits for all of them.
"""

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from gluonish.core.context import Context
from gluonish.core.device import gpu_count
from gluonish.core.errors import DeviceError
from gluonish.core.optional import IMPORT_FAILURES
from gluonish.core.turn import Turn
from gluonish.kernels.cupy import libraries
from gluonish.kernels.cupy.device import health_of
from gluonish.kernels.cupy.health import Mark
from gluonish.kernels.cupy.stream import DeviceStream
from gluonish.kvstore.transfer import new_array, private_array, push_beside
from gluonish.ndarray import NDArray

__all__ = ["NCCLReduction", "Team", "find_nccl", "fits", "nccl_dtype"]

# numpy's names of dtypes, and the library's constants.
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
    libraries.load("nccl")  # without it, CuPy's module leaves a warning and has nothing in it
    from cupy.cuda import nccl

    module: ModuleType = nccl
    return module


def find_nccl(load: Callable[[], ModuleType] = _import_nccl) -> ModuleType:
    """Return CuPy's module of NCCL.

    Args:
        load: Function that imports it.

    Raises:
        DeviceError: There is no CuPy, no GPU, or no NCCL library.
    """
    try:
        module = load()
    except IMPORT_FAILURES as error:
        raise DeviceError(f"nccl: expected CuPy with NCCL, got {error}") from error
    if not getattr(module, "available", True):
        raise DeviceError(
            "nccl: expected the library of NCCL, got none that CuPy finds; see gluonish doctor"
        )
    if not gpu_count():
        raise DeviceError("nccl: expected a GPU, got none")
    return module


class Team:
    """NCCL communicators of some GPUs of this process, with a stream for each.

    Args:
        nccl: CuPy's module of NCCL.
        cupy: CuPy.
        devices: Indices of the GPUs.
        communicators: One communicator for each GPU.
    """

    def __init__(
        self, nccl: Any, cupy: Any, devices: tuple[int, ...], communicators: Sequence[Any]
    ) -> None:
        self._nccl, self._cupy = nccl, cupy
        self.communicators = communicators
        self.streams = [
            DeviceStream(cupy, cupy.cuda.Device(number), health_of(number)) for number in devices
        ]

    def run(self, launch: Callable[[], None]) -> None:
        """Launch collectives on the streams as one group, ordered with the current streams.

        Args:
            launch: Function that launches the collectives of all GPUs.
        """
        cupy = self._cupy
        current = cupy.cuda.get_current_stream()
        ready = cupy.cuda.Event(disable_timing=True)
        ready.record(current)
        for stream in self.streams:
            stream.wait_event(Mark(ready, 0))
        self._nccl.groupStart()
        launch()
        self._nccl.groupEnd()
        for stream in self.streams:
            current.wait_event(stream.record().event)


def nccl_dtype(nccl: Any, x: NDArray) -> int:
    """Return NCCL's number of an array's dtype.

    Args:
        nccl: CuPy's module of NCCL.
        x: The array.
    """
    number: int = getattr(nccl, _DTYPES[x.dtype.__name__])
    return number


def fits(values: Sequence[NDArray]) -> bool:
    """Whether arrays are dense, contiguous, of a dtype that NCCL has, and on one GPU each.

    Args:
        values: The arrays.
    """
    return len({value.context for value in values}) == len(values) and all(
        x.context.is_gpu
        and x.stype == "default"
        and x.dtype.__name__ in _DTYPES
        and x._data.flags.c_contiguous
        for x in values
    )


class NCCLReduction:
    """Sums dense arrays of several GPUs.

    Args:
        nccl: CuPy's module of NCCL, or one like it.
    """

    def __init__(self, nccl: Any) -> None:
        self._nccl = nccl
        self._teams: dict[tuple[int, ...], Team] = {}
        self._turn = Turn()  # to launch, as several threads of one process should not at once

    def takes(self, values: Sequence[NDArray], context: Context) -> bool:
        """Whether arrays can be summed: dense, of a dtype that NCCL has, and on one GPU each.

        Args:
            values: The arrays.
            context: Device of the sum.
        """
        return len(values) > 1 and context in [x.context for x in values] and fits(values)

    def add_up(
        self, values: Sequence[NDArray], context: Context, priority: int, *, private: bool = False
    ) -> NDArray:
        """Return the sum as a new array on one of the GPUs.

        Args:
            values: Arrays that `takes` accepts.
            context: GPU of the sum.
            priority: Operations of higher priority run first.
            private: As in `gluonish.kvstore.transfer.sum_arrays`.
        """
        out = private_array(values[0], context) if private else new_array(values[0], context)
        root = [value.context for value in values].index(context)
        push_beside(
            partial(self._launch, values, out, root),
            [value._var for value in values],
            out._var,
            out._device,
            priority,
            "kvstore_nccl",
            private=private,
        )
        return out

    def _launch(self, values: Sequence[NDArray], out: NDArray, root: int) -> None:
        """Launch the sum behind the current stream, which goes on behind it."""
        cupy, nccl = out._device.xp, self._nccl
        devices = tuple(value.context.device_id for value in values)
        dtype = nccl_dtype(nccl, out)

        def sums() -> None:
            for value, own, stream in zip(values, team.communicators, team.streams, strict=True):
                target = out if value.context == out.context else value
                own.reduce(
                    *(value._data.data.ptr, target._data.data.ptr, out.size, dtype),
                    *(nccl.NCCL_SUM, root, stream.raw.ptr),
                )

        with self._turn:
            found = self._teams.get(devices)
            if found is None:
                made = Team(nccl, cupy, devices, nccl.NcclCommunicator.initAll(list(devices)))
                found = self._teams.setdefault(devices, made)
            team = found
            team.run(sums)
        # The stream of the sum is behind them all, and keeps the arrays.
