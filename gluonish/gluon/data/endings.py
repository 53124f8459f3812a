"""The threads that serve loaders, and what a program's end waits for: them, for a second or so.

Invariants: a thread enters itself, so that one whose start was interrupted is waited for only when
it runs; it has a lock that is free once it is over. Nobody waits for a thread without a limit.
"""

import _thread
import atexit
import os
import threading
import time
from typing import Protocol

# More than workers take that must be killed, in seconds.
_WAIT_TIMEOUT_S = 1.5


class Service(Protocol):
    """Something that runs in a thread of its own until it is stopped."""

    def run(self) -> None:
        """Run until stopped."""

    def stop(self) -> None:
        """Make `run` return soon, without waiting for it."""

    def fail(self, error: Exception) -> None:
        """Notify those who wait that `run` could not start.

        Args:
            error: The cause.
        """


class Endings:
    """The running service threads, and how to stop them at the end of the program."""

    def __init__(self) -> None:
        self._renew()

    def _renew(self) -> None:
        """Start with none, as in a fork, which has no part in them."""
        self._running: dict[threading.Lock, Service] = {}

    def start(self, service: Service, name: str) -> None:
        """Run a service in a thread, which is stopped and joined when the program ends.

        Args:
            service: The service.
            name: Name of the thread.
        """
        thread = threading.Thread(target=self._run, args=(service,), name=name, daemon=True)
        # Not in the calling thread: a Ctrl-C inside `Thread.start` may leave locks locked, and turn
        # into another error. This is a single step of the interpreter.
        _thread.start_new_thread(_start, (thread, service))

    def _run(self, service: Service) -> None:
        over = threading.Lock()
        over.acquire()
        self._running[over] = service
        try:
            service.run()
        finally:
            self._running.pop(over, None)
            over.release()

    def wait(self, service: Service, timeout_s: float = _WAIT_TIMEOUT_S) -> None:
        """Wait until the threads of a stopped service have ended, up to a time limit.

        Args:
            service: The service.
            timeout_s: The limit, in seconds.
        """
        self._wait([over for over, one in list(self._running.items()) if one is service], timeout_s)

    def finish(self) -> None:
        """Stop all services and wait for them, up to a time limit."""
        running = list(self._running.items())
        for _, service in running:
            service.stop()
        self._wait([over for over, _ in running], _WAIT_TIMEOUT_S)

    def _wait(self, locks: list[threading.Lock], timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        for over in locks:
            if over.acquire(timeout=max(0.0, deadline - time.monotonic())):
                over.release()


def _start(thread: threading.Thread, service: Service) -> None:
    try:
        thread.start()
    except RuntimeError as error:  # the system has no more threads
        service.fail(error)


endings = Endings()
atexit.register(endings.finish)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=endings._renew)
