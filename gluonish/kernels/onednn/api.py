"""oneDNN's library, its C functions with their prototypes, and its constants.

The wheel ``onednn-cpu-gomp`` installs it next to the folder of the Python version, as in
``lib/libdnnl.so.3`` and ``lib/python3.11/site-packages``. Package metadata would give the same
path, but importing ``importlib.metadata`` takes 15 ms. A user may name another build of oneDNN 3.

No header is needed at run time. The tests compare the enumerations with the names that the library
prints for them. Functions that compute are called through ``CDLL``, which releases the GIL. Short
functions that only store a pointer are called through ``PyDLL``, which holds it: releasing the GIL
would cost more than the call.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple, cast

from gluonish.core.errors import GluonishError
from gluonish.core.finalizer import Finalizer, keep
from gluonish.ops.kernel import RefusedError

_WHEEL = "onednn-cpu-gomp"
_FILE_NAME = "libdnnl.so.3"


class Location(NamedTuple):
    """The path of the library; or None, and the reason why it was not found."""

    path: str | None
    reason: str


def locate(path: str | None = None) -> Location:
    """Find the library file.

    Args:
        path: The file; None searches where the wheel would install it, relative to the folders of
            packages in ``sys.path`` and to the interpreter's prefix.
    """
    if path is not None:
        if Path(path).is_file():
            return Location(path, "")
        return Location(None, f"no such file: {path}")
    for candidate in _candidates():
        if os.path.isfile(candidate):  # false without permission to read the folder
            return Location(str(candidate), "")
    return Location(None, f"no {_FILE_NAME} in the interpreter's prefix; pip install {_WHEEL}")


def _candidates() -> Iterator[Path]:
    for entry in sys.path:
        packages = Path(entry)
        if packages.name in ("site-packages", "dist-packages"):
            yield packages.parents[1] / _FILE_NAME
    yield Path(sys.prefix) / "lib" / _FILE_NAME


_H = ctypes.c_void_p
_I = ctypes.c_int
_F = ctypes.c_float
_U = ctypes.c_uint
_L = ctypes.c_int64
_D = ctypes.POINTER(ctypes.c_int64)
_HP = ctypes.POINTER(ctypes.c_void_p)
_FP = ctypes.POINTER(ctypes.c_float)

# The pointer to the new handle, the engine, ..., for a backward the forward's primitive descriptor,
# and the attributes.
PRIMITIVES: dict[str, tuple[Any, ...]] = {
    "dnnl_deconvolution_forward_primitive_desc_create": (
        *(_HP, _H, _I, _I, _H, _H, _H, _H, _D, _D, _D, _D, _H),
    ),
    "dnnl_eltwise_forward_primitive_desc_create": (_HP, _H, _I, _I, _H, _H, _F, _F, _H),
    "dnnl_eltwise_backward_primitive_desc_create": (_HP, _H, _I, _H, _H, _H, _F, _F, _H, _H),
    "dnnl_softmax_forward_primitive_desc_create": (_HP, _H, _I, _I, _H, _H, _I, _H),
    "dnnl_softmax_backward_primitive_desc_create": (_HP, _H, _I, _H, _H, _H, _I, _H, _H),
    "dnnl_layer_normalization_forward_primitive_desc_create": (
        *(_HP, _H, _I, _H, _H, _H, _F, _U, _H),
    ),
    "dnnl_layer_normalization_backward_primitive_desc_create": (
        *(_HP, _H, _I, _H, _H, _H, _H, _F, _U, _H, _H),
    ),
    "dnnl_lrn_forward_primitive_desc_create": (_HP, _H, _I, _I, _H, _H, _L, _F, _F, _F, _H),
    "dnnl_lrn_backward_primitive_desc_create": (_HP, _H, _I, _H, _H, _H, _L, _F, _F, _F, _H, _H),
    "dnnl_prelu_forward_primitive_desc_create": (_HP, _H, _I, _H, _H, _H, _H),
    "dnnl_prelu_backward_primitive_desc_create": (_HP, _H, _H, _H, _H, _H, _H, _H, _H),
    "dnnl_resampling_forward_primitive_desc_create": (_HP, _H, _I, _I, _FP, _H, _H, _H),
    "dnnl_resampling_backward_primitive_desc_create": (_HP, _H, _I, _FP, _H, _H, _H, _H),
    "dnnl_binary_primitive_desc_create": (_HP, _H, _I, _H, _H, _H, _H),
    "dnnl_reduction_primitive_desc_create": (_HP, _H, _I, _H, _H, _F, _F, _H),
    "dnnl_concat_primitive_desc_create": (_HP, _H, _H, _I, _I, _HP, _H),
    "dnnl_sum_primitive_desc_create": (_HP, _H, _H, _I, _FP, _HP, _H),
}


_MAX_DIMS = 12
_CPU = 1
_DEFAULT_STREAM = 1
_USER_SCRATCHPAD = 1
# Invalid arguments, and not implemented: the statuses for primitives that the library lacks.
_REFUSALS = (2, 3)
# Bits of ``dnnl_cpu_isa_t``: AVX-VNNI and AVX512-VNNI.
_VNNI = 0x08 | 0x40
_POST_OP = 32768  # DNNL_ARG_ATTR_MULTIPLE_POST_OP_BASE


class OneDNNError(GluonishError, RuntimeError):
    """Raised when the oneDNN library is missing, or reports a failure."""


class DataType(IntEnum):
    """The enumeration ``dnnl_data_type_t``."""

    F16 = 1
    BF16 = 2
    F32 = 3
    S32 = 4
    S8 = 5
    U8 = 6


class PropagationKind(IntEnum):
    """The enumeration ``dnnl_prop_kind_t``."""

    FORWARD_TRAINING = 64
    FORWARD_INFERENCE = 96
    BACKWARD = 128
    BACKWARD_DATA = 160
    BACKWARD_WEIGHTS = 192


class AlgorithmKind(IntEnum):
    """The enumeration ``dnnl_alg_kind_t``."""

    CONVOLUTION_DIRECT = 1
    DECONVOLUTION_DIRECT = 10
    ELTWISE_RELU = 0x20
    ELTWISE_TANH = 0x21
    ELTWISE_ELU = 0x22
    ELTWISE_SQUARE = 0x23
    ELTWISE_ABS = 0x24
    ELTWISE_SQRT = 0x25
    ELTWISE_LINEAR = 0x26
    ELTWISE_SOFT_RELU = 0x27
    ELTWISE_HARDSIGMOID = 0x28
    ELTWISE_LOGISTIC = 0x29
    ELTWISE_EXP = 0x2A
    ELTWISE_GELU_TANH = 0x2B
    ELTWISE_SWISH = 0x2C
    ELTWISE_LOG = 0x2D
    ELTWISE_CLIP = 0x2E
    ELTWISE_POW = 0x30
    ELTWISE_GELU_ERF = 0x31
    ELTWISE_MISH = 0x33
    ELTWISE_RELU_USE_DST_FOR_BWD = 0x100
    POOLING_MAX = 0x1FF
    POOLING_AVG_INCLUDE_PADDING = 0x2FF
    POOLING_AVG_EXCLUDE_PADDING = 0x3FF
    LRN_ACROSS_CHANNELS = 0xAFF
    BINARY_ADD = 0x1FFF0
    BINARY_MUL = 0x1FFF1
    BINARY_MAX = 0x1FFF2
    BINARY_MIN = 0x1FFF3
    BINARY_DIV = 0x1FFF4
    BINARY_SUB = 0x1FFF5
    RESAMPLING_NEAREST = 0x2FFF0
    RESAMPLING_LINEAR = 0x2FFF1
    REDUCTION_MAX = 0x2FFF2
    REDUCTION_MIN = 0x2FFF3
    REDUCTION_SUM = 0x2FFF4
    REDUCTION_MEAN = 0x2FFF6
    SOFTMAX_ACCURATE = 0x30000
    SOFTMAX_LOG = 0x30001


class NormalizationFlag(IntEnum):
    """The enumeration ``dnnl_normalization_flags_t``; flags are combined by bitwise or."""

    USE_GLOBAL_STATS = 1
    USE_SCALE = 2
    USE_SHIFT = 4
    FUSE_RELU = 8


class Query(IntEnum):
    """The enumeration ``dnnl_query_t``: what to query a primitive descriptor for."""

    IMPLEMENTATION = 8
    ARGUMENT_DESCRIPTOR = 255


class Argument(IntEnum):
    """The constants ``DNNL_ARG_*``: the role of a memory object when a primitive runs."""

    SRC = 1
    SRC_1 = 2
    DST = 17
    WEIGHTS = 33
    BIAS = 41
    MEAN = 49
    VARIANCE = 50
    SCALE = 51
    SHIFT = 52
    WORKSPACE = 64
    SCRATCHPAD = 80
    DIFF_SRC = 129
    DIFF_DST = 145
    DIFF_WEIGHTS = 161
    DIFF_BIAS = 169
    DIFF_SCALE = 255
    DIFF_SHIFT = 256
    MULTIPLE_SRC = 1024
    POST_OP_SRC = 32768 | 2  # the second array of the first post-op


def post_op_source(index: int) -> Argument:
    """Return the role of the second array of the post-op at ``index``."""
    return cast(Argument, Argument.POST_OP_SRC + index * _POST_OP)


class ExecArgument(ctypes.Structure):
    """The struct ``dnnl_exec_arg_t``: a role and its memory object."""

    _fields_ = [("argument", ctypes.c_int), ("memory", ctypes.c_void_p)]


class _Release(Finalizer):
    """Frees a handle when its owner is destroyed: the callback is the library's function, and
    ctypes passes it ``_as_parameter_``."""

    __slots__ = ("_as_parameter_",)

    _as_parameter_: ctypes.c_void_p


class _Version(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("patch", ctypes.c_int),
        ("hash", ctypes.c_char_p),
        ("cpu_runtime", ctypes.c_uint),
        ("gpu_runtime", ctypes.c_uint),
    ]


# Functions that return a status.
_PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "dnnl_engine_create": (_HP, _I, ctypes.c_size_t),
    "dnnl_stream_create": (_HP, _H, ctypes.c_uint),
    "dnnl_stream_destroy": (_H,),
    "dnnl_primitive_attr_create": (_HP,),
    "dnnl_primitive_attr_set_scratchpad_mode": (_H, _I),
    "dnnl_primitive_attr_set_post_ops": (_H, _H),
    "dnnl_primitive_attr_set_scales_mask": (_H, _I, _I),
    "dnnl_primitive_attr_destroy": (_H,),
    "dnnl_post_ops_create": (_HP,),
    "dnnl_post_ops_destroy": (_H,),
    "dnnl_post_ops_append_sum": (_H, ctypes.c_float, ctypes.c_int32, _I),
    "dnnl_post_ops_append_eltwise": (_H, _I, ctypes.c_float, ctypes.c_float),
    "dnnl_post_ops_append_binary": (_H, _I, _H),
    "dnnl_memory_desc_create_with_strides": (_HP, _I, _D, _I, _D),
    "dnnl_memory_desc_create_with_tag": (_HP, _I, _D, _I, _I),
    "dnnl_memory_desc_clone": (_HP, _H),
    "dnnl_memory_desc_destroy": (_H,),
    "dnnl_memory_create": (_HP, _H, _H, _H),
    "dnnl_memory_destroy": (_H,),
    "dnnl_primitive_desc_query": (_H, _I, _I, _H),
    "dnnl_primitive_desc_destroy": (_H,),
    "dnnl_primitive_create": (_HP, _H),
    "dnnl_primitive_destroy": (_H,),
    "dnnl_set_primitive_cache_capacity": (_I,),
    "dnnl_reorder_primitive_desc_create": (_HP, _H, _H, _H, _H, _H),
    "dnnl_convolution_forward_primitive_desc_create": (
        *(_HP, _H, _I, _I, _H, _H, _H, _H, _D, _D, _D, _D, _H),
    ),
    "dnnl_convolution_backward_data_primitive_desc_create": (
        *(_HP, _H, _I, _H, _H, _H, _D, _D, _D, _D, _H, _H),
    ),
    "dnnl_convolution_backward_weights_primitive_desc_create": (
        *(_HP, _H, _I, _H, _H, _H, _H, _D, _D, _D, _D, _H, _H),
    ),
    "dnnl_pooling_forward_primitive_desc_create": (
        *(_HP, _H, _I, _I, _H, _H, _D, _D, _D, _D, _D, _H),
    ),
    "dnnl_pooling_backward_primitive_desc_create": (
        *(_HP, _H, _I, _H, _H, _D, _D, _D, _D, _D, _H, _H),
    ),
    "dnnl_inner_product_forward_primitive_desc_create": (_HP, _H, _I, _H, _H, _H, _H, _H),
    "dnnl_inner_product_backward_data_primitive_desc_create": (_HP, _H, _H, _H, _H, _H, _H),
    "dnnl_inner_product_backward_weights_primitive_desc_create": (
        *(_HP, _H, _H, _H, _H, _H, _H, _H),
    ),
    "dnnl_matmul_primitive_desc_create": (_HP, _H, _H, _H, _H, _H, _H),
    "dnnl_sgemm": (
        *(ctypes.c_char, ctypes.c_char, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64),
        *(ctypes.c_float, _H, ctypes.c_int64, _H, ctypes.c_int64),
        *(ctypes.c_float, _H, ctypes.c_int64),
    ),
    "dnnl_batch_normalization_forward_primitive_desc_create": (
        *(_HP, _H, _I, _H, _H, ctypes.c_float, ctypes.c_uint, _H),
    ),
    "dnnl_batch_normalization_backward_primitive_desc_create": (
        *(_HP, _H, _I, _H, _H, _H, ctypes.c_float, ctypes.c_uint, _H, _H),
    ),
    **PRIMITIVES,
}


def dims(values: tuple[int, ...]) -> Any:
    """Convert ``values`` to a ``dnnl_dims_t``."""
    return (ctypes.c_int64 * _MAX_DIMS)(*values)


class Api:
    """The C functions of a loaded oneDNN library.

    Args:
        path: The shared library's file.

    Attributes:
        execute: ``dnnl_primitive_execute``.
        execute_address: Address of that function, for generated code.
        limit_address: Address of ``omp_set_num_threads``; 0 without OpenMP.
        exact_int8: Whether products of 8 bits are added in 32 bits. Without VNNI the library adds
            pairs of them in 16 bits, which saturate: up to 255 * 127 * 2 becomes 32767.

    Raises:
        OneDNNError: The file cannot be loaded, is not oneDNN, or is not version 3.
    """

    def __init__(self, path: str) -> None:
        try:
            self._library = ctypes.CDLL(path)
            quick = ctypes.PyDLL(path)
            self._library.dnnl_version.restype = ctypes.POINTER(_Version)
            found = self._library.dnnl_version().contents
            self.version = (found.major, found.minor, found.patch)
            self._functions = {name: self._bind(name, args) for name, args in _PROTOTYPES.items()}
        except (OSError, AttributeError) as error:
            raise OneDNNError(f"oneDNN: expected a oneDNN 3 library, got {path}: {error}") from None
        if self.version[0] != 3:
            shown = ".".join(map(str, self.version))
            raise OneDNNError(f"oneDNN: expected version 3, got {shown} in {path}")
        self.path = path
        self._status_name = self._library.dnnl_status2str
        self._status_name.restype = ctypes.c_char_p
        self._descriptor_query = self._library.dnnl_primitive_desc_query_md
        self._descriptor_query.argtypes, self._descriptor_query.restype = (_H, _I, _I), _H
        self._descriptor_nbytes = self._library.dnnl_memory_desc_get_size
        self._descriptor_nbytes.argtypes, self._descriptor_nbytes.restype = (_H,), ctypes.c_size_t
        self._descriptor_equal = self._library.dnnl_memory_desc_equal
        self._descriptor_equal.argtypes = (_H, _H)
        self.exact_int8 = bool(self._library.dnnl_get_effective_cpu_isa() & _VNNI)
        execute_types = (_H, _H, _I, ctypes.POINTER(ExecArgument))
        execute = self._bind("dnnl_primitive_execute", execute_types)
        self.execute: Callable[..., int] = execute
        self.execute_address = ctypes.cast(execute, ctypes.c_void_p).value or 0
        self.wait: Callable[..., int] = self._bind("dnnl_stream_wait", (_H,))
        self.set_data_handle: Callable[..., int] = quick.dnnl_memory_set_data_handle
        quick.dnnl_memory_set_data_handle.argtypes = (_H, _H)
        self._max_threads: Callable[[], int] = getattr(quick, "omp_get_max_threads", lambda: 1)
        self._limit_threads: Callable[[int], Any] = getattr(
            quick, "omp_set_num_threads", lambda _count: None
        )
        limit = getattr(quick, "omp_set_num_threads", None)
        self.limit_address = ctypes.cast(limit, ctypes.c_void_p).value or 0 if limit else 0

    def _bind(self, name: str, argument_types: tuple[Any, ...]) -> Any:
        function = getattr(self._library, name)
        function.argtypes, function.restype = argument_types, ctypes.c_int
        return function

    def check(self, status: int, operation: str) -> None:
        """Raise an error unless ``status`` is success.

        Raises:
            RefusedError: The library does not support the operation.
            OneDNNError: The call failed.
        """
        if status:
            name = self._status_name(status).decode()
            message = f"oneDNN: expected {operation} to succeed, got {name!r}"
            if status in _REFUSALS:
                raise RefusedError(message)
            raise OneDNNError(f"{message}; MXNET_MKLDNN_ENABLED=0 switches the library off")

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function and check the status that it returns."""
        self.check(self._functions[name](*arguments), name)

    def create(self, owner: object, destroy: str, name: str, *arguments: Any) -> int:
        """Call a function that stores a new handle through its first argument; return the handle.

        Args:
            owner: The handle is freed when this object is destroyed. The finalizer is registered
                before the call, so that no interrupt leaks the handle; freeing null is allowed.
            destroy: The function that frees the handle.
            *arguments: Arguments of the function after the first.
        """
        handle = ctypes.c_void_p()
        release = _Release(owner, self._functions[destroy])
        release._as_parameter_ = handle
        keep(release, owner)
        self.call(name, ctypes.byref(handle), *arguments)
        return handle.value or 0

    def create_engine(self) -> int:
        """Create the CPU engine; it lives as long as the process."""
        handle = ctypes.c_void_p()
        self.call("dnnl_engine_create", ctypes.byref(handle), _CPU, 0)
        return handle.value or 0

    def create_stream(self, owner: object, engine: int) -> int:
        """Create a stream that runs primitives in order; freed with its owner."""
        names = ("dnnl_stream_destroy", "dnnl_stream_create")
        return self.create(owner, *names, engine, _DEFAULT_STREAM)

    def create_attributes(self, owner: object) -> int:
        """Create primitive attributes for a scratchpad of the caller's; freed with their owner."""
        handle = self.create(owner, "dnnl_primitive_attr_destroy", "dnnl_primitive_attr_create")
        self.call("dnnl_primitive_attr_set_scratchpad_mode", handle, _USER_SCRATCHPAD)
        return handle

    def create_post_ops(self, owner: object) -> int:
        """Create an empty list of post-ops; freed with its owner."""
        return self.create(owner, "dnnl_post_ops_destroy", "dnnl_post_ops_create")

    def argument_descriptor(self, primitive_descriptor: int, argument: int) -> int:
        """Return the layout that a primitive requires for an argument; 0 without the argument."""
        query = Query.ARGUMENT_DESCRIPTOR
        return self._descriptor_query(primitive_descriptor, query, argument) or 0

    def implementation(self, primitive_descriptor: int) -> str:
        """Return the library's name for a primitive's implementation."""
        name = ctypes.c_char_p()
        pointer = ctypes.cast(ctypes.byref(name), ctypes.c_void_p)
        self.call(
            "dnnl_primitive_desc_query", primitive_descriptor, Query.IMPLEMENTATION, 0, pointer
        )
        return (name.value or b"").decode()

    def descriptor_nbytes(self, descriptor: int) -> int:
        """Return the size in bytes of data in this layout, including padding."""
        return int(self._descriptor_nbytes(descriptor))

    def descriptors_equal(self, left: int, right: int) -> bool:
        """Whether two layouts are equal, so that no reorder is needed."""
        return bool(self._descriptor_equal(left, right))

    def name_of(self, function: str, value: int) -> str:
        """Return the library's name for an enumeration value, from one of its ``dnnl_*2str``."""
        printer = getattr(self._library, function)
        printer.restype = ctypes.c_char_p
        return str(printer(value).decode())

    def limit_primitives(self, count: int) -> None:
        """Set the capacity of the library's process-wide cache of primitives."""
        self.call("dnnl_set_primitive_cache_capacity", count)

    def max_threads(self) -> int:
        """Return how many threads a primitive called from this thread uses; 1 without OpenMP."""
        return self._max_threads()

    def limit_threads(self, count: int) -> None:
        """Set how many threads primitives called from this thread use."""
        self._limit_threads(count)
