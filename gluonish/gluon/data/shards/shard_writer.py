"""ShardWriter: writes samples to tar archives, which `ShardDataset` reads."""

import os
import re
import tarfile
from collections.abc import Mapping
from contextlib import ExitStack
from io import BytesIO
from types import TracebackType
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.files import atomic_write, local_path, path_text
from gluonish.core.number_check import as_int
from gluonish.core.object_repr import object_repr
from gluonish.gluon.data.shards.fields import KEY, encoded, key_and_field
from gluonish.gluon.data.shards.tar_reader import BLOCK_NBYTES

_NUMBER = re.compile(r"%(?:0\d{1,2})?d")
_END_NBYTES = 2 * BLOCK_NBYTES
_RECORD_NBYTES = 20 * BLOCK_NBYTES  # tar pads archives to these


class ShardWriter:
    """Writes samples to tar archives in WebDataset's layout, one after the other.

    A shard appears under its name when it is complete; if the program ends before, or an error
    leaves the ``with`` block, the shard that was being written does not appear. Equal samples give
    equal bytes.

    Args:
        pattern: Path of the shards, with a number as ``%06d`` or ``%d``; its folder must exist.
        max_samples: Largest number of samples in a shard.
        max_nbytes: Largest size of a shard in bytes, unless a single sample is larger.
        first: Number of the first shard.

    Attributes:
        shards: Paths of the complete shards, in order.
        num_samples: Number of samples that were written.

    Raises:
        ArgumentError: ``pattern`` has not one number, or a number is out of range.
        ArgumentTypeError: An argument has another type.

    Example:
        >>> import tempfile
        >>> from gluonish.gluon.data import ShardDataset, ShardWriter
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with ShardWriter(f"{folder}/train-%06d.tar", max_samples=2) as writer:
        ...         for i in range(3):
        ...             writer.write({"__key__": f"{i:04}", "cls": i % 2, "txt": f"number {i}"})
        ...     print(len(writer.shards))
        ...     next(iter(ShardDataset(f"{folder}/train-{{000000..000001}}.tar")))
        2
        {'__key__': '0000', 'cls': 0, 'txt': 'number 0'}
    """

    def __init__(
        self,
        pattern: str | os.PathLike[str],
        max_samples: int = 10_000,
        max_nbytes: int = 1 << 30,
        first: int = 0,
    ) -> None:
        self._pattern = local_path(path_text(pattern, "ShardWriter"), "ShardWriter")
        if len(_NUMBER.findall(self._pattern)) != 1 or self._pattern.count("%") != 1:
            raise ArgumentError(
                "ShardWriter: expected a pattern with one number, such as train-%06d.tar, got "
                f"{self._pattern!r}"
            )
        if not self._pattern.endswith(".tar"):
            raise NotSupportedError(
                f"ShardWriter: expected a pattern that ends with .tar, got {self._pattern!r}"
            )
        self._max_samples = as_int("ShardWriter", "max_samples", max_samples, 1)
        self._max_nbytes = as_int("ShardWriter", "max_nbytes", max_nbytes, 1)
        self._number = as_int("ShardWriter", "first", first, 0)
        self.shards: list[str] = []
        self.num_samples = 0
        self._open = ExitStack()
        self._archive: tarfile.TarFile | None = None
        self._count = 0
        self._last_key: str | None = None
        self._closed = False

    def __repr__(self) -> str:
        return object_repr(
            self, self._pattern, f"{len(self.shards)} shards", f"{self.num_samples} samples"
        )

    def __enter__(self) -> "ShardWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._closed, self._archive = True, None
            self._open.__exit__(kind, error, trace)

    def write(self, sample: Mapping[str, Any]) -> None:
        """Write a sample.

        Args:
            sample: Dict of the fields by name, and of the key, unlike the previous one's, as
                ``"__key__"``. The end of a field's name says its format: ``jpg`` and ``png`` take
                images (height, width, 3) of uint8 in RGB order, ``cls`` an int, ``txt`` a str,
                ``npy`` an array, ``json`` what JSON can hold; all take bytes, which are written as
                they are.

        Raises:
            ArgumentError: The key is missing, equal to the previous one, or not fit for a file's
                name, or a field's name is not; or there is no field; or the writer is closed.
            ArgumentTypeError: A format does not hold such a value.
            OSError: The file cannot be written.
        """
        if self._closed:
            raise ArgumentError("ShardWriter: expected an open writer, got a closed one")
        files = self._files(sample)
        nbytes = sum(_archived_nbytes(info) for info, _ in files)
        archive = self._archive
        if archive is not None:
            padded = archive.offset + nbytes + _END_NBYTES
            padded += -padded % _RECORD_NBYTES
            if self._count >= self._max_samples or padded > self._max_nbytes:
                self._finish()
                archive = None
        if archive is None:
            archive = self._begin()
        for info, content in files:
            archive.addfile(info, BytesIO(content))
        self._count += 1
        self.num_samples += 1
        self._last_key = sample[KEY]

    def close(self) -> None:
        """Complete the last shard; further samples are refused."""
        self._closed = True
        if self._archive is not None:
            self._finish()

    def _begin(self) -> tarfile.TarFile:
        path = self._pattern % self._number
        file = self._open.enter_context(atomic_write(path))
        # Not closed after an error: it would write the end-of-archive mark.
        archive = tarfile.TarFile(fileobj=file, mode="w", format=tarfile.PAX_FORMAT)
        self._archive, self._count = archive, 0
        return archive

    def _finish(self) -> None:
        archive, self._archive = self._archive, None
        assert archive is not None
        archive.close()
        self._open.close()
        self.shards.append(self._pattern % self._number)
        self._number += 1

    def _files(self, sample: Mapping[str, Any]) -> list[tuple[tarfile.TarInfo, bytes]]:
        """Return the files of a sample, with their content."""
        if not isinstance(sample, Mapping) or not all(isinstance(name, str) for name in sample):
            raise ArgumentTypeError(
                "ShardWriter: expected a dict of fields by name, all of them str, got "
                f"{sample!r:.100}"
            )
        key = sample.get(KEY)
        if not isinstance(key, str):
            raise ArgumentTypeError(f"ShardWriter: expected a str as {KEY!r}, got {key!r:.100}")
        if key == self._last_key:
            raise ArgumentError(
                f"ShardWriter: expected another key than that of the sample before, got {key!r}"
            )
        files = []
        for field, value in sample.items():
            if field == KEY:
                continue
            name = f"{key}.{field}"
            folders = name.replace("\\", "/").split("/")
            fits = key_and_field(name) == (key, field) and folders[0] and ".." not in folders
            if not fits or "/" in field or "\\" in field or not name.isprintable():
                raise ArgumentError(
                    "ShardWriter: expected a key without dots in the file's name, and fields in "
                    f"lower case, such as '0001' and 'jpg', got {key!r:.100} and {field!r:.100}"
                )
            content = encoded(field, value)
            info = tarfile.TarInfo(name)
            info.size = len(content)
            files.append((info, content))
        if not files:
            raise ArgumentError(f"ShardWriter: expected a field beside {KEY!r}, got none")
        return files


def _archived_nbytes(info: tarfile.TarInfo) -> int:
    """Return the size of a file in an archive, with its header and its padding."""
    header = len(info.tobuf(tarfile.PAX_FORMAT))
    return header + info.size + -info.size % BLOCK_NBYTES
