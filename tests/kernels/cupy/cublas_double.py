"""A stand-in for libcublas on a `Machine`: what cublas_api.h and NVIDIA's documentation say of it.

Functions are real C pointers made from `PROTOTYPES`, so that ctypes converts every argument as it
would for the library. Products read and write the machine's memory on the stream that the handle
was given, and use its workspace; one without a workspace of its own is refused while that stream
captures, as cuBLAS would allocate one.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from gluonish.kernels.cupy.cublas import PROTOTYPES, adopt
from tests.kernels.cupy.cost_model.records import Cost, Product
from tests.kernels.cupy.machine import Machine, Memory
from tests.kernels.cupy.streams import Stream

SUCCESS, NOT_INITIALIZED, INVALID_VALUE, NOT_SUPPORTED = 0, 1, 7, 15
DTYPES = {
    0: np.dtype(np.float32),
    1: np.dtype(np.float64),
    2: np.dtype(np.float16),
    14: np.dtype(ml_dtypes.bfloat16),
}
_HALF = {(2, 2)}
_SINGLE = {(14, 14), (2, 2), (14, 0), (2, 0), (0, 0)}
# Types of A (and B) and of C for each compute type: the table of cublasGemmEx, real types.
_SUPPORTED = {
    64: _HALF,
    65: _HALF,
    68: _SINGLE,
    69: _SINGLE,
    74: {(0, 0)},
    75: {(0, 0)},
    77: {(0, 0)},
    70: {(1, 1)},
    71: {(1, 1)},
}
_FAST_TF32 = 77
_DOUBLES = (70, 71)
PRECISIONS = {_FAST_TF32: "TF32", 74: "TF32", 75: "TF32"}  # where the arrays' dtype does not say
_ALIGNMENT = 256


class _Handle:
    """What `cublasCreate` makes."""

    def __init__(self, device: int) -> None:
        self.device = device
        self.stream = 0
        self.workspace: Memory | None = None
        self.math_mode = 0


class Function:
    """A function of the library: called through C, and raising what happened behind that."""

    def __init__(self, prototype: tuple[Any, ...], body: Callable[..., int]) -> None:
        self._failure: BaseException | None = None

        def guarded(*args: Any) -> int:
            try:
                return body(*args)
            except BaseException as error:
                self._failure = error
                return 14

        self._pointer = ctypes.CFUNCTYPE(ctypes.c_int, *prototype)(guarded)

    def __call__(self, *args: Any) -> int:
        status = int(self._pointer(*args))
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        return status


class CublasDouble:
    """The library.

    Args:
        machine: Whose memory and streams it works on.

    Attributes:
        calls: Names of the functions that were called, in order.
        computes: How products were to be computed, in order.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._handles: dict[int, _Handle] = {}
        self.calls: list[str] = []
        self.computes: list[int] = []
        for name, prototype in PROTOTYPES.items():
            body = getattr(self, "_" + name.removeprefix("cublas").removesuffix("_v2").lower())
            setattr(self, name, Function(prototype, self._logged(name, body)))

    def _logged(self, name: str, body: Callable[..., int]) -> Callable[..., int]:
        def call(*args: Any) -> int:
            self.calls.append(name)
            return body(*args)

        return call

    def _create(self, out: Any) -> int:
        number = len(self._handles) + 0xC0B1A5
        self._handles[number] = _Handle(self._machine.here.device)
        out[0] = number
        return SUCCESS

    def _destroy(self, handle: int) -> int:
        return SUCCESS if self._handles.pop(handle, None) else NOT_INITIALIZED

    def _setstream(self, handle: int, stream: int | None) -> int:
        found = self._handles[handle]
        found.stream = stream or 0
        found.workspace = None  # back to cuBLAS's own
        return SUCCESS

    def _setworkspace(self, handle: int, address: int | None, nbytes: int) -> int:
        memory = self._machine._behind(address or 0)
        assert memory is not None, "a workspace outside device memory"
        assert nbytes <= memory.raw.size, "a workspace larger than its memory"
        if (address or 0) % _ALIGNMENT:
            return INVALID_VALUE
        self._handles[handle].workspace = memory
        return SUCCESS

    def _setmathmode(self, handle: int, mode: int) -> int:
        if mode not in (0, 2, 3, 16, 18, 19):
            return INVALID_VALUE
        self._handles[handle].math_mode = mode
        return SUCCESS

    def _setpointermode(self, handle: int, mode: int) -> int:
        assert mode == 0, "factors on the device: not known to this double"
        return SUCCESS

    def _gemmstridedbatchedex(
        self, handle: int, flip_a: int, flip_b: int, m: int, n: int, k: int, alpha: int,
        a: int, kind_a: int, lda: int, stride_a: int,
        b: int, kind_b: int, ldb: int, stride_b: int, beta: int,
        c: int, kind_c: int, ldc: int, stride_c: int,
        count: int, compute: int, algorithm: int,
    ) -> int:  # fmt: skip
        if (kind_a, kind_c) not in _SUPPORTED.get(compute, ()) or kind_a != kind_b:
            return NOT_SUPPORTED
        wide_a, wide_b = (k if flip_a else m), (n if flip_b else k)
        if min(m, n, k, count) < 0 or lda < wide_a or ldb < wide_b or ldc < m:
            return INVALID_VALUE
        assert (algorithm, flip_a in (0, 1), flip_b in (0, 1)) == (-1, True, True)
        apart = stride_c >= ldc * (n - 1) + m or ldc >= stride_c * (count - 1) + m
        assert count == 1 or apart, "products over one another"
        scale = ctypes.c_double if compute in _DOUBLES else ctypes.c_float
        factors = scale.from_address(alpha).value, scale.from_address(beta).value
        used_a, x = matrices(self._machine, a, kind_a, lda, stride_a, count, m, k, flip_a)
        used_b, y = matrices(self._machine, b, kind_b, ldb, stride_b, count, k, n, flip_b)
        used_c, out = matrices(self._machine, c, kind_c, ldc, stride_c, count, m, n, 0)

        def work() -> None:
            product = multiplied(x, compute) @ multiplied(y, compute)
            if factors[0] != 1:
                product *= factors[0]
            if factors[1]:
                product += factors[1] * out.astype(product.dtype)
            np.copyto(out, product, casting="unsafe")

        used = [(used_a, False), (used_b, False), (used_c, True)]
        reads = [x, y, out] if factors[1] else [x, y]
        problem = Product(m, n, k, count)
        cost = self._machine.cost("product", reads, [out], problem=problem)
        if cost is not None and compute in PRECISIONS:
            cost = cost._replace(dtype=PRECISIONS[compute])
        self._use(self._handles[handle], used, work, cost)
        self.computes.append(compute)
        return SUCCESS

    def _use(
        self,
        handle: _Handle,
        memories: list[tuple[Memory, bool]],
        work: Callable[[], None],
        cost: Cost | None,
    ) -> None:
        """Launch on the handle's stream, which uses its workspace."""
        machine = self._machine
        assert handle.device == machine.here.device, "a handle of another device than the current"
        stream = stream_at(machine, handle.stream)
        if handle.workspace is None:
            assert not stream.is_capturing(), "cuBLAS would allocate during a capture"
        else:
            memories = [*memories, (handle.workspace, True)]
        kept = [memory for memory in (handle.workspace,) if memory is not None]
        machine.use(stream, memories, "gemm", work, cost=cost, kept=kept)


