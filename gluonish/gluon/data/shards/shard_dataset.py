"""ShardDataset: a stream of samples from tar archives, on disks or on servers."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import urlsplit

from gluonish.core.errors import DownloadError, FileFormatError
from gluonish.core.files import open_to_read, path_text, temporary_file
from gluonish.core.object_repr import default_repr
from gluonish.gluon.data.shards.fields import (
    KEY,
    Decoder,
    FieldDecoder,
    check_fields,
    key_and_field,
)
from gluonish.gluon.data.shards.order import ShardStream
from gluonish.gluon.data.shards.shard_names import is_url, shard_names
from gluonish.gluon.data.shards.tar_reader import Member, TarReader
from gluonish.gluon.download import disk_full_error, make_folder
from gluonish.gluon.download.http_stream import open_url

Shards = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


class _StoredSample(NamedTuple):
    """A sample as it is in its shard: the shard's name, the key, and the files by field."""

    shard: str
    key: str
    members: dict[str, Member]


class ShardDataset(ShardStream):
    """A stream of samples from tar archives in WebDataset's layout, on disks or on servers.

    Files of an archive that follow one another and have the same name up to the first dot are one
    sample: ``0001.jpg``, ``0001.cls`` and ``0001.json`` are the fields ``jpg``, ``cls`` and
    ``json`` of the sample ``0001``. Folders, and files whose name has no such ending, are skipped.
    An archive on a server is read while it arrives, up to 2 MiB ahead by a thread: nothing of it is
    stored, and a connection that breaks goes on at the same byte. `ShardWriter` writes such
    archives.

    Fields are decoded by the end of their names: ``jpg``, ``jpeg``, ``png``, ``bmp``, ``ppm``,
    ``webp``: an NDArray (height, width, 3) of uint8, RGB; ``cls``, ``class``, ``count``, ``id``,
    ``index``: an int; ``txt``, ``text``, ``transcript``: a str; ``json``, ``jsn``: what the JSON
    holds; ``npy``: an array; others: bytes. Nothing is unpickled.

    With workers, each reads its share of the shards; with fewer shards than workers several read
    one shard and take its samples in turn. Processes that train together each pass ``num_parts``
    and ``part_index`` and share the stream in the same way. They need equal numbers of batches, as
    one that ends early would leave the others waiting for its gradients. So ``samples_per_epoch``
    is required: a process whose shards end early begins them again, in another order, and one that
    has more leaves the rest out of the pass. Batches are equally many if ``batch_size`` and
    ``num_workers`` are equal, too.

    The order depends on ``seed``, the number of the pass, and the numbers of processes and workers,
    not on timing.

    Args:
        shards: Path or URL (HTTP, HTTPS) of an archive, or a pattern: ``train-*.tar``,
            ``train-{000000..000146}.tar``, ``{a,b}.tar``; or a list of them. A `pathlib.Path` is
            taken literally.
        fields: Names of fields, such as ``("jpg;png", "cls")``, where the sample has one of those
            between semicolons: samples are tuples of their values. None: samples are dicts of all
            fields by name, and of the key as ``"__key__"``.
        decode: True to decode fields as above, False for bytes; or a dict of functions from bytes
            by field or extension, which come before the usual ones; None in it for bytes.
        shuffle: Whether each pass has the shards in another order, and draws samples at random from
            a buffer.
        buffer_size: Number of samples in the buffer, not yet decoded, in each worker.
        seed: Seed of the order, the same in all processes.
        num_parts: Number of processes that share the stream: a store's ``num_workers``.
        part_index: Number of this process, from 0: a store's ``rank``.
        samples_per_epoch: Number of samples of a pass in each process; None for those in its
            shards, once.
        equal_parts: Whether processes need equally many samples; False, for example for an
            evaluation, allows several parts without ``samples_per_epoch``.
        cache: Folder for copies of archives from servers, which later passes read; None for none.
            A copy appears when it is complete, and is not checked for changes on the server.
        epoch: Number of the first pass, from 0; a training that goes on after k passes has k.

    Raises:
        ArgumentError: A number is out of range, ``samples_per_epoch`` is missing for several parts,
            or a pattern stands for no name or too many.
        ArgumentTypeError: An argument has another type.
        MissingFileError: A path does not exist, or no path matches a pattern.
        NotSupportedError: A shard has a protocol other than HTTP.

    Iterating raises `FileFormatError`, with the shard, the offset in bytes and the member, for an
    archive that is truncated or corrupt, has a link, a device, a path outside or a field twice, or
    a field that cannot be decoded or is missing; and `DownloadError` if a server fails.

    References:
        A. Aizman, G. Maltby, T. Breuel, High Performance I/O For Large Scale Deep Learning, 2020:
        the layout.

    Example::

        dataset = ShardDataset("https://host/train-{000000..000146}.tar", ("jpg", "cls"),
                               shuffle=True)
        dataset = dataset.transform_first(augment)
        loader = DataLoader(dataset, batch_size=128, num_workers=4)
    """

    def __init__(
        self,
        shards: Shards,
        fields: Sequence[str] | None = None,
        *,
        decode: bool | Mapping[str, Decoder | None] = True,
        shuffle: bool = False,
        buffer_size: int = 1000,
        seed: int = 0,
        num_parts: int = 1,
        part_index: int = 0,
        samples_per_epoch: int | None = None,
        equal_parts: bool = True,
        cache: str | os.PathLike[str] | None = None,
        epoch: int = 0,
    ) -> None:
        super().__init__(
            shard_names("ShardDataset", shards),
            shuffle=shuffle,
            buffer_size=buffer_size,
            seed=seed,
            num_parts=num_parts,
            part_index=part_index,
            samples_per_epoch=samples_per_epoch,
            equal_parts=equal_parts,
            epoch=epoch,
        )
        self.fields = check_fields(fields)
        self._decoder = FieldDecoder(decode)
        self.cache = None if cache is None else Path(path_text(cache, "cache")).expanduser()

    def _read(self, shard: str) -> Iterator[_StoredSample]:
        with opened_shard(shard, self.cache) as (file, length):
            key, members = "", dict[str, Member]()
            for member in TarReader(file, shard, length):
                found, field = key_and_field(member.name)
                if not found:
                    continue
                if found != key:
                    if members:
                        yield _StoredSample(shard, key, members)
                    key, members = found, {}
                if field == KEY:
                    raise FileFormatError(
                        f"{shard}: expected no field {KEY!r} in the sample {key!r}, which is its "
                        f"key, got {member.name!r} at byte {member.offset}"
                    )
                if field in members:
                    raise FileFormatError(
                        f"{shard}: expected each field of the sample {key!r} once, got "
                        f"{member.name!r} at byte {member.offset} again"
                    )
                members[field] = member
            if members:
                yield _StoredSample(shard, key, members)

    def _decoded(self, stored: _StoredSample) -> Any:
        shard, key, members = stored
        if self.fields is not None:
            return tuple(self._field(stored, names) for names in self.fields)
        sample: dict[str, Any] = {KEY: key}
        for field, member in members.items():
            sample[field] = self._decoder(shard, field, member)
        return sample

    def _field(self, stored: _StoredSample, names: tuple[str, ...]) -> Any:
        shard, key, members = stored
        for name in names:
            if name in members:
                return self._decoder(shard, name, members[name])
            if name == KEY:
                return key
        offset = next(iter(members.values())).offset
        raise FileFormatError(
            f"{shard}: expected the field {' or '.join(names)} in the sample {key!r} at byte "
            f"{offset}, got {', '.join(members)}"
        )


