import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator

import pytest

from gluonish.core.errors import GluonishError
from gluonish.io import prefetching_iter
from gluonish.io.prefetching_iter import ReadAhead

PATIENCE_S = 10.0


def wait_until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    return condition()


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "gluonish-Counting"]


def counting(count: int, log: list[object], error: BaseException | None = None) -> Iterator[int]:
    try:
        for number in range(count):
            log.append(number)
            yield number
        if error is not None:
            raise error
    finally:
        log.append(threading.current_thread().name)


def ahead(
    count: int, capacity: int = 2, error: BaseException | None = None
) -> tuple[ReadAhead[int], list[object]]:
    log: list[object] = []
    return ReadAhead(lambda: counting(count, log, error), capacity, "Counting"), log


def test_items_come_in_order_and_the_thread_ends() -> None:
    made, _ = ahead(100)
    assert list(made) == list(range(100))
    assert list(made) == []
    assert wait_until(lambda: not threads())


def test_no_more_items_are_made_than_capacity_and_one_in_hand() -> None:
    made, log = ahead(100, capacity=3)
    assert wait_until(lambda: len(log) == 4)
    time.sleep(0.05)
    assert log == [0, 1, 2, 3]
    assert next(made) == 0
    assert wait_until(lambda: len(log) == 5)
    made.close()


def test_error_comes_behind_the_items_and_once() -> None:
    made, _ = ahead(2, error=OSError("disk"))
    assert [next(made), next(made)] == [0, 1]
    with pytest.raises(OSError, match="disk"):
        next(made)
    assert list(made) == []


def test_error_of_the_first_step_is_raised() -> None:
    def broken() -> Iterator[int]:
        raise ValueError("nothing to read")

    with pytest.raises(ValueError, match="nothing to read"):
        next(ReadAhead(broken, 1, "Counting"))


def test_close_ends_the_thread_that_waits_for_room() -> None:
    made, log = ahead(1000)
    next(made)
    made.close()
    assert not threads()
    assert log[-1] == "gluonish-Counting"  # the generator was closed, and in the thread
    assert list(made) == []


def test_dropped_iterator_ends_its_thread() -> None:
    made, log = ahead(1000)
    next(made)
    gone = weakref.ref(made)
    del made
    gc.collect()
    assert gone() is None
    assert wait_until(lambda: not threads())
    assert log[-1] == "gluonish-Counting"


def test_iterator_dropped_for_its_own_error_ends_too() -> None:
    made, _ = ahead(1, error=OSError("disk"))
    gone = weakref.ref(made)
    with pytest.raises(OSError, match="disk"):
        list(made)
    del made
    gc.collect()
    assert gone() is None


def test_reader_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefetching_iter, "_TIMEOUT_S", 0.05)
    monkeypatch.setattr(prefetching_iter, "_POLL_S", 0.02)
    release = threading.Event()

    def slow() -> Iterator[int]:
        release.wait(PATIENCE_S)
        yield 1

    made = ReadAhead(slow, 1, "Counting")
    with pytest.raises(GluonishError, match=r"Counting: expected a batch within 0\.05 s"):
        next(made)
    with pytest.raises(GluonishError, match="expected its thread to end"):
        made.close()
    release.set()
    assert wait_until(lambda: not threads())


def test_thread_that_a_fork_left_behind_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefetching_iter, "_POLL_S", 0.01)
    release = threading.Event()

    def waiting() -> Iterator[int]:
        release.wait(PATIENCE_S)
        yield 1

    made = ReadAhead(waiting, 1, "Counting")
    monkeypatch.setattr(made._thread, "is_alive", lambda: False)
    with pytest.raises(GluonishError, match="does not survive a fork"):
        next(made)
    monkeypatch.undo()
    release.set()
    made.close()
