"""Processes that write, read and fetch one file at once, and some that are killed meanwhile."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gluonish.ndarray as nd

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SAVES = 40
WRITER = """
import sys
from pathlib import Path
import gluonish as mx
path, number, saves = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
data = {name: mx.nd.full((200, 50), number) for name in "abc"}
print("begun", flush=True)
for _ in range(saves):
    mx.nd.save(path, data)
"""
FETCHER = """
import sys, hashlib
from gluonish.gluon.download import download
print("begun", flush=True)
sys.stdin.readline()
path = download(sys.argv[1], sys.argv[2], sha1_hash=sys.argv[3])
print(hashlib.sha1(open(path, "rb").read()).hexdigest())
"""


def start(program: str, *arguments: object) -> "subprocess.Popen[str]":
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def begun(processes: "list[subprocess.Popen[str]]") -> None:
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"


def whole(path: Path) -> bool:
    """Read a file of arrays; whether all are of one writer."""
    arrays = nd.load(str(path))
    values = np.concatenate([array.asnumpy().ravel() for array in arrays.values()])
    return sorted(arrays) == ["a", "b", "c"] and len(np.unique(values)) == 1


@pytest.mark.parametrize("writers", [2, 8])
def test_readers_see_one_writers_file(
    tmp_path: Path, writers: int, record_property: Callable[[str, object], None]
) -> None:
    path = tmp_path / "shared.params"
    nd.save(str(path), {name: nd.zeros((200, 50)) for name in "abc"})
    processes = [start(WRITER, path, number + 1, SAVES) for number in range(writers)]
    begun(processes)
    reads = 0
    while any(process.poll() is None for process in processes):
        assert whole(path)
        reads += 1
    assert [process.wait(timeout=60) for process in processes] == [0] * writers
    assert whole(path)
    assert list(tmp_path.iterdir()) == [path]
    record_property("saves and reads", f"{writers * SAVES} and {reads}")
    for process in processes:
        process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_writers_leave_a_whole_file_and_what_the_next_removes(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    path, generator, leftovers = tmp_path / "shared.params", random.Random(5), 0
    nd.save(str(path), {name: nd.zeros((200, 50)) for name in "abc"})
    for number in range(12):
        process = start(WRITER, path, number + 1, 10**6)
        begun([process])
        time.sleep(generator.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert whole(path)
    survivor = start(WRITER, path, 99, 10**6)
    begun([survivor])
    for left in tmp_path.glob(".*.tmp"):
        leftovers += 1
        try:
            os.utime(left, (time.time() - 3600,) * 2)
        except FileNotFoundError:
            leftovers -= 1  # the survivor's own
    nd.save(str(path), {name: nd.ones((200, 50)) for name in "abc"})
    assert survivor.poll() is None
    assert len(list(tmp_path.glob(".*.tmp"))) <= 1
    survivor.kill()
    survivor.communicate()
    assert whole(path)
    record_property("kills and leftovers", f"12 and {leftovers}")


@pytest.mark.parametrize("fetchers", [2, 8])
def test_one_download_serves_all(
    tmp_path: Path, repository, fetchers: int, record_property: Callable[[str, object], None]
) -> None:
    content = random.Random(1).randbytes(3_000_000)
    sha1 = hashlib.sha1(content).hexdigest()
    repository.files["/f.bin"] = content
    repository.cuts = [1_000_000, 500_000]
    processes = [
        start(FETCHER, f"{repository.url}/f.bin", tmp_path / "f.bin", sha1) for _ in range(fetchers)
    ]
    begun(processes)
    outputs = [process.communicate("go\n", timeout=120)[0].strip() for process in processes]
    assert outputs == [sha1] * fetchers
    assert repository.count("/f.bin") == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == [".f.bin.lock", "f.bin"]
    record_property("fetchers", fetchers)
