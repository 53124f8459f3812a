import json
import os
import threading
from pathlib import Path

import pytest

import gluonish as mx
from gluonish import profiler
from gluonish.core.errors import ArgumentError, MissingFileError, NotSupportedError
from gluonish.gluon import nn
from gluonish.profiler import options, state
from gluonish.profiler.recorder import recorder

OPTIONS = ("profile_symbolic", "profile_imperative", "profile_memory", "profile_api", "profile_all")


def one(name: str = "one") -> None:
    """Record an event."""
    event = profiler.Event(name)
    event.start()
    event.stop()


def names_in(path: Path) -> list[str]:
    return [e["name"] for e in json.loads(path.read_text())["traceEvents"] if e["ph"] not in "Me"]


def recorded() -> list[str]:
    return [event.name for event in recorder.events()]


@pytest.mark.usefixtures("trace_file")
def test_nothing_is_recorded_before_it_runs_and_after_it_stops() -> None:
    one("before")
    profiler.set_state("run")
    one("during")
    profiler.set_state("stop")
    one("after")
    assert recorded() == ["during"]


@pytest.mark.usefixtures("running")
def test_a_pause_records_nothing() -> None:
    profiler.pause()
    one("paused")
    profiler.resume()
    one("resumed")
    assert recorded() == ["resumed"]


def test_options_that_change_in_a_pause_do_not_end_it(running: Path) -> None:
    profiler.pause()
    profiler.set_config(filename=str(running), continuous_dump=False)
    one("paused")
    profiler.resume()
    one("resumed")
    assert recorded() == ["resumed"]


@pytest.mark.usefixtures("trace_file")
def test_resuming_a_stopped_profiler_does_not_start_it() -> None:
    profiler.resume()
    one()
    assert recorded() == []


@pytest.mark.usefixtures("running")
def test_an_event_that_ends_in_a_pause_is_not_kept() -> None:
    event = profiler.Event("cut")
    event.start()
    profiler.pause()
    event.stop()
    profiler.resume()
    event.stop()
    assert recorded() == []


def test_a_finished_trace_is_followed_by_a_new_one(running: Path) -> None:
    one("first")
    profiler.dump()
    assert names_in(running) == ["first"]
    one("second")
    profiler.dump()
    assert names_in(running) == ["second"]


def test_an_unfinished_trace_goes_on(running: Path) -> None:
    one("first")
    profiler.dump(finished=False)
    one("second")
    profiler.dump(finished=False)
    assert names_in(running) == ["first", "second"]


def test_a_trace_that_cannot_be_written_is_kept(running: Path) -> None:
    one("kept")
    profiler.set_config(filename=str(running.parent / "no" / "p.json"), continuous_dump=False)
    with pytest.raises(MissingFileError, match="make the folder first"):
        profiler.dump()
    profiler.set_config(filename=str(running), continuous_dump=False)
    profiler.dump()
    assert names_in(running) == ["kept"]


def test_a_trace_is_written_over_and_over_and_at_the_end(trace_file: Path) -> None:
    written = threading.Event()
    profiler.set_config(filename=str(trace_file), continuous_dump=True, dump_period=0.01)
    profiler.set_state("run")
    one("first")
    for _ in range(3000):
        if trace_file.exists():
            written.set()
            break
        threading.Event().wait(0.01)
    assert written.is_set()
    assert names_in(trace_file) == ["first"]
    one("second")
    profiler.set_state("stop")
    assert names_in(trace_file) == ["first", "second"]
    assert not any(thread.name == "gluonish-profiler" for thread in threading.enumerate())


def test_without_continuous_writing_stopping_writes_nothing(running: Path) -> None:
    one()
    profiler.set_state("stop")
    assert not running.exists()


def test_new_options_hold_while_it_runs(running: Path) -> None:
    del running
    profiler.set_config(aggregate_stats=False, continuous_dump=False)
    one("without totals")
    assert recorded() == ["without totals"]
    assert "without totals" not in profiler.dumps()


def test_changing_options_leaves_no_writer_behind(running: Path) -> None:
    for _ in range(3):
        profiler.set_config(filename=str(running), dump_period=60)
    assert sum(t.name == "gluonish-profiler" for t in threading.enumerate()) == 1
    profiler.set_state("stop")
    assert not any(t.name == "gluonish-profiler" for t in threading.enumerate())


@pytest.mark.usefixtures("running")
def test_starting_twice_is_starting_once() -> None:
    profiler.set_state("run")
    profiler.set_state("stop")
    one()
    assert recorded() == []


@pytest.mark.usefixtures("running")
def test_threads_lose_no_event() -> None:
    def work() -> None:
        for _ in range(500):
            one("shared")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(recorded()) == 2000
    assert recorder.totals()["event", "shared"].count == 2000


