"""Processes that compile LLVM IR while this one does something else.

A helper process belongs to one thread. It is a fresh interpreter, never a fork, and ends with its
standard input: when it is closed, or with this process. If it cannot be started, or fails, the
thread compiles in this process.

No process is started while this one forks: the child would inherit the pipes, and keep them open.
"""

import atexit
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from gluonish.core.operating_system import on_fork
from gluonish.core.timeout_lock import TimeoutLock
from gluonish.kernels.compiler import object_code

_END_S = 5.0  # a killed process is gone long before

_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # on Windows

_open: set["HelperProcess"] = set()
_starting = TimeoutLock()


class HelperProcess:
    """A process that generates code, for one thread; started by the first request.

    Args:
        host: The processor that code is for.
    """

    __slots__ = ("_host", "_process")

    def __init__(self, host: object_code.Host) -> None:
        self._host: object_code.Host | None = host  # None: it cannot be started, or has failed
        self._process: Any = None

    def generate(self, text: str, entry: str) -> object_code.ObjectCode | None:
        """Do what `object_code.generate` does; None if there is no process.

        Raises:
            RuntimeError: LLVM rejects the text.
        """
        try:
            process = self._process or self._start()
            if process is None:
                return None
            return object_code.request(process.stdin, process.stdout, text, entry)
        except (OSError, EOFError, ValueError):  # ValueError: of a closed pipe
            self.close()
            return None

    def _start(self) -> Any:
        """Start the process and return it; None if that is not possible."""
        host, program = self._host, _interpreter()
        if host is None or program is None:
            return None
        import llvmlite

        # Without site-packages and their start-up files: the process is ready after 0.1 s.
        folder = Path(str(llvmlite.__file__)).parents[1]
        command = [program, "-I", "-S", object_code.__file__, str(folder), *host]
        with _starting:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=_NO_WINDOW,
            )
            _open.add(self)
        return self._process

    def close(self) -> None:
        """End the process; `generate` returns None from now on."""
        process, self._process, self._host = self._process, None, None
        _open.discard(self)
        if process is None:
            return
        with suppress(OSError, subprocess.TimeoutExpired):
            process.kill()
            process.wait(_END_S)
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                pipe.close()

    def forget(self) -> None:
        """Leave the process to the one that this one was forked from."""
        process, self._process, self._host = self._process, None, None
        if process is not None:
            process.returncode = 0  # it is no child of this process: nothing to wait for
            for pipe in (process.stdin, process.stdout):
                pipe.raw.close()  # without what the other process's thread has not sent yet


def _interpreter() -> str | None:
    """Return the path of Python; None in a program that contains Python."""
    program = sys.executable
    if not program or getattr(sys, "frozen", False):
        return None
    return program if Path(program).name.lower().startswith("python") else None


def _close_all() -> None:
    for helper in [*_open]:
        helper.close()


def _forget_all() -> None:
    for helper in [*_open]:
        helper.forget()
    _open.clear()


atexit.register(_close_all)
on_fork(_starting.__enter__, _starting.__exit__, _starting.__exit__)
on_fork(after_in_child=_forget_all)
