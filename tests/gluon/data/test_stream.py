"""Iterable datasets, the workers that read them, and what workers know of themselves."""

import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.gluon.data import DataLoader, IterableDataset, SimpleDataset, get_worker_info
from gluonish.gluon.data.channel import WorkerError

WORKERS = pytest.mark.parametrize(
    "workers",
    [{"num_workers": 2}, {"num_workers": 2, "thread_pool": True}],
    ids=["processes", "threads"],
)
ANYWHERE = pytest.mark.parametrize(
    "workers",
    [{}, {"num_workers": 1}, {"num_workers": 1, "thread_pool": True}],
    ids=["here", "process", "thread"],
)


class Count(IterableDataset):
    """Gives each worker every n-th number."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        if info is None:
            return iter(range(self.length))
        return iter(range(info.id, self.length, info.num_workers))


class Uneven(IterableDataset):
    """Worker 0 has one sample, worker 1 has five."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        assert info is not None
        return iter([[0], [10, 11, 12, 13, 14], [20, 21, 22]][info.id])


class Seeds(IterableDataset):
    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        info = get_worker_info()
        assert info is not None
        for _ in range(2):
            yield info.id, info.seed, random.random()


class Squares:
    """An iterable that is not an IterableDataset, and knows nothing of workers."""

    def __iter__(self) -> Iterator[tuple[Any, dict[str, int]]]:
        for i in range(5):
            yield nd.array([i, i]), {"square": i * i}


def numbers() -> Iterator[int]:
    yield from range(7)


def failing() -> Iterator[int]:
    yield 1
    raise KeyError("lost")


def values(loader: DataLoader) -> list[Any]:
    return [batch.tolist() for batch in loader]


@ANYWHERE
@pytest.mark.parametrize("dataset", [Count(7), numbers], ids=["class", "function"])
def test_batches_are_in_the_order_of_the_stream(dataset: Any, workers: dict[str, Any]) -> None:
    loader = DataLoader(dataset, 3, **workers)
    assert values(loader) == [[0, 1, 2], [3, 4, 5], [6]]
    assert values(loader) == [[0, 1, 2], [3, 4, 5], [6]]
    assert values(DataLoader(dataset, 3, last_batch="discard", **workers)) == [[0, 1, 2], [3, 4, 5]]


@WORKERS
@pytest.mark.parametrize("dataset", [Count(11), lambda: (yield from range(11))])
@pytest.mark.parametrize("prefetch", [0, 1, 8])
def test_workers_share_the_samples(dataset: Any, workers: dict[str, Any], prefetch: int) -> None:
    loader = DataLoader(dataset, 2, prefetch=prefetch, **workers)
    expected = [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9]]
    assert values(loader) == expected
    assert values(loader) == expected


@pytest.mark.parametrize("prefetch", [0, 2, 20])
def test_part_that_ends_early_leaves_the_turn_to_the_others(prefetch: int) -> None:
    workers = {"num_workers": 3, "thread_pool": True, "prefetch": prefetch}
    loader = DataLoader(Uneven(), 2, **workers)
    assert values(loader) == [[0], [10, 11], [20, 21], [12, 13], [22], [14]]
    loader = DataLoader(Uneven(), 2, last_batch="discard", **workers)
    assert values(loader) == [[10, 11], [20, 21], [12, 13]]


@ANYWHERE
def test_samples_are_batched_as_those_with_indices_are(workers: dict[str, Any]) -> None:
    (data, fields), (last, _) = DataLoader(Squares(), 4, **workers)
    assert data.tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]
    assert fields["square"].tolist() == [0, 1, 4, 9]
    assert last.shape == (1, 2)


def test_stream_can_be_infinite_and_left() -> None:
    def endless() -> Iterator[int]:
        while True:
            yield 1

    for arguments in ({}, {"num_workers": 1}):
        loader = DataLoader(endless, 2, **arguments)
        for _ in range(2):
            batches = iter(loader)
            assert [next(batches).tolist() for _ in range(3)] == [[1, 1]] * 3
            del batches


