"""Reads PyTorch checkpoints: both archive formats, and the memory layouts of arrays.

In both formats, a pickle describes the tensors, and storages, which tensors may share, contain the
numbers. No code in the file is executed: see `torch_pickle`.

PyTorch weights have the same order of axes as Gluon's, but a dense layer may be stored as a
convolution, or vice versa. Keras weights are (height, width, input, output) or (input, output).
"""

import io
import math
import struct
import zipfile
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, BinaryIO

import numpy as np

from gluonish.core.dtype import BOOL
from gluonish.core.errors import FileFormatError
from gluonish.core.pickle_safety import BROKEN_PICKLE, check_opcodes
from gluonish.model_zoo.foreign.torch_pickle import (
    MAX_OPCODES,
    MAX_PICKLE_NBYTES,
    Storage,
    StoredTensor,
    load_torch_pickle,
)
from gluonish.ndarray.list_file import StoredArray

# Returns the bytes of a storage.
ReadStorage = Callable[[str], Any]

_PICKLE_MEMBER = "data.pkl"
_BROKEN_ZIP = (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError)
_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_VERSION = 1001
_LEGACY_START = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_CACHED_STORAGES = 2  # number of cached storages, for consecutive tensors in one storage


def read_torch_zip(file: BinaryIO, name: str) -> tuple[object, ReadStorage]:
    """Read the pickle of a PyTorch checkpoint in a zip archive.

    Args:
        file: The archive; it must stay open while storages are read.
        name: Name of the file, for error messages.

    Returns:
        The unpickled object, with `StoredTensor` for tensors, and a function that reads storages.

    Raises:
        FileFormatError: The file is not a PyTorch archive, has impossible sizes, or contains
            anything but tensors and plain data.
    """
    try:
        archive = zipfile.ZipFile(file)
        folder = _folder(archive, name)
        _check_members(archive, file, name)
        data = _member(archive, folder + _PICKLE_MEMBER, name, MAX_PICKLE_NBYTES)
        if f"{folder}byteorder" in archive.namelist():
            order = _member(archive, f"{folder}byteorder", name, 16)
            if order != b"little":
                raise FileFormatError(f"{name}: expected little-endian numbers, got {order!r}")
    except _BROKEN_ZIP as error:
        raise _zip_error(error, name) from error
    value, storages = _load(data, f"{name}/{folder}{_PICKLE_MEMBER}")

    @lru_cache(maxsize=_CACHED_STORAGES)
    def read(key: str) -> Any:
        try:
            return _member(archive, f"{folder}data/{key}", name, None, storages[key].nbytes)
        except _BROKEN_ZIP as error:
            raise _zip_error(error, name) from error

    return value, read


def _zip_error(error: Exception, name: str) -> FileFormatError:
    if isinstance(error, FileFormatError):
        return error
    return FileFormatError(f"{name}: expected a PyTorch zip archive, got {error}")


def _check_members(archive: zipfile.ZipFile, file: BinaryIO, name: str) -> None:
    """Check for compression, which PyTorch does not use, and for impossible sizes."""
    total = file.seek(0, io.SEEK_END)
    infos = archive.infolist()
    for info in infos:
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise FileFormatError(
                f"{name}: expected members that are not compressed, got {info.filename!r} of"
                f" {info.file_size} bytes in {info.compress_size}"
            )
        if not 0 <= info.header_offset <= total - info.file_size:
            raise FileFormatError(
                f"{name}: expected members inside {total} bytes, got {info.filename!r} of"
                f" {info.file_size} bytes at byte {info.header_offset}"
            )
    if sum(info.file_size for info in infos) > total:
        raise FileFormatError(f"{name}: expected members that fit in {total} bytes, got more")


