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
from gluonish.core.turn import Turn
from gluonish.kernels.cupy import libraries
from gluonish.kernels.cupy.device import health_of
from gluonish.kernels.cupy.health import Mark
from gluonish.kernels.cupy.stream import DeviceStream
from gluonish.kvstore.transfer import new_array, private_array, push_beside
from gluonish.ndarray import NDArray

__all__ = ["NCCLReduction", "find_nccl"]

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
        load: Imports it.

    Raises:
        DeviceError: There is no CuPy, no GPU, or no library.
    """
    try:
        module = load()
    except (ImportError, OSError) as error:
        raise DeviceError(f"nccl: expected CuPy with NCCL, got {error}") from error
    if not getattr(module, "available", True):
        raise DeviceError(
            "nccl: expected the library of NCCL, got none that CuPy finds; see gluonish doctor"
        )
    if not gpu_count():
        raise DeviceError("nccl: expected a GPU, got none")
    return module


class _Team:
    """Communicators of some GPUs, and a stream for each."""

    def __init__(self, nccl: Any, cupy: Any, devices: tuple[int, ...]) -> None:
        self.communicators = nccl.NcclCommunicator.initAll(list(devices))
        self.streams = [
            DeviceStream(cupy, cupy.cuda.Device(number), health_of(number)) for number in devices
        ]


class NCCLReduction:
    """Adds up dense arrays of distinct GPUs.

    Args:
        nccl: CuPy's module, or one like it.
    """

    def __init__(self, nccl: Any) -> None:
        self._nccl = nccl
        self._teams: dict[tuple[int, ...], _Team] = {}
        self._turn = Turn()  # to launch, as several threads of one process should not at once

    def takes(self, values: Sequence[NDArray], context: Context) -> bool:
        """Whether arrays are dense, of a dtype of NCCL's, and on one GPU each."""
        contexts = {value.context for value in values}
        return (
            len(values) > 1
            and len(contexts) == len(values)
            and context in contexts
            and all(
                x.context.is_gpu
                and x.stype == "default"
                and x.dtype.__name__ in _DTYPES
                and x._data.flags.c_contiguous
                for x in values
            )
        )

    def add_up(
        self, values: Sequence[NDArray], context: Context, priority: int, *, private: bool = False
    ) -> NDArray:
        """Return the sum as a new array on one of the GPUs.

        Args:
            values: What `takes` allows.
            context: The GPU of the sum.
            priority: Operations of higher priority run first.
            private: As of `gluonish.kvstore.transfer.sum_arrays`.
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
        dtype = getattr(nccl, _DTYPES[out.dtype.__name__])
        current = cupy.cuda.get_current_stream()
        ready = cupy.cuda.Event(disable_timing=True)
        ready.record(current)
        with self._turn:
            team = self._teams.get(devices)
            if team is None:
                team = self._teams.setdefault(devices, _Team(nccl, cupy, devices))
            for stream in team.streams:
                stream.wait_event(Mark(ready, 0))
            nccl.groupStart()
            for value, own, stream in zip(values, team.communicators, team.streams, strict=True):
                target = out if value.context == out.context else value
                own.reduce(
                    *(value._data.data.ptr, target._data.data.ptr, out.size, dtype),
                    *(nccl.NCCL_SUM, root, stream.raw.ptr),
                )
            nccl.groupEnd()
            for stream in team.streams:
                current.wait_event(stream.record().event)
        # The stream of the sum is behind them all, and keeps the arrays.
