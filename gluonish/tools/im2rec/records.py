"""Packs images into records, one or all of a list, by several threads."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError, GluonishError, MissingFileError
from gluonish.core.files import open_to_read
from gluonish.core.progress import progress_bar
from gluonish.ops.image.codec import AS_STORED, COLOR, GRAY, decode
from gluonish.ops.image.resampling import resample
from gluonish.recordio import IRHeader, pack, pack_img
from gluonish.recordio.image_record import Array
from gluonish.recordio.index_file import new_record_pair
from gluonish.tools.im2rec.listing import ImageEntry, read_list

COLORS = (AS_STORED, GRAY, COLOR)
ENCODINGS = (".jpg", ".png")
_LINEAR = 1
_LARGEST_QUALITY = 100
_LARGEST_PNG_EFFORT = 9


class Packing(NamedTuple):
    """Options for writing an image into a record.

    Attributes:
        pass_through: Whether to store the file unchanged; of the other options, only
            ``pack_label`` is used then.
        resize: New length of the shorter side in pixels, by linear interpolation; 0 keeps the size.
        center_crop: Whether to crop the central square before resizing.
        quality: For JPEG 1 to 100; for PNG the compression level, at most 9.
        color: 1 for three channels, 0 for one, -1 to keep the file's, including alpha and 16 bits.
        encoding: ``.jpg`` or ``.png``.
        pack_label: Whether to store all labels of an image, instead of the first.
    """

    pass_through: bool = False
    resize: int = 0
    center_crop: bool = False
    quality: int = 95
    color: int = COLOR
    encoding: str = ".jpg"
    pack_label: bool = False

    def check(self) -> None:
        """Check the range of the options.

        Raises:
            ArgumentError: An option is out of range.
        """
        if self.resize < 0:
            raise ArgumentError(f"im2rec: expected resize of 0 or more pixels, got {self.resize}")
        if not 0 <= self.quality <= _LARGEST_QUALITY:
            raise ArgumentError(
                f"im2rec: expected quality from 0 to {_LARGEST_QUALITY}, got {self.quality}"
            )
        if self.color not in COLORS or self.encoding not in ENCODINGS:
            raise ArgumentError(
                f"im2rec: expected color in {COLORS} and encoding in {ENCODINGS}, got "
                f"{self.color} and {self.encoding!r}"
            )


def pack_entry(entry: ImageEntry, root: str | os.PathLike[str], packing: Packing) -> bytes:
    """Return the record of an image on a list.

    Args:
        entry: The image.
        root: Folder to which the image's path is relative.
        packing: The options.

    Raises:
        OperatorError: The file is not a known image, or cannot be encoded with these options.
        ArgumentError: The image's number is out of range.
        OSError: The file cannot be read.
    """
    path = os.path.join(root, entry.path)
    with open_to_read(path, "image") as file:
        stored = file.read()
    first, *others = entry.labels
    several = packing.pack_label and others
    label = np.array(entry.labels, np.float32) if several else first
    header = IRHeader(0, label, entry.number, 0)
    if packing.pass_through:
        return pack(header, stored)
    image = decode("image", np.frombuffer(stored, np.uint8), packing.color)
    if packing.center_crop:
        image = _centre(image)
    if packing.resize:
        image = _resized(image, packing.resize)
    quality = packing.quality
    if packing.encoding == ".png":
        quality = min(quality, _LARGEST_PNG_EFFORT)
    return pack_img(header, image, quality, packing.encoding)


def _centre(image: Array) -> Array:
    """Return the largest square in the center."""
    height, width = image.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return image[top : top + side, left : left + side]


def _resized(image: Array, side: int) -> Array:
    """Resize an image so that the shorter side has ``side`` pixels."""
    height, width = image.shape[:2]
    new = (side * height // width, side) if height > width else (side, side * width // height)
    made = np.empty((*new, *image.shape[2:]), image.dtype)
    channels = made[..., None] if made.ndim == 2 else made
    resample(np, channels, image[..., None] if image.ndim == 2 else image, _LINEAR)
    return made


# Images per thread that are packed ahead of the one to be written next.
_AHEAD = 4

Refused = Callable[[str], None]


class Outcome(NamedTuple):
    """The result of packing a list.

    Attributes:
        path: The record file; its index has the suffix ``.idx``.
        records: Number of records in the file.
        skipped: Number of lines and images of the list that were skipped.
    """

    path: Path
    records: int
    skipped: int


def find_lists(prefix: str | os.PathLike[str]) -> list[Path]:
    """Return the lists whose paths begin with a prefix, or all lists of a folder.

    As in MXNet's tool, ``cats`` is the prefix of ``cats.lst`` and ``cats_train.lst``, but also of
    ``cats2.lst``.

    Raises:
        MissingFileError: There are no such lists.
    """
    whole = os.path.abspath(prefix)
    is_folder = os.path.isdir(whole)
    folder = Path(whole) if is_folder else Path(whole).parent
    start = "" if is_folder else Path(whole).name
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    found = [
        folder / name
        for name in names
        if name.startswith(start) and name.endswith(".lst") and (folder / name).is_file()
    ]
    if not found:
        raise MissingFileError(
            f"im2rec: expected lists {whole}*.lst, got none; make one with --list"
        )
    return found


def make_records(
    image_list: str | os.PathLike[str],
    root: str | os.PathLike[str],
    packing: Packing | None = None,
    *,
    num_thread: int = 1,
    refused: Refused = print,
) -> Outcome:
    """Write the record file of a list, and its index, to the folder of the list.

    The records are in the order of the list, regardless of the number of threads. Existing files
    are replaced only at the end, and not after an error.

    Args:
        image_list: Path of the list: ``images.lst`` for ``images.rec`` and ``images.idx``.
        root: Folder to which the paths in the list are relative.
        packing: The options; JPEG of quality 95 by default.
        num_thread: Number of threads that read and encode; values below 1 mean 1.
        refused: Called with a message for each line and image that is skipped.

    Raises:
        ArgumentError: An option in ``packing`` is out of range.
        MissingFileError: The list does not exist.
        OSError: The files cannot be written.
    """
    packing = packing or Packing()
    packing.check()
    skipped = 0

    def skip(message: str) -> None:
        nonlocal skipped
        skipped += 1
        refused(message)

    entries = list(read_list(image_list, skip))
    path = Path(image_list).with_suffix(".rec")
    with new_record_pair(path, path.with_suffix(".idx")) as pair:
        for entry, made in _progress(_packed(entries, root, packing, num_thread), len(entries)):
            if isinstance(made, bytes):
                pair.write(entry.number, made)
            else:
                skip(f"im2rec: left out {os.path.join(root, entry.path)}: {made}")
        count = pair.count
    return Outcome(path, count, skipped)


Packed = tuple[ImageEntry, bytes | Exception]


def _packed(
    entries: list[ImageEntry],
    root: str | os.PathLike[str],
    packing: Packing,
    num_thread: int,
) -> Iterator[Packed]:
    """Yield each image with its record, or the error, in the order of the list."""
    if num_thread <= 1:
        for entry in entries:
            yield entry, _record(entry, root, packing)
        return
    waiting: deque[tuple[ImageEntry, Future[bytes | Exception]]] = deque()
    with ThreadPoolExecutor(num_thread, "im2rec") as threads:
        try:
            for entry in entries:
                waiting.append((entry, threads.submit(_record, entry, root, packing)))
                if len(waiting) > num_thread * _AHEAD:
                    first, future = waiting.popleft()
                    yield first, future.result()
            for first, future in waiting:
                yield first, future.result()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def _record(entry: ImageEntry, root: str | os.PathLike[str], packing: Packing) -> bytes | Exception:
    try:
        return pack_entry(entry, root, packing)
    except (GluonishError, OSError, ValueError) as error:
        return error


def _progress(packed: Iterable[Packed], total: int) -> Iterable[Packed]:
    bar: Iterable[Packed] = progress_bar(
        packed, desc="im2rec", unit="image", total=total, leave=False
    )
    return bar
