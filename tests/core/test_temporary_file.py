"""Leftovers of killed processes go; what another process writes stays."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gluonish.core import files as module
from gluonish.core.files import atomic_write, remove_abandoned, temporary_file

ROOT = Path(__file__).parents[2]
WRITER = """
import sys, time
from gluonish.core.files import atomic_write
with atomic_write(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("written", flush=True)
    time.sleep(60)
"""

pytestmark = pytest.mark.skipif(module.fcntl is None, reason="there is no SIGKILL, and no flock")  # type: ignore[attr-defined]


def writer(target: Path) -> "subprocess.Popen[bytes]":
    """Start a process that is in the middle of writing a file."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, target],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"written\n"
    return process


def kill(process: "subprocess.Popen[bytes]") -> None:
    with process:
        process.send_signal(signal.SIGKILL)


def make_old(folder: Path) -> list[Path]:
    """Let the temporary files look as if nobody had written to them for an hour."""
    found = list(folder.glob(".*.tmp"))
    for path in found:
        long_ago = time.time() - 3600
        os.utime(path, (long_ago, long_ago))
    return found


def test_what_a_killed_process_left_goes_with_the_next_write(tmp_path: Path) -> None:
    kill(writer(tmp_path / "a"))
    assert len(make_old(tmp_path)) == 1
    with atomic_write(tmp_path / "b") as file:
        file.write(b"new")
    assert list(tmp_path.iterdir()) == [tmp_path / "b"]


def test_what_a_process_writes_stays_however_old_it_looks(tmp_path: Path) -> None:
    process = writer(tmp_path / "a")
    try:
        found = make_old(tmp_path)
        with atomic_write(tmp_path / "b") as file:
            file.write(b"new")
        assert sorted(tmp_path.iterdir()) == sorted([*found, tmp_path / "b"])
    finally:
        kill(process)


def test_what_this_process_writes_stays(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "a") as file:
        make_old(tmp_path)
        remove_abandoned(tmp_path, min_age_s=0)
        file.write(b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_closed_file_is_held_until_it_has_its_name(tmp_path: Path) -> None:
    with temporary_file(tmp_path / "a") as (path, file):
        file.close()
        make_old(tmp_path)
        remove_abandoned(tmp_path, min_age_s=0)
        assert path.exists()


def test_what_was_written_a_moment_ago_stays(tmp_path: Path) -> None:
    # On a disk whose locks do not reach other hosts, one of them may be writing it.
    kill(writer(tmp_path / "a"))
    remove_abandoned(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_is_removed_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, removed = module.fcntl.flock, []  # type: ignore[attr-defined, var-annotated]

    def late(descriptor: int, how: int) -> None:
        if not removed:
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()
        lock(descriptor, how)

    monkeypatch.setattr(module.fcntl, "flock", late)  # type: ignore[attr-defined]
    with atomic_write(tmp_path / "a") as file:
        file.write(b"new")
    assert removed
    assert (tmp_path / "a").read_bytes() == b"new"


@pytest.mark.parametrize("name", [".a.0123456789abcdef.tmp", "a.0123456789abcdef.gluonish.tmp"])
def test_files_of_other_names_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    remove_abandoned(tmp_path, min_age_s=0)
    assert (tmp_path / name).exists()


def test_a_link_of_such_a_name_stays(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"data")
    (tmp_path / ".a.0123456789abcdef.gluonish.tmp").symlink_to(tmp_path / "precious")
    remove_abandoned(tmp_path, min_age_s=0)
    assert (tmp_path / "precious").exists()
    assert (tmp_path / ".a.0123456789abcdef.gluonish.tmp").is_symlink()


def test_a_disk_without_locks_takes_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(descriptor: int, how: int) -> None:
        raise OSError("no locks")

    monkeypatch.setattr(module.fcntl, "flock", none)  # type: ignore[attr-defined]
    leftover = tmp_path / ".a.0123456789abcdef.gluonish.tmp"
    leftover.write_bytes(b"")
    make_old(tmp_path)
    with atomic_write(tmp_path / "a") as file:
        file.write(b"new")
    assert sorted(tmp_path.iterdir()) == [leftover, tmp_path / "a"]


@pytest.mark.parametrize("name", ["fdopen", "dup", "fstat"])
def test_interrupt_while_it_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    class InterruptedSystem:
        def __getattr__(self, asked: str) -> Any:
            return interrupted if asked == name else getattr(os, asked)

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        result = getattr(os, name)(*args, **kwargs)
        if name != "fstat":
            (os.close if name == "dup" else type(result).close)(result)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "os", InterruptedSystem())
    with pytest.raises(KeyboardInterrupt), temporary_file(tmp_path / "a.params"):
        pass
    assert list(tmp_path.iterdir()) == []
