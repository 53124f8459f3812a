"""The profiler in a job of several ranks: one trace of all, and nobody waits for long."""

import json
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.kvstore.distributed.jobs import ROOT, Job, run_job
from tests.profiler.trace_check import checked_trace, process_names, start_ns, stop_ns

pytestmark = pytest.mark.dist

PROGRAM = """
import sys
import gluonish as mx
from gluonish import nd, profiler
from gluonish.profiler import ranks, recorder, trace_file
kind, path, who, *dumps = sys.argv[1:]
store = mx.kv.create(kind)
recorder._EPOCH_NS += 5_000_000_000 * store.rank  # clocks that differ
ranks.PATIENCE_S = trace_file.PATIENCE_S = 1.0
store.init(["a", "b"], [nd.ones((300,)), nd.ones((7,))])
nd.waitall()
if who == "all" or str(store.rank) == who:
    profiler.set_config(profile_all=True, filename=path, continuous_dump=False)
    profiler.set_state("run")
out = nd.zeros((300,))
for number, dump in enumerate(dumps):
    for _ in range(3):
        store.push(["a", "b"], [nd.ones((300,)), nd.ones((7,))])
        store.pull("a", out)
        nd.waitall()
    if dump == "all" or str(store.rank) in dump:
        profiler.dump()
    store.barrier()
print(store.rank, "is through")
"""


def run(ranks: int, kind: str, path: Path, *dumps: str, who: str = "all") -> Job:
    """Run the program; ``dumps`` are the ranks that dump, one time after the other."""
    return run_job(ranks, PROGRAM, kind, str(path), who, *dumps)


def communication(path: Path) -> dict[int, list[dict[str, Any]]]:
    """Return what each rank did with others."""
    found: dict[int, list[dict[str, Any]]] = {}
    names = process_names(path)
    for event in checked_trace(path):
        if event["cat"] == "communication":
            rank = int(names[event["pid"]].removeprefix("rank ").partition(":")[0])
            found.setdefault(rank, []).append(event)
    return found


@pytest.mark.parametrize("ranks", [2, 3])
def test_one_file_has_all_ranks_and_what_they_exchanged(ranks: int, tmp_path: Path) -> None:
    job = run(ranks, "dist_sync", tmp_path / "x.json", "all")
    assert (job.status, job.errors) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
    found = communication(tmp_path / "x.json")
    assert sorted(found) == list(range(ranks))
    names = set(process_names(tmp_path / "x.json").values())
    for rank in range(ranks):
        assert {f"rank {rank}: {name}" for name in ("communication", "cpu/0", "python")} <= names
        for event in found[rank]:
            args = event["args"]
            assert (args["keys"], args["bytes"]) == (["'b'", "'a'"], 4 * 307)
            both = args["waiting_us"] + args["transfer_us"]
            assert both == pytest.approx(event["dur"], abs=0.01)


