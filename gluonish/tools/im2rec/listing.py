"""Lists of images: creates them from folders, reads and writes them."""

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
        number: Number of the image, which becomes the key and the id of the record.
        labels: One or more labels.
        path: Path of the image file, relative to the folder of images.
    """

    number: int
    labels: tuple[float, ...]
    path: str


def read_list(path: str | os.PathLike[str], refused: Callable[[str], None]) -> Iterator[ImageEntry]:
    """Yield the images of a list, and skip invalid lines.

    Args:
        path: Path of the list.
        refused: Called with a message for each invalid line. Empty lines are skipped without a
            message.

    Raises:
        MissingFileError: The file does not exist.
    """
    for image in listed_images(path, "im2rec", FLOAT64, lambda error: refused(str(error))):
        yield ImageEntry(int(image.key), tuple(image.labels.tolist()), image.path.strip())


def write_list(path: str | os.PathLike[str], entries: Iterable[ImageEntry]) -> None:
    """Write a list, atomically.

    Args:
        path: Path of the list.
        entries: The images, in the order of the lines.

    Raises:
        MissingFileError: The folder of ``path`` does not exist.
        OSError: The file cannot be written.
    """
    with atomic_write(path) as file:
        for entry in entries:
            labels = "".join(f"{label:f}\t" for label in entry.labels)
            line = f"{entry.number}\t{labels}{entry.path}\n"
            file.write(line.encode("utf-8", "surrogateescape"))


EXTENSIONS = (".jpeg", ".jpg", ".png")
# Seed of MXNet's tool, so that the same folder results in the same list.
_SEED = 100
_ROUNDING = 1e-9  # rounding error of the sum of two ratios

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
    """Write lists of the images in a folder, byte for byte the same as MXNet's tool.

    A list is ``prefix.lst``, or ``prefix_0.lst`` and so on for several chunks. With splits for
    training, validation and testing, names end with ``_train.lst``, ``_val.lst`` and ``_test.lst``.
    Sizes of splits are rounded down, so that without a validation split some images may be on no
    list; a note reports them.

    Args:
        prefix: Prefix of the paths of the lists.
        root: The folder of images.
        recursive: Whether to search subfolders, with a label for each folder that has images;
            otherwise only images in ``root`` are listed, with label 0.
        exts: Suffixes of image files, in lower case.
        shuffle: Whether to shuffle the images, in the same order in each run.
        chunks: Number of lists, or of groups of lists.
        train_ratio: Fraction of the images for training, 0 to 1.
        test_ratio: Fraction of the images for testing; the rest is for validation. Ignored if
            ``train_ratio`` is 1.
        note: Called with each line of the report.

    Returns:
        The paths of the lists.

    Raises:
        ArgumentError: ``chunks`` is less than 1, or a ratio is out of range.
        MissingFileError: ``root`` is not a folder, or the folder of ``prefix`` does not exist.
    """
    _check_parts(chunks, train_ratio, test_ratio)
    entries = find_images(root, recursive=recursive, exts=exts, note=note)
    if shuffle:
        random.Random(_SEED).shuffle(entries)
    # Size of all chunks except the last, which may be smaller, but is split by the same numbers.
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
    """Yield the suffix of the file name and the images of each list of a chunk."""
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
        recursive: See `make_lists`.
        exts: See `make_lists`.
        note: Called with path and label of each folder that has images, if ``recursive``.

    Raises:
        MissingFileError: ``root`` is not a folder.
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
    """Yield a folder and its subfolders with the names of their files.

    Links are followed, except those to a folder that contains the link.
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
