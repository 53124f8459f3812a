"""in_helper_thread: run long work of the main thread that holds locks of other libraries.

Python runs signal handlers in the main thread only, between any two instructions. If a handler
interrupts a library that holds a lock (LLVM's compiler, an import) and waits for a thread that
needs this lock, the program deadlocks; and Ctrl-C would leave the library in an inconsistent state.
So the main thread runs such work in a helper thread, and waits for it.
"""

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, TypeVar

Result = TypeVar("Result")


def in_helper_thread(work: Callable[[], Result]) -> Result:
    """Call ``work``, in another thread if this is the main one, and return its result.

    Args:
        work: Runs with the context variables of this thread. It continues after an interrupt of the
            wait, so it should store its result itself.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised in the calling thread
            errors.append(error)

    thread = threading.Thread(
        target=copy_context().run, args=(run,), name="gluonish helper", daemon=True
    )
    try:
        thread.start()
    except RuntimeError:  # no thread can start at interpreter exit
        return work()
    thread.join()
    if errors:
        raise errors.pop()
    return results.pop()  # type: ignore[no-any-return]
