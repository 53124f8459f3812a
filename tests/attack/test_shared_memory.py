"""A /dev/shm that is full, small or read-only: loaders and ranks work, or say what is wrong."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kvstore.distributed.jobs import environment

pytestmark = pytest.mark.slow

LOADER = """
import numpy as np
from gluonish.gluon.data import DataLoader, Dataset

class Items(Dataset):
    def __len__(self):
        return 32
    def __getitem__(self, i):
        return np.full(1 << 18, i, np.float32)

if __name__ == "__main__":
    for options in ({}, {"thread_pool": True}):
        batches = [x.asnumpy()[:, 0] for x in DataLoader(Items(), 8, num_workers=2, **options)]
        assert (np.concatenate(batches) == np.arange(32)).all()
    print("good")
"""
RANK = """
import numpy as np
import gluonish as mx
store = mx.kv.create("dist_sync")
store.init("a", mx.nd.zeros(3_000_000))
out = mx.nd.zeros(3_000_000)
store.pushpull("a", mx.nd.ones(3_000_000), out=out)
assert (out == 2).asnumpy().all()
assert len(store.gather(np.zeros(1_000_000))) == 2
print("good")
"""
SHELL = """
mount -t tmpfs -o "$1" tmpfs /dev/shm || exit 77
test "$2" = full && dd if=/dev/zero of=/dev/shm/x bs=4k count=100000 2> /dev/null
shift 2
exec "$@"
"""


def run(options: str, full: bool, *command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in a mount namespace with another /dev/shm."""
    inner = ["sh", "-c", SHELL, "sh", options, "full" if full else "empty", *command]
    if os.geteuid() or not Path("/usr/bin/unshare").exists():
        pytest.skip("only root may mount")
    done = subprocess.run(
        ["unshare", "-m", *inner],
        env=environment({}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip("nothing can be mounted here")
    return done


@pytest.mark.parametrize(
    ("options", "full"), [("size=1m", False), ("size=1m", True), ("size=20m", True), ("ro", False)]
)
def test_loaders_do_not_need_dev_shm(options: str, full: bool, tmp_path: Path) -> None:
    program = tmp_path / "loader.py"
    program.write_text(LOADER)
    done = run(options, full, sys.executable, str(program))
    assert (done.returncode, done.stdout) == (0, "good\n"), done.stderr


@pytest.mark.parametrize(
    ("options", "full", "works"),
    [
        ("size=1m", False, False),
        ("size=20m", True, False),
        ("ro", False, False),
        ("size=4m", False, True),
        ("size=16m", False, True),
        ("size=100m", False, True),
    ],
)
def test_ranks_work_or_say_that_there_is_no_room(options: str, full: bool, works: bool) -> None:
    launch = [sys.executable, "-m", "gluonish", "launch", "--no-prefix", "-n", "2"]
    done = run(options, full, *launch, "python", "-c", RANK)
    if works:
        assert (done.returncode, done.stdout, done.stderr) == (0, "good\ngood\n", "")
    else:
        assert done.returncode == 1
        assert "MB of shared memory in /dev/shm for MPI, got" in done.stderr
