"""The order in which a pass takes the records of a file, and which of them fill its last batch."""

from collections.abc import Iterator

import numpy as np

from gluonish.io.image_record.record_places import RecordPlaces

__all__ = ["PassOrder", "Sample"]

# The pass that a sample belongs to, and the number of its record: what its random numbers are of.
Sample = tuple[int, int]

_MASK = (1 << 64) - 1


class PassOrder:
    """The order of records in each pass.

    Shuffled, a pass is a permutation of all records; or, with chunks, a permutation of runs of
    records that lie together in the file, each run permuted too, which reads a disk in large
    pieces.

    Args:
        places: The records.
        shuffle: Whether the order is random.
        seed: What permutations are drawn from, together with the number of the pass.
        chunk_nbytes: Size of a run in bytes; 0 for no runs.
        chunk_seed: What the order of runs is drawn from.
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
        """Give the samples of a pass.

        Args:
            epoch: The pass.
            start: How many of its first samples the last batch of the pass before has had; of a
                batch that went round more than once, those of its last round count.

        Raises:
            FileFormatError: The file is damaged.
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
        """Give the first samples of the pass behind, over and over; none where there is no record.

        Args:
            epoch: The pass whose last batch is filled.
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
