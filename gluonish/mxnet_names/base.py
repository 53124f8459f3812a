"""`mx.base`: errors, types of Python values, C types.

gluonish has no C library. `_LIB` and handles exist for programs that import them; calling a
function of the library raises an error with advice, except for a few functions that copy arrays.
"""

import ctypes
import os
import re
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from gluonish.core.c_interface import C_LIBRARY as _LIB  # programs import it
from gluonish.core.c_interface import (
    MXCallbackList,
    c_array,
    c_array_buf,
    c_handle_array,
    c_str,
    c_str_array,
    check_call,
    ctypes2buffer,
    ctypes2numpy_shared,
)
from gluonish.core.class_property import ClassPropertyMeta as _MXClassPropertyMetaClass  # noqa: F401  # programs import it
from gluonish.core.class_property import classproperty
from gluonish.core.config import MXNET_HOME
from gluonish.core.errors import GluonishError as MXNetError
from gluonish.core.errors import (
    NotImplementedForSymbol,
    NotSupportedError,
    NotSupportedForSparseNDArray,
)
from gluonish.core.internal_error import InternalError, register_error
from gluonish.core.schema import NULL as _Null  # noqa: F401  # programs import it
from gluonish.core.schema import NullType as _NullType  # noqa: F401  # programs import it
from gluonish.ndarray.c_functions import copy_from_memory, copy_to_memory, wait_for_all
from gluonish.ndarray.mxnet_numbers import integer_types

__all__ = [
    "CachedOpHandle",
    "CudaKernelHandle",
    "CudaModuleHandle",
    "DLPackHandle",
    "DataIterCreatorHandle",
    "DataIterHandle",
    "ExecutorHandle",
    "FunctionHandle",
    "KVStoreHandle",
    "MXCallbackList",
    "MXNetError",
    "NDArrayHandle",
    "NotImplementedForSymbol",
    "NotSupportedForSparseNDArray",
    "OpHandle",
    "ProfileHandle",
    "RecordIOHandle",
    "RtcHandle",
    "SymbolHandle",
    "basestring",
    "build_param_doc",
    "c2pyerror",
    "c_array",
    "c_array_buf",
    "c_handle_array",
    "c_str",
    "c_str_array",
    "check_call",
    "classproperty",
    "ctypes2buffer",
    "ctypes2numpy_shared",
    "data_dir",
    "data_dir_default",
    "error_types",
    "get_last_ffi_error",
    "integer_types",
    "long",
    "mx_float",
    "mx_float_p",
    "mx_int",
    "mx_int64",
    "mx_real_t",
    "mx_uint",
    "numeric_types",
    "py_str",
    "register_error",
    "string_types",
    "with_metaclass",
]

_LIB.provide(
    MXNDArraySyncCopyToCPU=copy_to_memory,
    MXNDArraySyncCopyFromCPU=copy_from_memory,
    MXNDArrayWaitAll=wait_for_all,
)

# Types of Python values, from the time of Python 2.
basestring = str
long = int
string_types = (str,)
numeric_types = (float, int, np.generic)

mx_int = ctypes.c_int
mx_uint = ctypes.c_uint
mx_int64 = ctypes.c_int64
mx_float = ctypes.c_float
mx_float_p = ctypes.POINTER(ctypes.c_float)
mx_real_t = np.float32

# Types of C handles, which gluonish's objects do not have.
NDArrayHandle = ctypes.c_void_p
FunctionHandle = ctypes.c_void_p
OpHandle = ctypes.c_void_p
CachedOpHandle = ctypes.c_void_p
SymbolHandle = ctypes.c_void_p
ExecutorHandle = ctypes.c_void_p
DataIterCreatorHandle = ctypes.c_void_p
DataIterHandle = ctypes.c_void_p
KVStoreHandle = ctypes.c_void_p
RecordIOHandle = ctypes.c_void_p
RtcHandle = ctypes.c_void_p
CudaModuleHandle = ctypes.c_void_p
CudaKernelHandle = ctypes.c_void_p
ProfileHandle = ctypes.c_void_p
DLPackHandle = ctypes.c_void_p

error_types: dict[str, type[BaseException]] = {
    "AttributeError": AttributeError,
    "IndexError": IndexError,
    "InternalError": InternalError,
    "NotImplementedError": NotImplementedError,
    "NotImplementedForSymbol": NotImplementedForSymbol,
    "TypeError": TypeError,
    "ValueError": ValueError,
}


def py_str(x: bytes | str) -> str:
    """Decode text to a str.

    Args:
        x: UTF-8 bytes, or a str, which is returned unchanged.
    """
    return x.decode("utf-8") if isinstance(x, bytes) else x


def data_dir_default() -> str:
    """Return the default folder of data and weights, used unless ``MXNET_HOME`` is set."""
    return os.path.join(os.path.expanduser("~"), ".mxnet")


def data_dir() -> str:
    """Return the folder of data and weights: ``MXNET_HOME``, or its default."""
    return str(MXNET_HOME.value)


def with_metaclass(meta: type, *bases: type) -> type:
    """Return a base class with a metaclass.

    Args:
        meta: The metaclass.
        *bases: Further base classes of the subclasses.
    """
    made: type = meta("temporary_class", bases, {})
    return made


def build_param_doc(
    arg_names: Iterable[str],
    arg_types: Iterable[str],
    arg_descs: Iterable[str],
    remove_dup: bool = True,
) -> str:
    """Return the "Parameters" section of a docstring, in NumPy's style.

    Args:
        arg_names: Names of the arguments.
        arg_types: Type of each argument, as text.
        arg_descs: Description of each argument; may be empty.
        remove_dup: Whether to leave out repeated names.
    """
    seen: set[str] = set()
    lines = []
    for name, kind, description in zip(arg_names, arg_types, arg_descs, strict=True):
        if name in seen and remove_dup:
            continue
        seen.add(name)
        lines.append(f"{name} : {kind}" + (f"\n    {description}" if description else ""))
    return "Parameters\n----------\n" + "\n".join(lines) + "\n"


def c2pyerror(err_msg: str) -> tuple[str, str | None]:
    """Split a C library's error message into the message and the name of a Python error.

    Args:
        err_msg: The message; ``"ValueError: text"`` names ``ValueError``.
    """
    match = re.match(r"\s*([A-Za-z_][\w.]*):", err_msg)
    return err_msg, match[1] if match else None


def get_last_ffi_error() -> NoReturn:
    """Not available: there is no C library with a last error.

    Raises:
        NotSupportedError: Always.
    """
    raise NotSupportedError(
        "get_last_ffi_error: expected an error of a C library, which gluonish does not have; its "
        "errors are raised directly"
    )


def _as_list(obj: Any) -> Any:
    """Return a list or tuple unchanged; wrap anything else in a list."""
    return obj if isinstance(obj, list | tuple) else [obj]
