"""Records of files that belong together, such as those of a checkpoint.

A record is a JSON file with sizes and digests of the other files, which stand in its folder. It is
written last, and an earlier record of the same name is removed before: files without a record, or
others than it describes, are what a killed process left.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.core.files import atomic_write, open_to_read, remove_abandoned

_MAX_RECORD_NBYTES = 64 << 20
_CHUNK_NBYTES = 1 << 20


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file, atomically."""
    with atomic_write(path) as file:
        file.write(json.dumps(content, indent=1).encode())


def read_json(path: Path, reader: str) -> dict[str, Any]:
    """Read the object of a JSON file.

    Args:
        path: The file.
        reader: Function that reads it, for the beginning of a message.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: The file is not JSON, or not an object.
    """
    with open_to_read(path, reader) as file:
        text = file.read(_MAX_RECORD_NBYTES + 1)
    try:
        if len(text) > _MAX_RECORD_NBYTES:
            raise ValueError(f"more than {_MAX_RECORD_NBYTES} bytes")
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{reader}: expected JSON in {str(path)!r}, got {error}") from error
    if not isinstance(found, dict):
        raise FileFormatError(
            f"{reader}: expected a JSON object in {str(path)!r}, got {type(found).__name__}"
        )
    return found


def write_record(
    path: Path, files: Sequence[Path], content: Mapping[str, Any], writer: str
) -> None:
    """Write the record of files, which are complete.

    Args:
        path: The record, in the folder of the files.
        files: The files.
        content: Other entries of the record, for JSON.
        writer: Function that writes it, for the beginning of a message.
    """
    described = {file.name: _described(file, writer) for file in files}
    write_json(path, {"files": described, **content})


def check_record(path: Path, files: Sequence[Path], record: Mapping[str, Any], reader: str) -> None:
    """Check that files are as their record describes them.

    Args:
        path: The record's path.
        files: The files.
        record: The record.
        reader: Function that reads it, for the beginning of a message.

    Raises:
        MissingFileError: A file is missing.
        FileFormatError: A file differs, or the record does not describe it.
    """
    described = record.get("files")
    for file in files:
        found = _described(file, reader)
        if not isinstance(described, dict) or described.get(file.name) != found:
            raise FileFormatError(
                f"{reader}: expected {str(file)!r} as {path.name} describes it, got another file"
            )


def _described(path: Path, reader: str) -> dict[str, Any]:
    digest = hashlib.sha256()
    nbytes = 0
    with open_to_read(path, reader) as file:
        while chunk := file.read(_CHUNK_NBYTES):
            digest.update(chunk)
            nbytes += len(chunk)
    return {"nbytes": nbytes, "sha256": digest.hexdigest()}


@contextmanager
def held(folder: Path, name: str, refusal: str) -> Iterator[None]:
    """Lock files of a folder against other processes, and remove incomplete ones of killed ones.

    Args:
        folder: The folder.
        name: Beginning of the files' names, or another name for what is locked.
        refusal: Message of the error.

    Raises:
        ArgumentError: Another process has locked them.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(folder / f".{name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ArgumentError(refusal) from error
    try:
        # The lock is held: no other process writes these files.
        remove_abandoned(folder, min_age_s=0)
        yield
    finally:
        lock.release()
