"""Samplers: the order and the batches in which a dataset's elements are drawn."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from itertools import chain
from typing import Any, Protocol

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.core.number_check import as_int
from gluonish.core.object_repr import default_repr, object_repr

__all__ = [
    "BatchSampler",
    "FilterSampler",
    "IntervalSampler",
    "RandomSampler",
    "RepeatAugSampler",
    "Sampler",
    "SequentialSampler",
    "SplitSampler",
    "WeightedRandomSampler",
]


class _Indexable(Sized, Protocol):
    def __getitem__(self, idx: int, /) -> Any: ...


class Sampler:
    """Base class of samplers: iterates over indices, and has a length.

    A sampler whose passes differ because of its own attributes, and not because of the generators
    of Python and NumPy, overrides `state_dict` and `load_state_dict`; then a loader can resume it.
    """

    __repr__ = default_repr

    def state_dict(self) -> dict[str, Any]:
        """Return what decides on the next pass, in a form for JSON."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a result of `state_dict`.

        Args:
            state: The state.
        """

    def __iter__(self) -> Iterator[Any]:
        raise NotSupportedError(f"{type(self).__name__}: expected __iter__ to be defined, got none")

    def __len__(self) -> int:
        raise NotSupportedError(f"{type(self).__name__}: expected __len__ to be defined, got none")


def sampler_state(sampler: Any) -> dict[str, Any]:
    """Return the state of a sampler; of one without ``state_dict`` an empty one."""
    return dict(sampler.state_dict()) if hasattr(sampler, "state_dict") else {}


def load_sampler_state(sampler: Any, state: Mapping[str, Any]) -> None:
    """Let a sampler continue from a state of `sampler_state`."""
    if hasattr(sampler, "load_state_dict"):
        sampler.load_state_dict(state)


class SequentialSampler(Sampler):
    """Samples the indices ``start`` to ``start + length - 1`` in order.

    Args:
        length: Number of indices.
        start: The first index.
    """

    def __init__(self, length: int, start: int = 0) -> None:
        self._length = as_int("SequentialSampler", "length", length, 0)
        self._start = as_int("SequentialSampler", "start", start)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._start, self._start + self._length))

    def __len__(self) -> int:
        return self._length


class RandomSampler(Sampler):
    """Samples the indices 0 to ``length - 1`` in random order, from NumPy's global generator.

    Args:
        length: Number of indices; ``numpy.random.seed`` makes the order reproducible.
    """

    def __init__(self, length: int) -> None:
        self._length = as_int("RandomSampler", "length", length, 0)

    def __iter__(self) -> Iterator[Any]:
        # Programs seed this generator and expect MXNet's order.
        return iter(np.random.permutation(self._length))  # noqa: NPY002

    def __len__(self) -> int:
        return self._length


class RepeatAugSampler(Sampler):
    """Samples each of some random indices several times in a row, for repeated augmentation.

    A random transform makes another image of each repetition, so that a batch has several views of
    an image. A pass has ``num_samples`` indices: with 3 repetitions and the default, a third of
    the dataset.

    Args:
        length: Number of indices: 0 to ``length - 1``.
        num_repeats: Number of repetitions of an index, 1 or more; of the last one perhaps fewer.
        num_samples: Number of indices of a pass, at most ``length * num_repeats``; None for
            ``length``.
        generator: Generator of the order, or None for NumPy's global one.

    Raises:
        ArgumentError: A number is out of its range.
        ArgumentTypeError: A number is not an int, or ``generator`` is none.

    References:
        M. Berman et al., "MultiGrain: a unified image embedding for classes and instances", 2019;
        E. Hoffer et al., "Augment Your Batch", 2020. timm's sampler of this name has one
        repetition in each process, whose batches together are a batch of this one.

    Example:
        >>> from gluonish.gluon.data import RepeatAugSampler
        >>> first = list(RepeatAugSampler(10))
        >>> len(first), len({*first[:3]})
        (10, 1)
    """

    def __init__(
        self,
        length: int,
        num_repeats: int = 3,
        num_samples: int | None = None,
        generator: np.random.Generator | None = None,
    ) -> None:
        name = "RepeatAugSampler"
        self._length = as_int(name, "length", length, 0)
        self._num_repeats = as_int(name, "num_repeats", num_repeats, 1)
        most = self._length * self._num_repeats
        self._num_samples = self._length
        if num_samples is not None:
            self._num_samples = as_int(name, "num_samples", num_samples, 0)
        if self._num_samples > most:
            raise ArgumentError(f"{name}: expected num_samples up to {most}, got {num_samples}")
        if generator is not None and not hasattr(generator, "permutation"):
            raise ArgumentTypeError(
                f"{name}: expected generator to be one of NumPy or None, got {generator!r:.100}; "
                "np.random.default_rng(seed) makes one"
            )
        self._generator = generator

    def __iter__(self) -> Iterator[Any]:
        source: Any = np.random if self._generator is None else self._generator
        repeats = max(1, min(self._num_repeats, self._num_samples))  # however many are allowed
        chosen = source.permutation(self._length)[: -(-self._num_samples // repeats)]
        return iter(np.repeat(chosen, repeats)[: self._num_samples])

    def __len__(self) -> int:
        return self._num_samples


class WeightedRandomSampler(Sampler):
    """Samples indices with given probabilities, from NumPy's global generator.

    Args:
        weights: One number of 0 or more for each index; index i is drawn with the probability
            ``weights[i] / sum(weights)``. For classes of unequal sizes: 1 / size of its class.
        num_samples: Number of indices of a pass.
        replacement: Whether an index can be drawn several times in a pass; if not, each draw is
            from the indices that are left.

    ``numpy.random.seed`` makes the indices reproducible; each pass draws new ones.

    Raises:
        ArgumentError: A weight is negative, NaN or infinite, all are 0, ``weights`` has not one
            axis, ``num_samples`` is below 1, or without replacement exceeds the number of positive
            weights.
        ArgumentTypeError: ``weights`` are not numbers.

    Example:
        >>> from gluonish.gluon.data import WeightedRandomSampler
        >>> [int(index) for index in WeightedRandomSampler([0, 3, 0], 4)]
        [1, 1, 1, 1]
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        values = weights.asnumpy() if hasattr(weights, "asnumpy") else weights
        try:
            found = np.array(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(
                f"WeightedRandomSampler: expected numbers as weights: {error}"
            ) from None
        if found.ndim != 1:
            raise ArgumentError(
                f"WeightedRandomSampler: expected weights of shape (N,), got {found.shape}"
            )
        refused = found[~(np.isfinite(found) & (found >= 0))]
        if refused.size:
            raise ArgumentError(
                f"WeightedRandomSampler: expected finite weights of 0 or more, got {refused[0]}"
            )
        if not isinstance(replacement, bool | np.bool_):
            raise ArgumentTypeError(
                f"WeightedRandomSampler: expected replacement to be a bool, got {replacement!r}"
            )
        positive = int(np.count_nonzero(found))
        if not positive:
            raise ArgumentError("WeightedRandomSampler: expected a positive weight, got none")
        self._num_samples = as_int("WeightedRandomSampler", "num_samples", num_samples, 1)
        if not replacement and self._num_samples > positive:
            raise ArgumentError(
                f"WeightedRandomSampler: expected num_samples of at most {positive}, the number of "
                f"positive weights, without replacement, got {num_samples}"
            )
        found /= found.max()  # so that the sum is finite
        self._probabilities = found / found.sum()
        self._replacement = bool(replacement)

    def __repr__(self) -> str:
        return object_repr(
            self,
            f"{self._num_samples} samples",
            f"of {len(self._probabilities)}",
            replacement=self._replacement,
        )

    def __iter__(self) -> Iterator[Any]:
        drawn = np.random.choice(  # noqa: NPY002  # the generator of RandomSampler
            len(self._probabilities), self._num_samples, self._replacement, self._probabilities
        )
        return iter(drawn)

    def __len__(self) -> int:
        return self._num_samples


class FilterSampler(Sampler):
    """Samples the indices of the elements for which a function is true, in order.

    Args:
        fn: Called with each element once, when the sampler is created; returns whether to keep the
            element.
        dataset: The dataset.
    """

    def __init__(self, fn: Callable[[Any], object], dataset: _Indexable) -> None:
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __repr__(self) -> str:
        return object_repr(self, f"{len(self)} samples")

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class IntervalSampler(Sampler):
    """Samples every ``interval``-th index: 0, 3, 6 ..., then 1, 4, 7 ... and so on.

    Args:
        length: Number of elements in the dataset.
        interval: Distance between consecutive indices.
        rollover: Whether to continue with the skipped indices until all were sampled; if not, the
            pass ends after the first round.

    Raises:
        ArgumentError: ``interval`` is not in 1..length.
    """

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        length = as_int("IntervalSampler", "length", length)
        interval = as_int("IntervalSampler", "interval", interval)
        if not 1 <= interval <= length:
            raise ArgumentError(
                f"IntervalSampler: expected an interval in 1..length = {length}, got {interval}"
            )
        self._length = length
        self._interval = interval
        self._rollover = rollover

    def __iter__(self) -> Iterator[int]:
        starts = range(self._interval if self._rollover else 1)
        return chain.from_iterable(range(i, self._length, self._interval) for i in starts)

    def __len__(self) -> int:
        return self._length if self._rollover else len(range(0, self._length, self._interval))


class SplitSampler(Sampler):
    """Samples one process's share of a dataset; all shares have the same size.

    Processes that train together must run the same number of steps. If the length is not a multiple
    of the number of shares, some indices occur twice, or with ``even_size="drop"`` some are left
    out of the pass.

    Args:
        length: Number of elements in the dataset, the same in all processes.
        num_parts: Number of shares: a store's ``num_workers``.
        part_index: Index of this process's share: a store's ``rank``.
        shuffle: Whether to redistribute all indices in random order in each pass.
        seed: Seed of the random order; the same in all processes.
        even_size: ``"repeat"`` or ``"drop"``.

    Raises:
        ArgumentError: ``part_index`` is not in 0..num_parts - 1, there are fewer elements than
            shares, or ``even_size`` has another value.

    Example::

        store = mx.kv.create("dist_sync")
        sampler = SplitSampler(len(dataset), store.num_workers, store.rank, shuffle=True)
        loader = DataLoader(dataset, batch_size=32, sampler=sampler)
    """

    def __init__(
        self,
        length: int,
        num_parts: int = 1,
        part_index: int = 0,
        shuffle: bool = False,
        seed: int = 0,
        even_size: str = "repeat",
    ) -> None:
        length = as_int("SplitSampler", "length", length, 0)
        num_parts = as_int("SplitSampler", "num_parts", num_parts)
        part_index = as_int("SplitSampler", "part_index", part_index)
        seed = as_int("SplitSampler", "seed", seed, 0)
        if not 0 <= part_index < num_parts:
            raise ArgumentError(
                f"SplitSampler: expected part_index in 0..num_parts - 1 = {num_parts - 1}, "
                f"got {part_index}"
            )
        if length < num_parts:
            raise ArgumentError(
                f"SplitSampler: expected at least {num_parts} elements, one per share, got {length}"
            )
        if even_size not in ("repeat", "drop"):
            raise ArgumentError(
                f"SplitSampler: expected even_size 'repeat' or 'drop', got {even_size!r}"
            )
        self._length = length
        self._num_parts = num_parts
        self._part_index = part_index
        self._shuffle = shuffle
        self._seed = seed
        self._share = -(-length // num_parts) if even_size == "repeat" else length // num_parts
        self._passes = 0

    def state_dict(self) -> dict[str, Any]:
        """Return the number of passes, from which the order of the next follows."""
        return {"passes": self._passes}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a result of `state_dict`.

        Args:
            state: The state.
        """
        self._passes = int(state["passes"])

    def __iter__(self) -> Iterator[int]:
        order = np.arange(self._length)
        if self._shuffle:
            order = np.random.default_rng([self._seed, self._passes]).permutation(self._length)
        self._passes += 1
        shares = np.resize(order, self._share * self._num_parts)  # repeats if it is too short
        return iter(shares[self._part_index :: self._num_parts].tolist())

    def __len__(self) -> int:
        return self._share


class BatchSampler(Sampler):
    """Groups the indices of another sampler into lists of ``batch_size``.

    Args:
        sampler: The sampler of single indices.
        batch_size: Number of indices in a batch, 1 or more.
        last_batch: What to do with an incomplete last batch: ``"keep"`` it, ``"discard"`` it, or
            ``"rollover"``: keep its indices for the next pass.

    Raises:
        ArgumentError: ``last_batch`` has another value, or ``batch_size`` is below 1.
        ArgumentTypeError: ``batch_size`` is not a whole number, or ``sampler`` is not iterable.
    """

    def __init__(self, sampler: Iterable[Any], batch_size: int, last_batch: str = "keep") -> None:
        if last_batch not in ("keep", "discard", "rollover"):
            raise ArgumentError(
                f"BatchSampler: expected last_batch 'keep', 'discard' or 'rollover', "
                f"got {last_batch!r}"
            )
        if not isinstance(sampler, Iterable) and not hasattr(sampler, "__getitem__"):
            raise ArgumentTypeError(f"BatchSampler: expected indices in sampler, got {sampler!r}")
        if isinstance(batch_size, bool) and not follows_mxnet():
            raise ArgumentTypeError(
                f"BatchSampler: expected batch_size to be an int, got {batch_size}"
            )
        self._sampler = sampler
        self._batch_size = as_int("BatchSampler", "batch_size", batch_size, 1)
        self._last_batch = last_batch
        self._leftover: list[Any] = []

    def state_dict(self) -> dict[str, Any]:
        """Return the indices that a pass left over, and the state of the sampler of indices."""
        leftover = [int(index) if hasattr(index, "item") else index for index in self._leftover]
        return {"leftover": leftover, "sampler": sampler_state(self._sampler)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a result of `state_dict`.

        Args:
            state: The state.
        """
        self._leftover = list(state["leftover"])
        load_sampler_state(self._sampler, state["sampler"])

    def __iter__(self) -> Iterator[list[Any]]:
        batch, self._leftover = self._leftover, []
        for index in self._sampler:
            batch.append(index)
            if len(batch) >= self._batch_size:
                yield batch
                batch = []
        if batch and self._last_batch == "keep":
            yield batch
        elif batch and self._last_batch == "rollover":
            self._leftover = batch

    def __len__(self) -> int:
        if not isinstance(self._sampler, Sized):
            raise ArgumentError("BatchSampler: expected a sampler with a length, got one without")
        count = len(self._sampler)
        if self._last_batch == "keep":
            return -(-count // self._batch_size)
        if self._last_batch == "rollover":
            count += len(self._leftover)
        return count // self._batch_size
