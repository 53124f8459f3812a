"""The service threads of loaders, which are stopped and joined when the program ends.

Invariants: a thread registers itself, so that only running threads are joined; its lock is free
once it has ended. Every join has a time limit.
"""

import _thread
import atexit
import threading
import time
from typing import Protocol

from gluonish.core.operating_system import on_fork

# Longer than killing the workers takes, in seconds.
_WAIT_TIMEOUT_S = 1.5


class Service(Protocol):
    """A task that runs in a dedicated thread until it is stopped."""

    def run(self) -> None:
        """Run until stopped."""

    def stop(self) -> None:
        """Make `run` return soon, without waiting for it."""

    def fail(self, error: Exception) -> None:
        """Notify waiting threads that `run` could not start."""


class ServiceThreads:
    """Starts service threads, and stops and joins them when the program ends."""

    def __init__(self) -> None:
        self._renew()

    def _renew(self) -> None:
        """Clear the record of threads; a forked process does not have them."""
        self._running: dict[threading.Lock, Service] = {}

    def start(self, service: Service, name: str) -> None:
        """Run a service in a thread, which is stopped and joined when the program ends."""
        thread = threading.Thread(target=self._run, args=(service,), name=name, daemon=True)
        # Not `Thread.start` in this thread: a Ctrl-C inside it may leave locks locked, and become
        # another error. `start_new_thread` is atomic.
        _thread.start_new_thread(_start, (thread, service))

    def _run(self, service: Service) -> None:
        done = threading.Lock()
        done.acquire()
        self._running[done] = service
        try:
            service.run()
        finally:
            self._running.pop(done, None)
            done.release()

    def wait(self, service: Service, timeout_s: float = _WAIT_TIMEOUT_S) -> None:
        """Wait until the threads of a stopped service have ended, up to a time limit."""
        self._wait([done for done, one in list(self._running.items()) if one is service], timeout_s)

    def finish(self) -> None:
        """Stop all services and wait for them, up to a time limit."""
        running = list(self._running.items())
        for _, service in running:
            service.stop()
        self._wait([done for done, _ in running], _WAIT_TIMEOUT_S)

    def _wait(self, locks: list[threading.Lock], timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        for done in locks:
            if done.acquire(timeout=max(0.0, deadline - time.monotonic())):
                done.release()


def _start(thread: threading.Thread, service: Service) -> None:
    try:
        thread.start()
    except RuntimeError as error:  # the system allows no more threads
        service.fail(error)


service_threads = ServiceThreads()
atexit.register(service_threads.finish)
on_fork(after_in_child=service_threads._renew)