@WORKERS
def test_passes_can_overlap(workers: dict[str, Any]) -> None:
    loader = DataLoader(numbers, 2, **workers)
    pairs = [(a.tolist(), b.tolist()) for a, b in zip(loader, loader, strict=True)]
    assert pairs == [([0, 2],) * 2, ([1, 3],) * 2, ([4, 6],) * 2, ([5],) * 2]


def test_generator_serves_one_pass() -> None:
    loader = DataLoader(numbers(), 4)
    assert values(loader) == [[0, 1, 2, 3], [4, 5, 6]]
    with pytest.raises(ArgumentError, match="iterator numbers, which earlier passes have used up"):
        values(loader)


@ANYWHERE
def test_error_of_a_stream_is_raised(workers: dict[str, Any]) -> None:
    loader = DataLoader(failing, 1, **workers)
    batches = iter(loader)
    assert next(batches).tolist() == [1]
    with pytest.raises(KeyError, match="lost") as caught:
        next(batches)
    assert "next sample of worker 0" in "".join(caught.value.__notes__)


@ANYWHERE
def test_error_of_batchify_names_the_worker_once(workers: dict[str, Any]) -> None:
    def refuse(samples: list[Any]) -> None:
        raise ValueError(f"{len(samples)} samples")

    with pytest.raises(ValueError, match="4 samples") as caught:
        next(iter(DataLoader(numbers, 4, batchify_fn=refuse, **workers)))
    notes = "".join(caught.value.__notes__)
    assert "batchify_fn for dataset indices [next sample of worker 0]" in notes


def test_length_is_that_of_the_batches() -> None:
    class Known(Count):
        def __len__(self) -> int:
            return self.length

    for count in (0, 7, 11, 12):
        for last_batch in ("keep", "discard"):
            for workers in (0, 2):
                loader = DataLoader(
                    Known(count), 2, last_batch=last_batch, num_workers=workers, thread_pool=True
                )
                assert len(loader) == len(values(loader))
    with pytest.raises(ArgumentTypeError, match="a length, got Count without"):
        len(DataLoader(Count(3), 2))
    assert "StreamBatches(batch_size=2" in repr(DataLoader(Count(3), 2))


def test_classes_of_other_libraries_are_read_as_streams() -> None:
    class Dataset:
        def __getitem__(self, index: int) -> int:
            raise NotImplementedError

    foreign = type("IterableDataset", (Dataset,), {"__iter__": lambda _: iter([1, 2])})
    assert values(DataLoader(foreign(), 2)) == [[1, 2]]


def seeds(seed: int, **arguments: Any) -> list[Any]:
    np.random.seed(seed)  # noqa: NPY002
    loader = DataLoader(Seeds(), 2, num_workers=2, **arguments)
    return [[column.tolist() for column in batch] for _ in range(2) for batch in loader]


def test_equal_seeds_give_equal_batches() -> None:
    first = seeds(1)
    assert seeds(1, prefetch=1) == first
    ids, numbers, drawn = zip(*first, strict=True)
    assert [i[0] for i in ids] == [0, 1, 0, 1]
    assert numbers[0][0] == numbers[1][0] - 1  # they differ by the worker's number
    assert numbers[0][0] != numbers[2][0]  # and in each pass
    assert len({x for pair in drawn for x in pair}) == 8
    assert all(0 <= number < 2**32 for pair in numbers for number in pair)


def start(worker: int) -> None:
    info = get_worker_info()
    assert info is not None
    assert worker == info.id
    os.environ["WORKER_STARTED"] = f"{worker} {info.seed} {random.random()}"


def read(_: int) -> list[float]:
    info = get_worker_info()
    assert info is not None
    assert len(info.dataset) == 8
    worker, seed, drawn = os.environ["WORKER_STARTED"].split()
    return [info.id, info.num_workers, info.seed, int(worker), int(seed), float(drawn), os.getpid()]


