"""MNISTIter: batches of images and labels from MNIST's files.

A file in the IDX format has a magic number, a big-endian shape, and the elements as bytes.
"""

import gzip
import logging
import math
import os
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, is_floating
from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.core.file_kind import HEAD_NBYTES, found_text
from gluonish.core.files import DEFLATE_RATIO, local_path, open_to_read
from gluonish.core.schema import Schema, boolean, integer, text
from gluonish.core.spec import Spec
from gluonish.io.data_iter import DataBatch
from gluonish.io.native_iter import (
    PREFETCH_PARAMETERS,
    BatchSource,
    MXDataIter,
    check_parts,
    parse_parameters,
)
from gluonish.ndarray import from_numpy

_HEAD_NBYTES = 4
_UNSIGNED_BYTES = b"\0\0\x08"


def read_idx(content: bytes, name: str) -> np.ndarray[Any, Any]:
    """Parse a file in the IDX format; the uint8 array shares the memory of ``content``.

    Args:
        content: Content of the file.
        name: Name of the file, for error messages.

    Raises:
        FileFormatError: The file has another format, is truncated, or is too long.
    """
    axes = content[3] if content[:3] == _UNSIGNED_BYTES and len(content) > 3 else 0
    start = _HEAD_NBYTES * (1 + axes)
    if not axes:
        raise FileFormatError(
            f"read_idx: expected {name} to begin with 00 00 08 and the number of axes at byte 0, "
            f"got {found_text(content[:HEAD_NBYTES])}"
        )
    if len(content) < start:
        raise FileFormatError(
            f"read_idx: expected {name} to hold {axes} sizes in bytes {_HEAD_NBYTES} to {start}, "
            f"got {len(content)} bytes in all; the file is truncated: download it again"
        )
    shape = struct.unpack(f">{axes}I", content[_HEAD_NBYTES:start])
    nbytes = len(content) - start
    if nbytes != np.prod(shape, dtype=object):
        raise FileFormatError(
            f"read_idx: expected {name} to hold {shape!r:.200} values from byte {start} on, got "
            f"{nbytes}"
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


_NAME = "MNISTIter"
_LOG = logging.getLogger(__name__)
_PARAMETERS = Schema(
    image=text("./train-images-idx3-ubyte"),
    label=text("./train-labels-idx1-ubyte"),
    batch_size=integer(128, low=1),
    shuffle=boolean(True),
    flat=boolean(False),
    seed=integer(0),
    silent=boolean(False),
    num_parts=integer(1),
    part_index=integer(0),
    **PREFETCH_PARAMETERS,
)

Array = np.ndarray[Any, Any]

_GZIP = b"\x1f\x8b"
# MXNet's divisor: the brightest pixel is 0.99609375.
_SCALE = 1 / 256


class MNISTIter(MXDataIter):
    """Iterates over MNIST, or other images in the IDX format, in batches.

    An incomplete batch at the end is dropped. ``shuffle`` draws one order, which is the same in
    every pass, so that labels of one pass match the outputs of another.

    Args:
        image: Path of the IDX file of the images, plain or gzip-compressed.
        label: Path of the IDX file of the labels, plain or gzip-compressed.
        batch_size: Number of samples in a batch.
        shuffle: Whether to shuffle the samples; the order differs from MXNet's.
        flat: Whether to flatten images to vectors.
        seed: Seed of the shuffling.
        silent: Whether to suppress logging.
        num_parts: Number of parts that the data are divided into, for several workers.
        part_index: Index of the part to use, from 0.
        prefetch_buffer: Number of batches to load ahead.
        ctx: Accepted for MXNet's programs; has no effect, batches are always in CPU memory.
        dtype: Floating element type of data and labels, float32 by default.
        data_name: Name of the data, ``"data"`` by default.
        label_name: Name of the labels, ``"softmax_label"`` by default.

    Outputs:
        data: (batch_size, 1, height, width), or (batch_size, height * width) if flat; pixels are
            divided by 256, and so in [0, 1).
        label: (batch_size,).

    Raises:
        MissingFileError: A file does not exist.
        FileFormatError: A file has another format or is truncated, or the numbers of labels and
            images differ.
        OperatorError: A parameter is invalid.
        ArgumentError: ``part_index`` is not below ``num_parts``, the part is smaller than a batch,
            or ``dtype`` is not a floating type.
    """

    def __init__(self, **parameters: Any) -> None:
        params, names = parse_parameters(_NAME, _PARAMETERS, parameters)
        super().__init__(_ImageSource(params), **names)


class _ImageSource(BatchSource):
    def __init__(self, params: dict[str, Any]) -> None:
        check_parts(_NAME, params["num_parts"], params["part_index"])
        dtype = FLOAT32 if params["dtype"] is None else params["dtype"]
        if not is_floating(dtype):
            raise ArgumentError(
                f"{_NAME}: expected a floating dtype, because pixels are in [0, 1), got {dtype}"
            )
        images, labels = _read(params["image"], 3), _read(params["label"], 1)
        if len(images) != len(labels):
            raise FileFormatError(
                f"{_NAME}: expected as many labels as images, got {len(labels)} in "
                f"{params['label']!r} and {len(images)} in {params['image']!r}"
            )
        self._images, self._labels = images, labels
        self._order = _order(len(images), params)
        batch_size = params["batch_size"]
        if len(self._order) < batch_size:
            raise ArgumentError(
                f"{_NAME}: expected at least batch_size {batch_size} images, got {len(self._order)}"
            )
        height, width = images.shape[1:]
        shape = (height * width,) if params["flat"] else (1, height, width)
        super().__init__(
            _NAME,
            Spec((batch_size, *shape), dtype),
            Spec((batch_size,), dtype),
            params["prefetch_buffer"],
        )
        if not params["silent"]:
            _LOG.info("%s: %d images of shape %s", _NAME, len(self._order), shape)

    def batches(self, epoch: int, start: int) -> Iterator[DataBatch]:
        for begin in range(0, len(self._order) - self.batch_size + 1, self.batch_size):
            rows = self._order[begin : begin + self.batch_size]
            images = np.multiply(self._images[rows], _SCALE, dtype=FLOAT32)
            data = images.reshape(self.data.shape).astype(self.data.dtype, copy=False)
            label = self._labels[rows].astype(self.label.dtype)
            yield DataBatch([from_numpy(data)], [from_numpy(label)], 0, rows.astype(np.uint64))


def _order(count: int, params: dict[str, Any]) -> Array:
    """Return the indices of the images of a part, in iteration order."""
    num_parts, part_index = params["num_parts"], params["part_index"]
    order = np.arange(count * part_index // num_parts, count * (part_index + 1) // num_parts)
    if params["shuffle"]:
        np.random.default_rng(params["seed"] & ((1 << 64) - 1)).shuffle(order)
    return order


def _read(path: str, axes: int) -> Array:
    """Read the array of a file, plain or gzip-compressed.

    Raises:
        FileFormatError: The file has another format, or its size does not match its header.
    """
    with open_to_read(local_path(path, _NAME), _NAME) as file:
        nbytes = os.fstat(file.fileno()).st_size
        packed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        limit = DEFLATE_RATIO * nbytes if packed else nbytes
        stream: Any = gzip.GzipFile(fileobj=file) if packed else file
        try:
            head = stream.read(4 * (1 + axes))
            content_nbytes = _nbytes_of(head, axes, path)
            if content_nbytes > limit:
                raise FileFormatError(
                    f"{_NAME}: expected {path!r} to hold {content_nbytes} bytes, as the dimensions "
                    f"in its header require, got a file of {nbytes}"
                )
            # One more byte, to detect a longer file.
            content = head + stream.read(content_nbytes + 1)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FileFormatError(
                f"{_NAME}: expected {path!r} to be a complete gzip file, got {error} near byte "
                f"{file.tell()}"
            ) from None
    return read_idx(content, repr(path))


def _nbytes_of(head: bytes, axes: int, path: str) -> int:
    """Return the number of bytes after the header of a file in the IDX format."""
    if len(head) != 4 * (1 + axes) or head[:4] != bytes((0, 0, 8, axes)):
        raise FileFormatError(
            f"{_NAME}: expected {path!r} to begin with 00 00 08 {axes:02x} and {axes} sizes, got "
            f"{head!r} at byte 0"
        )
    return math.prod(struct.unpack(f">{axes}I", head[4:]))
