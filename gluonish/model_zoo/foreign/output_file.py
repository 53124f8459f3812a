"""Saves imported weights to a file that `load_parameters` reads, in gluonish and in MXNet."""

import hashlib
import io
import os
from pathlib import Path
from typing import Any

from gluonish.core.files import path_text
from gluonish.model_zoo.foreign.conversion import Conversion
from gluonish.ndarray.array_file import DenseRecord, write_array_list, write_arrays

_SHORT_LENGTH = 8


class _Digest(io.RawIOBase):
    """A write-only file that computes the SHA-1 of its content."""

    def __init__(self) -> None:
        self.sha1 = _sha1()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.sha1.update(data)
        return len(data)


def save_conversion(
    conversion: Conversion, name: str, target: str | os.PathLike[str]
) -> tuple[Path, str]:
    """Save converted weights to a file.

    Args:
        conversion: The weights.
        name: Name of the network.
        target: Path of the file, whose ending selects the format; or an existing folder, for the
            model store's file name, ``{name}-{first 8 digits of the SHA-1}.params``.

    Returns:
        The path, and the SHA-1 of the file.

    Raises:
        MissingFileError: The folder does not exist.
        OSError: The file cannot be written.
    """
    records = [DenseRecord(values) for values in conversion.arrays.values()]
    names = list(conversion.arrays)
    path = Path(path_text(target, "save_conversion")).expanduser()
    if not path.is_dir():
        write_arrays(path, records, names)
        with path.open("rb") as file:
            return path, hashlib.file_digest(file, _sha1).hexdigest()
    digest = _Digest()
    write_array_list(digest, records, names)  # type: ignore[arg-type]  # only `write` is called
    sha1 = digest.sha1.hexdigest()
    path /= f"{name}-{sha1[:_SHORT_LENGTH]}.params"
    write_arrays(path, records, names)
    return path, sha1


def _sha1() -> Any:
    return hashlib.sha1(usedforsecurity=False)
