"""The double of CuPy: a module on a `Machine`, for device and kernels to run on without CUDA."""

from types import ModuleType, SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

from tests.kernels.cupy.arrays import SURFACE, Array, add_functions
from tests.kernels.cupy.linear_algebra import make_fft, make_linalg
from tests.kernels.cupy.machine import Event, Machine

__all__ = ["CUDARuntimeError", "OutOfMemoryError", "make_cupy", "make_special"]


class CUDARuntimeError(RuntimeError):
    """What CUDA reports."""


class OutOfMemoryError(MemoryError):
    """What the pool reports."""


class _Device:
    """Device as a scope; entering it twice is fine, from several threads too."""

    def __init__(self, machine: Machine, number: int) -> None:
        self.id = number
        self._machine = machine

    def __enter__(self) -> "_Device":
        here = self._machine.here
        here.__dict__.setdefault("devices", []).append(here.device)
        here.device = self.id
        return self

    def __exit__(self, *exc_info: object) -> None:
        here = self._machine.here
        here.device = here.__dict__["devices"].pop()


def _cuda(machine: Machine) -> Any:
    null = SimpleNamespace(ptr=0)

    def device_count() -> int:
        if machine.devices == 0:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return machine.devices

    runtime = SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        getDeviceCount=device_count,
        getDevice=lambda: machine.here.device,
        memGetInfo=lambda: (machine.here.device * 1000 + 10, 1 << 30),
        memcpyHostToDevice=1,
        memcpyDeviceToHost=2,
        memcpyAsync=lambda dst, src, size, kind, stream: machine.copy(
            dst, src, size, stream, {1: "h2d", 2: "d2h"}[kind]
        ),
        memcpyPeerAsync=lambda dst, to, src, of, size, stream: machine.copy(
            dst, src, size, stream, f"peer{of}to{to}"
        ),
    )
    return SimpleNamespace(
        Device=lambda number: _Device(machine, number),
        Stream=machine.new_stream,
        Event=lambda disable_timing=False: Event(machine, disable_timing),
        alloc_pinned_memory=machine.allocate_pinned,
        get_current_stream=lambda: machine.here.streams[-1] if machine.here.streams else null,
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        device=SimpleNamespace(get_cublas_handle=lambda: 7),
        runtime=runtime,
    )


def make_cupy(machine: Machine) -> Any:
    """Return a module like CuPy over a machine."""
    module: Any = ModuleType("cupy")
    module.__version__ = SURFACE["cupy"]
    module.cuda = _cuda(machine)
    module.lib = SimpleNamespace(stride_tricks=SimpleNamespace())
    add_functions(module, machine)
    module.linalg, module.fft = make_linalg(machine), make_fft(machine)
    allocate = module.empty

    def empty(shape: Any, dtype: Any = float, order: str = "C") -> Array:
        if machine.out_of_memory:
            machine.out_of_memory -= 1
            raise OutOfMemoryError("Out of memory allocating 512 bytes")
        array: Array = allocate(shape, dtype)
        return array

    module.empty = empty
    module.freed = []
    pool = SimpleNamespace(free_all_blocks=lambda: module.freed.append(machine.here.device))
    pinned = SimpleNamespace(free_all_blocks=lambda: module.freed.append("pinned"))
    module.get_default_memory_pool = lambda: pool
    module.get_default_pinned_memory_pool = lambda: pinned
    module.cuda.cublas = SimpleNamespace(gemmStridedBatchedEx=_gemm(machine))
    return module


def _matrix(machine: Machine, address: int, kind: int, lead: int, columns: int) -> Any:
    """Return cuBLAS's view of an address: (lead, columns), columns first."""
    memory = machine._behind(address)
    assert memory is not None, "cuBLAS was given an address outside device memory"
    dtype = np.dtype({2: np.float16, 14: ml_dtypes.bfloat16}[kind])
    start = address - memory.raw.ctypes.data
    flat = memory.raw[start : start + lead * columns * dtype.itemsize].view(dtype)
    return memory, flat.reshape(columns, lead).T


def _gemm(machine: Machine) -> Any:
    """Return cublasGemmStridedBatchedEx as cuBLAS documents it."""

    def gemm(
        handle: int, flip_a: int, flip_b: int, m: int, n: int, k: int, alpha: int,
        a: int, kind_a: int, lda: int, stride_a: int,
        b: int, kind_b: int, ldb: int, stride_b: int, beta: int,
        c: int, kind_c: int, ldc: int, stride_c: int,
        batch: int, compute: int, algorithm: int,
    ) -> None:  # fmt: skip
        assert (handle, compute, algorithm) == (7, 68, -1)
        stream = machine.current()
        for i in range(batch):
            memory_a, left = _matrix(machine, a + 2 * i * stride_a, kind_a, lda, m if flip_a else k)
            memory_b, right = _matrix(
                machine, b + 2 * i * stride_b, kind_b, ldb, k if flip_b else n
            )
            memory_c, out = _matrix(machine, c + 2 * i * stride_c, kind_c, ldc, n)
            machine.use(stream, [(memory_a, False), (memory_b, False), (memory_c, True)], "gemm")
            x = left.astype(np.float32).T[:m] if flip_a else left.astype(np.float32)[:m]
            y = right.astype(np.float32).T[:, :n] if flip_b else right.astype(np.float32)[:, :n]
            assert (x.shape, y.shape) == ((m, k), (k, n))
            out[:m] = (x @ y).astype(out.dtype)

    return gemm


def make_special() -> Any:
    """Return a module like ``cupyx.scipy.special`` for arrays of the double, in float64."""
    from gluonish.ops import special as own

    def apply(name: str) -> Any:
        def function(x: Array) -> Array:
            out = x.astype(np.float64)
            out.raw[...] = own._NUMPY[name](x.raw.reshape(-1)).reshape(x.shape)
            return out

        return function

    special: Any = ModuleType("cupyx.scipy.special")
    for name in ("erf", "erfinv", "gamma", "gammaln", "digamma"):
        setattr(special, name, apply(name))

    def zeta(order: float, x: Array) -> Array:
        assert order == 2.0, "the second derivative of log gamma is what it is here for"
        return apply("trigamma")(x)

    special.zeta = zeta
    return special
