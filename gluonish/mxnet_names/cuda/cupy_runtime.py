"""Start and stop the CUDA profiler through CuPy."""

from typing import Any

from gluonish.core.device import gpu_count
from gluonish.core.loading import load

__all__ = ["cuda_profiler_start", "cuda_profiler_stop", "cupy_cuda"]


def cupy_cuda() -> Any:
    """Return ``cupy.cuda``, or None without a GPU."""
    return load("cupy").cuda if gpu_count() else None


def cuda_profiler_start() -> None:
    """Let a CUDA profiler, such as Nsight Systems, begin to record; without a GPU do nothing."""
    cuda = cupy_cuda()
    if cuda is not None:
        cuda.runtime.profilerStart()


def cuda_profiler_stop() -> None:
    """Let a CUDA profiler stop recording; without a GPU do nothing."""
    cuda = cupy_cuda()
    if cuda is not None:
        cuda.runtime.profilerStop()
