"""Names that MXNet programs import to call its C library, which gluonish does not have.

Converters to C types work, by `ctypes`. The library object has every function's name; a few that
copy arrays work (`gluonish.ndarray.c_functions`), and others raise an error that names the Python
alternative.
"""

import array
import ctypes
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from gluonish.core.errors import ArgumentTypeError, GluonishError, NotSupportedError

# Alternatives to functions of the library.
_ALTERNATIVES = {
    "MXGetGPUCount": "mx.context.num_gpus()",
    "MXGetVersion": "mx.__version__",
    "MXLoadLib": "mx.library.load",
    "MXNDArrayGetShape": "NDArray.shape",
    "MXNDArrayWaitToRead": "NDArray.wait_to_read()",
    "MXRandomSeed": "mx.random.seed()",
    "MXSetNumOMPThreads": "the environment variable OMP_NUM_THREADS",
    "MXStorageEmptyCache": "Context.empty_cache()",
    "MXSymbolSaveToJSON": "Symbol.tojson()",
}


class CFunction:
    """A function of MXNet's C library by name; calling it raises.

    Args:
        name: The function's name.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *args: object) -> NoReturn:
        """Raise NotSupportedError with the alternative, if there is a single one."""
        instead = _ALTERNATIVES.get(self.__name__, "the Python function that does the same")
        raise NotSupportedError(
            f"{self.__name__}: gluonish computes in Python and has no C library; use {instead}"
        )

    def __repr__(self) -> str:
        return f"<{self.__name__} of MXNet's C library, which gluonish does not have>"


class CLibrary:
    """Replacement for MXNet's C library: ``mx.base._LIB``.

    It has every function with a prefix of the library (``MX``, ``NN``), for programs that import or
    wrap them; a call of one that was not added by `provide` raises `NotSupportedError`.
    """

    def provide(self, **functions: Callable[..., int]) -> None:
        """Add implementations of functions, which return 0 for success."""
        vars(self).update(functions)

    def __getattr__(self, name: str) -> CFunction:
        if not name.startswith(("MX", "NN")):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return CFunction(name)


C_LIBRARY = CLibrary()


def check_call(ret: int | None) -> None:
    """Raise MXNetError unless the result of a C function is 0."""
    if ret:
        raise GluonishError(f"check_call: expected 0 from a C function, got {ret}")


class MXCallbackList(ctypes.Structure):
    """The C structure of callbacks for MXNet's library: number, functions, contexts."""

    _fields_ = (
        ("num_callbacks", ctypes.c_int),
        ("callbacks", ctypes.POINTER(ctypes.CFUNCTYPE(ctypes.c_int))),
        ("contexts", ctypes.POINTER(ctypes.c_void_p)),
    )


def c_str(string: str) -> ctypes.c_char_p:
    """Return text as a C string in UTF-8."""
    return ctypes.c_char_p(string.encode("utf-8"))


def c_str_array(strings: Iterable[str]) -> "ctypes.Array[ctypes.c_char_p]":
    """Return strings as a C array of C strings in UTF-8."""
    encoded = [string.encode("utf-8") for string in strings]
    return (ctypes.c_char_p * len(encoded))(*encoded)


def c_array(ctype: Any, values: Sequence[Any]) -> Any:
    """Return values as a C array.

    Args:
        ctype: Type of the elements, of `ctypes`.
    """
    return (ctype * len(values))(*values)


def c_array_buf(ctype: Any, buf: "array.array[Any]") -> Any:
    """Return a C array over the memory of an `array.array`.

    Args:
        ctype: Type of the elements, of `ctypes`.
        buf: The array; it stays alive and shares its memory.
    """
    return (ctype * len(buf)).from_buffer(buf)


def c_handle_array(objs: Sequence[Any]) -> Any:
    """Return a C array of the ``handle`` of each object.

    Args:
        objs: Objects with a handle of `ctypes`; arrays and Symbols of gluonish have none.

    Raises:
        NotSupportedError: An object has no handle.
    """
    try:
        return (ctypes.c_void_p * len(objs))(*[obj.handle for obj in objs])
    except (AttributeError, TypeError) as error:
        raise NotSupportedError(
            "c_handle_array: expected objects with a C handle, got some without: arrays and "
            "Symbols of gluonish are Python objects; pass them directly"
        ) from error


def ctypes2buffer(cptr: Any, length: int) -> bytearray:
    """Return a copy of C memory.

    Args:
        cptr: A pointer to chars.
        length: Number of bytes.

    Raises:
        ArgumentTypeError: ``cptr`` is not a pointer to chars.
    """
    _check_pointer("ctypes2buffer", cptr, ctypes.c_char)
    return bytearray(ctypes.string_at(cptr, length))


def ctypes2numpy_shared(cptr: Any, shape: tuple[int, ...]) -> Any:
    """Return a NumPy array over C memory, which must outlive it.

    Args:
        cptr: A pointer to floats.

    Raises:
        ArgumentTypeError: ``cptr`` is not a pointer to floats.
    """
    _check_pointer("ctypes2numpy_shared", cptr, ctypes.c_float)
    return np.ctypeslib.as_array(cptr, shape)


def _check_pointer(what: str, cptr: object, ctype: Any) -> None:
    pointer: Callable[[Any], Any] = ctypes.POINTER
    if not isinstance(cptr, pointer(ctype)):
        raise ArgumentTypeError(f"{what}: expected a pointer to {ctype.__name__}, got {cptr!r}")
