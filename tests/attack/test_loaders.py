"""Loaders in numbers, in one another, in processes of all kinds, and left in the middle.

None hangs, and nothing of them stays: no process, no descriptor, no shared memory.
"""

import gc
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gluonish.gluon.data import DataLoader, SimpleDataset
from tests.gluon.data.programs import run, start, wait_until_gone

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc and /dev/shm"),
]

END_S = 60
KINDS = {
    "processes": {"num_workers": 2},
    "threads": {"num_workers": 2, "thread_pool": True},
    "here": {"num_workers": 0},
    "reloading": {"num_workers": 2, "auto_reload": True},
}


def children(pid: int) -> list[int]:
    """The processes that all threads of a process have started."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += map(int, (task / "children").read_text("utf-8").split())
    return found


def held() -> tuple[int, int, int]:
    """How many child processes, descriptors and threads this process has."""
    gc.collect()
    descriptors = len(os.listdir("/proc/self/fd"))
    return len(children(os.getpid())), descriptors, threading.active_count()


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    for one in (DataLoader([0, 1], 1, **kind) for kind in KINDS.values()):
        list(one)  # what the process keeps for good is there
    del one
    shared, before = set(os.listdir("/dev/shm")), held()
    yield
    deadline = time.monotonic() + END_S
    while any(now > then for now, then in zip(held(), before, strict=True)):
        assert time.monotonic() < deadline, f"processes, descriptors, threads: {before}, {held()}"
        time.sleep(0.05)
    assert {name for name in os.listdir("/dev/shm") if "gluonish" in name} <= shared


def numbers(batches: Any) -> list[int]:
    return [int(x) for batch in batches for x in batch.asnumpy()]


@pytest.mark.parametrize("kind", KINDS)
def test_nested_loaders_give_every_batch(kind: str) -> None:
    outer, inner = (DataLoader(list(range(10)), 2, **KINDS[kind]) for _ in range(2))
    found = [
        (int(a[0].asscalar()), int(b[0].asscalar()), int(c[0].asscalar()))
        for a in outer
        for b in inner
        for c in outer
    ]
    starts = range(0, 10, 2)
    assert found == [(a, b, c) for a in starts for b in starts for c in starts]


def test_loader_may_be_the_dataset_of_a_workers_loader() -> None:
    class Inner(SimpleDataset):
        def __getitem__(self, index: int) -> int:
            loader = DataLoader([index, index], 1, num_workers=1)
            return sum(numbers(loader))

    loader = DataLoader(Inner(list(range(4))), 2, num_workers=2)
    assert numbers(loader) == [0, 2, 4, 6]


def test_fifty_loaders_at_once(record_property: Callable[[str, object], None]) -> None:
    loaders = [DataLoader(list(range(i, i + 6)), 2, num_workers=1) for i in range(50)]
    passes = [iter(loader) for loader in loaders]
    found: list[list[int]] = [[] for _ in loaders]
    for _ in range(3):
        for one, batches in zip(found, passes, strict=True):
            one += numbers([next(batches)])
    assert found == [list(range(i, i + 6)) for i in range(50)]
    record_property("loaders", len(loaders))


def test_fifty_loaders_of_threads_in_fifty_threads() -> None:
    found: dict[int, list[int]] = {}

    def job(number: int) -> None:
        loader = DataLoader(list(range(number, number + 9)), 2, num_workers=2, thread_pool=True)
        found[number] = numbers(loader)

    threads = [threading.Thread(target=job, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(END_S)
    assert found == {number: list(range(number, number + 9)) for number in range(50)}


@pytest.mark.parametrize("kind", KINDS)
def test_iterators_that_live_on_are_served_in_any_order(kind: str) -> None:
    draws = random.Random(kind)
    loader = DataLoader(list(range(24)), 2, **KINDS[kind])
    passes: list[tuple[Any, list[int]]] = []
    complete = 0
    for _ in range(300):
        if len(passes) < 5:
            passes.append((iter(loader), []))
        batches, found = passes[draws.randrange(len(passes))]
        batch = next(batches, None)
        if batch is not None:
            found += numbers([batch])
            continue
        assert found == list(range(24))
        passes = [one for one in passes if one[0] is not batches]
        complete += 1
    assert complete > 10


@pytest.mark.parametrize("kind", KINDS)
def test_loader_dropped_in_the_middle_of_a_loop_leaves_nothing(kind: str) -> None:
    kept = []
    for count in range(6):
        loader = DataLoader(list(range(20)), 2, **KINDS[kind])
        for number, batch in enumerate(loader):
            kept.append((batch, number))
            if number == count:
                break
        del loader, batch
    for batch, number in kept:
        assert numbers([batch]) == [2 * number, 2 * number + 1]


def _raise_at(bad: int) -> Callable[[int], int]:
    def transform(x: int) -> int:
        if x == bad:
            raise LookupError(f"no sample {x}")
        return x

    return transform


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [0, 7, 19])
def test_error_of_a_sample_is_raised_in_its_turn_and_the_loader_goes_on(
    kind: str, bad: int
) -> None:
    dataset = SimpleDataset(list(range(20))).transform(_raise_at(bad))
    loader = DataLoader(dataset, 2, **KINDS[kind])
    for _ in range(3):
        found: list[int] = []
        batches = iter(loader)
        for _ in range(bad // 2):
            found += numbers([next(batches)])
        with pytest.raises(LookupError, match=f"no sample {bad}"):
            next(batches)
        assert found == list(range(bad - bad % 2))


# A main program of its own: multiprocessing imports it again in processes that it spawns.
PROGRAM = """
import multiprocessing, os, signal, sys, time, warnings
from concurrent.futures import ProcessPoolExecutor
from gluonish.gluon.data import DataLoader, SimpleDataset