def _folder(archive: zipfile.ZipFile, name: str) -> str:
    """Return the checkpoint's folder in the archive, with a trailing slash."""
    names = archive.namelist()
    found = [entry for entry in names if entry.rsplit("/", 1)[-1] == _PICKLE_MEMBER]
    if len(found) != 1:
        raise FileFormatError(
            f"{name}: expected one member {_PICKLE_MEMBER}, got {len(found)} in {names[:5]!r:.200}"
        )
    folder = found[0].removesuffix(_PICKLE_MEMBER)
    if f"{folder}constants.pkl" in names:
        raise FileFormatError(
            f"{name}: expected a state_dict, got a TorchScript program; load it in PyTorch and"
            " save its state_dict: torch.save(torch.jit.load(path).state_dict(), other)"
        )
    return folder


def _member(
    archive: zipfile.ZipFile, member: str, name: str, max_nbytes: int | None, min_nbytes: int = 0
) -> bytes:
    try:
        info = archive.getinfo(member)
    except KeyError:
        raise FileFormatError(f"{name}: expected a member {member!r}, got none") from None
    if info.file_size < min_nbytes or (max_nbytes is not None and info.file_size > max_nbytes):
        bound = f"at least {min_nbytes}" if info.file_size < min_nbytes else f"up to {max_nbytes}"
        raise FileFormatError(f"{name}: expected {bound} bytes in {member!r}, got {info.file_size}")
    return archive.read(info)


def _load(data: bytes, what: str) -> tuple[object, dict[str, Storage]]:
    try:
        return load_torch_pickle(data)
    except FileFormatError as error:
        raise FileFormatError(f"{what}: {error}") from error


def is_legacy_start(head: bytes) -> bool:
    """Whether a file with these first bytes is a checkpoint of PyTorch before 1.6."""
    return head.startswith(_LEGACY_START)


def read_torch_legacy(file: BinaryIO, name: str) -> tuple[object, ReadStorage]:
    """Read the pickles of a checkpoint written by PyTorch before 1.6.

    Args:
        file: A file on disk, at its start; it must stay open while storages are read.
        name: Name of the file, for error messages.

    Returns:
        The unpickled object, with `StoredTensor` for tensors, and a function that reads storages.

    Raises:
        FileFormatError: The file is truncated or corrupt, or contains anything but tensors and
            plain data.
    """
    magic, _ = _next(file, name)
    version, _ = _next(file, name)
    system, _ = _next(file, name)
    if magic != _LEGACY_MAGIC or version != _LEGACY_VERSION:
        raise FileFormatError(
            f"{name}: expected version {_LEGACY_VERSION} of the format, got {version!r:.60}"
        )
    if not isinstance(system, dict) or system.get("little_endian") is not True:
        raise FileFormatError(f"{name}: expected little-endian numbers, got {system!r:.100}")
    value, storages = _next(file, name)
    keys, _ = _next(file, name)
    locations = _legacy_locations(file, keys, storages, name)

    @lru_cache(maxsize=_CACHED_STORAGES)
    def read(key: str) -> Any:
        if key not in locations:
            raise FileFormatError(f"{name}: expected a storage {key!r}, got none")
        start, nbytes = locations[key]
        file.seek(start)
        data = file.read(nbytes)
        if len(data) != nbytes:
            raise FileFormatError(f"{name}: expected {nbytes} bytes at byte {start}, got fewer")
        return data

    return value, read


def _next(file: BinaryIO, name: str) -> tuple[object, dict[str, Storage]]:
    """Read the pickle at the position of ``file``, and advance the position."""
    start = file.tell()
    try:
        check_opcodes(file, (), MAX_PICKLE_NBYTES, MAX_OPCODES)
    except FileFormatError as error:
        raise FileFormatError(f"{name}: pickle at byte {start}: {error}") from error
    except BROKEN_PICKLE as error:
        raise FileFormatError(
            f"{name}: expected a pickle at byte {start}, got {error!r:.100}"
        ) from error
    end = file.tell()
    file.seek(start)
    return _load(file.read(end - start), f"{name}: pickle at byte {start}")


