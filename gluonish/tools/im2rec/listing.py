"""Lists of images: made from folders, read and written."""

import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gluonish.core.dtype import FLOAT64
from gluonish.core.errors import ArgumentError, MissingFileError
from gluonish.core.files import atomic_write
from gluonish.image.image_list import listed_images


class ImageEntry(NamedTuple):
    """An image on a list.

    Attributes:
        number: Its number, which becomes the key and the id of its record.
        labels: Its labels, one or more.
        path: Its file, relative to the folder of images.
    """

    number: int
    labels: tuple[float, ...]
    path: str


def read_list(path: str | os.PathLike[str], refused: Callable[[str], None]) -> Iterator[ImageEntry]:
    """Yield the images of a list, without invalid lines.

    Args:
        path: The list.
        refused: Called with a message for each line that is left out. Empty lines are left out
            silently.

    Raises:
        MissingFileError: There is no such file.
    """
    for image in listed_images(path, "im2rec", FLOAT64, lambda error: refused(str(error))):
        yield ImageEntry(int(image.key), tuple(image.labels.tolist()), image.path.strip())


def write_list(path: str | os.PathLike[str], entries: Iterable[ImageEntry]) -> None:
    """Write a list, atomically.

    Args:
        path: The file.
        entries: The images, in the order of the lines.

    Raises:
        MissingFileError: The file's folder is missing.
        OSError: The file cannot be written.
    """
    with atomic_write(path) as file:
        for entry in entries:
            labels = "".join(f"{label:f}\t" for label in entry.labels)
            line = f"{entry.number}\t{labels}{entry.path}\n"
            file.write(line.encode("utf-8", "surrogateescape"))


EXTENSIONS = (".jpeg", ".jpg", ".png")
# MXNet's tool shuffles by it, so that the same folder makes the same list.
_SEED = 100
_ROUNDING = 1e-9  # of the sum of two ratios

Note = Callable[[str], None]


def make_lists(
    prefix: str | os.PathLike[str],
    root: str | os.PathLike[str],
    *,
    recursive: bool = False,
    exts: Sequence[str] = EXTENSIONS,
    shuffle: bool = True,
    chunks: int = 1,
    train_ratio: float = 1.0,
    test_ratio: float = 0.0,
    note: Note = print,
) -> list[Path]:
    """Write lists of the images in a folder, byte for byte those of MXNet's tool.

    A list is ``prefix.lst``, or ``prefix_0.lst`` and so on of several chunks. With
    splits for training, validation and testing, names end with ``_train.lst``, ``_val.lst`` and
    ``_test.lst``. Sizes of splits are rounded down, so that without a validation split an image may
    be on no list; a note reports it.

    Args:
        prefix: How the paths of the lists begin.
        root: The folder of images.
        recursive: Whether to search subfolders, and give each one with images a separate label;
            else the images in the folder itself have the label 0.
        exts: Endings of images, in lower case.
        shuffle: Whether to put the images into a random order, the same in each run.
        chunks: How many lists, or groups of lists.
        train_ratio: Fraction of the images for training, 0 to 1.
        test_ratio: Fraction of the images for testing; the rest is for validation. Not read where
            all are to train with.
        note: Called with each line of the report.

    Returns:
        The lists.

    Raises:
        ArgumentError: ``chunks`` is less than 1, or a ratio is none.
        MissingFileError: ``root`` is no folder, or the folder of ``prefix`` is missing.
    """
    _check_parts(chunks, train_ratio, test_ratio)
    entries = find_images(root, recursive=recursive, exts=exts, note=note)
    if shuffle:
        random.Random(_SEED).shuffle(entries)
    # Of all chunks but the last, which may have fewer; parts of all are parts of that many.
    each = -(-len(entries) // chunks)
    written = []
    listed = 0
    for number in range(chunks):
        chunk = entries[number * each : (number + 1) * each]
        name = f"{os.fspath(prefix)}_{number}" if chunks > 1 else os.fspath(prefix)
        for suffix, part in _parts(chunk, each, train_ratio, test_ratio):
            written.append(Path(f"{name}{suffix}.lst"))
            write_list(written[-1], part)
            listed += len(part)
    if listed < len(entries):
        note(
            f"im2rec: {len(entries) - listed} of {len(entries)} images are on no list, because "
            "sizes are rounded down"
        )
    return written


def _check_parts(chunks: int, train_ratio: float, test_ratio: float) -> None:
    if chunks < 1:
        raise ArgumentError(f"im2rec: expected 1 or more chunks, got {chunks}")
    in_range = 0 <= train_ratio <= 1 and 0 <= test_ratio <= 1
    if not in_range or (train_ratio < 1 and train_ratio + test_ratio > 1 + _ROUNDING):
        raise ArgumentError(
            "im2rec: expected ratios from 0 to 1, together 1 at most, got a train ratio of "
            f"{train_ratio} and a test ratio of {test_ratio}"
        )


def _parts(
    chunk: list[ImageEntry], each: int, train_ratio: float, test_ratio: float
) -> Iterator[tuple[str, list[ImageEntry]]]:
    """Yield the lists of a chunk with the suffixes of their names."""
    if train_ratio == 1:
        yield "", chunk
        return
    tests = int(each * test_ratio)
    end = tests + int(each * train_ratio)
    if test_ratio:
        yield "_test", chunk[:tests]
    if train_ratio + test_ratio < 1:
        yield "_val", chunk[end:]
    yield "_train", chunk[tests:end]


def find_images(
    root: str | os.PathLike[str],
    *,
    recursive: bool = False,
    exts: Sequence[str] = EXTENSIONS,
    note: Note = print,
) -> list[ImageEntry]:
    """Return the images in a folder, in alphabetical order and numbered from 0.

    Args:
        root: The folder.
        recursive: As of `make_lists`.
        exts: Likewise.
        note: Called with path and label of each folder that has images, if ``recursive``.

    Raises:
        MissingFileError: ``root`` is no folder.
    """
    if not os.path.isdir(root):
        raise MissingFileError(f"im2rec: expected a folder of images, got {os.fspath(root)!r}")
    entries: list[ImageEntry] = []
    labels: dict[str, int] = {}
    for folder, names in _folders(os.fspath(root)) if recursive else _folder(os.fspath(root)):
        for name in names:
            if os.path.splitext(name)[1].lower() not in exts:
                continue
            path = os.path.relpath(os.path.join(folder, name), root)
            if any(mark in path for mark in "\t\r\n"):
                note(f"im2rec: left out {path!r}: a list cannot hold its name")
                continue
            label = labels.setdefault(folder, len(labels)) if recursive else 0
            entries.append(ImageEntry(len(entries), (label,), path))
    for folder, label in labels.items():
        note(f"{os.path.relpath(folder, root)} {label}")
    return entries


def _folder(root: str) -> Iterator[tuple[str, list[str]]]:
    """Yield a folder with the names of its files."""
    yield root, [name for name in sorted(os.listdir(root)) if os.path.isfile(f"{root}/{name}")]


def _folders(root: str) -> Iterator[tuple[str, list[str]]]:
    """Yield a folder and its subfolders with the names of their files; links are followed.

    A link to a folder that it is in is not.
    """
    real = {root: os.path.realpath(root)}
    for folder, folders, files in os.walk(root, followlinks=True):
        own = real.pop(folder)
        folders.sort()
        for name in list(folders):
            path = os.path.join(folder, name)
            target = os.path.realpath(path)
            if os.path.commonpath([own, target]) == target:
                folders.remove(name)
            else:
                real[path] = target
        yield folder, sorted(files)
