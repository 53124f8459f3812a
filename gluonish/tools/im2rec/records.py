"""Record files of the images on lists, made by several threads, in the order of the lists."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from gluonish.core.errors import GluonishError, MissingFileError
from gluonish.recordio.index_file import new_record_pair
from gluonish.tools.im2rec.image_list import ImageEntry, read_list
from gluonish.tools.im2rec.packing import Packing, pack_entry

__all__ = ["Outcome", "find_lists", "make_records"]

# Images that a thread may be ahead of the one that is written next.
_AHEAD = 4

Refused = Callable[[str], None]


class Outcome(NamedTuple):
    """What became of a list.

    Attributes:
        path: The record file; the index beside it has ``.idx`` as ending.
        records: How many records it has.
        skipped: How many lines and images of the list were left out.
    """

    path: Path
    records: int
    skipped: int


def find_lists(prefix: str | os.PathLike[str]) -> list[Path]:
    """Return the lists whose paths begin with a prefix; all in it where it is a folder.

    As for MXNet's tool, ``cats`` is the prefix of ``cats.lst`` and ``cats_train.lst``, and of
    ``cats2.lst``, too.

    Raises:
        MissingFileError: There is none.
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
    """Write the record file of a list, and its index, beside it.

    The records are in the order of the list whatever the number of threads. The files get their
    names when all is done; until then, and after an error, what was there stays.

    Args:
        image_list: The list, ``images.lst`` for ``images.rec`` and ``images.idx``.
        root: The folder that its paths are relative to.
        packing: What becomes of the images; JPEG of quality 95 by default.
        num_thread: How many threads read and encode; less than 1 is 1.
        refused: Called with a message for each line and image that is left out.

    Raises:
        ArgumentError: ``packing`` is out of range.
        MissingFileError: There is no such list.
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
    """Give each image with its record, or with the error that it made, in their order."""
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
    from tqdm import tqdm

    return tqdm(packed, desc="im2rec", unit="image", total=total, leave=False, disable=None)
