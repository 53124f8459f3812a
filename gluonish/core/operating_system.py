"""What differs between operating systems.

Linux has everything. macOS lacks memfd, pidfd, CPU affinity, ``/proc`` and ``/dev/shm``, and
``waitid`` before Python 3.13. Windows also lacks fork, Unix sockets and most signals.
`tests.platforms` runs programs with these removed.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

WINDOWS = sys.platform == "win32"
LINUX = sys.platform.startswith("linux")

# The strongest signal, which a process cannot ignore.
KILL: signal.Signals = getattr(signal, "SIGKILL", signal.SIGTERM)


def signals(*names: str) -> tuple[signal.Signals, ...]:
    """Return those of the named signals that this system has."""
    return tuple(one for one in map(signal.Signals.__members__.get, names) if one is not None)


def on_fork(
    before: Callable[[], object] | None = None,
    after_in_parent: Callable[[], object] | None = None,
    after_in_child: Callable[[], object] | None = None,
) -> None:
    """Register functions to call around each fork, if this system has forks."""
    handlers = {
        "before": before,
        "after_in_parent": after_in_parent,
        "after_in_child": after_in_child,
    }
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**{name: one for name, one in handlers.items() if one is not None})


def usable_cores() -> int:
    """Return the number of CPU cores that this process may use."""
    return len(core_numbers())


def core_numbers() -> list[int]:
    """Return the numbers of the CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def use_cores(numbers: Iterable[int]) -> None:
    """Restrict this process to some cores, if the system supports it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, numbers)


class _WindowsMemory(ctypes.Structure):
    """``MEMORYSTATUSEX`` of Windows: sizes in bytes."""

    _fields_ = [
        ("length", ctypes.c_uint32),
        ("load_percent", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in ("total", "free", "total_page", "free_page")),
        *((name, ctypes.c_uint64) for name in ("total_virtual", "free_virtual", "extended")),
    ]


def machine_nbytes() -> int:
    """Return the size of the machine's memory, in bytes."""
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    status = _WindowsMemory(length=ctypes.sizeof(_WindowsMemory))
    library: Any = ctypes.CDLL("kernel32")
    library.GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status.total)


def has_ended(process: Any) -> bool:
    """Whether a `subprocess.Popen` has ended; leaves its exit status to `Popen.wait`."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    # `Popen.poll` acquires a lock that an interrupt may leave locked.
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    try:
        return os.waitid(os.P_PID, process.pid, options) is not None
    except ChildProcessError:  # already reaped
        return True


def block_interrupts() -> None:
    """Block Ctrl-C in the calling thread and in the processes that it starts, on POSIX."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])


def yield_core() -> None:
    """Let another thread or process run."""
    if hasattr(os, "sched_yield"):
        os.sched_yield()
    else:
        time.sleep(0)
