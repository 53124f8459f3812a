"""Read token vectors from a text file with a token and its vector's elements on each line."""

import io
import os
import warnings
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError
from gluonish.core.files import open_to_read
from gluonish.core.progress import progress_bar


def read_vectors(
    path: str, elem_delim: str, encoding: str, unknown_token: object
) -> tuple[list[str], np.ndarray[Any, Any], np.ndarray[Any, Any] | None]:
    """Return the tokens of a file, their vectors, and the vector of the unknown token.

    A line with a single number is a header. Headers and repeated tokens are skipped with a
    warning.

    Args:
        path: Path of the file.
        elem_delim: Separator between a token and the elements of its vector.
        encoding: Character encoding, such as ``"utf8"``.
        unknown_token: Token whose vector is returned separately.

    Returns:
        The tokens; their vectors, float32 (tokens, elements); and the vector of the unknown token,
        (elements,), or None if the file has none.

    Raises:
        MissingFileError: The file does not exist.
        FileFormatError: A line has a different format, or there are no vectors.
    """
    elements = array("f")
    tokens: dict[str, None] = {}
    unknown: array[float] | None = None
    length = 0
    for number, line in _lines(path, encoding):
        token, *fields = line.rstrip().split(elem_delim)
        where = f"{path}: line {number}"
        if not fields:
            raise FileFormatError(
                f"{where}: expected a token and elements with {elem_delim!r} between, got {line!r}"
            )
        if len(fields) == 1:
            _warn(f"{where}: {line.strip()!r} is likely a header and is skipped")
            continue
        if token in tokens or (unknown is not None and token == unknown_token):
            _warn(f"{where}: token {token!r} is repeated and is skipped")
            continue
        length = length or len(fields)
        if len(fields) != length:
            raise FileFormatError(
                f"{where}: expected {length} elements for token {token!r}, as many as for the "
                f"tokens before it, got {len(fields)}"
            )
        vector = _numbers(fields, where, token)
        if token == unknown_token:
            unknown = vector
        else:
            elements.extend(vector)
            tokens[token] = None
    if not length:
        raise FileFormatError(f"{path}: expected vectors of tokens, got none")
    vectors = np.array(elements, np.float32).reshape(len(tokens), length)
    return list(tokens), vectors, None if unknown is None else np.array(unknown, np.float32)


def _lines(path: str, encoding: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, with a progress bar on a terminal."""
    with (
        open_to_read(path, "read_vectors") as raw,
        progress_bar(
            total=os.fstat(raw.fileno()).st_size,
            desc=os.path.basename(path),
            unit="B",
            unit_scale=True,
            leave=False,
            delay=1.0,
        ) as bar,
    ):
        text = io.TextIOWrapper(raw, encoding=encoding)
        before = 0
        try:
            for number, line in enumerate(text, 1):
                if number % 1024 == 0:
                    bar.update(raw.tell() - before)
                    before = raw.tell()
                yield number, line
        except UnicodeDecodeError as error:
            raise FileFormatError(
                f"{path}: expected text in {encoding}, got other bytes ({error}); set `encoding`"
            ) from error


def _numbers(fields: list[str], where: str, token: str) -> "array[float]":
    try:
        return array("f", map(float, fields))
    except (ValueError, OverflowError) as error:
        raise FileFormatError(
            f"{where}: expected numbers after token {token!r}, got {fields!r:.200}"
        ) from error


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)
