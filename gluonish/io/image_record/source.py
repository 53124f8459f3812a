"""The source of batches: reads and decodes samples in threads, into the memory of a batch.

Invariants: the order of samples and every random number depend on seeds, epoch and record only,
never on threads. One thread, which runs `ImageRecordSource.batches`, computes offsets and submits
work; the pool's threads read at explicit positions and write to disjoint rows. Two batches are in
progress at a time, so that no thread idles at the end of a batch.
"""

import ctypes
import logging
import mmap
import random
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np

from gluonish.core.errors import FileFormatError, GluonishError, OperatorError
from gluonish.core.finalizer import Leases
from gluonish.core.operating_system import usable_cores
from gluonish.core.spec import Spec
from gluonish.io.data_iter import DataBatch
from gluonish.io.image_record.augmentation import Augmentation
from gluonish.io.image_record.labels import LabelSource
from gluonish.io.image_record.normalization import Normalization
from gluonish.io.image_record.record_offsets import (
    PassOrder,
    RecordFiles,
    RecordOffsets,
    Sample,
    indexed_offsets,
    scan_offsets,
)
from gluonish.io.native_iter import BatchSource
from gluonish.io.text_lines import input_files
from gluonish.ndarray import from_numpy
from gluonish.ops.image.codec import AS_STORED, COLOR, GRAY, decode
from gluonish.recordio import unpack
from gluonish.recordio.record_file import RecordBuffer

Array = np.ndarray[Any, Any]


class SampleWriter(Protocol):
    """Writes decoded images and their labels into a batch, from any number of threads at once."""

    def write(
        self, data: Array, label: Array, image: Array, labels: Array, rng: random.Random
    ) -> None:
        """Write one sample into the batch.

        Args:
            data: Array (channels, height, width) to fill.
            label: Array (width,) to fill.
            image: Decoded image (height, width, channels), uint8, blue first.
            labels: Labels from the record or the list file.
            rng: Random number generator.
        """
        ...


class ImageSamples:
    """Writes augmented images with labels of a fixed length into a batch, for classification.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters.
        normalization: Writes the augmented image.
    """

    def __init__(
        self, name: str, parameters: Mapping[str, Any], normalization: Normalization
    ) -> None:
        self._augmentation = Augmentation(name, parameters)
        self._normalization = normalization
        self._mirror = parameters.get("mirror", False)
        self._rand_mirror = parameters.get("rand_mirror", False)

    def write(
        self, data: Array, label: Array, image: Array, labels: Array, rng: random.Random
    ) -> None:
        """Write one sample; see `SampleWriter`."""
        image = self._augmentation(image, rng)
        mirrored = self._mirror or (self._rand_mirror and rng.random() < 0.5)
        self._normalization.write(data, image, mirrored, rng)
        label[:] = labels


