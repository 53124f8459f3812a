"""Ends child processes together with their parent, and records signals.

`Guard` works even if the parent is killed by SIGKILL. `Signals` records terminating signals, which
the launcher forwards to the ranks.
"""

import ctypes
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from gluonish.core.operating_system import KILL, LINUX, signals

_PR_SET_PDEATHSIG = 1
_PATIENCE_S = 5.0  # seconds between SIGTERM and SIGKILL
_POLL_S = 0.05


def end_with_parent(parent: int) -> None:
    """Make Linux send this process SIGTERM when its parent ends; for ``preexec_fn``.

    Args:
        parent: Process id of the parent.
    """
    if LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent:  # the parent has already ended
        os._exit(1)


def signal_group(group: int, number: int) -> bool:
    """Send a signal to all processes of a group; return whether there were any."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # on some systems, if there are only zombies
        return False
    return True


def _is_running(group: int) -> bool:
    """Whether a group has running processes; zombies don't count."""
    if not os.path.isdir("/proc/self"):
        return signal_group(group, 0)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, of, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # the process has just ended
            continue
        if int(of) == group and state not in "ZX":
            return True
    return False


def end_groups(groups: Sequence[int], patience_s: float = _PATIENCE_S) -> None:
    """Terminate all processes of groups: with SIGTERM, and after some seconds with SIGKILL.

    Args:
        groups: Ids of the groups.
        patience_s: Seconds between both signals.
    """
    left = [group for group in groups if signal_group(group, signal.SIGTERM)]
    end = time.monotonic() + patience_s
    while left and time.monotonic() < end:
        time.sleep(_POLL_S)
        left = [group for group in left if _is_running(group)]
    for group in left:
        signal_group(group, KILL)


class Guard:
    """A small process that terminates groups of processes if this process ends without `dismiss`.

    The kernel's signal at the end of a parent reaches only direct children. Their own children,
    such as workers of a DataLoader or a program that a shell script starts, are in the same group.

    Args:
        groups: Ids of the groups.
    """

    def __init__(self, groups: Sequence[int]) -> None:
        reader, self._writer = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            self._watch(reader, groups)
        os.close(reader)

    def _watch(self, reader: int, groups: Sequence[int]) -> None:
        """In the new process, wait until the parent ends or dismisses the guard, then exit."""
        try:
            os.setsid()
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                signal.signal(number, signal.SIG_IGN)
            # Close the pipe's writer, and outputs whose readers wait for the end.
            os.dup2(reader, 0)
            os.closerange(1, 1 << 16)
            if os.read(0, 1) == b"":
                end_groups(groups)
        finally:
            os._exit(0)

    def dismiss(self) -> None:
        """Stop the guard without terminating the groups."""
        with suppress(OSError):
            os.write(self._writer, b"x")
        os.close(self._writer)
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)


_OF_TERMINALS = signals("SIGINT", "SIGQUIT")
_TERMINATING = (*_OF_TERMINALS, *signals("SIGTERM", "SIGHUP"))


def restore_terminal_signals() -> None:
    """Reset the signals of Ctrl-C and Ctrl-\\ to their defaults in a new process."""
    for number in _OF_TERMINALS:
        signal.signal(number, signal.SIG_DFL)


class Signals:
    """Context manager that records terminating signals instead of ending the process.

    Ignored signals, such as SIGHUP under `nohup`, stay ignored, except the signals of terminals:
    shells make background processes ignore these, but ``kill -INT`` must still work.

    Attributes:
        first: Number of the first signal; 0 if there was none.
        count: Number of signals.
    """

    def __init__(self) -> None:
        self.first = self.count = 0
        self._before: dict[int, Any] = {}

    def _note(self, number: int, _: Any) -> None:
        self.first = self.first or number
        self.count += 1

    def __enter__(self) -> "Signals":
        for number in _TERMINATING:
            ignored = signal.getsignal(number) is signal.SIG_IGN
            if not ignored or number in _OF_TERMINALS:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *exc_info: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
