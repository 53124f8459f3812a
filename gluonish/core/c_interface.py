"""What MXNet's programs import to call its C library, of which gluonish has none.

The types are those of `ctypes`, and what makes C strings and C arrays of Python's works. The
library itself is an object that has every function's name. A few that copy arrays do what they say
(`gluonish.ndarray.c_functions`); calling another raises, and says what to call in Python instead.
"""

import array
import ctypes
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from gluonish.core.errors import ArgumentTypeError, GluonishError, NotSupportedError

# What a program calls instead of a function of the library.
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
        """Refuse.

        Raises:
            NotSupportedError: Always; it names what to call instead, where there is one function.
        """
        instead = _ALTERNATIVES.get(self.__name__, "the Python function that does the same")
        raise NotSupportedError(
            f"{self.__name__}: gluonish computes in Python and has no C library; use {instead}"
        )

    def __repr__(self) -> str:
        return f"<{self.__name__} of MXNet's C library, which gluonish does without>"


class CLibrary:
    """Stands where MXNet has its C library: ``mx.base._LIB``.

    It has each function that begins as those of the library do (``MX``, ``NN``), for programs that
    import or wrap them; calling one that `provide` was not given raises `NotSupportedError`.
    """

    def provide(self, **functions: Callable[..., int]) -> None:
        """Do what some functions do.

        Args:
            **functions: By name; each returns 0, as those of the library do.
        """
        vars(self).update(functions)

    def __getattr__(self, name: str) -> CFunction:
        if not name.startswith(("MX", "NN")):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return CFunction(name)


C_LIBRARY = CLibrary()


def check_call(ret: int | None) -> None:
    """Check what a function of a C library returned: 0 for success.

    Raises:
        MXNetError: It is another number.
    """
    if ret:
        raise GluonishError(f"check_call: expected 0 from a C function, got {ret}")


class MXCallbackList(ctypes.Structure):
    """The C structure that tells MXNet's library of callbacks: their number, them, their data."""

    _fields_ = (
        ("num_callbacks", ctypes.c_int),
        ("callbacks", ctypes.POINTER(ctypes.CFUNCTYPE(ctypes.c_int))),
        ("contexts", ctypes.POINTER(ctypes.c_void_p)),
    )


def c_str(string: str) -> ctypes.c_char_p:
    """Return text as a C string in UTF-8."""
    return ctypes.c_char_p(string.encode("utf-8"))


def c_str_array(strings: Iterable[str]) -> "ctypes.Array[ctypes.c_char_p]":
    """Return texts as a C array of C strings in UTF-8."""
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
        NotSupportedError: One has no handle.
    """
    try:
        return (ctypes.c_void_p * len(objs))(*[obj.handle for obj in objs])
    except (AttributeError, TypeError) as error:
        raise NotSupportedError(
            "c_handle_array: expected objects with a C handle, got some without: arrays and "
            "Symbols of gluonish are Python objects; pass them on as they are"
        ) from error


def ctypes2buffer(cptr: Any, length: int) -> bytearray:
    """Return a copy of C memory.

    Args:
        cptr: Where it begins: a pointer to chars.
        length: How many bytes.

    Raises:
        ArgumentTypeError: ``cptr`` is no pointer to chars.
    """
    _check_pointer("ctypes2buffer", cptr, ctypes.c_char)
    return bytearray(ctypes.string_at(cptr, length))


def ctypes2numpy_shared(cptr: Any, shape: tuple[int, ...]) -> Any:
    """Return a NumPy array over C memory, which must outlive it.

    Args:
        cptr: Where it begins: a pointer to floats.

    Raises:
        ArgumentTypeError: ``cptr`` is no pointer to floats.
    """
    _check_pointer("ctypes2numpy_shared", cptr, ctypes.c_float)
    return np.ctypeslib.as_array(cptr, shape)


def _check_pointer(what: str, cptr: object, ctype: Any) -> None:
    pointer: Callable[[Any], Any] = ctypes.POINTER
    if not isinstance(cptr, pointer(ctype)):
        raise ArgumentTypeError(f"{what}: expected a pointer to {ctype.__name__}, got {cptr!r}")
