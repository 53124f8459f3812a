import gc
import threading

import pytest

from gluonish.gluon.data import SimpleDataset, default_batchify_fn
from gluonish.gluon.data.channel import WorkerTimeoutError
from gluonish.gluon.data.thread_pool import ThreadPool


def test_late_batch_is_told() -> None:
    go_on = threading.Event()
    dataset = SimpleDataset([1]).transform(lambda x: go_on.wait(60) and x)
    pool = ThreadPool(dataset, default_batchify_fn, 1)
    number = pool.submit([0], 0)
    try:
        with pytest.raises(WorkerTimeoutError, match=r"within 0.05 s"):
            pool.take(number, 0.05)
    finally:
        go_on.set()
        pool.close()
    assert pool.closed


def test_datasets_own_timeout_error_is_passed_on() -> None:
    def fail(x: int) -> int:
        raise TimeoutError("mine")

    pool = ThreadPool(SimpleDataset([1]).transform(fail), default_batchify_fn, 1)
    with pytest.raises(TimeoutError, match="mine"):
        pool.take(pool.submit([0], 0), 60)
    pool.close()


def test_threads_end_with_the_pool() -> None:
    pool = ThreadPool(SimpleDataset([1]), default_batchify_fn, 1)
    pool.take(pool.submit([0], 0), 60)
    threads = [t for t in threading.enumerate() if t.name.startswith("gluonish-data")]
    assert threads
    del pool
    gc.collect()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
