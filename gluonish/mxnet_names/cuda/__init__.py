"""`mx.cuda`: the CUDA profiler and NVTX ranges; without CuPy they have no effect."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.mxnet_names.base import check_call
from gluonish.mxnet_names.cuda import nvtx
from gluonish.mxnet_names.cuda.cupy_runtime import cuda_profiler_start, cuda_profiler_stop

if not TYPE_CHECKING:
    __getattr__ = _attach(__name__)  # advice about unknown names

__all__ = ["check_call", "cuda_profiler_start", "cuda_profiler_stop", "nvtx"]
