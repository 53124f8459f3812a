"""npx.save and npx.load: arrays of ``mx.np`` in the files of `nd.save`."""

from typing import Any

from numpy.lib.format import write_array

from gluonish.core.errors import ArgumentError
from gluonish.core.files import AnyPath, atomic_write, path_text
from gluonish.ndarray import NDArray, serialization
from gluonish.numpy.array import as_np_ndarray, ndarray

__all__ = ["load", "save", "savez"]


def save(file: AnyPath, arr: Any) -> None:
    """Write arrays to a file.

    Args:
        file: Path; its extension selects the format, see `nd.save`. One array in a file ``.npy`` is
            in NumPy's format.
        arr: An array, a list of arrays, or a dict from names to arrays.

    Raises:
        ArgumentTypeError: ``arr`` contains another object, or a name is not a string.
        OSError: The file cannot be written.
    """
    if isinstance(arr, NDArray) and path_text(file, "save").endswith(".npy"):
        with atomic_write(file) as content:
            write_array(content, arr.asnumpy(), allow_pickle=False)
        return
    serialization.save(file, arr)


def savez(file: AnyPath, *args: Any, **kwds: Any) -> None:
    """Write arrays to an archive of NumPy's format ``.npz``, whatever the file's extension.

    Args:
        file: Path of the file.
        *args: Arrays, saved as ``arr_0``, ``arr_1``, ...
        **kwds: Arrays by name.

    Raises:
        ArgumentError: A name is that of a positional array.
        ArgumentTypeError: An argument is not an array.
        OSError: The file cannot be written.
    """
    numbered = {f"arr_{i}": array for i, array in enumerate(args)}
    for name in kwds:
        if name in numbered:
            raise ArgumentError(
                f"savez: expected another name than {name!r}, the {name[4:]}. array"
            )
    serialization.save(file, {**numbered, **kwds}, kind="npz")


def load(
    file: AnyPath, *, mmap: bool | None = None
) -> list[ndarray] | dict[str, ndarray] | ndarray:
    """Load the arrays of a file: a dict if they have names, an array for ``.npy``, else a list.

    Args:
        file: Path of the file; its content determines the format, see `nd.load`.
        mmap: Whether to map large arrays into memory instead of reading them; see the warning in
            `nd.load`. None for the option ``GLUONISH_MAP_FILES``, off by default.

    Raises:
        FileFormatError: The file has no known format, is truncated, or states impossible sizes.
        OSError: The file cannot be read.
    """
    loaded = serialization.load(file, mmap=mmap)
    if isinstance(loaded, list) and len(loaded) == 1 and _is_npy(file):
        return as_np_ndarray(loaded[0])
    if isinstance(loaded, dict):
        return {name: as_np_ndarray(array) for name, array in loaded.items()}
    return [as_np_ndarray(array) for array in loaded]


def _is_npy(file: AnyPath) -> bool:
    with open(file, "rb") as content:
        return content.read(6) == b"\x93NUMPY"
