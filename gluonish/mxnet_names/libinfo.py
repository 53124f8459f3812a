"""`mx.libinfo`: where MXNet's C library lies. gluonish has none."""

import importlib
from typing import NoReturn

from gluonish.core.errors import MissingFileError, NotSupportedError

__all__ = ["find_conf_path", "find_include_path", "find_lib_path"]


def find_lib_path(prefix: str = "libmxnet") -> list[str]:
    """Return the paths of the C library: none.

    MXNet raises RuntimeError where it finds no library; programs that only list the files that
    they ship, or look for one of their own beside it, go on with an empty list.

    Args:
        prefix: What the library's name begins with.
    """
    return []


def find_include_path() -> NoReturn:
    """Refuse: there are no C headers to compile against.

    Raises:
        NotSupportedError: Always; operators of one's own are written in Python.
    """
    raise NotSupportedError(
        "find_include_path: expected an operator written in Python (mx.operator.CustomOp), got "
        "a search for C headers, which gluonish does not have"
    )


def find_conf_path(prefix: str = "tvmop") -> NoReturn:
    """Refuse, as MXNet does where it was built without TVM.

    Args:
        prefix: What the configuration's name begins with.

    Raises:
        MissingFileError: Always.
    """
    raise MissingFileError(f"find_conf_path: expected a configuration of {prefix}, got none")


def __getattr__(name: str) -> str:
    """Return ``__version__``, the package's under the name that it goes by.

    Raises:
        AttributeError: It is another name.
    """
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    version: str = importlib.import_module("gluonish").__version__
    return version
