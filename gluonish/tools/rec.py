"""``gluonish rec``: lists and checks the records of a file, and rebuilds its index."""

import argparse
import io
import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.core.files import atomic_write
from gluonish.core.progress import progress_bar
from gluonish.recordio import RecordFile, RecordTable, scan, unpack
from gluonish.recordio.index_file import index_line, read_index
from gluonish.recordio.record_table import survey
from gluonish.tools.json_output import add_json_option, write_json
from gluonish.tools.table import table as text_table
from gluonish.tools.table import terminal_width

_LISTED = 20
_MOST_PROBLEMS = 20
_COLUMNS = ("record", "offset", "bytes", "flag", "label", "id", "format", "size")


class RecordSummary(NamedTuple):
    """Summary of a record. Fields after ``length`` are None unless it is an image with a header.

    Attributes:
        record: Number of the record in the file, from 0.
        offset: Offset of the record in the file, in bytes.
        length: Size in bytes.
        flag: Number of labels after the header; 0 if the header contains the label.
        label: The label, or a list of labels.
        id: Number of the image.
        format: Format of the image, such as JPEG.
        size: Width and height in pixels.
    """

    record: int
    offset: int
    length: int
    flag: int | None = None
    label: float | list[float] | None = None
    id: int | None = None
    format: str | None = None
    size: tuple[int, int] | None = None


def describe(number: int, offset: int, record: bytes) -> RecordSummary:
    """Return the summary of a record.

    Args:
        number: Number of the record in the file.
        offset: Offset of the record in the file, in bytes.
        record: Content of the record.
    """
    bare = RecordSummary(number, offset, len(record))
    try:
        header, content = unpack(record)
    except FileFormatError:
        return bare
    found = _image_kind(content)
    if found is None:
        return bare
    label = header.label.tolist() if header.flag else header.label
    return RecordSummary(number, offset, len(record), header.flag, label, header.id, *found)


def _image_kind(content: bytes) -> tuple[str, tuple[int, int]] | None:
    """Return format and size (width, height) of an image file; None for other content."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content)) as image:
                return str(image.format), image.size
    except (
        Image.DecompressionBombError,
        UnidentifiedImageError,
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
    ):
        return None


def index_problems(index: str | os.PathLike[str], table: RecordTable) -> list[str]:
    """Return the differences between an index and the records of its file.

    Args:
        index: Path of the index.
        table: Offsets and lengths of the records.

    Raises:
        MissingFileError: The index does not exist.
    """
    try:
        entries = list(read_index(index, "rec", str))
    except FileFormatError as error:
        return [str(error)]
    starts = set(table.offsets.tolist())
    problems = [
        f"key {key!r:.40} leads to byte {offset}, where no record begins"
        for key, offset in entries
        if offset not in starts
    ]
    missing = sorted(starts.difference(offset for _, offset in entries))
    problems += [f"no key leads to the record at byte {offset}" for offset in missing]
    keys = len({key for key, _ in entries})
    if keys < len(entries):
        problems.append(f"{len(entries)} lines have {keys} different keys")
    return problems


def rebuild_index(path: str | os.PathLike[str], index: str | os.PathLike[str]) -> int:
    """Write an index of a record file, with keys 0, 1, ...; return the number of records.

    Args:
        path: Path of the record file.
        index: Path of the index, which is replaced atomically.

    Raises:
        MissingFileError: The record file does not exist.
        FileFormatError: The record file is damaged, at a byte in the message; no index is written.
    """
    offsets = scan(path).offsets.tolist()
    with atomic_write(index) as file:
        file.writelines(index_line(key, offset) for key, offset in enumerate(offsets))
    return len(offsets)


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``rec`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "rec",
        help="inspect, verify and index a file of records",
        description="Print how many records a file has, and whether its index fits. Exits with 1 "
        "if the file is damaged or the index wrong.",
    )
    parser.add_argument("file", help="the record file")
    parser.add_argument("--index", help="its index (default: the file with extension .idx)")
    parser.add_argument(
        "--list", action="store_true", help="print a line for each record: header and image"
    )
    parser.add_argument(
        "--limit", type=int, help=f"number of records to list (default: {_LISTED}; all with --json)"
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="continue after damaged records, print all faults, and read every record",
    )
    parser.add_argument(
        "--extract",
        nargs=2,
        metavar=("N", "OUT"),
        help="write record N, counted from 0, to the file OUT: the image without its header",
    )
    parser.add_argument(
        "--rebuild-index",
        action="store_true",
        help="write a new index, with keys counted from 0",
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the requested actions; return 0 if the file and its index are valid, else 1."""
    path = arguments.file
    index = Path(path).with_suffix(".idx") if arguments.index is None else Path(arguments.index)
    if arguments.limit is not None and arguments.limit < 0:
        raise ArgumentError(f"--limit: expected 0 or more, got {arguments.limit}")
    if arguments.extract is not None:
        return _extract(path, *arguments.extract, as_json=arguments.json)
    if arguments.rebuild_index:
        records = rebuild_index(path, index)
        if arguments.json:
            write_json({"file": path, "index": index, "records": records})
        else:
            print(f"{index}: {records} records")
        return 0
    if arguments.verify:
        table, damages = survey(path)
        problems = [f"bytes {d.start} to {d.end}: {d.problem}" for d in damages]
        problems += _unreadable(path, table)
    else:
        table, problems = scan(path), []
    report = {
        "file": path,
        "bytes": os.path.getsize(path),
        "records": len(table.offsets),
        "shortest": min(table.lengths.tolist(), default=0),
        "longest": max(table.lengths.tolist(), default=0),
        "damages": problems,
        "index": None,
        "index_problems": [],
    }
    if index.is_file():
        report |= {"index": str(index), "index_problems": index_problems(index, table)}
    _print_report(report, path, table, arguments)
    return 1 if problems or report["index_problems"] else 0


