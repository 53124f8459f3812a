"""cuBLASLt by ctypes: a product of matrices, and what follows it, in one launch.

cuBLAS adds nothing to a product but a matrix. cuBLASLt has *epilogues*: it adds a vector to each
column before the result is rounded, applies a function, or sums an operand's columns while it reads
them. It chooses an *algorithm* for each problem by heuristics, which take some ten microseconds and
answer the same for the same problem; the answer is cached for a device, so that all its streams
compute equal bits.

A bound product works on one stream, with the workspace and the lock of the stream's handle of
cuBLAS. The address of the vector is an attribute of a descriptor: a call takes a descriptor out of
a queue, or makes one, and no two calls use the same one at once.

Not every problem has an algorithm, and the library may be missing. `bind` returns None then, and
callers launch separate kernels. Enumerators, types and sizes are those of cublasLt.h, which a test
compares with.
"""

import ctypes
import os
import weakref
from collections import deque
from enum import IntEnum
from types import ModuleType
from typing import Any, Literal, NamedTuple

from gluonish.core.errors import DeviceError
from gluonish.core.program import Programs
from gluonish.kernels.cupy.cublas import Handle, failure, scalar
from gluonish.kernels.cupy.libraries import load

_INT, _SIZE, _POINTER = ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p
_UNSIGNED, _LONG, _UNSIGNED_LONG = ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint64

# Attributes of descriptors.
_TRANSPOSE_A, _TRANSPOSE_B, _EPILOGUE, _VECTOR, _VECTOR_KIND = 3, 4, 7, 8, 26
# Attributes of preferences.
_MAX_WORKSPACE, _SCHEMES, _ALIGNMENTS = 1, 3, (5, 6, 7, 8)
# Parts of a long sum are added in the compute type: CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE.
_SCHEME = 2
_NOT_SUPPORTED = 15
_REAL = {False: 0, True: 1}  # cudaDataType of factors: float32, or float64
# Memory is aligned to more, but its views are not; no kernel gains from more.
ALIGNMENT = 16
_MAX_ALGORITHMS = 4096


class Algorithm(ctypes.Structure):
    """cublasLtMatmulAlgo_t."""

    _fields_ = (("data", ctypes.c_uint64 * 8),)