KIND = sys.argv[1]
context = multiprocessing.get_context(KIND)


def load(number):
    loader = DataLoader(list(range(number, number + 6)), 2, num_workers=2)
    return [int(x) for _ in range(2) for batch in loader for x in batch.asnumpy()]


def expected(number):
    return list(range(number, number + 6)) * 2


def report(queue, number):
    queue.put(load(number))


def through(loader, queue):
    queue.put([int(x) for batch in loader for x in batch.asnumpy()])


def main():
    # Before any loader, so that a fork has no threads but the interpreter's.
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(load, range(4))) == [expected(n) for n in range(4)]
    assert load(9) == expected(9)
    queue = context.Queue()
    loader = DataLoader([1, 2, 3], 2, num_workers=1)
    assert len(list(loader)) == 2
    for target, given, wanted in (
        (report, (queue, 3), expected(3)), (through, (loader, queue), [1, 2, 3])
    ):
        for daemon in (False, True):
            process = context.Process(target=target, args=given, daemon=daemon)
            process.start()
            assert queue.get(timeout=50) == wanted
            process.join(50)
            assert process.exitcode == 0
    assert len(list(loader)) == 2
    print("done")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # Python 3.12 warns of forks beside threads
    main()
"""


@pytest.mark.parametrize("kind", ["spawn", "forkserver", "fork"])
def test_processes_of_multiprocessing_have_loaders(kind: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    done = run(
        "import subprocess, sys\n"
        f"sys.exit(subprocess.run([sys.executable, {str(program)!r}, {kind!r}]).returncode)",
        timeout_s=100,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "Traceback" not in done.stderr


INTERRUPTED = """
import os, sys, time
import numpy.random  # its compiled modules drop an interrupt that comes while they are imported
from gluonish.gluon.data import DataLoader, SimpleDataset

def slowly(x):
    time.sleep(0.002)
    return x

loader = DataLoader(SimpleDataset(list(range(2000))).transform(slowly), 2, num_workers=3)
print("begun", flush=True)
while True:
    for batch in loader:
        batch.asnumpy()
"""
INTERRUPTS = 12


def test_ctrl_c_at_any_moment_ends_program_and_workers(
    record_property: Callable[[str, object], None],
) -> None:
    draws = random.Random(3)
    for _ in range(INTERRUPTS):
        process = start(INTERRUPTED)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(draws.choice([0.1, 0.5, 1.5]) * draws.random())
        workers = children(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=END_S)
        assert process.returncode == -signal.SIGINT, errors
        assert errors.count("KeyboardInterrupt") == 1, errors
        wait_until_gone(workers, END_S)
    record_property("interrupts", INTERRUPTS)


CAUGHT = """
import os, random, signal, sys, threading, time, warnings
from gluonish.gluon.data import DataLoader

fresh, thread_pool = map(int, sys.argv[1:])
data = list(range(30))
loader = DataLoader(data, 2, num_workers=2, thread_pool=bool(thread_pool))
list(loader)
draws = random.Random(8)
interrupts = 0
# A process may have begun and nobody know of it yet: then Python warns, and it ends by itself.
warnings.simplefilter("ignore", ResourceWarning)
for _ in range(30):
    timer = threading.Timer(draws.uniform(0, 0.01), os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        if fresh:
            loader = DataLoader(data, 2, num_workers=2, thread_pool=bool(thread_pool))
        for batch in loader:
            batch.asnumpy()
        timer.join()
        time.sleep(0.01)
    except KeyboardInterrupt:
        interrupts += 1
    timer.join()
    found = [int(x) for batch in loader for x in batch.asnumpy()]
    assert found == list(range(30)), found
print(interrupts)
"""


@pytest.mark.parametrize("fresh", [0, 1], ids=["same loader", "new loaders"])
@pytest.mark.parametrize("thread_pool", [0, 1], ids=["processes", "threads"])
def test_loader_is_used_again_after_interrupts_at_any_moment(
    fresh: int, thread_pool: int, record_property: Callable[[str, object], None]
) -> None:
    program = f"import sys\nsys.argv[1:] = ['{fresh}', '{thread_pool}']\n{CAUGHT}"
    done = run(program, timeout_s=90)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) == 30
    record_property("interrupts", 30)
