"""The double of CuPy: a module on a `Machine`, for device and kernels to run on without CUDA."""

from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

from tests.kernels.cupy.arrays import Array
from tests.kernels.cupy.captures import refuse_library
from tests.kernels.cupy.cuda_module import make_cuda
from tests.kernels.cupy.device_memory import MemoryPool, OutOfMemoryError, PinnedMemoryPool
from tests.kernels.cupy.functions import add_functions
from tests.kernels.cupy.linear_algebra import make_fft, make_linalg
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.streams import CUDARuntimeError
from tests.kernels.cupy.surface import SURFACE, UNKNOWN, ListedModule
from tests.kernels.cupy.ufuncs import Ufunc

__all__ = ["CUDARuntimeError", "OutOfMemoryError", "make_cupy", "make_special"]


class _CuPy(ModuleType):
    """The module itself."""

    def __getattr__(self, name: str) -> Any:
        assert name not in SURFACE["names"], f"cupy.{name}: {UNKNOWN}"
        raise AttributeError(f"module 'cupy' has no attribute {name!r}")


def make_cupy(machine: Machine) -> Any:
    """Return a module like CuPy over a machine."""
    module: Any = _CuPy("cupy")
    module.__version__ = SURFACE["cupy"]
    pool = machine.bound(MemoryPool)()
    pinned = machine.bound(PinnedMemoryPool)()
    module.cuda = make_cuda(machine, pool, pinned)
    add_functions(module, machine)
    module.linalg, module.fft = make_linalg(machine), make_fft(machine)
    module.get_default_memory_pool = lambda: pool
    module.get_default_pinned_memory_pool = lambda: pinned
    module.cuda.device.get_cublas_handle = lambda: 7
    module.cuda.cublas = ListedModule(
        "cuda.cublas", {"gemmStridedBatchedEx": _gemm(machine, machine.computes)}
    )
    return module


def _matrix(machine: Machine, address: int, kind: int, lead: int, columns: int) -> Any:
    """Return cuBLAS's view of an address: (lead, columns), columns first."""
    memory = machine._behind(address)
    assert memory is not None, "cuBLAS was given an address outside device memory"
    dtype = np.dtype({0: np.float32, 2: np.float16, 14: ml_dtypes.bfloat16}[kind])
    start = address - memory.raw.ctypes.data
    flat = memory.raw[start : start + lead * columns * dtype.itemsize].view(dtype)
    return memory, flat.reshape(columns, lead).T


def _multiplied(array: Any, compute: int) -> Any:
    """Return what a multiplier gets of a matrix, in float32."""
    wide = array.astype(np.float32)
    if compute != 77:  # CUBLAS_COMPUTE_32F_FAST_TF32 drops 13 bits
        return wide
    return ((wide.view(np.uint32) + 0x1000) & 0xFFFFE000).view(np.float32)


def _gemm(machine: Machine, computes: list[int]) -> Any:
    """Return cublasGemmStridedBatchedEx as cuBLAS documents it."""

    def gemmStridedBatchedEx(  # CuPy's name
        handle: int, transa: int, transb: int, m: int, n: int, k: int, alpha: int,
        A: int, Atype: int, lda: int, strideA: int,
        B: int, Btype: int, ldb: int, strideB: int, beta: int,
        C: int, Ctype: int, ldc: int, strideC: int,
        batchCount: int, computeType: int, algo: int,
    ) -> None:  # fmt: skip
        assert (handle, algo) == (7, -1)
        assert computeType in ((77,) if Atype == 0 else (68, 69)), "a type that cuBLAS refuses"
        refuse_library(machine, "cuBLAS")
        computes.append(computeType)
        size = 4 if Atype == 0 else 2
        machine.counts.launches += 1
        for i in range(batchCount):
            left = _matrix(machine, A + size * i * strideA, Atype, lda, m if transa else k)
            right = _matrix(machine, B + size * i * strideB, Btype, ldb, k if transb else n)
            memory, out = _matrix(machine, C + size * i * strideC, Ctype, ldc, n)
            used = [(left[0], False), (right[0], False), (memory, True)]
            machine.use(machine.current(), used, "gemm", counted=False)
            x, y = _multiplied(left[1], computeType), _multiplied(right[1], computeType)
            x = x.T[:m] if transa else x[:m]
            y = y.T[:, :n] if transb else y[:, :n]
            assert (x.shape, y.shape) == ((m, k), (k, n))
            out[:m] = (x @ y).astype(out.dtype)

    return gemmStridedBatchedEx


def make_special() -> Any:
    """Return a module like ``cupyx.scipy.special``, computing in float64."""
    from gluonish.ops import special as own

    def plain(name: str) -> Any:
        def function(*given: Any) -> Any:
            wide = np.asarray(given[-1], np.float64)
            return own._NUMPY[name](wide.reshape(-1)).reshape(wide.shape)

        return function

    special: Any = ModuleType("cupyx.scipy.special")
    for name in ("erf", "erfinv", "gamma", "gammaln", "digamma"):
        setattr(special, name, _special(name, plain(name)))
    # Of order 2, which is the second derivative of log gamma.
    special.zeta = _special("zeta", plain("trigamma"))
    return special


def _special(name: str, function: Any) -> Any:
    def call(*args: Array) -> Any:
        assert name != "zeta" or args[0] == 2.0, "zeta of another order: not known to this double"
        return Ufunc(args[-1]._machine, f"special.{name}", function)(*args)

    return call
