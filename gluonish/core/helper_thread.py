"""in_helper_thread: long work for the main thread, with locks of other libraries held.

Python runs signal handlers in the main thread only, in the middle of whatever it does. Where that
is a library's code with the library's lock held (LLVM's compiler, an import), a handler that waits
for a thread which needs the lock waits for ever, and Ctrl-C leaves the library as it was in the
middle. So the main thread has such work done by a helper thread, and waits for that.
"""

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, TypeVar

Result = TypeVar("Result")


def in_helper_thread(work: Callable[[], Result]) -> Result:
    """Return what ``work`` returns, or raise what it raises.

    Args:
        work: Called in another thread if this is the main one, with its context variables. After an
            interrupt of the wait it goes on, so what it makes should not be lost with its result.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    found: list[Any] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # raised where it was called for
            failed.append(error)

    thread = threading.Thread(
        target=copy_context().run, args=(run,), name="gluonish helper", daemon=True
    )
    try:
        thread.start()
    except RuntimeError:  # no thread starts while the interpreter ends
        return work()
    thread.join()
    if failed:
        raise failed.pop()
    return found.pop()  # type: ignore[no-any-return]  # one or the other
