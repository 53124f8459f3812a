import gc
import os
import signal
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gluonish.ndarray as nd
from gluonish.gluon.data import SimpleDataset, default_mp_batchify_fn
from gluonish.gluon.data.by_value import dumps
from gluonish.gluon.data.channel import SPARE_SLOTS, WorkerError, WorkerTimeoutError
from gluonish.gluon.data.worker_pool import WorkerPool
from tests.gluon.data.programs import run, wait_until_gone

WAIT_S = 60


class Unsendable(Exception):
    def __init__(self, a: int, b: int) -> None:
        super().__init__("told")


class Acting(SimpleDataset):
    """Does what its element says."""

    def __getitem__(self, idx: int) -> Any:
        act = super().__getitem__(idx)
        if act == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if act == "exit":
            os._exit(3)
        if act == "unsendable":
            raise Unsendable(1, 2)
        if act == "hang":
            signal.pause()
        if act == "interrupt":
            os.kill(os.getpid(), signal.SIGINT)
            return 7
        return act


ACTS = ["kill", "exit", "unsendable", "hang", "interrupt", 5]


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool(dumps((Acting(ACTS), default_mp_batchify_fn)), 1, 2)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (0, r"it was killed by signal 9 \(SIGKILL\), as .* while loading dataset indices \[0\]"),
        (1, r"it exited with code 3 while loading dataset indices \[1\]"),
    ],
)
def test_dead_worker_is_told(pool: WorkerPool, index: int, message: str) -> None:
    number = pool.submit([index], 0)
    with pytest.raises(WorkerError, match=message):
        pool.take(number, WAIT_S)
    assert pool.closed


def test_error_arrives_with_its_type_although_its_init_wants_more(pool: WorkerPool) -> None:
    with pytest.raises(Unsendable, match="told") as caught:
        pool.take(pool.submit([2], 0), WAIT_S)
    notes = "\n".join(caught.value.__notes__)
    assert "raised by dataset[2]" in notes
    assert "in __getitem__" in notes
    assert pool.take(pool.submit([5], 0), WAIT_S).asnumpy().tolist() == [5]


def test_late_batch_is_told_with_its_indices(pool: WorkerPool) -> None:
    assert pool.take(pool.submit([5], 0), WAIT_S).asnumpy().tolist() == [5]
    number = pool.submit([3] * 10, 0)
    with pytest.raises(WorkerTimeoutError, match=r"\[3, .*10 in all\] within 0.1 s"):
        pool.take(number, 0.1)
    process = pool._workers[0].process
    pool.close()
    assert process.poll() is not None


def test_worker_ignores_ctrl_c(pool: WorkerPool) -> None:
    assert pool.take(pool.submit([4], 0), WAIT_S).asnumpy().tolist() == [7]


def test_forgotten_batches_leave_nothing_behind(pool: WorkerPool) -> None:
    early, late = pool.submit([5], 0), pool.submit([5, 5], 0)
    assert pool.take(late, WAIT_S).asnumpy().tolist() == [5, 5]
    pool.forget([early, pool.submit([5], 0)])
    assert pool.take(pool.submit([5], 0), WAIT_S).asnumpy().tolist() == [5]
    assert pool.take(pool.submit([5], 0), WAIT_S).asnumpy().tolist() == [5]
    assert not pool._service.batches
    assert not pool._service.backlog
    assert pool._service.ring is not None
    gc.collect()
    ring = pool._service.ring
    taken = [ring.acquire() for _ in range(3 + SPARE_SLOTS)]
    assert (taken[-1], None in taken[:-1]) == (None, False)


def test_error_at_the_start_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vanishing.py").write_text("class Data(list):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    import vanishing

    payload = dumps((vanishing.Data([1]), default_mp_batchify_fn))
    (tmp_path / "vanishing.py").unlink()
    pool = WorkerPool(payload, 1, 2)
    with pytest.raises(ModuleNotFoundError, match="vanishing"):
        pool.take(pool.submit([0], 0), WAIT_S)
    assert pool.closed


SCRIPT = """
import os
from gluonish.gluon.data import DataLoader, Dataset

class Data(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        return helper(i)

def helper(i):
    return i * factor

factor = 2
loader = DataLoader(Data().transform(lambda x: x + 1), 2, num_workers=2)
batches = iter(loader)
first = next(batches)
print(*first.asnumpy(), flush=True)
print(*[worker.process.pid for worker in loader._pool._workers], flush=True)
"""


def test_program_without_a_main_guard_ends_cleanly_in_the_middle_of_a_pass() -> None:
    before = set(os.listdir("/dev/shm"))
    done = run(SCRIPT)
    assert (done.returncode, done.stderr) == (0, "")
    values, pids = done.stdout.splitlines()
    assert values == "1 3"
    wait_until_gone([int(pid) for pid in pids.split()])
    assert {name for name in set(os.listdir("/dev/shm")) - before if "gluonish" in name} == set()


def test_workers_do_not_outlive_a_killed_program() -> None:
    done = run(SCRIPT + "os.kill(os.getpid(), 9)")
    assert done.returncode == -signal.SIGKILL
    wait_until_gone([int(pid) for pid in done.stdout.splitlines()[1].split()])


def test_error_that_ends_the_program_shows_the_index() -> None:
    done = run(SCRIPT.replace("return i * factor", "return i / (i - 50)") + "list(batches)")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "raised by dataset[50]" in done.stderr


def test_fork_of_the_program_leaves_the_workers_alone() -> None:
    done = run(
        SCRIPT
        + textwrap.dedent(
            """
            import warnings
            warnings.simplefilter("ignore")
            child = os.fork()
            if not child:
                loader._pool.close()
                os._exit(0)
            os.waitpid(child, 0)
            print(*next(batches).asnumpy())
            """
        )
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[2] == "5 7"


def test_worker_computes_with_one_thread(pool: WorkerPool) -> None:
    assert pool.take(pool.submit([5], 0), WAIT_S).asnumpy().tolist() == [5]
    pid = pool._workers[0].process.pid
    # Its own, and the one that reads messages.
    assert len(os.listdir(f"/proc/{pid}/task")) <= 2


def test_batch_may_be_used_after_the_pool_was_closed(pool: WorkerPool) -> None:
    batch = pool.take(pool.submit([5, 5], 0), WAIT_S)
    pool.close()
    assert (batch + nd.ones((2,), dtype="int64")).asnumpy().tolist() == [6, 6]
