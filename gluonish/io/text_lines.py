"""Lines of text files, read in blocks and divided into parts.

Vectorized parsing of numbers in text.

NumPy's parser handles the remaining cases. CSVIter reads 80, 460 and 220 MB/s of pixels, numbers
with six decimals and with 17 digits by the kernel of `gluonish.kernels.generated.number_lines`, and
19, 49 and 17 by `_simple_decimals`, where `np.fromstring` gives 5, 15 and 18 and `np.loadtxt` 6, 18
and 21 (10 to 15 MB, float32, one thread of a loaded Zen 4).
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import ArgumentError, FileFormatError, MissingFileError
from gluonish.core.files import local_path, open_to_read
from gluonish.io.rows import Columns

# Characters of a pattern in the last component of a path; ordinary names contain a dot, too.
_PATTERN = re.compile(r"[*+?|^$()\[\]{}\\]")


def input_files(path: str, reader: str) -> list[str]:
    """Expand a path to files, in reading order.

    A path may name a file; a folder, for its files sorted by name, without subfolders and hidden
    files; or files by a regular expression as its last component. Several paths may be joined with
    ``;``. A leading ``file://`` is ignored, and so is a trailing ``#name``, MXNet's request for a
    cached copy. If a file exists under the full text, the path means that file, regardless
    of its characters.

    Differences from MXNet: the files of a folder are sorted, and in a list of paths each must
    exist.

    Args:
        path: One path, or several joined with ``;``.
        reader: Class name of the reader, for error messages.

    Raises:
        MissingFileError: A file does not exist, or a folder contains no matching file.
        NotSupportedError: The path has a protocol other than ``file://``.
        ArgumentError: A regular expression is invalid.
    """
    if os.path.exists(path):
        return _files_of(path, reader)
    without_copy = path.rpartition("#")[0] if "#" in path else path
    parts = [text_range for text_range in without_copy.split(";") if text_range]
    return [file for text_range in parts or [path] for file in _files_of(text_range, reader)]


def _files_of(path: str, reader: str) -> list[str]:
    path = local_path(path, reader)
    if os.path.isdir(path):
        return _matching(path, "", path, reader)
    if os.path.exists(path):
        return [path]
    folder, name = os.path.split(path)
    if _PATTERN.search(name) and os.path.isdir(folder or "."):
        return _matching(folder, name, path, reader)
    raise MissingFileError(f"{reader}: expected an existing file, got {path!r}")


def _matching(folder: str, pattern: str, path: str, reader: str) -> list[str]:
    """Return the files of a folder that match a pattern, sorted; all visible files for ""."""
    try:
        matches = re.compile(pattern or r"[^.].*").fullmatch
    except re.error as error:
        raise ArgumentError(
            f"{reader}: expected an existing file, or a regular expression of names, got {path!r} "
            f"({error})"
        ) from None
    with os.scandir(folder or ".") as entries:
        names = sorted(entry.name for entry in entries if matches(entry.name) and entry.is_file())
    if not names:
        raise MissingFileError(f"{reader}: expected files that match {path!r}, got none")
    return [os.path.join(folder, name) for name in names]


# Small, because `parse` holds the GIL.
_BLOCK_NBYTES = 1 << 17
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAX_SHOWN = 60


class TextRange(NamedTuple):
    """A range of complete lines of a file.

    Args:
        path: Path of the file.
        reader: Class name of the reader, for error messages.
        begin: Offset in bytes of the first line.
        end: Offset in bytes; lines that begin after it are not included.
    """

    path: str
    reader: str
    begin: int
    end: int


def text_ranges(
    path: str, reader: str, num_parts: int = 1, part_index: int = 0
) -> Sequence[TextRange]:
    """Return one part of some files; parts have about equal sizes and share no lines.

    Args:
        path: Path of the files, as for `input_files`.
        reader: Class name of the reader, for error messages.
        num_parts: Number of parts.
        part_index: Index of the part, from 0.

    Returns:
        The ranges of lines that make up the part, in the order of the files.

    Raises:
        MissingFileError: A file does not exist.
    """
    paths = input_files(path, reader)
    sizes = [os.path.getsize(file) for file in paths]
    step = -(-sum(sizes) // num_parts)
    begin, end = step * part_index, step * (part_index + 1)
    found = []
    for file, size in zip(paths, sizes, strict=True):
        if begin < size and end > 0:
            found.append(_text_range(file, reader, max(0, begin), min(end, size)))
        begin -= size
        end -= size
    return found


def _text_range(path: str, reader: str, begin: int, end: int) -> TextRange:
    with open_to_read(path, reader) as file:
        if begin:
            # The line that contains this offset belongs to the previous part.
            file.seek(begin)
            file.readline()
            begin = file.tell()
    return TextRange(path, reader, begin, end)


def _text_blocks(text_range: TextRange) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of complete lines with their offsets."""
    with open_to_read(text_range.path, text_range.reader) as file:
        file.seek(text_range.begin)
        offset = text_range.begin
        while offset <= text_range.end:
            # To the end of the line that contains the range's last byte.
            block = file.read(min(_BLOCK_NBYTES, text_range.end - offset)) + file.readline()
            if not block:
                return
            text = block.removeprefix(_BYTE_ORDER_MARK) if offset == 0 else block
            offset += len(block)
            yield text, offset - len(text)


