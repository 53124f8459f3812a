"""`mx.libinfo`: paths of MXNet's C library, which gluonish does not have."""

from typing import NoReturn

from gluonish.core.errors import MissingFileError, NotSupportedError
from gluonish.core.loading import load

__all__ = ["find_conf_path", "find_include_path", "find_lib_path"]


def find_lib_path(prefix: str = "libmxnet") -> list[str]:
    """Return the paths of MXNet's C library: an empty list.

    MXNet raises RuntimeError without a library; with an empty list, programs continue that only
    collect files to ship, or search for their own library next to MXNet's.

    Args:
        prefix: Start of the library's name.
    """
    return []


def find_include_path() -> NoReturn:
    """Not available: there are no C headers.

    Raises:
        NotSupportedError: Always; user-defined operators are written in Python.
    """
    raise NotSupportedError(
        "find_include_path: expected an operator written in Python (mx.operator.CustomOp), got "
        "a search for C headers, which gluonish does not have"
    )


def find_conf_path(prefix: str = "tvmop") -> NoReturn:
    """Not available, as in an MXNet that was built without TVM.

    Args:
        prefix: Start of the configuration's name.

    Raises:
        MissingFileError: Always.
    """
    raise MissingFileError(f"find_conf_path: expected a configuration of {prefix}, got none")


def __getattr__(name: str) -> str:
    """Return ``__version__``, the package's current version.

    Raises:
        AttributeError: The name is not ``__version__``.
    """
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    version: str = load("gluonish").__version__
    return version