def started(persistent_workers: bool) -> list[list[float]]:
    np.random.seed(3)  # noqa: NPY002
    dataset = SimpleDataset(list(range(8))).transform(read)
    loader = DataLoader(
        dataset, 1, num_workers=2, worker_init_fn=start, persistent_workers=persistent_workers
    )
    return [batch.asnumpy()[0].tolist() for _ in range(2) for batch in loader]


def test_worker_init_fn_is_called_at_the_start_of_each_worker() -> None:
    rows = started(persistent_workers=True)
    facts = {tuple(row[:6]) for row in rows}
    assert len({row[6] for row in rows}) <= 2
    assert {fact[0] for fact in facts} <= {0, 1}
    for number, count, seed, worker, its_seed, drawn in facts:
        assert (number, count, seed) == (worker, 2, its_seed)
        assert drawn == random.Random(int(seed)).random()
    again = {tuple(row[:6]) for row in started(persistent_workers=True)}
    assert {(row[0], row[2]) for row in facts} & {(row[0], row[2]) for row in again}


def test_workers_that_do_not_persist_end_with_the_pass() -> None:
    rows = started(persistent_workers=False)
    assert not {row[6] for row in rows[:8]} & {row[6] for row in rows[8:]}
    dataset = SimpleDataset(list(range(4)))
    loader = DataLoader(
        dataset, 2, num_workers=1, thread_pool=True, persistent_workers=False, auto_reload=True
    )
    for _ in range(3):
        assert values(loader) == [[0, 1], [2, 3]]


def broken(worker: int) -> None:
    raise OSError(f"no disk for {worker}")


def test_error_of_worker_init_fn_is_raised() -> None:
    loader = DataLoader([1], 1, num_workers=1, worker_init_fn=broken)
    with pytest.raises(OSError, match="no disk for 0"):
        values(loader)
    loader = DataLoader([1], 1, num_workers=1, thread_pool=True, worker_init_fn=broken)
    with pytest.raises(WorkerError, match="no disk for 0"):
        values(loader)


def test_threads_know_themselves() -> None:
    calls: list[int] = []
    loader = DataLoader(
        SimpleDataset([0] * 4).transform(lambda _: get_worker_info()[:2]),  # type: ignore[index]
        2,
        num_workers=2,
        thread_pool=True,
        worker_init_fn=calls.append,
    )
    for ids, counts in loader:
        assert set(ids.tolist()) <= {0, 1}
        assert set(counts.tolist()) == {2}
    assert set(calls) <= {0, 1}
    assert get_worker_info() is None


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: DataLoader(Count(1), 1, shuffle=True), ArgumentError, "no shuffle with the iterable"),
    (lambda: DataLoader(Count(1), 1, sampler=[0]), ArgumentError, "no sampler"),
    (lambda: DataLoader(numbers, batch_sampler=[[0]]), ArgumentError, "numbers, .* no indices"),
    (lambda: DataLoader(Count(1), 1, last_batch="rollover"), ArgumentError, "'rollover'"),
    (lambda: DataLoader(Count(1)), ArgumentError, "batch_size"),
    (lambda: DataLoader(Count(1), 0), ArgumentError, "batch_size"),
    (lambda: DataLoader(numbers(), 1, num_workers=1), ArgumentTypeError, "without calling it"),
    (lambda: next(iter(IterableDataset())), NotSupportedError, "__iter__ to be defined"),
    (lambda: DataLoader([1], 1, persistent_workers=1), ArgumentTypeError, "to be a bool, got 1"),  # type: ignore[arg-type]
    (lambda: DataLoader([1], 1, worker_init_fn=1), ArgumentTypeError, "a function, got 1"),  # type: ignore[arg-type]
    (lambda: DataLoader({1, 2}, 1), ArgumentTypeError, "__getitem__ and __len__, got set"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_bad_arguments_are_refused(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
