"""`mx.library`: loading compiled operators, replaced by operators in Python."""

import os

from gluonish.core.errors import ArgumentError, MissingFileError, NotSupportedError
from gluonish.core.files import path_text
from gluonish.core.object_repr import default_repr

__all__ = ["MXlib", "compiled_with_gcc_cxx11_abi", "load", "loaded_libs"]

_SUFFIXES = (".so", ".dll", ".dylib")


# Libraries that `load` loaded: none, as it refuses all.
loaded_libs: list["MXlib"] = []


class MXlib:
    """A loaded library; for programs that check the class.

    Args:
        handle: The library's handle.
    """

    def __init__(self, handle: object) -> None:
        self.handle = handle

    __repr__ = default_repr


def compiled_with_gcc_cxx11_abi() -> int:
    """Return 1, the value of current compilers, for programs that build libraries for MXNet."""
    return 1


def load(path: str, verbose: bool = True) -> None:
    """Not available: libraries of compiled operators need MXNet's C interface.

    The error describes the alternative.

    Args:
        path: Path of the library.
        verbose: Accepted for MXNet's programs.

    Raises:
        MissingFileError: The file does not exist.
        ArgumentError: The file is not a library.
        NotSupportedError: The file is a library.
    """
    path = path_text(path, "library.load")
    if not os.path.exists(path):
        raise MissingFileError(f"library.load: expected a library, got no file {path!r}")
    if not path.endswith(_SUFFIXES):
        raise ArgumentError(f"library.load: expected a library, got the file {path!r}")
    raise NotSupportedError(
        f"library.load: expected operators written in Python, got the compiled {path!r}; write "
        "them as mx.operator.CustomOp, which runs eagerly, in graphs and in Symbols, with "
        "llvmlite for speed"
    )