def _lines(text: bytes) -> list[bytes]:
    """Split text into lines."""
    return text.removesuffix(b"\n").split(b"\n")


def count_nonblank_lines(parts: Sequence[TextRange]) -> int:
    """Count the lines that are not blank.

    Args:
        parts: Ranges of lines.
    """
    texts = (text for text_range in parts for text, _ in _text_blocks(text_range))
    return sum(sum(map(_is_nonblank, _lines(text))) for text in texts)


def _is_nonblank(line: bytes) -> bool:
    """Whether a line has content before a comment, which begins with ``#``."""
    return bool(line.partition(b"#")[0].strip())


def parsed_blocks(
    parts: Sequence[TextRange],
    parse_fast: Callable[[bytes], Columns | None],
    parse: Callable[[list[bytes]], Columns],
) -> Iterator[Columns]:
    """Parse ranges of lines; yield their rows in non-empty blocks.

    Args:
        parts: Ranges of lines.
        parse_fast: Fast parser of a text; returns None to fall back to ``parse``, and raises
            ValueError exactly where ``parse`` would.
        parse: Parser of lines that are neither blank nor comments; raises ValueError with the
            expected format if a line is invalid.

    Raises:
        FileFormatError: A line cannot be parsed; names the file, line and offset.
        OSError: The file can no longer be read.
    """
    for text_range in parts:
        for text, offset in _text_blocks(text_range):
            try:
                columns = parse_fast(text)
                if columns is None:
                    nonblank = [line for line in _lines(text) if _is_nonblank(line)]
                    columns = parse(nonblank) if nonblank else ()
            except ValueError:
                _raise_for_line(text_range, _lines(text), offset, parse)
            if columns and len(columns[0]):
                yield columns


def _raise_for_line(
    text_range: TextRange, lines: list[bytes], offset: int, parse: Callable[[list[bytes]], Columns]
) -> NoReturn:
    """Raise the error of the first invalid line, with its position."""
    expected = "valid lines"
    shown = b""
    for line in lines:
        if _is_nonblank(line):
            try:
                parse([line])
            except ValueError as error:
                expected, shown = str(error), line[:_MAX_SHOWN]
                break
        offset += len(line) + 1
    raise FileFormatError(
        f"{text_range.reader}: expected {expected} in line {_line_number(text_range, offset)} of "
        f"{text_range.path!r}, at byte {offset}, got {shown!r}"
    ) from None


def _line_number(text_range: TextRange, offset: int) -> int:
    """Return the number, from 1, of the line that begins at an offset."""
    number = 1
    with open_to_read(text_range.path, text_range.reader) as file:
        while offset > 0 and (block := file.read(min(offset, 1 << 20))):
            number += block.count(b"\n")
            offset -= len(block)
    return number


_MINUS, _POINT, _ZERO = b"-.0"
_MAX_DIGITS = 15
_MAX_CHARACTERS = _MAX_DIGITS + 2
_EXACT_LIMIT = 2**53  # float64 represents all smaller integers exactly
_POWERS = 10.0 ** np.arange(_MAX_CHARACTERS)


