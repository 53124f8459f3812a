import threading
import time

import pytest

from gluonish.gluon.data import DataLoader
from gluonish.gluon.data.channel import WorkerError
from gluonish.gluon.data.service_threads import ServiceThreads
from tests.gluon.data.programs import run, wait_until_gone

TIMEOUT_S = 20


class Waiting:
    """Runs until it is told to stop, or on and on."""

    def __init__(self, stubborn: bool = False) -> None:
        self.threads: list[threading.Thread] = []
        self.begun = threading.Event()
        self.end = threading.Event()
        self._stubborn = stubborn

    def run(self) -> None:
        self.threads.append(threading.current_thread())
        self.begun.set()
        self.end.wait(60)

    def stop(self) -> None:
        if not self._stubborn:
            self.end.set()


def test_services_run_in_threads_of_their_own_and_stop_at_the_end() -> None:
    service_threads = ServiceThreads()
    services = [Waiting() for _ in range(3)]
    for service in services:
        service_threads.start(service, "mine")
        assert service.begun.wait(TIMEOUT_S)
    service_threads.finish()
    threads = [thread for service in services for thread in service.threads]
    assert len(set(threads)) == 3
    assert threading.current_thread() not in threads
    assert {thread.name for thread in threads} == {"mine"}
    assert not service_threads._running


def test_end_of_a_program_waits_for_no_service_for_long() -> None:
    service_threads = ServiceThreads()
    services = [Waiting(stubborn=True) for _ in range(20)]
    for service in services:
        service_threads.start(service, "mine")
        assert service.begun.wait(TIMEOUT_S)
    begun = time.monotonic()
    service_threads.finish()
    took_s = time.monotonic() - begun
    for service in services:
        service.end.set()
    assert took_s < 10  # not 1.5 s for each


@pytest.mark.parametrize("kind", ["num_workers=1", "num_workers=1, thread_pool=True"])
def test_ctrl_c_while_a_dropped_loader_ends_is_not_lost(kind: str) -> None:
    done = run(
        f"""
        import os, signal, threading, time
        from gluonish.gluon.data import DataLoader, SimpleDataset

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


def test_fork_has_no_part_in_the_threads() -> None:
    done = run(
        """
        import os, warnings
        warnings.simplefilter("ignore")
        from gluonish.gluon.data import DataLoader
        from gluonish.gluon.data.service_threads import service_threads
        loader = DataLoader([1], 1, num_workers=1, thread_pool=True)
        list(loader)
        child = os.fork()
        assert bool(service_threads._running) == bool(child)
        service_threads.finish()
        os.write(1, b"done\\n")
        if child:
            os.waitpid(child, 0)
        """
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "done\ndone\n")


@pytest.mark.parametrize("thread_pool", [False, True], ids=["processes", "threads"])
def test_no_more_threads_is_told_at_once(
    thread_pool: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    loader = DataLoader([1, 2], 1, num_workers=1, thread_pool=thread_pool, timeout=50)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        begun = time.monotonic()
        with pytest.raises(WorkerError, match="can't start new thread"):
            list(loader)
        assert time.monotonic() - begun < 20
    assert [int(batch.asscalar()) for batch in loader] == [1, 2]