class Choice(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t: an algorithm, and the workspace in bytes that it needs."""

    _fields_ = (
        ("algorithm", Algorithm),
        ("workspace_nbytes", _SIZE),
        ("state", _INT),
        ("waves", ctypes.c_float),
        ("reserved", _INT * 4),
    )


_ATTRIBUTE = (_POINTER, _INT, _POINTER, _SIZE)  # owner, attribute, address of the value, its size
# Parameters of each function (cublasLt.h); all return a status.
PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "cublasLtCreate": (ctypes.POINTER(_POINTER),),
    "cublasLtMatmulDescCreate": (ctypes.POINTER(_POINTER), _INT, _INT),
    "cublasLtMatmulDescSetAttribute": _ATTRIBUTE,
    "cublasLtMatmulDescDestroy": (_POINTER,),
    "cublasLtMatrixLayoutCreate": (
        *(ctypes.POINTER(_POINTER), _INT, _UNSIGNED_LONG, _UNSIGNED_LONG, _LONG),
    ),
    "cublasLtMatrixLayoutDestroy": (_POINTER,),
    "cublasLtMatmulPreferenceCreate": (ctypes.POINTER(_POINTER),),
    "cublasLtMatmulPreferenceSetAttribute": _ATTRIBUTE,
    "cublasLtMatmulPreferenceDestroy": (_POINTER,),
    "cublasLtMatmulAlgoGetHeuristic": (
        *(_POINTER, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER),
        *(_INT, ctypes.POINTER(Choice), ctypes.POINTER(_INT)),
    ),
    "cublasLtMatmul": (
        *(_POINTER, _POINTER, _POINTER),  # handle, descriptor, alpha
        *(_POINTER, _POINTER, _POINTER, _POINTER, _POINTER),  # A, B with layouts, beta
        *(_POINTER, _POINTER, _POINTER, _POINTER),  # C, D with layouts
        *(ctypes.POINTER(Algorithm), _POINTER, _SIZE, _POINTER),  # workspace, stream
    ),
}


class Epilogue(IntEnum):
    """What follows a product, column-major; the vector is what is added, or the sums.

    A vector to add has an element for each row, BGRADB's sums of B one for each column.
    """

    RELU = 2
    BIAS = 4
    RELU_BIAS = 6
    BGRADB = 512

    @property
    def has_vector(self) -> bool:
        """Whether the epilogue reads or writes a vector."""
        return self is not Epilogue.RELU


class Problem(NamedTuple):
    """A product ``D = op(A) op(B)``, column-major, with an epilogue.

    Attributes:
        size: Rows of D, columns of D, and length of the reduced axis.
        operations: Of A and B: 0 for none, 1 to transpose.
        leads: Elements from one column to the next, of A, B and D.
        kind: cudaDataType of the elements of A and B.
        out_kind: cudaDataType of the elements of D and of the vector.
        compute: cublasComputeType.
        double: Whether the compute type is float64.
        alignment: Bytes, a power of two, that divide all addresses.
    """

    size: tuple[int, int, int]
    operations: tuple[int, int]
    leads: tuple[int, int, int]
    kind: int
    out_kind: int
    compute: int
    double: bool
    epilogue: Epilogue
    alignment: int


def alignment_of(*addresses: int) -> int:
    """Return the largest power of two up to `ALIGNMENT` that divides all addresses."""
    bits = ALIGNMENT
    for address in addresses:
        bits |= address
    return bits & -bits


class _Owned:
    """An object of the library, destroyed with this one."""

    __slots__ = ("_destroy", "raw")

    def __init__(self, library: "CuBLASLt", kind: str, *arguments: Any) -> None:
        self.raw = _POINTER()
        self._destroy: Any = None
        library.call(f"cublasLt{kind}Create", ctypes.byref(self.raw), *arguments)
        self._destroy = library.functions[f"cublasLt{kind}Destroy"]

    def __del__(self) -> None:
        if self._destroy is not None:
            self._destroy(self.raw)


class _Descriptor(_Owned):
    """The operation of a problem, with a vector at an address that each call sets."""

    __slots__ = ("_address", "_arguments", "_library")

    def __init__(self, library: "CuBLASLt", problem: Problem) -> None:
        super().__init__(library, "MatmulDesc", problem.compute, _REAL[problem.double])
        self._library = library
        left, right = problem.operations
        self._set(_TRANSPOSE_A, _INT(left))
        self._set(_TRANSPOSE_B, _INT(right))
        self._set(_EPILOGUE, _UNSIGNED(problem.epilogue))
        self._address = _POINTER()
        size = _SIZE(ctypes.sizeof(_POINTER))
        self._arguments = (self.raw, _INT(_VECTOR), ctypes.byref(self._address), size)
        if problem.epilogue.has_vector:
            self._set(_VECTOR_KIND, _INT(problem.out_kind))
            # Heuristics take the alignment of the vector from its address, and nothing else.
            self.point_to(problem.alignment)

    def _set(self, attribute: int, value: Any) -> None:
        self._library.call(
            "cublasLtMatmulDescSetAttribute",
            *(self.raw, attribute, ctypes.byref(value), ctypes.sizeof(value)),
        )

    def point_to(self, vector: int) -> None:
        """Set the address of the vector."""
        self._address.value = vector
        status = self._library.functions["cublasLtMatmulDescSetAttribute"](*self._arguments)
        if status:
            raise failure("cublasLtMatmulDescSetAttribute", status)


class _Layouts(NamedTuple):
    a: _Owned
    b: _Owned
    d: _Owned


class EpilogueProduct:
    """A product with an epilogue, bound to the stream of a handle.

    Thread-safe, as the module says.
    """

    __slots__ = (
        "_after_a",
        "_after_b",
        "_after_d",
        "_handle",
        "_idle",
        "_layouts",
        "_library",
        "_lt",
        "_problem",
    )

    def __init__(
        self, library: "CuBLASLt", lt: Any, handle: Handle, problem: Problem, choice: Choice
    ) -> None:
        self._library = library
        self._lt = lt
        self._handle = handle
        self._problem = problem
        self._layouts = layouts = library.layouts(problem)
        self._idle: deque[_Descriptor] = deque()
        address, nbytes = handle.workspace
        self._after_a = (layouts.a.raw,)
        self._after_b = (layouts.b.raw, scalar(0.0, problem.double))
        self._after_d = (
            *(layouts.d.raw, ctypes.pointer(choice.algorithm)),
            *(_POINTER(address), _SIZE(nbytes), _POINTER(handle.stream)),
        )

    def run(self, a: int, b: int, d: int, vector: int = 0) -> bool:
        """Compute D, from and to matrices at these addresses.

        Returns:
            False if the library does not support the call, which then has no effect.

        Raises:
            DeviceError: cuBLASLt reports a failure.
        """
        problem = self._problem
        try:
            descriptor = self._idle.pop()
        except IndexError:
            descriptor = _Descriptor(self._library, problem)
        if vector:
            descriptor.point_to(vector)
        matmul = self._library.functions["cublasLtMatmul"]
        with self._handle.lock:
            status = matmul(
                *(self._lt, descriptor.raw, scalar(1.0, problem.double), a, *self._after_a),
                *(b, *self._after_b, d, self._layouts.d.raw, d, *self._after_d),
            )
        self._idle.append(descriptor)
        if status and status != _NOT_SUPPORTED:
            raise failure("cublasLtMatmul", status)
        return not status


class CuBLASLt:
    """The loaded cuBLASLt library.

    Attributes:
        functions: The functions of `PROTOTYPES`, by name.
    """

    def __init__(self, library: Any) -> None:
        self.functions = {name: getattr(library, name) for name in PROTOTYPES}
        self._handles: dict[tuple[int, int], Any] = {}  # by process and device
        self._choices = Programs[Choice | Literal[False]](_MAX_ALGORITHMS)  # False for none

    def call(self, name: str, *args: Any) -> None:
        """Call a function of cuBLASLt, and check its status.

        Raises:
            DeviceError: The function reports a failure.
        """
        status = self.functions[name](*args)
        if status:
            raise failure(name, status)

    def bind(self, handle: Handle, problem: Problem) -> EpilogueProduct | None:
        """Return the product of a problem for the stream of a handle; None without an algorithm."""
        key = (os.getpid(), handle.device)
        lt = self._handles.get(key)
        if lt is None:
            lt = _POINTER()
            self.call("cublasLtCreate", ctypes.byref(lt))
            lt = self._handles.setdefault(key, lt)
        choice = self._choices.get((*key, problem))
        if choice is None:
            found = self._choose(lt, handle, problem)
            choice = self._choices.add((*key, problem), found or False)
        return EpilogueProduct(self, lt, handle, problem, choice) if choice else None

    def layouts(self, problem: Problem) -> _Layouts:
        """Return the layouts of A, B and D in memory."""
        rows, columns, inner = problem.size
        shapes = [(rows, inner), (inner, columns), (rows, columns)]
        made = []
        for shape, lead, flip, kind in zip(
            shapes,
            problem.leads,
            (*problem.operations, 0),
            (problem.kind, problem.kind, problem.out_kind),
            strict=True,
        ):
            extents = shape[::-1] if flip else shape
            made.append(_Owned(self, "MatrixLayout", kind, *extents, lead))
        return _Layouts(*made)

    def _choose(self, lt: Any, handle: Handle, problem: Problem) -> Choice | None:
        """Return the algorithm that cuBLASLt's heuristics prefer, or None."""
        preference = _Owned(self, "MatmulPreference")
        wanted: list[tuple[int, Any]] = [(_MAX_WORKSPACE, _UNSIGNED_LONG(handle.workspace[1]))]
        wanted += [(_SCHEMES, _UNSIGNED(_SCHEME))]
        wanted += [(attribute, _UNSIGNED(problem.alignment)) for attribute in _ALIGNMENTS]
        for attribute, value in wanted:
            self.call(
                "cublasLtMatmulPreferenceSetAttribute",
                *(preference.raw, attribute, ctypes.byref(value), ctypes.sizeof(value)),
            )
        descriptor, layouts = _Descriptor(self, problem), self.layouts(problem)
        choice, count = Choice(), _INT()
        status = self.functions["cublasLtMatmulAlgoGetHeuristic"](
            *(lt, descriptor.raw, layouts.a.raw, layouts.b.raw, layouts.d.raw, layouts.d.raw),
            *(preference.raw, 1, ctypes.byref(choice), ctypes.byref(count)),
        )
        return choice if not status and count.value and not choice.state else None


_opened: weakref.WeakKeyDictionary[ModuleType, CuBLASLt | None] = weakref.WeakKeyDictionary()


def adopt(xp: ModuleType, library: Any) -> None:
    """Use ``library`` instead of the installed cuBLASLt for arrays of the module ``xp``."""
    _opened[xp] = CuBLASLt(library)


def bind(xp: ModuleType, handle: Handle, problem: Problem) -> EpilogueProduct | None:
    """Return the product of a problem on a stream; None if separate kernels must compute it."""
    if xp not in _opened:
        _opened.setdefault(xp, _load(xp))
    library = _opened[xp]
    return None if library is None else library.bind(handle, problem)


def _load(xp: Any) -> CuBLASLt | None:
    """Load the installed library, and set the types of its functions; None without one."""
    try:
        library: Any = load("cublasLt", int(xp.cuda.runtime.runtimeGetVersion()) // 1000)
        for name, parameters in PROTOTYPES.items():
            function = getattr(library, name)
            function.argtypes, function.restype = parameters, ctypes.c_int
    except (AttributeError, DeviceError):
        return None
    return CuBLASLt(library)