class BatchMemory:
    """Allocates arrays of one size, and reuses their memory once they and their views are freed.

    New memory costs a page fault for each 4 KiB; for a batch of images this is a tenth of the time
    of decoding.

    Args:
        shape: Shape of each array.
        dtype: Element type of each array.
        max_cached: Maximum number of unused buffers to cache.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], max_cached: int) -> None:
        self._shape = shape
        self._dtype = dtype
        self._nbytes = max(1, int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)
        self._free: deque[mmap.mmap] = deque(maxlen=max(1, max_cached))
        self._lending: Leases[mmap.mmap] = Leases()

    def allocate(self) -> np.ndarray[Any, Any]:
        """Return an uninitialized array."""
        self._free.extend(self._lending.reclaim())
        try:
            memory = self._free.pop()
        except IndexError:
            memory = mmap.mmap(-1, self._nbytes)
        lease = (ctypes.c_ubyte * self._nbytes).from_buffer(memory)
        self._lending.grant(memory, lease)
        return np.frombuffer(memoryview(lease), self._dtype).reshape(self._shape)


_MASK = (1 << 64) - 1
_MEGABYTE = 1 << 20
_MAX_PENDING = 2  # batches
_CHUNKS_PER_THREAD = 4  # per batch and thread, so that the wait for the last one is short
_TIMEOUT_S = 600.0


class _Batch(NamedTuple):
    """A batch in progress, whose rows the threads of the pool fill."""

    data: Array
    label: Array
    numbers: Array
    pad: int
    futures: list[Future[None]]


def open_records(name: str, parameters: Mapping[str, Any]) -> RecordOffsets:
    """Open the record files of an iterator; return the offsets of the records of its part.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters.
    """
    files = RecordFiles(input_files(parameters["path_imgrec"], name))
    part = parameters["num_parts"], parameters["part_index"]
    index = parameters.get("path_imgidx")
    try:
        if index:
            return indexed_offsets(files, input_files(index, name), name, *part)
        return scan_offsets(files, *part)
    except BaseException:
        files.close()
        raise


class ImageRecordSource(BatchSource):
    """Makes batches from image records.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters.
        dtype: Element type of the data.
        label_shape: Shape of the label of one sample.
        labels: Looks up the labels of a record.
        writer: Writes images and labels into a batch.
        upright: Whether to apply the images' EXIF orientation.

    Raises:
        MissingFileError: A record file or its index does not exist.
        FileFormatError: The index is damaged or belongs to another file.
    """

    def __init__(
        self,
        name: str,
        parameters: Mapping[str, Any],
        dtype: np.dtype[Any],
        label_shape: tuple[int, ...],
        labels: LabelSource,
        writer: SampleWriter,
        *,
        upright: bool = True,
    ) -> None:
        count = parameters["batch_size"]
        shape = parameters["data_shape"]
        super().__init__(
            name,
            Spec((count, *shape), dtype),
            Spec((count, *label_shape), np.dtype(np.float32)),
            parameters["prefetch_buffer"],
        )
        self.threads = min(parameters["preprocess_threads"], usable_cores())
        self._channels = shape[0]
        self._upright = upright
        self._flag = {1: GRAY, 3: COLOR, 4: AS_STORED}[self._channels]
        self._offsets = offsets = open_records(name, parameters)
        weakref.finalize(self, offsets.files.close)
        self._labels = labels
        self._writer = writer
        self._order = PassOrder(
            offsets,
            parameters["shuffle"],
            parameters["seed"],
            parameters["shuffle_chunk_size"] * _MEGABYTE,
            parameters["shuffle_chunk_seed"],
        )
        self._round_batch = parameters["round_batch"]
        seed = parameters.get("seed_aug")
        self._seed = (parameters["seed"] if seed is None else seed) & _MASK
        if parameters["verbose"]:
            text = "%s: %s, %d threads"
            logging.getLogger("gluonish").info(text, name, offsets.files, self.threads)
        self._memory = BatchMemory(self.data.shape, dtype, self.prefetch_buffer + _MAX_PENDING + 1)

    def batches(self, epoch: int, start: int) -> Iterator[DataBatch]:
        """Yield the batches of one epoch; see `BatchSource.batches`."""
        jobs = self._jobs(epoch, start if self._round_batch else 0)
        failure: GluonishError | None = None
        pending: deque[_Batch] = deque()
        pool = ThreadPoolExecutor(self.threads, thread_name_prefix=f"gluonish-{self.name}")
        try:
            while True:
                try:
                    pending.append(self._begin(pool, *next(jobs)))
                except StopIteration:
                    break
                except GluonishError as error:  # raised after the previous batches
                    failure = error
                    break
                if len(pending) == _MAX_PENDING:
                    yield self._finished(pending.popleft())
            while pending:
                yield self._finished(pending.popleft())
            if failure is not None:
                raise failure
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _jobs(self, epoch: int, start: int) -> Iterator[tuple[list[Sample], int]]:
        """Yield the samples of each batch, and the number of padding samples."""
        samples = self._order.samples(epoch, start)
        while found := list(islice(samples, self.batch_size)):
            pad = self.batch_size - len(found)
            if pad and self._round_batch:
                found.extend(islice(self._order.filling(epoch), pad))
            yield found, pad

    def _begin(self, pool: ThreadPoolExecutor, samples: list[Sample], pad: int) -> _Batch:
        data = self._memory.allocate()
        label = np.empty(self.label.shape, np.float32)
        index = np.zeros(self.batch_size, np.uint64)
        for array in (data, label):
            array[len(samples) :] = 0
        offsets = self._offsets
        rows = [(row, *sample, offsets.offset(sample[1])) for row, sample in enumerate(samples)]
        size = max(1, len(rows) // (self.threads * _CHUNKS_PER_THREAD))
        futures = [
            pool.submit(self._fill, rows[i : i + size], data, label, index)
            for i in range(0, len(rows), size)
        ]
        return _Batch(data, label, index, pad, futures)

    def _finished(self, batch: _Batch) -> DataBatch:
        for future in batch.futures:
            future.result(_TIMEOUT_S)
        data, label = from_numpy(batch.data), from_numpy(batch.label)
        return DataBatch([data], [label], batch.pad, batch.numbers)

    def _fill(
        self, rows: list[tuple[int, int, int, int]], data: Array, label: Array, index: Array
    ) -> None:
        """Fill some rows of a batch; runs in a thread of the pool."""
        files = self._offsets.files
        buffer = RecordBuffer()
        for row, epoch, number, offset in rows:
            record = files.read_into(buffer, offset)
            try:
                # `unpack` of a view returns the image as a view, not a copy.
                header, stored = unpack(record)  # type: ignore[arg-type]  # behaves like bytes
                index[row] = header.id
                labels = self._labels.labels_of(header)
                image = self._image(stored)
                rng = random.Random(self._seed << 96 | epoch << 64 | number)
                self._writer.write(data[row], label[row : row + 1].ravel(), image, labels, rng)
            except (FileFormatError, OperatorError) as error:
                position = files.describe_offset(offset)
                raise FileFormatError(f"{error}, in the record at {position}") from error

    def _image(self, stored: bytes) -> Array:
        """Decode the image of a record to (height, width, channels), uint8."""
        raw = np.frombuffer(stored, np.uint8)
        image = decode(self.name, raw, self._flag, upright=self._upright)
        image = image if image.ndim == 3 else image[..., None]
        if image.shape[2] != self._channels or image.dtype != np.uint8:
            raise FileFormatError(
                f"{self.name}: expected an image of {self._channels} uint8 channels, as in "
                f"data_shape, got {image.shape[2]} of {image.dtype}"
            )
        return image
