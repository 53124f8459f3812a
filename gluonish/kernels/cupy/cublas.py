"""cuBLAS by ctypes: a handle with a separate workspace for each stream of a device.

CuPy's cuBLAS sets the stream before every call, which drops the workspace, and cannot run while
a stream captures (`NotImplementedError` on an H200 with CuPy 14.2: "captured: product of CuPy" in
benchmarks/results/gpu-h200.md). nvmath-python would work, but is one more dependency for the
functions of `PROTOTYPES`. Here a handle is bound to its stream once, in the order that cuBLAS
requires: create, stream, workspace.

Everything about a product but its addresses is bound once: see `Handle.bind`. A stream caches its
bound products, so that a repeated product is one look-up and one call.

Invariants: the lock of a `Handle` is held around each product, since two threads may launch on one
stream, and launches of two products that share a workspace must not interleave. A bound product is
never modified. `_opened` and the handles of a library only grow, by atomic dict operations; but
when a stream is released, its handle is forgotten. Keys include the process, so that a forked
child, in which CUDA does not work, does not use its parent's handles.
"""

import ctypes
import os
import weakref
from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.errors import DeviceError, OperatorError
from gluonish.core.program import Programs
from gluonish.core.timeout_lock import TimeoutLock
from gluonish.kernels.cupy.libraries import load

MAX_EXTENT = 2**31 - 1  # of any axis and leading dimension
_WORKSPACE_NBYTES = {True: 32 << 20, False: 4 << 20}  # NVIDIA's advice since Hopper, and before
_FIRST_NBYTES = 4 << 20  # for the first product only
_HOPPER = 90
_POINTER_MODE_HOST = 0
# No partial sums in 16 bits (CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION).
_MATH_MODE = 16
_DEFAULT_ALGORITHM = -1
_FLOAT, _COMPUTE_FLOAT = 0, 68  # CUDA_R_32F, CUBLAS_COMPUTE_32F
_MAX_PRODUCTS = 4096  # bound for each stream
_GEMM = "cublasGemmStridedBatchedEx"

_INT, _LONG, _POINTER = ctypes.c_int, ctypes.c_longlong, ctypes.c_void_p
_MATRIX = (_POINTER, _INT, _INT, _LONG)  # address, type, leading dimension, stride
# Parameters of each function (cublas_api.h); all return a status.
PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "cublasCreate_v2": (ctypes.POINTER(_POINTER),),
    "cublasDestroy_v2": (_POINTER,),
    "cublasSetStream_v2": (_POINTER, _POINTER),
    "cublasSetWorkspace_v2": (_POINTER, _POINTER, ctypes.c_size_t),
    "cublasSetMathMode": (_POINTER, _INT),
    "cublasSetPointerMode_v2": (_POINTER, _INT),
    _GEMM: (
        *(_POINTER, _INT, _INT, _INT, _INT, _INT),  # handle, operations, m, n, k
        *(_POINTER, *_MATRIX, *_MATRIX, _POINTER, *_MATRIX),  # alpha, A, B, beta, C
        *(_INT, _INT, _INT),  # count, compute type, algorithm
    ),
}

STATUS_NAMES = {
    0: "CUBLAS_STATUS_SUCCESS",
    1: "CUBLAS_STATUS_NOT_INITIALIZED",
    3: "CUBLAS_STATUS_ALLOC_FAILED",
    7: "CUBLAS_STATUS_INVALID_VALUE",
    8: "CUBLAS_STATUS_ARCH_MISMATCH",
    11: "CUBLAS_STATUS_MAPPING_ERROR",
    13: "CUBLAS_STATUS_EXECUTION_FAILED",
    14: "CUBLAS_STATUS_INTERNAL_ERROR",
    15: "CUBLAS_STATUS_NOT_SUPPORTED",
    16: "CUBLAS_STATUS_LICENSE_ERROR",
}


class Matrix(NamedTuple):
    """Layout of column-major matrices in device memory.

    Attributes:
        kind: cudaDataType of the elements.
        operation: 0 for none, 1 to transpose.
        lead: Elements from one column to the next.
        stride: Elements from one matrix to the next; 0 to repeat one matrix.
    """

    kind: int
    operation: int
    lead: int
    stride: int


def failure(name: str, status: int) -> DeviceError:
    """Return the error for a status that a function of cuBLAS or cuBLASLt returned."""
    known = STATUS_NAMES.get(status, "an unknown status")
    return DeviceError(f"{name}: expected {STATUS_NAMES[0]}, got {known} ({status})")


