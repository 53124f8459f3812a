"""Every error that gluonish raises on purpose.

All derive from `GluonishError`, which programs written for MXNet know as `MXNetError`, and each
also from the built-in class that a Python reader expects, so that ``except ValueError`` keeps
working. Arguments, files and devices are what MXNet checks with assert in most places, and programs
catch that: their errors are AssertionErrors, too.
"""

import heapq
import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import ClassVar

from gluonish.core.loading import load

__all__ = [
    "RUN_ERRORS",
    "ArgumentError",
    "ArgumentTypeError",
    "AutogradError",
    "ConfigError",
    "DeferredInitializationError",
    "DeviceError",
    "DistributedError",
    "DownloadError",
    "DtypeError",
    "DynamicShapeError",
    "FileFormatError",
    "FolderPathError",
    "GluonishError",
    "GraphError",
    "KeyLookupError",
    "MissingFileError",
    "MixedDevicesError",
    "NameTakenError",
    "NoValuesError",
    "NotImplementedForSymbol",
    "NotSupportedError",
    "NotSupportedForSparseNDArray",
    "OperatorError",
    "OperatorIndexError",
    "OutOfBoundsError",
    "OutOfMemoryError",
    "ParameterError",
    "UntraceableError",
    "nearest",
    "public_name",
    "require_text",
    "run_error",
]


# To compare takes time with the product of the lengths.
_LONGEST_COMPARED, _MOST_COMPARED, _MOST_SEEN = 300, 500, 10_000
_NUMPY_PREFIX = re.compile("^_np[ix]?_")  # of operators of NumPy's functions, in files


class GluonishError(RuntimeError):
    """Base of all errors of this package; ``mx.MXNetError`` is another name for it.

    A RuntimeError, as MXNetError is, because programs catch it as one. A message that is about an
    operator begins with the name that users call it by: ``matmul``, which files know as
    ``_npi_matmul``.
    """

    def __init__(self, *args: object) -> None:
        if args and isinstance(args[0], str) and args[0].startswith("_np"):
            args = (public_name(args[0]), *args[1:])
        super().__init__(*args)


class ArgumentError(GluonishError, ValueError, AssertionError):
    """An argument has the right type and a wrong value."""


class ArgumentTypeError(GluonishError, TypeError, ValueError, AssertionError):
    """An argument has the wrong type; MXNet raises any of the three."""


class OperatorError(GluonishError, ValueError):
    """An operator cannot take the given shapes, dtypes or attributes, or failed while it ran.

    Attributes:
        located: Whether the message says where in a network it happened.
    """

    located = False


class AutogradError(GluonishError, AssertionError):
    """A gradient was asked for that was not recorded, is not defined, or was already freed."""


class ConfigError(GluonishError, ValueError):
    """An environment variable holds a value that its flag does not allow."""


class DeviceError(GluonishError, AssertionError):
    """A device is missing, out of memory, or arrays of several devices were mixed."""


class MixedDevicesError(DeviceError, ValueError):
    """A hybridized Block is called with arrays on several devices."""


class OutOfMemoryError(DeviceError, MemoryError):
    """A device has no memory for an array; the message says what was asked, and who holds it."""


class DistributedError(GluonishError):
    """The processes of a job do not do the same, or one of them is not there."""


class DownloadError(GluonishError, RuntimeError):
    """A file could not be fetched, or what came is not what was published."""


class FileFormatError(GluonishError, ValueError, AssertionError):
    """A file is truncated, corrupt, hostile, or of another kind than expected."""


class FolderPathError(GluonishError, IsADirectoryError):
    """A path is that of a folder where a file is needed."""


class GraphError(GluonishError, RuntimeError):
    """A graph is malformed, cannot be traced, or misses a shape, a dtype or a variable."""


class UntraceableError(GraphError):
    """A computation has no place in a graph: a block that does it runs without one."""


class DynamicShapeError(UntraceableError):
    """A shape depends on values, so that no graph can be planned ahead of them."""


class NoValuesError(UntraceableError, AttributeError):
    """A traced ``forward`` asks for values or memory, which its arrays do not have.

    It is an AttributeError, too, because they lack the attributes that lead there.
    """


class MissingFileError(GluonishError, FileNotFoundError, ValueError):
    """A file to read, or the folder of a file to write, does not exist."""


class NameTakenError(GluonishError, ImportError):
    """Another package has the name ``mxnet``, and would be hidden."""