@contextmanager
def opened_shard(shard: str, cache: Path | None) -> Iterator[tuple[BinaryIO, int | None]]:
    """Context manager that opens a shard for reading in order; gives its length in bytes, too.

    Args:
        shard: Path or URL.
        cache: Folder of copies of what URLs name; a copy is made when all has been read.

    Raises:
        DownloadError: A server fails, or the disk of the cache is full.
        OSError: The file cannot be read.
    """
    copy = None if cache is None or not is_url(shard) else _copy_path(cache, shard)
    if copy is not None and copy.is_file():
        shard, copy = str(copy), None
    if not is_url(shard):
        with open_to_read(shard, "ShardDataset") as file:
            yield file, os.fstat(file.fileno()).st_size
        return
    with open_url(shard) as opened:
        served: Any = opened  # what is raw is no BinaryIO for type checkers
        if copy is None:
            yield served, opened.length
            return
        make_folder(copy.parent)
        with ExitStack() as stack:
            path, file = stack.enter_context(temporary_file(copy))
            with file:
                copying: Any = _CopyingReader(served, file, copy)
                yield copying, opened.length
                shutil.copyfileobj(served, file)  # what follows the end-of-archive mark
                file.flush()
                os.fsync(file.fileno())
            path.replace(copy)


def _copy_path(cache: Path, url: str) -> Path:
    """Return the path of a URL's copy: a digest of the URL, and the file's name."""
    name = urlsplit(url).path.rpartition("/")[2][-100:]
    return cache / f"{sha256(url.encode()).hexdigest()[:16]}-{name}"


class _CopyingReader:
    """A file that is written to another while it is read."""

    __repr__ = default_repr

    def __init__(self, source: BinaryIO, target: BinaryIO, path: Path) -> None:
        self._source = source
        self._target = target
        self._path = path

    def read(self, nbytes: int) -> bytes:
        """Return the next bytes.

        Raises:
            DownloadError: The disk is full.
        """
        found = self._source.read(nbytes)
        try:
            self._target.write(found)
        except OSError as error:
            full: DownloadError | None = disk_full_error(error, self._path)
            raise (error if full is None else full) from None
        return found
