import threading

import pytest

from gluonish.data.endings import Endings
from tests.data.programs import run, wait_until_gone

TIMEOUT_S = 20


def test_what_is_added_is_done_in_another_thread() -> None:
    endings = Endings()
    endings.prepare()
    done: list[threading.Thread] = []
    for _ in range(3):
        endings.add(lambda: done.append(threading.current_thread()))
    endings.finish()
    assert len(done) == 3
    assert len(set(done)) == 1
    assert done[0] is not threading.current_thread()


@pytest.mark.parametrize("finished", [False, True])
def test_without_a_thread_it_is_done_at_once(finished: bool) -> None:
    endings = Endings()
    if finished:
        endings.prepare()
        endings.finish()
    done: list[threading.Thread] = []
    endings.add(lambda: done.append(threading.current_thread()))
    assert done == [threading.current_thread()]


@pytest.mark.parametrize("kind", ["num_workers=1", "num_workers=1, thread_pool=True"])
def test_ctrl_c_while_a_dropped_loader_ends_is_not_lost(kind: str) -> None:
    done = run(
        f"""
        import os, signal, threading, time
        from gluonish.data import DataLoader, SimpleDataset

        def slowly(x):
            if x:
                os.kill(os.getpid(), signal.SIGSTOP) if os.getpid() != main else time.sleep(1)
            return x

        main = os.getpid()
        loader = DataLoader(SimpleDataset([0, 1]).transform(slowly), 1, {kind})
        batches = iter(loader)
        next(batches)
        time.sleep(0.3)  # the worker is at the second sample, and will take a while to end
        workers = getattr(loader._pool, "_workers", [])
        pids = [worker.process.pid for worker in workers]
        del workers
        threading.Timer(0.2, os.kill, (main, signal.SIGINT)).start()
        try:
            del batches, loader
            time.sleep(10)
            print("lost")
        except KeyboardInterrupt:
            print("told", *pids)
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
    said, *pids = done.stdout.split()
    assert said == "told"
    wait_until_gone([int(pid) for pid in pids], TIMEOUT_S)


def test_fork_starts_without_a_thread() -> None:
    done = run(
        """
        import os, warnings
        warnings.simplefilter("ignore")
        from gluonish.data.endings import endings
        endings.prepare()
        child = os.fork()
        assert (endings._thread is None) == (not child)
        endings.add(lambda: os.write(1, b"done\\n"))
        if child:
            os.waitpid(child, 0)
        """
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "done\ndone\n")
