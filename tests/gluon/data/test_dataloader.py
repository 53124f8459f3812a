import gc
import mmap
import os
import random
import socket
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.context import cpu, cpu_pinned
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.mxnet_rules import follow_mxnet
from gluonish.gluon.data import (
    ArrayDataset,
    BatchSampler,
    DataLoader,
    Dataset,
    SequentialSampler,
    SimpleDataset,
)


def test_without_unix_sockets_workers_are_threads_and_a_warning_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(socket, "send_fds", raising=False)
    with pytest.warns(UserWarning, match="num_workers=2 to be processes, got threads: .* sockets"):
        batches = list(DataLoader(TEN, 5, num_workers=2))
    assert len(batches) == 2
    assert len(list(DataLoader(TEN, 5, num_workers=2, thread_pool=True))) == 2


TEN = ArrayDataset(np.arange(20, dtype=np.float32).reshape(10, 2), np.arange(10))
KINDS = pytest.mark.parametrize(
    "workers",
    [{"num_workers": 0}, {"num_workers": 2}, {"num_workers": 2, "thread_pool": True}],
    ids=["here", "processes", "threads"],
)


def shown(batch: Any) -> Any:
    if isinstance(batch, list | tuple):
        return [shown(part) for part in batch]
    return batch.asnumpy().tolist() if isinstance(batch, nd.NDArray) else batch


def drain(loader: DataLoader) -> list[Any]:
    return [shown(batch) for batch in loader]


@KINDS
def test_batches_are_in_order_and_alike_wherever_they_are_loaded(workers: dict[str, Any]) -> None:
    offset = 100
    dataset = TEN.transform(lambda data, label: (nd.array(data) * 2, label + offset))
    loader = DataLoader(dataset, 4, **workers)
    expected = [
        [
            [[4.0 * i, 4.0 * i + 2] for i in range(start, min(start + 4, 10))],
            [i + 100 for i in range(start, min(start + 4, 10))],
        ]
        for start in (0, 4, 8)
    ]
    assert len(loader) == 3
    for _ in range(2):
        assert drain(loader) == expected
    data, label = next(iter(loader))
    assert (data.dtype, label.dtype) == (np.float32, np.int64)
    assert data.context == cpu()


@KINDS
def test_shuffle_follows_numpys_seed(workers: dict[str, Any]) -> None:
    loader = DataLoader(SimpleDataset([5, 6, 7, 8, 9]), 2, shuffle=True, **workers)
    np.random.seed(5)  # noqa: NPY002
    # What MXNet 1.9.1 draws from this seed.
    assert drain(loader) == [[9, 5], [6, 7], [8]]
    np.random.seed(5)  # noqa: NPY002
    assert drain(loader) == [[9, 5], [6, 7], [8]]


@KINDS
def test_rollover_keeps_the_rest_for_the_next_pass(workers: dict[str, Any]) -> None:
    loader = DataLoader(SimpleDataset(list(range(5))), 2, last_batch="rollover", **workers)
    assert drain(loader) == [[0, 1], [2, 3]]
    assert drain(loader) == [[4, 0], [1, 2], [3, 4]]


@KINDS
def test_loop_may_be_left_early_and_loops_may_nest(workers: dict[str, Any]) -> None:
    loader = DataLoader(SimpleDataset(list(range(6))), 2, **workers)
    for batch in loader:
        assert shown(batch) == [0, 1]
        break
    pairs = [(shown(a)[0], shown(b)[0]) for a in loader for b in loader]
    assert pairs == [(a, b) for a in (0, 2, 4) for b in (0, 2, 4)]


@KINDS
def test_batchify_function_may_return_anything(workers: dict[str, Any]) -> None:
    def batchify(samples: list[Any]) -> dict[str, Any]:
        return {"sum": nd.array([sum(samples)]), "list": samples, "numpy": np.array(samples)}

    batches = list(DataLoader(SimpleDataset([1, 2, 3]), 2, batchify_fn=batchify, **workers))
    assert [batch["sum"].asscalar() for batch in batches] == [3, 3]
    assert batches[0]["list"] == [1, 2]
    assert isinstance(batches[0]["numpy"], np.ndarray)
    assert batches[1]["numpy"].tolist() == [3]


