"""Every error that gluonish raises on purpose.

All derive from `GluonishError`, which programs written for MXNet know as `MXNetError`, and each
also from the built-in class that a Python reader expects, so that ``except ValueError`` keeps
working.
"""

import difflib
from collections.abc import Iterable

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "AutogradError",
    "ConfigError",
    "DeferredInitializationError",
    "DeviceError",
    "DownloadError",
    "DynamicShapeError",
    "FileFormatError",
    "FolderPathError",
    "GluonishError",
    "GraphError",
    "InputError",
    "MissingFileError",
    "MixedDevicesError",
    "NameTakenError",
    "NoValuesError",
    "NotSupportedError",
    "OperatorError",
    "OutOfBoundsError",
    "OutOfMemoryError",
    "ParameterError",
    "UntraceableError",
    "nearest",
]


class GluonishError(RuntimeError):
    """Base of all errors of this package; ``mx.MXNetError`` is another name for it.

    A RuntimeError, as MXNetError is, because programs catch it as one.
    """


class ArgumentError(GluonishError, ValueError):
    """An argument has the right type and a wrong value."""


class ArgumentTypeError(GluonishError, TypeError):
    """An argument has the wrong type."""


class InputError(ArgumentTypeError, ValueError):
    """A Block is called with what it does not compute with; MXNet has a ValueError there."""


class OperatorError(GluonishError, ValueError):
    """An operator cannot take the given shapes, dtypes or attributes, or failed while it ran."""


class AutogradError(GluonishError, RuntimeError):
    """A gradient was asked for that was not recorded, is not defined, or was already freed."""


class ConfigError(GluonishError, ValueError):
    """An environment variable holds a value that its flag does not allow."""


class DeviceError(GluonishError, RuntimeError):
    """A device is missing, out of memory, or arrays of several devices were mixed."""


class MixedDevicesError(DeviceError, ValueError):
    """A hybridized Block is called with arrays on several devices."""


class OutOfMemoryError(DeviceError, MemoryError):
    """A device has no memory for an array; the message says what was asked, and who holds it."""


class DownloadError(GluonishError, RuntimeError):
    """A file could not be fetched, or what came is not what was published."""


class FileFormatError(GluonishError, ValueError):
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


class MissingFileError(GluonishError, FileNotFoundError):
    """A file to read, or the folder of a file to write, does not exist."""


class NameTakenError(GluonishError, ImportError):
    """Another package has the name ``mxnet``, and would be hidden."""


class NotSupportedError(GluonishError, NotImplementedError):
    """Something of MXNet that gluonish does not have; the message names the alternative."""


class OutOfBoundsError(GluonishError, IndexError):
    """An index lies outside an array, or a key has more indices than the array has axes."""


class ParameterError(GluonishError, RuntimeError):
    """A Parameter is used uninitialized, on a device it is not on, or with a wrong shape."""


class DeferredInitializationError(ParameterError):
    """A Parameter's shape is not known yet: it is allocated at the first forward pass."""


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a hint at the names most like a wrong one, or nothing."""
    close = difflib.get_close_matches(name, list(names), n=3, cutoff=0.5)
    return f" (nearest: {', '.join(map(repr, close))})" if close else ""
