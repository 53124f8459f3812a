"""Lines of text files, which may be compressed or in several parts."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, NoReturn

from gluonish.core.errors import ArgumentError, FileFormatError, MissingFileError
from gluonish.core.files import local_path, open_to_read
from gluonish.io.rows import Columns

# What makes the last name of a path a pattern; a point alone is one of every ordinary name.
_PATTERN = re.compile(r"[*+?|^$()\[\]{}\\]")


def input_files(path: str, reader: str) -> list[str]:
    """Return the files that a path stands for, in the order in which they are read.

    A path may name a file; a folder, which stands for the files in it, sorted by name, without
    subfolders and hidden files; or files by a regular expression as its last component. Several
    paths may be joined with ``;``. A leading ``file://`` is ignored, and so is a trailing
    ``#name``, with which MXNet keeps a cached copy. If a file exists under the whole text, the
    path means that file, whatever characters it contains.

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
    parts = [part for part in without_copy.split(";") if part]
    return [file for part in parts or [path] for file in _files_of(part, reader)]


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
    """Return the files of a folder whose names match, by name; all that are not hidden for ''."""
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


# Small enough that the main thread gets the interpreter back soon: `parse` holds it.
_BLOCK_NBYTES = 1 << 17
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MOST_SHOWN = 60


class TextPart(NamedTuple):
    """A range of whole lines of a file.

    Args:
        path: Path of the file.
        reader: Class name of the reader, for error messages.
        begin: Offset in bytes of the first line.
        end: Offset in bytes; lines that begin after it belong to the next part.
    """

    path: str
    reader: str
    begin: int
    end: int


def text_parts(
    path: str, reader: str, num_parts: int = 1, part_index: int = 0
) -> Sequence[TextPart]:
    """Return one of several parts of some files; parts have about equal sizes and share no lines.

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
            found.append(_text_part(file, reader, max(0, begin), min(end, size)))
        begin -= size
        end -= size
    return found


def _text_part(path: str, reader: str, begin: int, end: int) -> TextPart:
    with open_to_read(path, reader) as file:
        if begin:
            # The line that covers this offset, or begins at it, is the previous part's.
            file.seek(begin)
            file.readline()
            begin = file.tell()
    return TextPart(path, reader, begin, end)


def _text_blocks(part: TextPart) -> Iterator[tuple[bytes, int]]:
    """Yield some whole lines after others, and the offset of the first of them."""
    with open_to_read(part.path, part.reader) as file:
        file.seek(part.begin)
        offset = part.begin
        while offset <= part.end:
            # Up to the end of the line that covers, or begins at, the part's last byte.
            block = file.read(min(_BLOCK_NBYTES, part.end - offset)) + file.readline()
            if not block:
                return
            text = block.removeprefix(_BYTE_ORDER_MARK) if offset == 0 else block
            offset += len(block)
            yield text, offset - len(text)


def _lines(text: bytes) -> list[bytes]:
    """Return lines without their ends."""
    return text.removesuffix(b"\n").split(b"\n")


def filled_lines(parts: Sequence[TextPart]) -> int:
    """Return the number of lines that are not blank.

    Args:
        parts: Ranges of lines.
    """
    texts = (text for part in parts for text, _ in _text_blocks(part))
    return sum(sum(map(_is_filled, _lines(text))) for text in texts)


def _is_filled(line: bytes) -> bool:
    """Whether a line holds anything before a comment, which begins with ``#``."""
    return bool(line.partition(b"#")[0].strip())


def parsed_blocks(
    parts: Sequence[TextPart],
    parse_ordinary: Callable[[bytes], Columns | None],
    parse: Callable[[list[bytes]], Columns],
) -> Iterator[Columns]:
    """Yield the rows of some ranges of lines, in non-empty blocks.

    Args:
        parts: Ranges of lines.
        parse_ordinary: Fast parser: makes rows of a text, or returns None if ``parse`` should do
            it. It raises ValueError exactly where ``parse`` would.
        parse: Makes rows of lines, none of them blank or only a comment; raises ValueError, with
            what was expected, if a line is invalid.

    Raises:
        FileFormatError: A line cannot be parsed; names the file, line and offset.
        OSError: The file can no longer be read.
    """
    for part in parts:
        for text, offset in _text_blocks(part):
            try:
                columns = parse_ordinary(text)
                if columns is None:
                    filled = [line for line in _lines(text) if _is_filled(line)]
                    columns = parse(filled) if filled else ()
            except ValueError:
                _refuse(part, _lines(text), offset, parse)
            if columns and len(columns[0]):
                yield columns


def _refuse(
    part: TextPart, lines: list[bytes], offset: int, parse: Callable[[list[bytes]], Columns]
) -> NoReturn:
    """Find the first wrong line and say where it stands."""
    expected = "lines that are right one by one and together"
    shown = b""
    for line in lines:
        if _is_filled(line):
            try:
                parse([line])
            except ValueError as error:
                expected, shown = str(error), line[:_MOST_SHOWN]
                break
        offset += len(line) + 1
    raise FileFormatError(
        f"{part.reader}: expected {expected} in line {_line_number(part, offset)} of "
        f"{part.path!r}, at byte {offset}, got {shown!r}"
    ) from None


def _line_number(part: TextPart, offset: int) -> int:
    """Return the number, from 1, of the line that begins at an offset."""
    number = 1
    with open_to_read(part.path, part.reader) as file:
        while offset > 0 and (block := file.read(min(offset, 1 << 20))):
            number += block.count(b"\n")
            offset -= len(block)
    return number
