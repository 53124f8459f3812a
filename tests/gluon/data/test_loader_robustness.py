"""What a DataLoader does when workers die, when loops nest, and when several threads use it."""

import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gluonish.ndarray as nd
from gluonish.gluon.data import DataLoader, SimpleDataset
from gluonish.gluon.data.channel import WorkerError, WorkerTimeoutError
from tests.gluon.data.programs import wait_until_gone

# Much less than the default timeout, much more than it takes.
SECONDS = 20


def values(batches: Any) -> list[Any]:
    return [batch.asnumpy().tolist() for batch in batches]


def once(marker: Path, act: Callable[[], object]) -> Callable[[int], int]:
    """Return a transform that acts at element 5, at the first time only."""

    def transform(x: int) -> int:
        if x == 5 and not marker.exists():
            marker.touch()
            act()
        return x

    return transform


def fork_and_die() -> None:
    if os.fork():
        os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(30)  # the child keeps the channel open
    os._exit(0)


@pytest.mark.parametrize(
    ("act", "how"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), r"killed by signal 9 \(SIGKILL\)"),
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), r"killed by signal 11 \(SIGSEGV\)"),
        (lambda: exec("raise SystemExit(7)"), "exited with code 7"),
        (fork_and_die, r"killed by signal 11 \(SIGSEGV\)"),
    ],
    ids=["killed", "segmentation fault", "sys.exit", "fork keeps the channel"],
)
def test_dead_worker_ends_the_pass_soon_and_the_next_pass_works(
    act: Callable[[], object], how: str, tmp_path: Path
) -> None:
    dataset = SimpleDataset(list(range(12))).transform(once(tmp_path / "done", act))
    loader = DataLoader(dataset, 2, num_workers=2)
    batches, nested = iter(loader), iter(loader)
    assert values([next(batches)]) == [[0, 1]]
    pids = [worker.process.pid for worker in loader._pool._workers]
    start = time.monotonic()
    with pytest.raises(WorkerError, match=rf"worker process \d+ .*{how}.*indices \[4, 5\]") as told:
        list(batches)
    assert time.monotonic() - start < SECONDS
    assert any(f"worker process {pid} " in str(told.value) for pid in pids)
    with pytest.raises(WorkerError, match=how):
        list(nested)
    wait_until_gone(pids, SECONDS)
    assert values(loader) == [[i, i + 1] for i in range(0, 12, 2)]


def test_worker_killed_between_passes_is_replaced() -> None:
    loader = DataLoader([1, 2, 3], 1, num_workers=2)
    assert values(loader) == [[1], [2], [3]]
    pids = [worker.process.pid for worker in loader._pool._workers]
    os.kill(pids[0], signal.SIGKILL)
    wait_until_gone(pids[:1], SECONDS)
    assert values(loader) == [[1], [2], [3]]
    wait_until_gone(pids, SECONDS)


def test_sleeping_worker_is_told_and_the_loader_goes_on(tmp_path: Path) -> None:
    transform = once(tmp_path / "done", lambda: time.sleep(4))
    dataset = SimpleDataset(list(range(8))).transform(transform)
    loader = DataLoader(dataset, 2, num_workers=1, timeout=30)
    batches = iter(loader)
    next(batches)
    loader._timeout = 0.3
    with pytest.raises(
        WorkerTimeoutError, match=r"indices \[4, 5\] within 0.3 s, got none from wo"
    ):
        list(batches)
    loader._timeout = 30
    assert values(loader) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_nested_passes_need_no_more_memory_than_there_is() -> None:
    loader = DataLoader(list(range(12)), 2, num_workers=2, prefetch=2)
    found = [
        (a[0].asscalar(), b[0].asscalar(), c[0].asscalar())
        for a in loader
        for b in loader
        for c in loader
    ]
    starts = range(0, 12, 2)
    assert found == [(a, b, c) for a in starts for b in starts for c in starts]
    gc.collect()
    assert not loader._pool._service.batches or loader._pool._service.dropped


