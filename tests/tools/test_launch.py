import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gluonish.core.errors import ArgumentError, MissingFileError
from gluonish.tools import launch
from gluonish.tools.cli import main, make_parser


def parsed(*words: str) -> argparse.Namespace:
    return make_parser().parse_args(["launch", *words])


def fake(folder: Path, version: str) -> str:
    """A launcher that only tells its version."""
    path = folder / "mpiexec"
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
    path.chmod(0o755)
    return str(path)


def test_mpich_gets_its_own_options(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("a:2\nb\n")
    words = ("-n", "3", "-s", "2", "-H", str(hosts), "--launcher", "ssh", "prog", "x", "-y")
    command = launch.mpi_command(parsed(*words), fake(tmp_path, "HYDRA build details"), ["A", "B"])
    assert command[1:7] == ["-n", "3", "-f", str(hosts), "-launcher", "ssh"]
    assert command[7:10] == ["-genvlist", "A,B", "-prepend-rank"]
    assert command[-3:] == ["prog", "x", "-y"]


def test_openmpi_gets_its_own_options(tmp_path: Path) -> None:
    command = launch.mpi_command(parsed("-n", "2", "x"), fake(tmp_path, "Open MPI 5"), ["A"])
    assert command[1:6] == ["-n", "2", "-x", "A", "--tag-output"]
    assert "--oversubscribe" in command


def test_python_is_that_which_has_gluonish(tmp_path: Path) -> None:
    made = launch.mpi_command(parsed("-n", "2", "python", "x.py"), fake(tmp_path, "HYDRA"))
    assert made[-2:] == [sys.executable, "x.py"]


def test_dry_run_prints_and_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "-n", "2", "--env", "COLOR=red", "--dry-run", "no-such-program"]) == 0
    line = capsys.readouterr().out
    assert "COLOR=red" in line
    assert "DMLC_NUM_WORKER=2" in line
    assert line.count("\n") == 1, "a shell takes it as it is"
    assert "GLUONISH_LAUNCH_FOLDER" not in line, "a folder that is gone by then"
    assert line.rstrip().endswith("no-such-program")


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["-n", "2"], ArgumentError, "expected a command"),
        (["-n", "0", "x"], ArgumentError, "-n of at least 1, got 0"),
        (["-n", "2", "--sync-dst-dir", "d", "-H", "/no", "x"], MissingFileError, "a host file"),
        (["-n", "2", "-H", "/no/hosts", "x"], MissingFileError, "expected a host file"),
    ],
)
def test_what_cannot_be_started_is_said(
    words: list[str], error: type[Exception], message: str
) -> None:
    arguments = parsed(*words)
    with pytest.raises(error, match=message):
        arguments.run(arguments)


@pytest.mark.parametrize("status", [0, 7])
def test_the_folder_is_copied_to_all_hosts_before(
    status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, hosts = tmp_path / "log", tmp_path / "hosts"
    hosts.write_text("# two machines\na:2\n\nb  # the other\na:1\n")
    for name, version in (("rsync", ""), ("mpiexec", "HYDRA")):
        path = tmp_path / name
        end = f"exit {status if name == 'rsync' else 0}"
        path.write_text(f"#!/bin/sh\necho {version}\necho {name} $@ >> '{log}'\n{end}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(launch, "_mpiexec", lambda: str(tmp_path / "mpiexec"))
    words = ["launch", "-n", "2", "--sync-dst-dir", "/far/away/", "-H", str(hosts), "x"]
    assert main(words) == (1 if status else 0)
    called = log.read_text().splitlines()
    copies = [f"rsync -az --rsh ssh ./ {host}:/far/away/" for host in "ab"]
    assert [line for line in called if line.startswith("rsync")] == copies[: 1 if status else 2]
    assert any("-wdir /far/away/" in line for line in called) == (not status)


@pytest.mark.dist
def test_ranks_know_who_they_are_and_write_logs(tmp_path: Path) -> None:
    program = "import os; print(*(os.environ[n] for n in ('RANK', 'WORLD_SIZE', 'DMLC_ROLE', 'A')))"
    words = ["launch", "-n", "2", "--env", "A=b", "--log-folder", str(tmp_path / "logs")]
    done = subprocess.run(
        [sys.executable, "-m", "gluonish", *words, "python", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    texts = [(tmp_path / "logs" / f"rank.{rank}.log").read_text() for rank in range(2)]
    assert texts == ["0 2 worker b\n", "1 2 worker b\n"]


@pytest.mark.dist
def test_what_a_dry_run_prints_can_be_run(capsys: pytest.CaptureFixture[str]) -> None:
    words = "os.environ['RANK'] + ' ' + os.environ['COLOR'] + chr(10)"
    program = f"import os; os.write(1, ({words}).encode())"  # at once, so that lines stay whole
    command = ["--env", "COLOR=dark red", "--no-prefix", "--dry-run", "python", "-c", program]
    assert main(["launch", "-n", "2", *command]) == 0
    line = capsys.readouterr().out
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, ["0 dark red", "1 dark red"])


@pytest.mark.dist
def test_a_rank_on_a_host_without_the_launchers_folder_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GLUONISH_LAUNCH_FOLDER", "/no/such/folder")
    program = "import gluonish as mx; print(mx.kv.create('dist_sync').num_workers)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


@pytest.mark.dist
def test_the_status_is_that_of_the_program() -> None:
    words = ["launch", "-n", "2", "python", "-c", "import sys; sys.exit(3)"]
    done = subprocess.run([sys.executable, "-m", "gluonish", *words], timeout=60, check=False)
    assert done.returncode == 3


@pytest.mark.parametrize(
    ("notes", "status", "expected", "says"),
    [
        (["started.0", "ended.0"], 0, 0, False),
        (["started.0", "ended.0"], 3, 3, False),
        (["started.0", "started.1"], 0, 1, True),  # a rank vanished, and mpiexec took it for an end
        (["started.0", "started.1"], 9, 9, True),  # or told the signal by which it ended another
        (["started.0", "started.1", "failed.1"], 1, 1, False),  # that rank has said why
        (["started.0", "started.1"], 130, 130, False),  # Ctrl-C
        ([], 0, 0, False),
    ],
)
def test_ranks_that_end_without_a_word_are_named(
    notes: list[str],
    status: int,
    expected: int,
    says: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for note in notes:
        (tmp_path / note).touch()
    assert launch._judged(status, tmp_path) == expected
    assert ("got an early end of rank 0, 1" in capsys.readouterr().err) == says