def matrices(
    machine: Machine, address: int, kind: int, lead: int, stride: int, count: int,
    rows: int, columns: int, flip: int,
) -> tuple[Memory, Any]:  # fmt: skip
    """Return the memory, and a view (count, rows, columns) of matrices columns first."""
    memory = machine._behind(address)
    assert memory is not None, "cuBLAS was given an address outside device memory"
    dtype = DTYPES[kind]
    down, across = (lead, 1) if flip else (1, lead)
    start = address - int(memory.raw.ctypes.data)
    last = (count - 1) * stride + (rows - 1) * down + (columns - 1) * across
    assert start + (last + 1) * dtype.itemsize <= memory.raw.size, "a matrix beyond its memory"
    assert address % dtype.itemsize == 0
    strides = tuple(dtype.itemsize * step for step in (stride, down, across))
    view: Any = np.ndarray((count, rows, columns), dtype, memory.raw, start, strides)
    return memory, view


def stream_at(machine: Machine, pointer: int) -> Stream:
    return next(stream for stream in machine.streams if stream.ptr == pointer)


def multiplied(array: Any, compute: int) -> Any:
    """Return what a multiplier gets of matrices, in the type of the sums."""
    if compute in _DOUBLES:
        return array
    wide = array.astype(np.float32)
    if compute != _FAST_TF32:
        return wide
    return ((wide.view(np.uint32) + 0x1000) & 0xFFFFE000).view(np.float32)  # drops 13 bits


def install(cupy: Any, machine: Machine) -> CublasDouble:
    """Let the products of a double of CuPy go to a library of its own, and return that."""
    library = CublasDouble(machine)
    adopt(cupy, library)
    machine.cublas = library  # type: ignore[attr-defined]  # for tests that ask what was called
    return library