def test_threads_iterate_over_two_loaders_each() -> None:
    loaders = [DataLoader(list(range(60)), 3, num_workers=n) for n in (1, 2)]
    results: list[list[Any]] = []

    def both() -> None:
        first, second = (iter(loader) for loader in loaders)
        found = []
        for a in first:
            found.append((a.asnumpy().tolist(), next(second).asnumpy().tolist()))
        results.append(found)

    threads = [threading.Thread(target=both) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    expected = [([i, i + 1, i + 2], [i, i + 1, i + 2]) for i in range(0, 60, 3)]
    assert results == [expected] * 4


def test_one_thread_does_not_wait_for_the_batches_of_another(tmp_path: Path) -> None:
    go_on = tmp_path / "go on"

    def wait_at_zero(x: int) -> int:
        while x == 0 and not go_on.exists():
            time.sleep(0.01)
        return x

    dataset = SimpleDataset([0, 1]).transform(wait_at_zero)
    # A batch of the second never lies behind that of the first in the queue of a worker.
    loader = DataLoader(dataset, batch_sampler=[[0]], num_workers=2, prefetch=0)
    other = DataLoader(dataset, batch_sampler=[[1]] * 20, num_workers=2, prefetch=0)
    list(other)
    # One pool, and so one receiver, for both.
    loader._pool = other._pool
    waiting = threading.Thread(target=list, args=(loader,))
    waiting.start()
    try:
        time.sleep(0.1)
        start = time.monotonic()
        assert values(other) == [[1]] * 20
        # The receiver gave its place up, or told at once what came: nobody looks only now and then.
        assert time.monotonic() - start < 2
    finally:
        go_on.touch()
        waiting.join(SECONDS)
    assert not waiting.is_alive()


def test_iterator_that_a_garbage_collection_ends_does_not_block() -> None:
    loader = DataLoader(list(range(200)), 1, num_workers=1)

    class Cycle:
        def __init__(self) -> None:
            self.own = self
            self.batches = iter(loader)
            next(self.batches)

    before = gc.get_threshold()
    gc.set_threshold(20, 100, 100)  # collections inside the pool's own calls
    try:
        for _ in range(5):
            Cycle()
            assert next(iter(loader)).asnumpy().tolist() == [0]
    finally:
        gc.set_threshold(*before)


def test_nothing_is_loaded_before_it_is_asked_for_without_prefetch(tmp_path: Path) -> None:
    def touch(x: int) -> int:
        (tmp_path / str(x)).touch()
        return x

    for thread_pool in (False, True):
        dataset = SimpleDataset(list(range(4))).transform(touch)
        loader = DataLoader(dataset, 1, num_workers=2, prefetch=0, thread_pool=thread_pool)
        batches = iter(loader)
        for i in range(4):
            assert not (tmp_path / str(i)).exists()
            assert next(batches).asnumpy().tolist() == [i]
            time.sleep(0.05)
        assert list(batches) == []
        for file in tmp_path.iterdir():
            file.unlink()


def test_as_many_batches_are_loaded_ahead_as_prefetch_says(tmp_path: Path) -> None:
    def touch(x: int) -> int:
        (tmp_path / str(x)).touch()
        return x

    loader = DataLoader(
        SimpleDataset(list(range(20))).transform(touch), 1, num_workers=2, prefetch=5
    )
    batches = iter(loader)
    for _ in range(3):
        next(batches)
    deadline = time.monotonic() + SECONDS
    while len(list(tmp_path.iterdir())) < 8 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.2)
    assert len(list(tmp_path.iterdir())) == 8


@pytest.mark.parametrize("num_workers", [0, 2])
def test_batch_sampler_needs_no_length_and_no_lists(num_workers: int) -> None:
    def batches() -> Iterator[Any]:
        yield (0, 1)
        yield range(2, 4)
        yield iter([1])

    loader = DataLoader([5, 6, 7, 8], batch_sampler=batches(), num_workers=num_workers)
    assert values(loader) == [[5, 6], [7, 8], [6]]
    with pytest.raises(TypeError, match="has no len"):
        len(loader)


@pytest.mark.parametrize("try_nopython", [None, True, False])
def test_try_nopython_changes_nothing(try_nopython: bool | None) -> None:
    dataset = SimpleDataset([1, 2]).transform(lambda x: nd.array([x]))
    loader = DataLoader(dataset, 2, num_workers=1, try_nopython=try_nopython)
    assert values(loader) == [[[1], [2]]]


def test_more_batches_than_a_channel_holds_may_be_loaded_ahead() -> None:
    data = list(range(300))
    loader = DataLoader(data, 1, num_workers=1, prefetch=200)
    assert values(loader) == [[i] for i in data]
