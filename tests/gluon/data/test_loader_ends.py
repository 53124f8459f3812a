"""No process and no shared memory stays behind, however a program with a DataLoader ends."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.gluon.data.programs import run, start, wait_until_gone

# Workers of these programs are busy for a minute, so that none ends because it has nothing to do.
BEGIN = """
import os, signal, sys, time
from gluonish.gluon.data import DataLoader, SimpleDataset

def slow(x):
    if x > 1:
        time.sleep(60)
    return x

loader = DataLoader(SimpleDataset(list(range(100))).transform(slow), 1, num_workers=2)
batches = iter(loader)
print(*next(batches).asnumpy(), flush=True)
print(*[worker.process.pid for worker in loader._pool._workers], flush=True)
"""
# Longer than a worker that hears of the end needs, shorter than its sample.
END_S = 20


def shared_files() -> set[str]:
    """What lies in /dev/shm, if the system has it."""
    return set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()


def first_lines(process: subprocess.Popen[str]) -> list[int]:
    assert process.stdout is not None
    assert process.stdout.readline() == "0\n"
    return [int(pid) for pid in process.stdout.readline().split()]


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("", 0),
        ("sys.exit(3)", 3),
        ("raise RuntimeError('told')", 1),
        ("os._exit(4)", 4),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("child = os.fork() or (time.sleep(90), os._exit(0))\nos.kill(os.getpid(), 9)", -9),
        ("del batches, loader\nprint('dropped', flush=True)\nos.kill(os.getpid(), 9)", -9),
    ],
    ids=["normal", "exit", "error", "_exit", "killed", "terminated", "killed-with-fork", "dropped"],
)
def test_workers_end_with_the_program(end: str, code: int) -> None:
    before = shared_files()
    process = start("import warnings; warnings.simplefilter('ignore')\n" + BEGIN + end)
    pids = first_lines(process)
    try:
        assert process.wait(END_S) == code
        wait_until_gone(pids, END_S)
        assert not {name for name in shared_files() - before if "gluonish" in name}
    finally:
        os.killpg(process.pid, signal.SIGKILL) if "fork" in end else None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stderr.close()


def test_ctrl_c_ends_the_program_and_its_workers_without_noise_of_theirs() -> None:
    process = start(BEGIN + "next(batches); next(batches)")
    pids = first_lines(process)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=END_S)
    assert process.returncode == -signal.SIGINT
    assert errors.count("KeyboardInterrupt") == 1
    wait_until_gone(pids, END_S)


def test_ctrl_c_while_workers_start_is_for_the_main_process_alone() -> None:
    process = start("print(0, flush=True); print(flush=True)\n" + BEGIN)
    first_lines(process)
    # The program is importing, or starting its workers, or waiting for one.
    try:
        process.wait(0.7)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=END_S)
    assert errors.count("KeyboardInterrupt") <= 1


@pytest.mark.parametrize(
    "leave",
    ["break", "raise KeyError", "sys.exit(1)", "raise KeyboardInterrupt"],
)
def test_loader_is_used_again_after_a_loop_was_left(leave: str) -> None:
    done = run(
        f"""
        import sys
        from gluonish.gluon.data import DataLoader
        loader = DataLoader(list(range(40)), 2, num_workers=2)
        try:
            for batch in loader:
                {leave}
        except BaseException as error:
            print(type(error).__name__)
        workers = [worker.process.pid for worker in loader._pool._workers]
        print(sum(int(batch.sum().asscalar()) for batch in loader))
        assert workers == [worker.process.pid for worker in loader._pool._workers]
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == str(sum(range(40)))


def test_interrupt_while_a_batch_is_waited_for_leaves_a_usable_loader() -> None:
    done = run(
        """
        import signal, time
        from gluonish.gluon.data import DataLoader, SimpleDataset

        def slow(x):
            if x == 3 and not os.path.exists(marker):
                open(marker, "w").close()
                time.sleep(60)
            return x

        import os, tempfile
        marker = os.path.join(tempfile.mkdtemp(), "slept")
        loader = DataLoader(SimpleDataset(list(range(8))).transform(slow), 2, num_workers=2)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        batches = iter(loader)
        next(batches)
        signal.alarm(1)
        try:
            next(batches)
        except KeyboardInterrupt:
            print("interrupted")
        print([batch.asnumpy().tolist() for batch in loader])
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "interrupted\n[[0, 1], [2, 3], [4, 5], [6, 7]]\n"


def test_daemon_of_multiprocessing_may_have_workers(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        """
import multiprocessing
from gluonish.gluon.data import DataLoader, SimpleDataset

class Data(SimpleDataset):
    pass

def child():
    loader = DataLoader(Data([1, 2, 3]).transform(lambda x: x + 1), 2, num_workers=1)
    print([batch.asnumpy().tolist() for batch in loader], flush=True)
    print(loader._pool._workers[0].process.pid, flush=True)

if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=child, daemon=True)
    process.start()
    process.join(60)
    print(process.exitcode)
"""
    )
    done = run(f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')")
    if done.stderr:  # spawn needs the program as a file of its own
        done = run(f"import subprocess, sys; subprocess.run([sys.executable, {str(program)!r}])")
    assert done.stderr == ""
    batches, pid, code = done.stdout.splitlines()
    assert (batches, code) == ("[[2, 3], [4]]", "0")
    wait_until_gone([int(pid)], END_S)


def test_fork_starts_workers_of_its_own_and_leaves_the_others() -> None:
    done = run(
        """
        import os, warnings
        warnings.simplefilter("ignore")
        from gluonish.gluon.data import DataLoader
        from gluonish.gluon.data.channel import WorkerError
        loader = DataLoader(list(range(6)), 2, num_workers=1)
        batches = iter(loader)
        next(batches)
        child = os.fork()
        if not child:
            try:
                next(batches)
            except WorkerError as error:
                print("start a new pass" in str(error))
            print([batch.asnumpy().tolist() for batch in loader], flush=True)
            loader._pool.close()
            os._exit(0)
        os.waitpid(child, 0)
        print([batch.asnumpy().tolist() for batch in batches])
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["True", "[[0, 1], [2, 3], [4, 5]]", "[[2, 3], [4, 5]]"]
