"""Ranks on this host: no ports, and their end with signals, with each other, with the launcher."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from gluonish.tools.cli import main
from tests.kvstore.distributed.jobs import environment, left

pytestmark = pytest.mark.dist

RANK = """
import multiprocessing, os, signal, subprocess, sys, time
words = sys.argv[1:]
if "joins" in words:
    import gluonish as mx
    store = mx.kv.create("dist_sync")
    store.init("a", mx.nd.ones(3))
    out = mx.nd.zeros(3)
    store.pushpull("a", mx.nd.ones(3), out=out)
    assert (out == 2).asnumpy().all()
rank = int(os.environ["RANK"])
if "saves" in words:
    def save(number, frame):
        time.sleep(0.5)
        print("saved", rank, number, flush=True)
        sys.exit(0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, save)
if "refuses" in words:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
if "has children" in words:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
print("here", rank, flush=True)
if "fails" in words and rank == 1:
    while not os.path.exists(words[-1]):
        time.sleep(0.01)
    sys.exit(7)
time.sleep(0 if "ends" in words else 100)
"""


@contextmanager
def job(
    *words: str, before: Callable[[], object] | None = None, program: str = RANK
) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A job of two ranks that have come to their wait, and a mark in their environments."""
    mark = f"{os.getpid()}-{uuid.uuid4()}"
    launch = [sys.executable, "-m", "gluonish", "launch", "-n", "2"]
    process = subprocess.Popen(
        [*launch, "--env", f"MARK={mark}", "python", "-c", program, *words],
        env=environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=before,
    )
    try:
        assert process.stdout is not None
        assert sorted(process.stdout.readline() for _ in range(2)) == [
            "[0] here 0\n",
            "[1] here 1\n",
        ]
        yield process, mark
    finally:
        process.kill()
        process.communicate()
        for _ in range(200):
            if not left(mark):
                break
            time.sleep(0.05)
        else:
            pytest.fail("processes outlive the job")


def ports(mark: str) -> list[str]:
    """Lines of /proc/net that belong to a job's processes: all of TCP and UDP, both versions."""
    owned = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (
                mark.encode()
                not in (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
            ):
                continue
            for link in (folder / "fd").iterdir():
                owned.add(os.readlink(link))
        except OSError:
            continue
    assert owned, "they are there"
    found = []
    for name in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6"):
        file = Path("/proc/net", name)
        for line in file.read_text().splitlines()[1:] if file.exists() else ():
            if f"socket:[{line.split()[9]}]" in owned:
                found.append(f"{name} {line}")
    return found


def test_a_job_on_one_host_has_no_port() -> None:
    with job("joins") as (process, mark):
        assert ports(mark) == []
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 143


@pytest.mark.parametrize(
    ("number", "ignored"),
    [
        *((name, False) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")),
        *((name, True) for name in ("SIGINT", "SIGQUIT")),  # as shells start background jobs
    ],
)
def test_ranks_save_at_a_signal_to_the_launcher_alone(number: str, ignored: bool) -> None:
    chosen = signal.Signals[number]
    before = partial(signal.signal, chosen, signal.SIG_IGN) if ignored else None
    with job("saves", before=before) as (process, _):
        process.send_signal(chosen)
        out, _ = process.communicate(timeout=20)
        assert process.returncode == 128 + chosen
        assert sorted(out.splitlines()) == [f"[{r}] saved {r} {int(chosen)}" for r in range(2)]


def test_a_second_signal_kills() -> None:
    with job("refuses", "has children") as (process, mark):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert left(mark) >= 5
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 143


@pytest.mark.parametrize("words", [(), ("joins", "has children"), ("refuses", "has children")])
def test_no_rank_outlives_a_launcher_that_is_killed(words: tuple[str, ...]) -> None:
    with job(*words) as (process, _):
        process.kill()
        assert process.wait(10) == -9


def test_a_rank_that_fails_ends_the_others_and_their_children(tmp_path: Path) -> None:
    both_are_there = tmp_path / "both"
    with job("fails", "has children", str(both_are_there)) as (process, _):
        both_are_there.touch()
        assert process.wait(20) == 7


@pytest.mark.parametrize(
    ("program", "advice"),
    [("no-such-program", ""), ("/tmp", ""), ("x/train.py", "; write python x/train.py")],
)
def test_what_cannot_be_run_is_refused(
    program: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["launch", "-n", "2", program]) == 1
    message = f"gluonish: launch: expected a program that this host can run, got {program!r} ("
    shown = capsys.readouterr().err
    assert shown.startswith(message)
    assert shown.endswith(f"){advice}\n")


def test_what_a_rank_left_running_at_a_good_end_goes_on() -> None:
    program = RANK.replace("time.sleep(100)", "time.sleep(2)")
    with job("ends", "has children", program=program) as (process, mark):
        process.communicate(timeout=20)
        assert process.returncode == 0
        assert left(mark) == 2


def test_lines_of_ranks_stay_whole_and_the_last_one_needs_no_end() -> None:
    program = "import os, time; os.write(1, b'a'); time.sleep(0.05); os.write(1, b'b\\nc')"
    done = subprocess.run(
        [sys.executable, "-m", "gluonish", "launch", "-n", "3", "python", "-c", program],
        env=environment({}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("ab\n") == 3
    assert all(f"[{rank}] ab\n" in done.stdout for rank in range(3))
    assert done.stdout.count("] c") == 3
