"""Loading compiled operators: `mx.library`, which gluonish replaces by operators in Python."""

import os

from gluonish.core.errors import ArgumentError, MissingFileError, NotSupportedError

__all__ = ["load"]

_SUFFIXES = (".so", ".dll", ".dylib")


def load(path: str, verbose: bool = True) -> None:
    """Refuse to load a library of compiled operators, and say what does the same here.

    MXNet's libraries are compiled against its own C interface, which gluonish does not have.

    Args:
        path: The library.
        verbose: As in MXNet, where it prints what was loaded.

    Raises:
        MissingFileError: There is no such file.
        ArgumentError: The file is no library.
        NotSupportedError: It is one.
    """
    if not os.path.exists(path):
        raise MissingFileError(f"library.load: expected a library, got no file {path!r}")
    if not path.endswith(_SUFFIXES):
        raise ArgumentError(f"library.load: expected a library, got the file {path!r}")
    raise NotSupportedError(
        f"library.load: expected operators written in Python, got the compiled {path!r}; write "
        "them as mx.operator.CustomOp, which runs eagerly, in graphs and in Symbols, with "
        "numba for speed"
    )
