"""The order in which a pass takes the records of a file, and which of them fill its last batch."""

from collections.abc import Iterator

import numpy as np

from gluonish.io.image_record.record_places import RecordPlaces

__all__ = ["PassOrder", "Sample"]

# The pass that a sample belongs to, and the number of its record: what its random numbers are of.
Sample = tuple[int, int]

_MASK = (1 << 64) - 1


class PassOrder:
    """The order in which each epoch visits the records.

    A shuffled epoch is a random permutation of all records; or, with chunks, a random permutation
    of chunks of the file, with the records of each chunk permuted, so that the disk is read in
    large pieces.

    Args:
        places: Offsets of the records.
        shuffle: Whether the order is random.
        seed: Seed of the permutations, together with the number of the epoch.
        chunk_nbytes: Size of a chunk in bytes; 0 for no chunks.
        chunk_seed: Seed of the order of the chunks.
    """

    def __init__(
        self, places: RecordPlaces, shuffle: bool, seed: int, chunk_nbytes: int, chunk_seed: int
    ) -> None:
        self._places = places
        self._shuffle = shuffle
        self._seed = seed & _MASK
        self._chunk_nbytes = chunk_nbytes
        self._chunk_seed = chunk_seed & _MASK

    def samples(self, epoch: int, start: int) -> Iterator[Sample]:
        """Yield the samples of an epoch.

        Args:
            epoch: Number of the epoch, from 0.
            start: How many of its first samples the previous epoch's last batch already used; if
                that batch wrapped around more than once, those of its last round.

        Raises:
            FileFormatError: A file is damaged.
        """
        if self._shuffle:
            order = self._permutation(epoch)
            for number in order[start % max(1, len(order)) :].tolist():
                yield epoch, number
            return
        if start and not self._places.has(start):
            start %= max(1, len(self._places.all()))
        while self._places.has(start):
            yield epoch, start
            start += 1

    def filling(self, epoch: int) -> Iterator[Sample]:
        """Yield the first samples of the next epoch, repeatedly; nothing if there are no records.

        Args:
            epoch: Number of the epoch whose last batch is filled.
        """
        while self._places.has(0):
            yield from self.samples(epoch + 1, 0)

    def _permutation(self, epoch: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        offsets = self._places.all()
        generator = np.random.default_rng((self._seed, epoch))
        if not self._chunk_nbytes or not len(offsets):
            return generator.permutation(len(offsets))
        chunk = (offsets - offsets[0]) // self._chunk_nbytes
        runs = np.split(np.arange(len(offsets)), np.flatnonzero(np.diff(chunk)) + 1)
        of_runs = np.random.default_rng((self._chunk_seed, epoch)).permutation(len(runs))
        return np.concatenate([generator.permutation(runs[i]) for i in of_runs])