def _legacy_locations(
    file: BinaryIO, keys: object, storages: dict[str, Storage], name: str
) -> dict[str, tuple[int, int]]:
    """Return offset and size of each storage, in bytes."""
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise FileFormatError(f"{name}: expected the names of storages, got {keys!r:.100}")
    locations = {}
    at = file.tell()
    total = file.seek(0, io.SEEK_END)
    for key in keys:
        storage = storages.get(key)
        file.seek(at)
        header = file.read(8)
        if storage is None or len(header) < 8:
            raise FileFormatError(f"{name}: expected a known storage at byte {at}, got {key!r:.60}")
        (count,) = struct.unpack("<q", header)
        nbytes = storage.nbytes
        if count != storage.elements or at + 8 + nbytes > total:
            raise FileFormatError(
                f"{name}: expected {storage.elements} elements of storage {key!r:.60} at byte {at},"
                f" got {count} and {total - at - 8} bytes; the file is truncated or corrupt"
            )
        locations[key] = (at + 8, nbytes)
        at += 8 + nbytes
    return locations


def stored_array(tensor: StoredTensor, read: ReadStorage) -> StoredArray:
    """Wrap a tensor of the pickle in a lazily read array."""
    return StoredArray(tensor.shape, tensor.dtype, partial(_values, tensor, read))


def _values(tensor: StoredTensor, read: ReadStorage) -> Any:
    dtype = tensor.dtype
    if 0 in tensor.shape:
        return np.empty(tensor.shape, dtype)
    raw = np.frombuffer(read(tensor.storage.key), np.uint8)
    raw = raw[: tensor.storage.nbytes // dtype.itemsize * dtype.itemsize]
    if dtype == BOOL:
        raw = np.minimum(raw, 1)
    steps = tuple(step * dtype.itemsize for step in tensor.strides)
    # `torch_pickle` has checked the view against the storage's declared size, and `read` that the
    # storage has that size.
    return np.lib.stride_tricks.as_strided(
        raw.view(dtype)[tensor.offset :], tensor.shape, steps, writeable=False
    )


def arranged_shape(
    shape: tuple[int, ...], keras: bool, rank: int, channels: int
) -> tuple[int, ...] | None:
    """Return the shape of the result of `arranged`, or None if the weight cannot be rearranged.

    Args:
        shape: Shape of the weight in the checkpoint.
        keras: Whether the checkpoint is from Keras.
        rank: Number of axes of the network's parameter, 2 or 4.
        channels: Channels of the feature maps flattened before a dense layer; 0 without flattening.
    """
    if len(shape) not in (2, 4):
        return None
    if keras:
        if channels and (len(shape) != 2 or _side(shape[0], channels) is None):
            return None
        shape = (shape[1], shape[0]) if len(shape) == 2 else (shape[3], shape[2], *shape[:2])
    if rank == 4:
        return shape if len(shape) == 4 else (*shape, 1, 1)
    return (shape[0], math.prod(shape[1:]))


def arranged(values: Any, keras: bool, rank: int, channels: int) -> Any:
    """Rearrange a weight to the layout of the network's parameter.

    Args:
        values: The weight in the checkpoint's layout.
        keras: Whether the checkpoint is from Keras.
        rank: Number of axes of the network's parameter, 2 or 4.
        channels: Channels of the feature maps flattened before a dense layer; 0 without flattening.

    Raises:
        AssertionError: `arranged_shape` returns None.
    """
    shape = arranged_shape(values.shape, keras, rank, channels)
    assert shape is not None
    if keras and values.ndim == 4:
        values = np.transpose(values, (3, 2, 0, 1))
    elif keras and channels:
        side = _side(values.shape[0], channels)
        assert side is not None
        maps = values.reshape(side, side, channels, values.shape[1])
        values = np.transpose(maps, (3, 2, 0, 1))
    elif keras:
        values = values.T
    return values.reshape(shape)


def _side(inputs: int, channels: int) -> int | None:
    """Return the side length of the flattened square feature maps."""
    side = math.isqrt(inputs // channels)
    return side if side * side * channels == inputs else None