class NotSupportedError(GluonishError, NotImplementedError):
    """Something of MXNet that gluonish does not have; the message names the alternative."""


class _NotOfThisKindError(NotSupportedError):
    """Something that other arrays do.

    Args:
        function: The whole message, or what was called, as in MXNet.
        alias: Its operator's name, if that is another.
        *args: What it was called with.
    """

    _where: ClassVar[str]

    def __init__(
        self,
        function: str | Callable[..., object] = "",
        alias: str | None = None,
        *args: object,
    ) -> None:
        if callable(function):
            called = f"Function {function.__name__}"
            called += f' (namely operator "{alias}")' if alias else ""
            called += f" with arguments ({', '.join(str(type(x)) for x in args)})" if args else ""
            function = f"{called} {self._where} and only available in NDArray."
        super().__init__(function)


class NotImplementedForSymbol(_NotOfThisKindError):  # MXNet's name
    """Something of an NDArray was asked of a Symbol, which has no values.

    Args:
        function: The whole message, or what was called, as in MXNet.
        alias: Its operator's name, if that is another.
        *args: What it was called with.
    """

    _where = "is not implemented for Symbol"


class NotSupportedForSparseNDArray(_NotOfThisKindError):  # MXNet's name
    """Something that only dense arrays do; ``tostype("default")`` makes one.

    Args:
        function: The whole message, or what was called, as in MXNet.
        alias: Its operator's name, if that is another.
        *args: What it was called with.
    """

    _where = "is not supported for SparseNDArray"


class KeyLookupError(ArgumentError, KeyError):
    """No entry has this name; for look-ups that raise KeyError in MXNet."""

    __str__ = BaseException.__str__  # KeyError quotes its message


class DtypeError(ArgumentTypeError, OperatorError, KeyError):
    """No such element type; MXNet raises TypeError for what NumPy does not know, KeyError else."""

    __str__ = BaseException.__str__


class OutOfBoundsError(GluonishError, IndexError):
    """An index lies outside an array, or a key has more indices than the array has axes."""


class OperatorIndexError(OperatorError, OutOfBoundsError):
    """An operator met a position outside an array; raised at the wait, as positions are values."""


class ParameterError(GluonishError, AssertionError):
    """A Parameter is used uninitialized, on a device it is not on, or with a wrong shape."""


class DeferredInitializationError(ParameterError):
    """A Parameter's shape is not known yet: it is allocated at the first forward pass."""


# What an operator's error is called by what it met while it ran; the first that fits counts.
RUN_ERRORS: tuple[tuple[type[BaseException], type[GluonishError]], ...] = (
    (MemoryError, OutOfMemoryError),
    (IndexError, OperatorIndexError),
    (DistributedError, DistributedError),
    (Exception, OperatorError),
)


def run_error(cause: Exception) -> type[GluonishError]:
    """Return the class of the error to raise for what an operator raised while it ran."""
    return next(kind for met, kind in RUN_ERRORS if isinstance(cause, met))


def public_name(name: str) -> str:
    """Return what users call an operator; those of NumPy's functions have a prefix in files."""
    return _NUMPY_PREFIX.sub("", name, count=1)


def require_text(value: object, what: str) -> None:
    """Refuse what is no text where a name is needed.

    Args:
        value: What the caller gave.
        what: What it is, to begin the message with: ``get_model: expected name``.

    Raises:
        ArgumentTypeError: It is no text.
    """
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{what} as text, got {value!r:.200}")


def _shared(first: str, second: str) -> int:
    """Return with how many equal characters two texts begin."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))


def nearest(name: object, names: Iterable[object]) -> str:
    """Return a hint at the names most like a wrong one, or nothing; what is no text has none.

    Of very many names, those are compared that have most of the beginning and the end in common.
    """
    if not isinstance(name, str) or len(name) > _LONGEST_COMPARED:
        return ""
    texts = (x for x in names if isinstance(x, str) and len(x) <= _LONGEST_COMPARED)
    known = list(islice(texts, _MOST_SEEN))
    if len(known) > _MOST_COMPARED:
        ends = name[::-1]
        known = heapq.nlargest(
            _MOST_COMPARED,
            known,
            key=lambda x: _shared(name, x) + _shared(ends, x[::-1]),
        )
    close = load("difflib").get_close_matches(name, known, n=3, cutoff=0.5)
    return f" (nearest: {', '.join(map(repr, close))})" if close else ""
