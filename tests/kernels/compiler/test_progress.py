import threading
from collections.abc import Iterator
from typing import Any

import pytest

from gluonish.kernels.compiler import progress


class Bar:
    """Notes what a line shows."""

    def __init__(self) -> None:
        self.shown: list[int] = []
        self.closed = False

    def update(self, count: int) -> None:
        self.shown.append(count)

    def close(self) -> None:
        self.closed = True


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    made = Clock()
    state = progress._State()
    monkeypatch.setattr(progress, "_state", state)
    monkeypatch.setattr(progress, "monotonic", made)
    monkeypatch.setattr(progress, "shows_progress", lambda: True)
    monkeypatch.setattr(progress, "_IDLE_S", 0.01)
    yield made
    if state.closing is not None:
        state.closing.join(60)


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    made: list[Bar] = []

    def bar(**options: Any) -> Bar:
        made.append(Bar())
        return made[-1]

    monkeypatch.setattr(progress, "progress_bar", bar)
    return made


def compile_for(clock: Clock, seconds: float) -> None:
    with progress.shown():
        clock.now += seconds


def test_a_line_comes_after_a_second_of_compilation_and_goes(clock: Clock, bars: list[Bar]) -> None:
    compile_for(clock, 0.9)
    clock.now += 50  # nothing is compiled
    assert bars == []
    compile_for(clock, 0.2)
    assert bars[0].shown == [1]
    assert progress._state.closing is not None
    progress._state.closing.join(60)
    assert bars[0].closed
    assert progress.compiled_count() == 2


def test_kernels_that_are_compiled_at_once_count_their_time_once(
    clock: Clock, bars: list[Bar]
) -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with progress.shown():
            inside.set()
            assert leave.wait(60)

    thread = threading.Thread(target=other, daemon=True)
    with progress.shown():
        thread.start()
        assert inside.wait(60)
        clock.now += 0.6
    assert progress._state.seconds == pytest.approx(0.6)
    clock.now += 0.3
    leave.set()
    thread.join(60)
    assert progress._state.seconds == pytest.approx(0.9)
    assert bars == []
    assert progress.compiled_count() == 2


def test_a_kernel_that_fails_is_not_counted(clock: Clock, bars: list[Bar]) -> None:
    def fail() -> None:
        with progress.shown():
            clock.now += 0.5
            raise ValueError("no kernel")

    with pytest.raises(ValueError, match="no kernel"):
        fail()
    assert (progress.compiled_count(), progress._state.active) == (0, 0)
    compile_for(clock, 0.1)
    assert progress._state.seconds == pytest.approx(0.6)