@KINDS
def test_error_of_the_dataset_comes_with_its_index(workers: dict[str, Any]) -> None:
    def fail_at_three(x: int) -> int:
        if x == 3:
            raise KeyError("three")
        return x

    dataset = SimpleDataset(list(range(6))).transform(fail_at_three)
    loader = DataLoader(dataset, 2, **workers)
    batches = iter(loader)
    assert shown(next(batches)) == [0, 1]
    with pytest.raises(KeyError, match="three") as caught:
        next(batches)
    notes = "\n".join(caught.value.__notes__)
    assert "raised by dataset[3]" in notes
    if workers == {"num_workers": 2}:
        assert "in fail_at_three" in notes
        assert "worker process" in notes
    assert shown(next(iter(loader))) == [0, 1]


def test_error_of_batchify_comes_with_the_indices() -> None:
    with pytest.raises(ArgumentError) as caught:
        drain(DataLoader(SimpleDataset([np.ones(1), np.ones(2)]), 2))
    assert caught.value.__notes__ == [
        "DataLoader: raised by batchify_fn for dataset indices [0, 1]"
    ]


@KINDS
def test_batch_sampler_takes_the_place_of_its_parts(workers: dict[str, Any]) -> None:
    sampler = BatchSampler(SequentialSampler(5), 3)
    loader = DataLoader(SimpleDataset(list(range(5))), batch_sampler=sampler, **workers)
    assert drain(loader) == [[0, 1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "batch_size or batch_sampler, got neither"),
        (
            {"batch_size": 2, "shuffle": True, "sampler": SequentialSampler(5)},
            "shuffle=False with a sampler",
        ),
        ({"batch_size": 2, "batch_sampler": [[0]]}, "none of batch_size, shuffle"),
        ({"last_batch": "keep", "batch_sampler": [[0]]}, "none of batch_size, shuffle"),
        ({"batch_size": 2, "last_batch": "x"}, "got 'x'"),
        ({"batch_size": 2, "timeout": 0}, "positive timeout, got 0"),
    ],
)
def test_contradictions_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        DataLoader([1, 2, 3], **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 2.5}, r"expected batch_size to be an int, got 2\.5"),
        ({"batch_size": "4"}, "expected batch_size to be an int, got '4'; pass 4"),
        ({"batch_size": True}, "expected batch_size to be an int, got True"),
        ({"batch_size": 0}, "expected batch_size of 1 or more, got 0"),
        ({"batch_size": -1}, "expected batch_size of 1 or more, got -1"),
        ({"batch_size": float("nan")}, "expected batch_size to be an int, got nan"),
        ({"num_workers": -1}, "expected num_workers of 0 or more, got -1"),
        ({"num_workers": 1.5}, r"expected num_workers to be an int, got 1\.5"),
        ({"num_workers": "2"}, "expected num_workers to be an int, got '2'; pass 2"),
        ({"num_workers": None}, "expected num_workers to be an int, got None"),
        ({"prefetch": -1}, "expected prefetch of 0 or more, got -1"),
        ({"prefetch": "2"}, "expected prefetch to be an int, got '2'; pass 2"),
        ({"prefetch": 1.5}, r"expected prefetch to be an int, got 1\.5"),
        ({"timeout": "9"}, "expected timeout to be a number, got '9'; pass 9"),
        ({"timeout": None}, "expected timeout to be a number, got None"),
        ({"sampler": 5}, "expected indices in sampler, got 5"),
        ({"batch_size": None, "batch_sampler": 5}, "expected batches of indices in batch_sampler"),
    ],
)
def test_what_no_pass_could_use_is_refused_when_given(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        DataLoader([1, 2, 3], **({"batch_size": 2} | arguments))


@pytest.mark.parametrize("size", [2, 2.0, np.int64(2), np.float32(2), np.array(2), np.array([2])])
def test_whole_numbers_of_all_kinds_are_sizes_of_batches(size: Any) -> None:
    assert drain(DataLoader([1, 2, 3], size)) == [[1, 2], [3]]


def test_under_the_name_mxnet_loaders_take_what_its_programs_give() -> None:
    follow_mxnet()
    try:
        assert drain(DataLoader([1, 2, 3], 2, num_workers=-1, prefetch="-3")) == [[1, 2], [3]]
        assert drain(DataLoader([1, 2], True)) == [[1], [2]]
        with pytest.raises(ArgumentTypeError, match=r"to be an int, got 2\.5"):
            DataLoader([1, 2, 3], 2.5)  # MXNet makes one batch of all
    finally:
        follow_mxnet(False)


def test_pinned_batches_lie_in_pinned_memory() -> None:
    (batch,) = DataLoader(TEN, 10, pin_memory=True, pin_device_id=1)
    assert [part.context for part in batch] == [cpu_pinned(1), cpu_pinned(1)]


class Locked(Dataset):
    """A dataset that no process can send to another."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __len__(self) -> int:
        return 4

    def __getitem__(self, idx: int) -> int:
        with self.lock:
            return idx


def test_dataset_that_cannot_be_sent_is_loaded_in_threads() -> None:
    loader = DataLoader(Locked(), 2, num_workers=2)
    with pytest.warns(UserWarning, match="cannot pickle.*using threads instead"):
        assert drain(loader) == [[0, 1], [2, 3]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert drain(loader) == [[0, 1], [2, 3]]


def drawn(_: int) -> list[float]:
    return [float(np.random.rand()), random.random()]  # noqa: NPY002


def test_random_transforms_depend_on_the_seed_and_not_on_the_workers() -> None:
    dataset = SimpleDataset(list(range(8))).transform(drawn)
    runs = []
    for num_workers in (1, 2):
        loader = DataLoader(dataset, 2, num_workers=num_workers)
        np.random.seed(1)  # noqa: NPY002
        runs.append([drain(loader), drain(loader)])
    assert runs[0] == runs[1]
    flat = [value for epoch in runs[0] for batch in epoch for sample in batch for value in sample]
    assert len(set(flat)) == len(flat)


class Counted(SimpleDataset):
    """Counts how often it is pickled, and how often an element is taken here."""

    sent = 0

    def __getstate__(self) -> dict[str, Any]:
        type(self).sent += 1
        return self.__dict__


def test_dataset_is_sent_once() -> None:
    Counted.sent = 0
    loader = DataLoader(Counted([1, 2, 3]), 1, num_workers=2)
    for _ in range(3):
        assert drain(loader) == [[1], [2], [3]]
    assert Counted.sent == 1


def test_dataset_of_ndarrays_gives_ndarrays_to_transforms_in_workers() -> None:
    dataset = ArrayDataset(nd.array([[1, 2], [3, 4]]), nd.array([5, 6]))
    loader = DataLoader(
        dataset.transform(lambda data, label: (type(data).__name__ == "NDArray", label)),
        2,
        num_workers=1,
    )
    assert drain(loader) == [[[True, True], [5, 6]]]


def test_transform_may_write_to_a_sample_in_a_worker() -> None:
    def negate(x: np.ndarray) -> np.ndarray:
        x *= -1
        return x

    values = np.arange(4.0).reshape(2, 2)
    loader = DataLoader(ArrayDataset(values).transform(negate), 2, num_workers=1)
    assert drain(loader) == [[[0, -1], [-2, -3]]]
    assert values[1, 1] == 3


def test_kept_batches_keep_their_values() -> None:
    dataset = ArrayDataset(np.arange(64, dtype=np.float32))
    loader = DataLoader(dataset, 2, num_workers=1, prefetch=2)
    kept = list(loader)
    rows = [batch.reshape((1, 2)) for batch in loader]
    assert [shown(batch) for batch in kept] == [[i, i + 1] for i in range(0, 64, 2)]
    assert [shown(row) for row in rows] == [[[i, i + 1]] for i in range(0, 64, 2)]


def test_dropped_batches_give_their_memory_to_later_ones() -> None:
    loader = DataLoader(ArrayDataset(np.arange(64.0)), 2, num_workers=1, prefetch=2)
    addresses = set()
    for number, batch in enumerate(loader):
        if number > 3:
            addresses.add(batch.handle.ctypes.data)
        del batch
    # As many slots as are loaded ahead, and four to spare.
    assert 1 <= len(addresses) <= 6
    assert loader._pool._service.ring.slot_nbytes == mmap.PAGESIZE


def test_batches_may_grow() -> None:
    sizes = [1, 10, 3000, 20, 100000]
    values = np.arange(100000.0)
    sampler = [list(range(size)) for size in sizes]
    loader = DataLoader(ArrayDataset(values), batch_sampler=sampler, num_workers=1)
    for size, batch in zip(sizes, loader, strict=True):
        assert np.array_equal(batch.asnumpy(), values[:size])


@pytest.mark.parametrize("thread_pool", [False, True])
def test_refresh_starts_the_next_pass_and_clean_gives_it_up(thread_pool: bool) -> None:
    drawn_orders: list[int] = []

    class Recording(SequentialSampler):
        def __iter__(self) -> Iterator[int]:
            drawn_orders.append(1)
            return super().__iter__()

    loader = DataLoader(
        [1, 2, 3, 4], 2, sampler=Recording(4), num_workers=1, thread_pool=thread_pool
    )
    loader.refresh()
    assert len(drawn_orders) == 1
    assert drain(loader) == [[1, 2], [3, 4]]
    assert len(drawn_orders) == 1
    loader.refresh()
    loader.clean()
    assert drain(loader) == [[1, 2], [3, 4]]
    assert len(drawn_orders) == 3


def test_auto_reload_starts_the_next_pass_by_itself() -> None:
    loader = DataLoader([1, 2], 2, num_workers=1, auto_reload=True)
    assert loader._next_epoch is not None
    for _ in range(2):
        assert drain(loader) == [[1, 2]]
        assert loader._next_epoch is not None


def test_processes_end_with_the_loader() -> None:
    loader = DataLoader([1, 2, 3], 1, num_workers=2)
    batches = iter(loader)
    first = next(batches)
    processes = [worker.process for worker in loader._pool._workers]
    del loader
    gc.collect()
    assert shown(next(batches)) == [2]
    del batches
    gc.collect()
    for process in processes:  # a thread sees to it, for a finalizer must not wait
        process.wait(10)
    assert shown(first) == [1]


def test_several_loaders_and_threads_at_once() -> None:
    loader = DataLoader(list(range(40)), 2, num_workers=2)
    other = DataLoader(list(range(40)), 4, num_workers=1)
    results: list[list[Any]] = []
    threads = [
        threading.Thread(target=lambda one=one: results.append(drain(one)))
        for one in (loader, loader, other)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(len(result) for result in results) == [10, 20, 20]
    flat = [[value for batch in result for value in batch] for result in results]
    assert flat == [list(range(40))] * 3


def test_open_files_do_not_pile_up() -> None:
    loader = DataLoader(ArrayDataset(np.arange(400.0)), 2, num_workers=1)
    kept = drain(loader)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    kept = list(loader)
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert len(kept) == 200
    assert after <= before + 40


def test_closing_takes_no_time() -> None:
    loader = DataLoader([1, 2, 3], 1, num_workers=1)
    next(iter(loader))
    start = time.monotonic()
    loader._pool.close()
    assert time.monotonic() - start < 2


class Squares:
    """A dataset without a length."""

    def __getitem__(self, index: int) -> int:
        return index**2


@pytest.mark.parametrize("num_workers", [0, 1])
def test_a_sampler_makes_a_length_needless(num_workers: int) -> None:
    batches = [[3, 1], [2]]
    loader = DataLoader(Squares(), batch_sampler=batches, num_workers=num_workers)
    assert drain(loader) == [[9, 1], [4]]
    assert drain(DataLoader(Squares(), 2, sampler=[1, 2, 3])) == [[1, 4], [9]]
    with pytest.raises(ArgumentTypeError, match="expected a dataset with __getitem__ and __len__"):
        DataLoader(Squares(), 2)
