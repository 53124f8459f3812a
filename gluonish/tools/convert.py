"""``gluonish convert``: converts weights to another file format with the same names and dtypes."""

import argparse
import math
import re
from collections import Counter
from functools import partial
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.progress import progress_bar
from gluonish.ndarray.array_file import ArrayFile, open_arrays
from gluonish.ndarray.array_record import SparseRecord
from gluonish.ndarray.array_writer import LIST_KEY, NPY, PARAMS, format_of, write_arrays
from gluonish.ndarray.list_file import Entry, StoredArray, record_of
from gluonish.symbol import load as load_symbol
from gluonish.tools.json_output import add_json_option, write_json
from gluonish.tools.profile.page import bytes_text

_PREFIXES = ("arg:", "aux:")
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
_SIZE = re.compile(r"(\d{1,15}) ?(k|m|g|ki|mi|gi|)b?", re.IGNORECASE)
_MOST_NAMES = 5  # most names in one message


def _size(text: str) -> int:
    found = _SIZE.fullmatch(text)
    if found is None or int(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"expected a size such as 5GB or 500MiB, got {text!r}")
    return int(found[1]) * _UNITS[found[2].lower()]


def _text_by_name(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"expected NAME=TEXT, got {text!r}")
    return name, value


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``convert`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "convert",
        help="convert weights between .params, safetensors and npz",
        description="Convert a file of arrays to the format given by the suffix of the output:"
        " .safetensors, .safetensors.index.json (several files and this index), .npz, or MXNet's"
        " own for any other, mostly .params. The old one is recognized by its content. Names, their"
        " order, dtypes and values stay; arrays that the new format cannot hold are refused.",
    )
    parser.add_argument("source", metavar="FROM", help="a file of arrays")
    parser.add_argument(
        "target", metavar="TO", help="the file to write; one that exists is replaced"
    )
    names = parser.add_mutually_exclusive_group()
    names.add_argument(
        "--bare",
        action="store_true",
        help="drop the arg: and aux: that exported networks and Module's checkpoints have before"
        " names, and that other libraries do not know",
    )
    names.add_argument(
        "--symbol",
        metavar="JSON",
        help="put arg: or aux: before names, as Module wants them, by what this graph says",
    )
    parser.add_argument(
        "--metadata",
        metavar="NAME=TEXT",
        type=_text_by_name,
        action="append",
        default=[],
        help="store this text with the arrays; can be repeated (not for .params)",
    )
    parser.add_argument(
        "--max-shard",
        metavar="SIZE",
        type=_size,
        help="with an index: maximum size of one file, such as 500MB (default: 5GB)",
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Convert a file and print a summary; returns 0.

    Raises:
        FileFormatError: The file is truncated, corrupt or malicious, or has another format.
        ArgumentError: The new format does not support a name or a shape, or names do not match the
            graph.
        ArgumentTypeError: The new format does not support an array's dtype or storage type.
        OSError: A file cannot be read or written.
    """
    with open_arrays(arguments.source) as found:
        notes = []
        names, changed = _names(found.names, arguments)
        notes += changed
        kind = format_of(arguments.target)
        metadata = {**found.metadata, **dict(arguments.metadata)}
        if kind == PARAMS and found.metadata and not arguments.metadata:
            notes.append(f"left out metadata, which the format cannot hold: {_listed(metadata)}")
            metadata = {}
        metadata.pop(LIST_KEY, None)
        with _Progress(found) as progress:
            write_arrays(
                arguments.target,
                [progress.watched(array) for array in found.arrays],
                names,
                numpy_shape=kind == PARAMS and any(map(_is_of_numpy_shape, found.arrays)),
                metadata=metadata,
                max_shard_nbytes=arguments.max_shard,
            )
        before = _facts(arguments.source, found)
    with open_arrays(arguments.target) as written:
        after = _facts(arguments.target, written)
    if arguments.json:
        write_json({"source": before, "target": after, "notes": notes})
        return 0
    for facts in (before, after):
        print(_summary(facts))
    for note in notes:
        print(f"note: {note}")
    return 0


def _is_of_numpy_shape(array: Entry) -> bool:
    """Whether older versions of the file format read the array as an undefined one."""
    if isinstance(array, SparseRecord) or array.shape is None:
        return False
    return not array.shape or 0 in array.shape


def _names(names: list[str], arguments: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return the names to write, and notes on them."""
    prefixed = [name for name in names if name.startswith(_PREFIXES)]
    if arguments.bare:
        bare = [name[4:] if name.startswith(_PREFIXES) else name for name in names]
        twice = [name for name, count in Counter(bare).items() if count > 1]
        if twice:
            raise ArgumentError(
                f"convert: expected distinct names without arg: and aux:, got {_listed(twice)} "
                "twice; leave --bare out"
            )
        return bare, [f"dropped arg: and aux: of {len(prefixed)} names"] if prefixed else []
    if arguments.symbol is not None:
        return _with_kinds(names, arguments)
    if prefixed and format_of(arguments.target) != PARAMS:
        return names, [
            f"kept arg: and aux: of {len(prefixed)} names, which SymbolBlock.imports and Module "
            "read; --bare drops them for other libraries"
        ]
    return names, []


def _with_kinds(names: list[str], arguments: argparse.Namespace) -> tuple[list[str], list[str]]:
    symbol = load_symbol(arguments.symbol)
    kinds = dict.fromkeys(symbol.list_arguments(), "arg:")
    kinds.update(dict.fromkeys(symbol.list_auxiliary_states(), "aux:"))
    unknown = [name for name in names if name not in kinds and not name.startswith(_PREFIXES)]
    if unknown or not names:
        raise ArgumentError(
            f"convert: expected names of the graph {arguments.symbol!r} in {arguments.source!r}, "
            f"got {_listed(unknown) or 'arrays without names'}"
        )
    added = sum(name in kinds for name in names)
    return [kinds.get(name, "") + name for name in names], [
        f"put arg: or aux: before {added} names"
    ]


def _listed(names: Any) -> str:
    shown = [repr(name) for name in names]
    more = len(shown) - _MOST_NAMES
    return ", ".join(shown[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _nbytes(array: Entry) -> int:
    if isinstance(array, SparseRecord):
        return sum(part.nbytes for part in (array.values, *array.aux))
    return math.prod(array.shape or ()) * (array.dtype.itemsize if array.dtype else 0)


def _facts(path: str, found: ArrayFile) -> dict[str, Any]:
    kinds = Counter(
        "undefined" if array.dtype is None else f"{_stype(array)}{array.dtype.name}"
        for array in found.arrays
    )
    return {
        "file": path,
        "format": {PARAMS: ".params", NPY: ".npy"}.get(found.kind, found.kind),
        "arrays": len(found.arrays),
        "named": bool(found.names) or not found.arrays,
        "bytes": sum(map(_nbytes, found.arrays)),
        "dtypes": dict(kinds.most_common()),
    }


def _summary(facts: dict[str, Any]) -> str:
    dtypes = ", ".join(f"{count} {kind}" for kind, count in facts["dtypes"].items())
    named = "" if facts["named"] else " without names"
    of = f" ({dtypes})" if dtypes else ""
    return (
        f"{facts['file']}: {facts['format']}, {facts['arrays']} arrays{named}, "
        f"{bytes_text(facts['bytes'])}{of}"
    )


def _stype(array: Entry) -> str:
    return f"{array.stype} " if isinstance(array, SparseRecord) else ""


class _Progress:
    """A progress bar of the bytes read, on a terminal."""

    def __init__(self, found: ArrayFile) -> None:
        total = sum(map(_nbytes, found.arrays))
        self._bar = progress_bar(
            total=total, desc="convert", unit="B", unit_scale=True, leave=False
        )

    def __enter__(self) -> "_Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def watched(self, array: Entry) -> Entry:
        """Wrap an array so that reading it advances the bar."""
        if isinstance(array, SparseRecord) or array.dtype is None or array.shape is None:
            return array
        return StoredArray(array.shape, array.dtype, partial(self._read, array))

    def _read(self, array: Entry) -> Any:
        self._bar.update(_nbytes(array))
        return record_of(array).values