def test_clocks_that_differ_are_brought_together(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    assert run(3, "dist_sync", path, "all").status == 0
    other = json.loads(path.read_text())["otherData"]
    assert other["ranks"] == 3
    for rank, clock in other["clocks"].items():
        assert abs(clock["ahead_ns"] + 5e9 * int(rank)) <= 1e6 + clock["error_ns"]
    slack_ns = sum(clock["error_ns"] for clock in other["clocks"].values())
    for together in zip(*communication(path).values(), strict=True):
        for one, another in combinations(together, 2):
            # No rank is through before another one has come.
            assert start_ns(one) <= stop_ns(another) + slack_ns
            assert start_ns(another) <= stop_ns(one) + slack_ns


def test_servers_and_what_was_asked_of_them_are_there(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    job = run(2, "dist_async", path, "all")
    assert (job.status, job.errors) == (0, "")
    asked = [event["name"] for events in communication(path).values() for event in events]
    assert any(name.startswith("push at rank") for name in asked)
    answers = [event for event in checked_trace(path) if event["cat"] == "kvstore server"]
    assert {name for event in answers for name in event["args"]["keys"]} >= {"'a'", "'b'"}


def test_where_only_rank_0_profiles_it_waits_for_nobody(tmp_path: Path) -> None:
    job = run(2, "dist_sync", tmp_path / "x.json", "0", who="0")
    assert (job.status, job.errors) == (0, "")
    assert sorted(communication(tmp_path / "x.json")) == [0]


def test_a_rank_that_does_not_dump_is_left_out_and_named(tmp_path: Path) -> None:
    job = run(3, "dist_sync", tmp_path / "x.json", "0 1")
    assert job.status == 0
    assert "the trace lacks rank 2, which did not call dump within 1 s" in job.errors
    assert sorted(communication(tmp_path / "x.json")) == [0, 1]


def test_a_rank_that_does_not_meet_rank_0_writes_a_file_of_its_own(tmp_path: Path) -> None:
    job = run(2, "dist_sync", tmp_path / "x.json", "1")
    own = tmp_path / "x.rank1.json"
    assert job.status == 0
    assert f"rank 0 did not call dump within 1 s; the trace of rank 1 goes to {own}" in job.errors
    assert [path.name for path in tmp_path.iterdir()] == ["x.rank1.json"]
    assert sorted(communication(own)) == [1]


def test_who_came_in_vain_is_not_taken_for_who_comes_next(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    job = run(2, "dist_sync", path, "1", "all", "all")
    assert job.status == 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
    pushes = {
        rank: [event["name"] for event in events].count("push of 'b'")
        for rank, events in communication(path).items()
    }
    assert pushes == {0: 3, 1: 3}, "since the last dump"


AUTOSTARTED = """
import sys
import gluonish as mx
from gluonish import nd
store = mx.kv.create("dist_sync")
store.init("a", nd.ones((300,)))
store.push("a", nd.ones((300,)))
nd.waitall()
if store.rank == 1 and len(sys.argv) > 1:
    raise ValueError("on purpose") if sys.argv[1] == "raises" else SystemExit(0)
if len(sys.argv) > 1:
    store.push("a", nd.ones((300,)))
    nd.waitall()
"""


def test_profiles_that_start_by_themselves_are_one_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    job = run_job(3, AUTOSTARTED, MXNET_PROFILER_AUTOSTART="1", MXNET_PROFILER_MODE="1")
    assert (job.status, job.errors) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["profile.json"]
    assert sorted(communication(tmp_path / "profile.json")) == [0, 1, 2]


@pytest.mark.parametrize("fault", ["raises", "exits"])
def test_a_fault_ends_a_profiled_job_as_soon_as_any(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    start = time.perf_counter()
    job = run_job(2, AUTOSTARTED, fault, MXNET_PROFILER_AUTOSTART="1")
    assert job.status != 0
    assert time.perf_counter() - start < 9  # less than waiting for a rank to dump would take
    assert ("ValueError: on purpose" if fault == "raises" else "same number of steps") in job.errors


@pytest.mark.parametrize("fault", ["", "raises"])
def test_the_command_makes_one_page_of_all_ranks(fault: str, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(AUTOSTARTED)
    command = [sys.executable, "-m", "gluonish"]
    words = [*command, "launch", "-n", "2", "--no-prefix", *command, "profile"]
    words += ["--output", str(tmp_path / "run"), str(script), *([fault] if fault else [])]
    paths = f"{ROOT}:{ROOT / 'engine'}"
    done = subprocess.run(
        ["env", f"PYTHONPATH={paths}", *words], capture_output=True, text=True, check=False
    )
    made = sorted(path.name for path in tmp_path.iterdir())
    if fault:
        assert done.returncode != 0
        assert "ValueError: on purpose" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    assert made == ["program.py", "run.html", "run.json"]
    assert sorted(communication(tmp_path / "run.json")) == [0, 1]
    text = (tmp_path / "run.html").read_text("utf-8")
    assert "Communication between ranks" in text
    assert done.stderr.count("page:") == 1