@lru_cache(maxsize=64)
def scalar(value: float, double: bool) -> Any:
    """Return a pointer to a factor, in the compute type."""
    return ctypes.byref(ctypes.c_double(value) if double else ctypes.c_float(value))


class Product:
    """``C = alpha A B + beta C`` for given sizes and layouts, on the stream of a handle.

    Thread-safe: its arguments are constants, and the stream's lock is held during a call.
    """

    __slots__ = ("_after_a", "_after_b", "_after_c", "_before", "_function", "_lock")

    def __init__(self, lock: TimeoutLock, function: Any, arguments: Sequence[Any]) -> None:
        self._lock = lock
        self._function = function
        # The addresses of A, B and C go between the constants.
        self._before, self._after_a, self._after_b, self._after_c = arguments

    def run(self, a: int, b: int, c: int) -> None:
        """Multiply the matrices at these addresses.

        Raises:
            DeviceError: cuBLAS reports a failure.
        """
        with self._lock:
            status = self._function(
                *self._before, a, *self._after_a, b, *self._after_b, c, *self._after_c
            )
        if status:
            raise failure(_GEMM, status)


class Handle:
    """cuBLAS on one stream of one device, which must both be current.

    Args:
        library: The library.
        device: Number of the device.
        stream: Address of the stream.
        nbytes: Size of the workspace in bytes; None for NVIDIA's advice.

    Attributes:
        device: Number of the device.
        stream: Address of the stream.
        lock: Held during each product, to protect the stream's workspace.
        products: Bound products, by what they are bound to.
    """

    __slots__ = ("_library", "_raw", "_workspace", "device", "lock", "products", "stream")

    def __init__(
        self, library: "CuBLAS", xp: Any, device: int, stream: int, nbytes: int | None = None
    ) -> None:
        self._library = library
        self.device = device
        self.stream = stream
        self.lock = TimeoutLock()
        self.products = Programs[Any](_MAX_PRODUCTS)
        self._raw = ctypes.c_void_p()
        hopper = int(xp.cuda.Device(device).compute_capability) >= _HOPPER
        workspace = xp.empty(nbytes or _WORKSPACE_NBYTES[hopper], "uint8")
        call = library.call
        call("cublasCreate_v2", ctypes.byref(self._raw))
        call("cublasSetStream_v2", self._raw, stream)
        self._set_workspace(workspace)
        call("cublasSetPointerMode_v2", self._raw, _POINTER_MODE_HOST)
        call("cublasSetMathMode", self._raw, _MATH_MODE)

    @property
    def workspace(self) -> tuple[int, int]:
        """Address and size in bytes of the stream's workspace."""
        return self._workspace.data.ptr, self._workspace.nbytes

    def _set_workspace(self, workspace: Any) -> None:
        self._workspace = workspace
        self._library.call("cublasSetWorkspace_v2", self._raw, *self.workspace)

    def share_workspace(self, other: "Handle") -> None:
        """Use another handle's workspace from now on; the own one must be idle."""
        self._set_workspace(other._workspace)

    def shares_workspace(self, other: "Handle") -> bool:
        """Whether this handle uses another one's workspace."""
        return self._workspace is other._workspace

    def destroy(self) -> None:
        """Destroy the handle; this waits for the device."""
        self._library.call("cublasDestroy_v2", self._raw)

    def bind(
        self,
        size: tuple[int, int, int],
        factors: tuple[float, float],
        a: Matrix,
        b: Matrix,
        c: Matrix,
        count: int,
        compute: int,
        double: bool,
    ) -> Product:
        """Return the product that sets each C to ``alpha A B + beta C``, column-major.

        Args:
            size: Rows of A, columns of B, and length of the reduced axis.
            factors: Alpha and beta.
            count: Number of matrices in each stack.
            compute: cublasComputeType.
            double: Whether the compute type is float64.

        Raises:
            OperatorError: An extent is too large for cuBLAS.
        """
        if max(*size, a.lead, b.lead, c.lead, count) > MAX_EXTENT:
            raise OperatorError(
                f"matrix product: expected sizes of at most {MAX_EXTENT}, got {size} in matrices "
                f"{a.lead}, {b.lead} and {c.lead} elements wide, {count} times; split the arrays"
            )
        alpha, beta = (scalar(factor, double) for factor in factors)
        last = (count, compute, _DEFAULT_ALGORITHM)
        # Converted once: ctypes would convert Python's numbers at each call.
        arguments = (
            (self._raw, *map(_INT, (a.operation, b.operation, *size)), alpha),
            (_INT(a.kind), _INT(a.lead), _LONG(a.stride)),
            (_INT(b.kind), _INT(b.lead), _LONG(b.stride), beta),
            (_INT(c.kind), _INT(c.lead), _LONG(c.stride), *map(_INT, last)),
        )
        return Product(self.lock, self._library.functions[_GEMM], arguments)