def _unreadable(path: str, table: RecordTable) -> list[str]:
    """Read all records; return the errors of unreadable ones."""
    problems = []
    with RecordFile(path) as file:
        for offset, length in _progress(table):
            try:
                record = file.read(offset)
            except (FileFormatError, OSError) as error:
                problems.append(f"byte {offset}: {error}")
                continue
            if len(record) != length:
                problems.append(f"byte {offset}: {length} bytes became {len(record)}")
    return problems


def _progress(table: RecordTable) -> Any:
    pairs = zip(table.offsets.tolist(), table.lengths.tolist(), strict=True)
    total = len(table.offsets)
    return progress_bar(pairs, "rec", unit="record", total=total, leave=False)


def _summaries(path: str, table: RecordTable, limit: int | None) -> Iterator[RecordSummary]:
    with RecordFile(path) as file:
        for number, offset in enumerate(table.offsets[:limit].tolist()):
            yield describe(number, offset, file.read(offset))


def _print_report(
    report: dict[str, Any], path: str, table: RecordTable, arguments: argparse.Namespace
) -> None:
    if arguments.json:
        if arguments.list:
            found = _summaries(path, table, arguments.limit)
            report["listed"] = [summary._asdict() for summary in found]
        write_json(report)
        return
    print(f"{path}: {report['records']} records in {report['bytes']} bytes", end="")
    print(f", each of {report['shortest']} to {report['longest']} bytes" * bool(table.offsets.size))
    _print_problems("damaged", report["damages"])
    if report["index"] is None:
        print("no index; make one with --rebuild-index")
    else:
        verdict = "wrong" if report["index_problems"] else "fits"
        print(f"{report['index']}: {verdict}")
        _print_problems("index", report["index_problems"])
    if arguments.list:
        limit = _LISTED if arguments.limit is None else arguments.limit
        rows = [_row(found) for found in _summaries(path, table, limit)]
        print(text_table([_COLUMNS, *rows], terminal_width(), right=range(len(_COLUMNS))))
        if limit < report["records"]:
            print(f"and {report['records'] - limit} more; see --limit")


def _print_problems(what: str, problems: Sequence[str]) -> None:
    for problem in problems[:_MOST_PROBLEMS]:
        print(f"{what}: {problem}")
    if len(problems) > _MOST_PROBLEMS:
        print(f"{what}: {len(problems) - _MOST_PROBLEMS} more")


def _row(summary: RecordSummary) -> tuple[str, ...]:
    label = summary.label
    if isinstance(label, list):
        text = " ".join(f"{number:g}" for number in label[:6]) + " ..." * (len(label) > 6)
    else:
        text = "-" if label is None else f"{label:g}"
    size = "-" if summary.size is None else "x".join(map(str, summary.size))
    fields = [*summary[:4], text, summary.id, summary.format, size]
    return tuple("-" if field is None else str(field) for field in fields)


def _extract(path: str, number: str, out: str, *, as_json: bool) -> int:
    offsets = scan(path).offsets
    if not number.isdecimal() or int(number) >= offsets.size:
        raise ArgumentError(
            f"--extract: expected the number of a record below {offsets.size}, got {number!r}"
        )
    offset = int(offsets[int(number)])
    with RecordFile(path) as file:
        record = file.read(offset)
    summary = describe(int(number), offset, record)
    content = record if summary.format is None else unpack(record)[1]
    with atomic_write(out) as target:
        target.write(content)
    if as_json:
        write_json({"file": out, "format": summary.format, "bytes": len(content)})
        return 0
    what = "the record" if summary.format is None else f"a {summary.format} image"
    print(f"{out}: {what}, {len(content)} bytes")
    return 0
