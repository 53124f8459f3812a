"""All errors that gluonish raises deliberately.

They derive from `GluonishError`, the `MXNetError` of MXNet programs, and each also from the
built-in class that a Python programmer expects, so that ``except ValueError`` works. MXNet checks
arguments, files and devices by assert in most places, and programs catch that: such errors are
AssertionErrors, too.
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
    "NonFiniteError",
    "NotImplementedForSymbol",
    "NotSupportedError",
    "NotSupportedForSparseNDArray",
    "OperatorError",
    "OperatorIndexError",
    "OutOfBoundsError",
    "OutOfMemoryError",
    "ParameterError",
    "UntraceableError",
    "is_deliberate",
    "nearest",
    "public_name",
    "require_text",
    "run_error",
]


# Limits for `nearest`: a comparison takes time proportional to the product of the lengths.
_LONGEST_COMPARED, _MOST_COMPARED, _MOST_SEEN = 300, 500, 10_000
# Of functions of NumPy and of images, in names of operators in files.
_NUMPY_PREFIX = re.compile("^_(np[ix]?|image)_")


class GluonishError(RuntimeError):
    """Base of all errors of this package; ``mx.MXNetError`` is another name for it.

    A RuntimeError, as MXNetError is, because programs catch it as one. A message about an operator
    begins with its public name: ``matmul``, not ``_npi_matmul`` as in files.
    """

    def __init__(self, *args: object) -> None:
        if args and isinstance(args[0], str) and args[0].startswith(("_np", "_image_")):
            args = (public_name(args[0]), *args[1:])
        super().__init__(*args)


class ArgumentError(GluonishError, ValueError, AssertionError):
    """An argument has the right type and a wrong value."""


class ArgumentTypeError(GluonishError, TypeError, ValueError, AssertionError):
    """An argument has the wrong type; MXNet raises any of these three built-in errors."""


class OperatorError(GluonishError, ValueError):
    """An operator does not support its inputs or attributes, or failed while it ran.

    Attributes:
        located: Whether the message names the node or Block.
    """

    located = False


class NonFiniteError(OperatorError, FloatingPointError):
    """An operator computed NaN or infinity while values are checked; see `mx.check_values`."""


class AutogradError(GluonishError, AssertionError):
    """A requested gradient was not recorded, is not defined, or was already freed."""


class ConfigError(GluonishError, ValueError):
    """An environment variable has an invalid value."""


class DeviceError(GluonishError, AssertionError):
    """A device is missing or out of memory, or arrays of several devices were mixed."""


class MixedDevicesError(DeviceError, ValueError):
    """A hybridized Block is called with arrays on several devices."""


class OutOfMemoryError(DeviceError, MemoryError):
    """A device has no memory for an array; the message lists the current owners of memory."""


class DistributedError(GluonishError):
    """The processes of a job do different operations, or one of them is missing."""


class DownloadError(GluonishError, RuntimeError):
    """A download failed, or its content differs from the published file."""


class FileFormatError(GluonishError, ValueError, AssertionError):
    """A file is truncated, corrupt, malicious, or of another type than expected."""


class FolderPathError(GluonishError, IsADirectoryError):
    """A path of a folder was passed instead of a file."""


class GraphError(GluonishError, RuntimeError):
    """A graph is malformed, cannot be traced, or lacks a shape, a dtype or a variable."""


class UntraceableError(GraphError):
    """A computation cannot be part of a graph: its block runs imperatively."""


class DynamicShapeError(UntraceableError):
    """A shape depends on values, so no graph can be planned."""


class NoValuesError(UntraceableError, AttributeError):
    """A traced ``forward`` accesses values or memory, which traced arrays do not have.

    Also an AttributeError, because they lack these attributes.
    """


class MissingFileError(GluonishError, FileNotFoundError, ValueError):
    """A file to read, or the folder of a file to write, does not exist."""


class NameTakenError(GluonishError, ImportError):
    """Another package is installed as ``mxnet``, and would be hidden."""


class NotSupportedError(GluonishError, NotImplementedError):
    """A feature of MXNet that gluonish does not have; the message names the alternative."""


class _UnsupportedArrayError(NotSupportedError):
    """A function was called with a type that it does not support."""

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


class NotImplementedForSymbol(_UnsupportedArrayError):  # MXNet's name
    """A function of NDArray was called on a Symbol, which has no values.

    Args:
        function: The message, or the function, as in MXNet.
        alias: Name of the operator, if different.
        *args: Arguments of the call.
    """

    _where = "is not implemented for Symbol"


class NotSupportedForSparseNDArray(_UnsupportedArrayError):  # MXNet's name
    """Only dense arrays support the function; ``tostype("default")`` returns one.

    Args:
        function: The message, or the function, as in MXNet.
        alias: Name of the operator, if different.
        *args: Arguments of the call.
    """

    _where = "is not supported for SparseNDArray"


class KeyLookupError(ArgumentError, KeyError):
    """No entry has this name; for look-ups that raise KeyError in MXNet."""

    __str__ = BaseException.__str__  # KeyError quotes its message


class DtypeError(ArgumentTypeError, OperatorError, KeyError):
    """An unknown element type: in MXNet a TypeError if NumPy lacks it, else a KeyError."""

    __str__ = BaseException.__str__


class OutOfBoundsError(GluonishError, IndexError):
    """An index lies outside an array, or a key has more indices than the array has axes."""


class OperatorIndexError(OperatorError, OutOfBoundsError):
    """An index in an operator's input is out of bounds; raised when the program waits."""


