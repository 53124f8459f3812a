import logging
import os
import threading

import pytest

from gluonish.profiler import recorder as module
from gluonish.profiler.events import Job, Operand, Step
from gluonish.profiler.recorder import MEMORY, Recorder, now, this_row


def job(call: int, *steps: Step) -> Job:
    row = this_row()
    array = Operand((2, 3), "float32", 24)
    times = (10, 12, 20, 50)
    lane = ("cpu", 0, "compute")
    return Job(call, "op", lane, "", *times, row, row, list(steps) or None, (array,), (array,), "")


@pytest.fixture
def recorder() -> Recorder:
    made = Recorder()
    made.active = made.keeps_totals = True
    return made


def test_jobs_come_in_the_order_of_their_pushes(recorder: Recorder) -> None:
    for call in (3, 1, 2):
        recorder.job(job(call))
    recorder.mark("domain", "between", "process")
    assert [found.call for found in recorder.jobs()] == [1, 2, 3]
    assert len(recorder.events()) == 4


def test_totals_have_segments_and_their_operators(recorder: Recorder) -> None:
    steps = [Step("relu", f"relu{i}", 20, 25 + i, (), ()) for i in range(2)]
    recorder.job(job(1, *steps))
    totals = recorder.totals()
    assert (totals["segment", "op"].count, totals["segment", "op"].total) == (1, 30)
    assert (totals["operator", "relu"].count, totals["operator", "relu"].total) == (2, 11)
    assert (totals["operator", "relu"].least, totals["operator", "relu"].most) == (5, 6)


def test_what_is_beyond_the_limit_goes_to_the_totals_only(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "MOST_EVENTS", 3)
    with caplog.at_level(logging.WARNING, "gluonish"):
        for call in range(5):
            recorder.job(job(call))
    assert [found.call for found in recorder.jobs()] == [0, 1, 2]
    assert recorder.dropped == 2
    assert recorder.totals()["operator", "op"].count == 5
    assert caplog.text.count("3 events are stored") == 1
    recorder.drop(3)
    recorder.job(job(9))
    assert [found.call for found in recorder.jobs()] == [9]
    assert recorder.dropped == 0


def test_memory_is_what_lives(recorder: Recorder) -> None:
    for device, nbytes in (("cpu/0", 100), ("cpu/1", 7), ("cpu/0", 50), ("cpu/0", -100)):
        recorder.memory(device, nbytes)
    found = [(e.name, e.value) for e in recorder.events()]
    first, second = "Memory: cpu/0", "Memory: cpu/1"
    assert found == [(first, 100), (second, 7), (first, 150), (first, 50)]
    totals = recorder.totals()[MEMORY, first]
    assert (totals.count, totals.least, totals.most) == (3, 50, 150)


def test_memory_is_counted_on_while_it_pauses(recorder: Recorder) -> None:
    recorder.memory("cpu/0", 100)
    recorder.active = False
    recorder.memory("cpu/0", 30)
    recorder.active = True
    recorder.memory("cpu/0", 1)
    assert [e.value for e in recorder.events()] == [100, 131]


def test_changes_of_memory_do_not_pile_up(recorder: Recorder) -> None:
    recorder.active = False
    for _ in range(3000):
        recorder.memory("cpu/0", 8)
        recorder.memory("cpu/0", -8)
    assert len(recorder._changes) < 1100


def test_threads_have_rows_of_their_own_whatever_their_identifiers() -> None:
    rows = [this_row()]

    def note() -> None:
        rows.append(this_row())

    for name in ("a", "b"):
        thread = threading.Thread(target=note, name=name)
        thread.start()
        thread.join(60)
    assert len({row.number for row in rows}) == 3
    assert [row.name for row in rows[1:]] == ["a", "b"]
    assert this_row() is rows[0]


def test_time_never_goes_back() -> None:
    times = [now() for _ in range(100)]
    assert times == sorted(times)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forks_child_is_inactive_and_can_record_anew() -> None:
    shared = module.recorder
    shared.clear()
    shared.active = True
    shared.mark("domain", "parent", "process")
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        was_active = shared.active
        shared.active = True
        shared.mark("domain", "child", "process")
        names = [event.name for event in shared.events()]
        os.write(write, f"{was_active} {names}".encode())
        os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    told = os.read(read, 1000).decode()
    os.close(read)
    assert told == "False ['child']"
    assert [event.name for event in shared.events()] == ["parent"]
    shared.active = False
    shared.clear()
