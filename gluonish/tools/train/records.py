"""Batches of record files, decoded and augmented by `mx.io.ImageRecordIter`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.io.image_record import ImageRecordIter
from gluonish.io.image_record.source import open_records
from gluonish.recordio.record_table import scan
from gluonish.tools.train.loop import Batch, derived_seed
from gluonish.tools.train.ranks import Ranks


def count_records(path: str) -> int:
    """Return how many records a file has; only their heads are read.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: It is damaged.
    """
    return len(scan(path).offsets)


class RecordBatches:
    """Batches of a record file, and of another to evaluate with.

    Args:
        train: The record file to train with.
        train_index: Its index; empty for the file with the suffix ``.idx``, if there is
            one.
        validation: The record file to evaluate with; empty for none.
        validation_index: Its index.
        batch_size: Images in a batch.
        image_shape: (channels, height, width).
        samples: Images in an epoch; None for all.
        threads: Threads that decode.
        seed: Of order and augmentation.
        common: Further arguments of ImageRecordIter, for both files: mean, std.
        augmentation: Further arguments for the file to train with.
        ranks: The processes that share the files; each reads a part of its own, and as many
            batches as the others.

    Raises:
        ArgumentError: There are fewer images than a batch has.
    """

    def __init__(
        self,
        train: str,
        train_index: str,
        validation: str,
        validation_index: str,
        batch_size: int,
        image_shape: tuple[int, int, int],
        samples: int | None,
        threads: int,
        seed: int,
        common: dict[str, Any],
        augmentation: dict[str, Any],
        ranks: Ranks,
    ) -> None:
        self.image_shape = image_shape
        found = count_records(train) if samples is None else samples
        if found < batch_size:
            raise ArgumentError(
                f"--batch-size: expected up to the {found} images of {train}, got {batch_size}"
            )
        self._train = _files(train, train_index)
        if samples is not None:
            self.batches_per_epoch = found // batch_size
        else:
            if ranks.size > 1:
                found = min(ranks.gather(_count_part(self._train, ranks))) * ranks.size
            # The iterator fills the last batch with images of the beginning.
            self.batches_per_epoch = -(-found // batch_size)
        self._validation = _files(validation, validation_index) if validation else None
        self._arguments = {
            "data_shape": image_shape,
            "batch_size": batch_size // ranks.size,
            "num_parts": ranks.size,
            "part_index": ranks.rank,
            "preprocess_threads": threads,
            "round_batch": True,
            **common,
        }
        self._augmentation = augmentation
        self._seed = seed

    def training(self, epoch: int) -> Iterator[Batch]:
        """Yield the batches of an epoch, counted from 0."""
        # A new iterator for each epoch, so that its order depends only on the epoch.
        seed = derived_seed(self._seed, epoch)
        iterator = ImageRecordIter(
            **self._train,
            **self._arguments,
            **self._augmentation,
            shuffle=True,
            seed=seed,
            seed_aug=seed,
        )
        for number, batch in enumerate(iterator):
            if number == self.batches_per_epoch:
                break
            yield Batch(batch.data[0], batch.label[0])

    def validation(self) -> Iterator[Batch] | None:
        """Yield the batches for evaluation, or return None."""
        if self._validation is None:
            return None
        iterator = ImageRecordIter(**self._validation, **self._arguments)
        return (Batch(batch.data[0], batch.label[0], batch.pad or 0) for batch in iterator)

    def close(self) -> None:
        """The iterators end their threads when they go."""


def _count_part(files: dict[str, str], ranks: Ranks) -> int:
    """Return the number of records in this process's share."""
    places = open_records("train", {**files, "num_parts": ranks.size, "part_index": ranks.rank})
    try:
        return len(places.all())
    finally:
        places.files.close()


def _files(records: str, index: str) -> dict[str, str]:
    beside = Path(records).with_suffix(".idx")
    if not index and beside.is_file():
        index = str(beside)
    return {"path_imgrec": records, **({"path_imgidx": index} if index else {})}
