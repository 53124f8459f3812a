import json
import threading
from pathlib import Path

import pytest

from gluonish import profiler
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.profiler.recorder import recorder


@pytest.fixture
def domain() -> profiler.Domain:
    return profiler.Domain("training")


def entries(path: Path) -> list[dict]:  # type: ignore[type-arg]
    profiler.dump()
    return [e for e in json.loads(path.read_text())["traceEvents"] if e["ph"] != "M"]


def test_names_are_told(domain: profiler.Domain) -> None:
    task, frame = domain.new_task("a"), domain.new_frame("b")
    counter, marker = domain.new_counter("c"), domain.new_marker("d")
    found = [str(x) for x in (domain, task, frame, counter, profiler.Event("e"))]
    assert found == ["training", "a", "b", "c", "e"]
    assert (marker.name, marker.domain) == ("d", domain)


def test_a_task_is_a_pair_of_asynchronous_entries(running: Path, domain) -> None:
    task = domain.new_task("load")
    task.start()
    task.stop()
    begin, end = entries(running)
    assert (begin["ph"], end["ph"], begin["name"], begin["cat"]) == ("b", "e", "load", "training")
    assert begin["id"] == end["id"]
    assert begin["ts"] <= end["ts"]


def test_overlapping_tasks_have_numbers_of_their_own(running: Path, domain) -> None:
    first, second = domain.new_task("x"), domain.new_task("x")
    first.start()
    second.start()
    first.stop()
    second.stop()
    assert len({entry["id"] for entry in entries(running)}) == 2


def test_a_task_may_end_in_another_thread(running: Path, domain) -> None:
    task = domain.new_task("passed on")
    task.start()
    thread = threading.Thread(target=task.stop)
    thread.start()
    thread.join(60)
    assert len(entries(running)) == 2


@pytest.mark.usefixtures("running")
def test_threads_have_an_event_each() -> None:
    event = profiler.Event("work")
    both = threading.Barrier(2)

    def work() -> None:
        event.start()
        both.wait(60)
        event.stop()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    found = recorder.events()
    assert [x.name for x in found] == ["work", "work"]
    assert len({x.row for x in found}) == 2


def test_events_of_a_thread_may_overlap(running: Path) -> None:
    first, second = profiler.Event("first"), profiler.Event("second")
    first.start()
    second.start()
    first.stop()
    second.stop()
    found = entries(running)
    assert [(e["name"], e["ph"], e["cat"]) for e in found] == [
        (name, letter, "event") for name in ("first", "second") for letter in "be"
    ]
    assert len({e["tid"] for e in found}) == 1
    assert len({e["id"] for e in found}) == 2


def test_frames_have_a_category_of_their_own(running: Path, domain) -> None:
    frame = domain.new_frame("batch")
    frame.start()
    frame.stop()
    assert {entry["cat"] for entry in entries(running)} == {"training,frame"}


def test_stopping_what_was_not_started_keeps_nothing(running: Path, domain) -> None:
    domain.new_task("x").stop()
    assert entries(running) == []


def test_a_counter_tells_each_value(running: Path, domain) -> None:
    counter = domain.new_counter("images", 5)
    counter += 3
    counter -= 2
    counter.increment(4)
    counter.decrement()
    counter.set_value(2.9)
    values = [entry["args"]["images"] for entry in entries(running)]
    assert values == [5, 8, 6, 10, 9, 2]


@pytest.mark.usefixtures("running")
def test_threads_count_together(domain) -> None:
    counter = domain.new_counter("n")
    threads = [
        threading.Thread(target=lambda: [counter.increment() for _ in range(500)]) for _ in "abcd"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    counter.increment(0)
    assert recorder.events()[-1].value == 2000


@pytest.mark.usefixtures("trace_file")
def test_a_counter_counts_while_the_profiler_rests(domain) -> None:
    counter = domain.new_counter("n", 3)
    counter += 1
    profiler.set_state("run")
    counter += 1
    assert [event.value for event in recorder.events()] == [5]


@pytest.mark.parametrize(
    ("scope", "letter"),
    [("global", "g"), ("process", "p"), ("thread", "t"), ("task", "p"), ("marker", "p")],
)
def test_a_mark_is_an_instant_of_its_scope(running: Path, domain, scope, letter) -> None:
    domain.new_marker("epoch").mark(scope)
    (entry,) = entries(running)
    assert (entry["ph"], entry["s"]) == ("i", letter)
    assert entry["cat"] == "training,instant_marker"


def test_an_unknown_scope_is_refused(domain) -> None:
    with pytest.raises(ArgumentError, match="got 'universe'"):
        domain.new_marker("x").mark("universe")


@pytest.mark.parametrize("value", ["x", None, [1]])
def test_what_is_no_number_cannot_be_counted(domain, value: object) -> None:
    counter = domain.new_counter("n")
    with pytest.raises(ArgumentTypeError, match="Counter: expected a number"):
        counter += value


@pytest.mark.parametrize("kind", [profiler.Task, profiler.Frame, profiler.Counter, profiler.Marker])
def test_a_name_is_no_domain(kind) -> None:
    with pytest.raises(ArgumentTypeError, match="expected a Domain, got str"):
        kind("training", "x")