class ParameterError(GluonishError, AssertionError):
    """A Parameter is uninitialized, is not on the device, or has another shape."""


class DeferredInitializationError(ParameterError):
    """A Parameter's shape is not known yet: it is allocated at the first forward pass."""


# The class of an operator's error by the class of the exception; the first match is used.
RUN_ERRORS: tuple[tuple[type[BaseException], type[GluonishError]], ...] = (
    (MemoryError, OutOfMemoryError),
    (IndexError, OperatorIndexError),
    (DistributedError, DistributedError),
    (Exception, OperatorError),
)


def is_deliberate(error: BaseException) -> bool:
    """Return whether this package raised an error on purpose, with a message for users."""
    return isinstance(error, GluonishError) or hasattr(error, "is_deliberate")


def run_error(cause: Exception) -> type[GluonishError]:
    """Return the class of the error to raise for an exception in an operator."""
    return next(kind for raised, kind in RUN_ERRORS if isinstance(cause, raised))


def public_name(name: str) -> str:
    """Return the public name of an operator, without the prefix of NumPy's functions."""
    return _NUMPY_PREFIX.sub("", name, count=1)


def require_text(value: object, what: str) -> None:
    """Raise ArgumentTypeError if a value is not a str.

    Args:
        what: Beginning of the message: ``get_model: expected name``.
    """
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{what} as text, got {value!r:.200}")


def _common_prefix(first: str, second: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))


def nearest(name: object, names: Iterable[object]) -> str:
    """Return a hint with the names nearest to a wrong one, or an empty text.

    Of very many names, only those with the longest common prefix and suffix are compared.
    """
    if not isinstance(name, str) or len(name) > _LONGEST_COMPARED:
        return ""
    texts = (x for x in names if isinstance(x, str) and len(x) <= _LONGEST_COMPARED)
    candidates = list(islice(texts, _MOST_SEEN))
    if len(candidates) > _MOST_COMPARED:
        ends = name[::-1]
        candidates = heapq.nlargest(
            _MOST_COMPARED,
            candidates,
            key=lambda x: _common_prefix(name, x) + _common_prefix(ends, x[::-1]),
        )
    close = load("difflib").get_close_matches(name, candidates, n=3, cutoff=0.5)
    return f" (nearest: {', '.join(map(repr, close))})" if close else ""