def parse_numbers(numbers: bytes, separator: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Parse the numbers in a text.

    Args:
        numbers: The text.
        separator: Character between two numbers; white space is allowed around it.
        dtype: Element type of the result.

    Raises:
        ValueError: A number cannot be parsed, or does not fit an integer dtype.
    """
    if dtype in (np.float32, np.float64):
        return _parsed(numbers, separator, dtype)
    if is_floating(dtype):
        return _cast(_parsed(numbers, separator, np.dtype(np.float64)), dtype)
    return _integers(numbers, separator, dtype)


def converted_numbers(
    values: np.ndarray[Any, Any], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any] | None:
    """Convert numbers to a dtype; return None if this may not be exact.

    Args:
        values: Finite numbers, parsed as float64.
        dtype: Element type of the result.

    Raises:
        ValueError: A number does not fit an integer dtype.
    """
    if is_floating(dtype):
        return _cast(values, dtype)
    if values.size and np.abs(values).max() >= _EXACT_LIMIT:
        return None
    return _checked_integers(values, dtype)


def _cast(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    with np.errstate(over="ignore"):  # overflow to infinity
        return values.astype(dtype, copy=False)


def _integers(numbers: bytes, separator: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    values: Any = _simple_decimals(np.frombuffer(numbers, np.uint8), ord(separator))
    if values is None:
        try:
            # Python's parser: NumPy's reads a lone sign as 0 and truncates large numbers.
            values = np.array(
                [int(number) for number in numbers.replace(b"_", b"?").split(separator.encode())],
                object,
            )
        except ValueError:
            values = _parsed(numbers, separator, np.dtype(np.float64))
    return _checked_integers(values, dtype)


def _checked_integers(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if values.dtype != object and np.any((values != np.trunc(values)) | ~np.isfinite(values)):
        raise ValueError(f"whole numbers for dtype {dtype}")
    bounds = np.iinfo(dtype)
    if values.size and (values.min() < bounds.min or values.max() > bounds.max):
        raise ValueError(f"numbers from {bounds.min} to {bounds.max} for dtype {dtype}")
    return np.asarray(values.astype(dtype))


def _parsed(numbers: bytes, separator: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if is_floating(dtype):
        values = _simple_decimals(np.frombuffer(numbers, np.uint8), ord(separator))
        if values is not None:
            return _cast(values, dtype)
    try:
        return np.fromstring(numbers, dtype, sep=separator)
    except (ValueError, DeprecationWarning):
        raise ValueError("numbers") from None


def _simple_decimals(text: np.ndarray[Any, Any], separator: int) -> np.ndarray[Any, Any] | None:
    """Parse numbers such as ``-12.5`` at once; return None if any has another form.

    Up to 15 digits and their power of ten are exact in float64, so their quotient is correctly
    rounded, as by NumPy's parser.
    """
    point = text == _POINT
    minus = text == _MINUS
    between = text == separator
    if not np.all((text - _ZERO < 10) | point | minus | between):
        return None
    ends = np.append(np.flatnonzero(between), len(text))
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts
    if lengths.min() < 1 or lengths.max() > _MAX_CHARACTERS:
        return None
    negative = minus[starts]
    points = np.flatnonzero(point)
    owners = np.searchsorted(ends, points)
    digits = lengths - negative
    digits[owners] -= 1
    if (
        np.count_nonzero(minus) != np.count_nonzero(negative)
        or np.any(owners[1:] == owners[:-1])
        or digits.min() < 1
        or digits.max() > _MAX_DIGITS
    ):
        return None
    mantissas = np.zeros(len(starts), np.int64)
    for column in range(int(lengths.max())):
        characters = text[np.minimum(starts + column, len(text) - 1)] - _ZERO
        is_digit = (characters < 10) & (column < lengths)
        mantissas = np.where(is_digit, mantissas * 10 + characters, mantissas)
    values = mantissas.astype(np.float64)
    values[owners] /= _POWERS[ends[owners] - 1 - points]
    return np.where(negative, -values, values)