class CuBLAS:
    """The loaded cuBLAS library, with one handle per stream.

    Attributes:
        functions: The functions of `PROTOTYPES`, by name.
    """

    def __init__(self, library: Any) -> None:
        self.functions = {name: getattr(library, name) for name in PROTOTYPES}
        self._handles: dict[tuple[int, int, int], Handle] = {}
        self._forgotten: list[Handle | None] = []  # kept alive: CUDA graphs use their workspaces

    def call(self, name: str, *args: Any) -> None:
        """Call a cuBLAS function, and check its status.

        Raises:
            DeviceError: The function reports a failure.
        """
        status = self.functions[name](*args)
        if status:
            raise failure(name, status)

    def handle(self, xp: Any) -> Handle:
        """Return the handle of the current stream, creating it on first use."""
        device, stream = xp.cuda.runtime.getDevice(), xp.cuda.get_current_stream().ptr
        key = (os.getpid(), device, stream)
        found = self._handles.get(key)
        if found is None:
            made = Handle(self, xp, device, stream)
            found = self._handles.setdefault(key, made)
            if found is not made:  # another thread created a handle first
                made.destroy()
        return found

    def forget(self, stream: int) -> None:
        """Forget the handle of a stream that no longer exists, by its address."""
        for key in [key for key in tuple(self._handles) if key[2] == stream]:
            self._forgotten.append(self._handles.pop(key, None))

    def prepare(self, xp: Any, launching: int) -> TimeoutLock | None:
        """Create the handle of the current stream, and initialize cuBLAS by a first product.

        Waits for the product: graphs captured here run on another stream. They use the workspace of
        that stream's handle, if it exists.

        Args:
            launching: Address of the stream that graphs run on.

        Returns:
            The lock to hold while such a graph is launched; None if it has its own workspace.
        """
        device, stream = xp.cuda.runtime.getDevice(), xp.cuda.get_current_stream().ptr
        key = (os.getpid(), device, stream)
        shared = self._handles.get((key[0], device, launching))
        found = self._handles.get(key)
        if found is None:
            nbytes = None if shared is None else _FIRST_NBYTES
            found = self._handles.setdefault(key, Handle(self, xp, device, stream, nbytes))
            values = xp.ones((2,), "float32")
            factor, product = (values.data.ptr + 4 * i for i in (0, 1))
            number = Matrix(_FLOAT, operation=0, lead=1, stride=0)
            first = found.bind(
                (1, 1, 1), (1.0, 0.0), number, number, number, 1, _COMPUTE_FLOAT, double=False
            )
            first.run(factor, factor, product)
            xp.cuda.get_current_stream().synchronize()
            if shared is not None:
                found.share_workspace(shared)
        is_shared = shared is not None and found.shares_workspace(shared)
        return shared.lock if shared is not None and is_shared else None


_opened: weakref.WeakKeyDictionary[ModuleType, CuBLAS] = weakref.WeakKeyDictionary()


def adopt(xp: ModuleType, library: Any) -> None:
    """Use ``library`` instead of the installed cuBLAS for arrays of the module ``xp``."""
    _opened[xp] = CuBLAS(library)


def current_handle(xp: ModuleType) -> Handle:
    """Return the handle of the current stream.

    Raises:
        DeviceError: cuBLAS is not installed, or cannot be initialized.
    """
    found = _opened.get(xp)
    if found is None:
        found = _opened.setdefault(xp, CuBLAS(_load(xp)))
    return found.handle(xp)


def prepare(xp: ModuleType, launching: int) -> TimeoutLock | None:
    """Prepare cuBLAS on the current stream, if it is already in use on any stream.

    Args:
        launching: Address of the stream that graphs captured on the current stream run on.

    Returns:
        The lock to hold while such a graph is launched; None if it has its own workspace.
    """
    found = _opened.get(xp)
    return None if found is None else found.prepare(xp, launching)


def forget(xp: ModuleType, stream: int) -> None:
    """Forget the handle of a stream that no longer exists, by its address."""
    found = _opened.get(xp)
    if found is not None:
        found.forget(stream)


def _load(xp: Any) -> Any:
    """Load the installed library, and set the types of its functions."""
    library = load("cublas", int(xp.cuda.runtime.runtimeGetVersion()) // 1000)
    for name, parameters in PROTOTYPES.items():
        function = getattr(library, name)
        function.argtypes, function.restype = parameters, ctypes.c_int
    return library
