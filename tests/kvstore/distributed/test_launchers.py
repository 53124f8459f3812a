"""How processes are started, without `gluonish launch`: mpiexec joins them, torchrun cannot."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kvstore.distributed.jobs import environment

pytestmark = pytest.mark.dist

PROGRAM = """
import gluonish as mx
store = mx.kv.create("dist_sync")
print(store.gather(store.rank), store.num_workers, flush=True)
"""


def test_mpiexec_starts_ranks_by_itself() -> None:
    mpiexec = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or "mpiexec"
    done = subprocess.run(
        [mpiexec, "-n", "2", sys.executable, "-c", PROGRAM],
        env=environment({}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["[0, 1] 2"] * 2


@pytest.mark.parametrize(
    "variables",
    [
        {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "4", "MASTER_ADDR": "localhost"},  # torchrun
        {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4"},  # srun without an MPI that it knows
        {"OMPI_COMM_WORLD_SIZE": "4"},  # another MPI's mpiexec
    ],
    ids=["torchrun", "srun", "openmpi"],
)
def test_processes_that_mpi_does_not_join_are_no_ranks(variables: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment(variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    name = next(name for name in variables if "_SIZE" in name or "_NUM_" in name)
    assert f"NotSupportedError: kvstore: expected 4 processes, by {name}, got 1" in done.stderr
    assert "gluonish launch -n 4 python" in done.stderr