@pytest.mark.usefixtures("trace_file")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: profiler.set_state("go"), "set_state: expected 'run' or 'stop', got 'go'"),
        (lambda: profiler.set_state("run", "nope"), "expected profile_process 'worker' or"),
        (lambda: profiler.set_config(bogus=1), "expected arguments among profile_all, .*'bogus'"),
        (lambda: profiler.set_config(file_name="x"), r"\(nearest: 'filename'"),
        (lambda: profiler.set_config(aggregate_stats="maybe"), "expected aggregate_stats True or"),
        (lambda: profiler.set_config(filename=""), "expected a path as filename"),
        (lambda: profiler.set_config(dump_period=0), "expected a positive dump_period"),
        (lambda: profiler.set_config(dump_period="x"), "expected a positive dump_period"),
        (lambda: profiler.dumps(format="csv"), "expected format 'table' or 'json', got 'csv'"),
        (lambda: profiler.dumps(sort_by="name"), "expected sort_by among"),
    ],
)
def test_a_wrong_argument_is_refused(call, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()


def test_calls_for_servers_leave_this_process_alone_and_say_so_once(
    trace_file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "_logged", [])
    profiler.set_config(filename="of-servers.json", profile_process="server")
    profiler.set_state("run", "server")
    assert not recorder.active
    profiler.set_state("run")
    profiler.pause("server")
    assert recorder.active
    profiler.resume("server")
    profiler.set_state("stop", "server")
    assert recorder.active
    profiler.dump(profile_process="server")
    assert not trace_file.exists()
    profiler.dump()
    assert trace_file.exists()
    (said,) = [x.getMessage() for x in caplog.records if "profile_process" in x.getMessage()]
    assert said.startswith("set_config: profile_process='server' has no effect")


@pytest.mark.usefixtures("trace_file")
@pytest.mark.parametrize(
    ("option", "kinds"),
    [
        ("profile_imperative", {"operator", "block"}),
        ("profile_symbolic", {"segment"}),
        ("profile_memory", {"Device Storage"}),
        ("profile_api", {"api", "wait"}),
        ("profile_all", {"operator", "block", "segment", "Device Storage", "api", "wait"}),
        (None, set()),
    ],
)
def test_an_option_chooses_what_is_recorded(option: str | None, kinds: set[str]) -> None:
    options = dict.fromkeys(OPTIONS, False) | ({option: True} if option else {})
    doubled = mx.sym.Variable("x") * 2
    profiler.set_config(**options, continuous_dump=False)
    profiler.set_state("run")
    x = nn.Activation("relu")(mx.nd.ones((2,)))
    doubled.bind(mx.cpu(), {"x": x}).forward()[0].asnumpy()
    mx.nd.waitall()
    events = recorder.events()
    assert {event.category for event in events} == kinds
    jobs = {(job.name, job.category) for job in recorder.jobs()}
    relu, graph = ("Activation", "operator"), ("_mulscalar0", "segment")
    assert (relu in jobs, any(job[1] == graph[1] for job in jobs)) == (
        "operator" in kinds,
        "segment" in kinds,
    )
    assert not any(name.startswith("_mulscalar") and kind == "operator" for name, kind in jobs)


@pytest.mark.usefixtures("trace_file")
@pytest.mark.parametrize("value", [True, 1, "true", "True", "1"])
def test_switches_are_given_as_in_mxnet(value: object) -> None:
    profiler.set_config(aggregate_stats=value, continuous_dump="false")
    profiler.set_state("run")
    one()
    assert profiler.dumps()


@pytest.mark.usefixtures("trace_file")
def test_without_totals_the_table_is_empty_and_says_why(caplog) -> None:
    profiler.set_config(continuous_dump=False)
    assert profiler.dumps() == ""
    assert "set_config(aggregate_stats=True)" in caplog.text


def test_old_names_work_and_warn(trace_file: Path) -> None:
    with pytest.warns(UserWarning, match="use profiler.set_config"):
        profiler.profiler_set_config("symbolic", str(trace_file))
    with pytest.warns(UserWarning, match="use profiler.set_state"):
        profiler.profiler_set_state("run")
    one()
    with pytest.warns(UserWarning, match="use profiler.dump"):
        profiler.dump_profile()
    assert names_in(trace_file) == ["one"]
    with (
        pytest.warns(UserWarning, match="is deprecated"),
        pytest.raises(ArgumentError, match="expected a mode among"),
    ):
        profiler.profiler_set_config("bogus")


def test_the_handle_of_a_kvstore_is_kept() -> None:
    profiler.set_kvstore_handle(17)
    assert profiler.profiler_kvstore_handle.value == 17
    profiler.set_kvstore_handle(None)
    assert profiler.profiler_kvstore_handle.value is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forks_child_does_not_profile_until_it_is_told(running: Path) -> None:
    one("parent")
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        found = []
        try:
            one("unseen")
            (mx.nd.ones((2,)) + 1).asnumpy()
            found.append(recorder.event_count())
            profiler.set_state("run")
            (mx.nd.ones((2,)) + 1).asnumpy()
            found.append(len(recorder.jobs()))
            profiler.set_state("stop")
        finally:
            os.write(write, str(found).encode())
            os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    told = os.read(read, 1000).decode()
    os.close(read)
    assert told == "[0, 2]"
    one("later")
    profiler.dump()
    assert names_in(running) == ["parent", "later"]


def test_recording_is_refused_where_the_profiler_runs(running: Path) -> None:
    refused = pytest.raises(NotSupportedError, match="expected a stopped profiler")
    with refused, state.recording():
        pass
    assert recorder.active
    assert not running.exists()


def test_recording_leaves_options_and_records_as_they_were(trace_file: Path) -> None:
    with state.recording() as found:
        one()
        assert [event.name for event in found.events()] == ["one"]
    assert recorder.event_count() == 0
    one()
    profiler.dump()
    assert names_in(trace_file) == []
