"""The places where CPython may do something else in the middle of our code, one by one.

CPython changes threads, runs signal handlers and raises asynchronous exceptions at the beginning of
a function, behind a call, and at a jump backward. `act_at` runs a program, and at one such place
does something in between, and `interrupted_at` raises an interrupt at one of those that the
profiler's hook sees. So a test can go through all of them.
"""

import contextlib
import dis
import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import gluonish
import gluonish_engine

ENGINE = ("gluonish_engine",)

_CHECKS = ("RESUME", "CALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD", "FOR_ITER_LOOP", "INSTRUMENTED")
_NAMES: dict[Any, dict[int, str]] = {}


def _operations(code: Any) -> dict[int, str]:
    """Return the name of the operation at each offset of a function's code."""
    if code not in _NAMES:
        _NAMES[code] = {one.offset: one.opname for one in dis.get_instructions(code)}
    return _NAMES[code]


def _is_in_destructor(frame: FrameType | None) -> bool:
    """Whether Python would print what is raised here, because nobody has called."""
    while frame is not None and "gluonish_engine" in frame.f_code.co_filename:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def _nothing() -> None:
    pass


# Not the tests and other packages, whose folders may be called alike.
_PACKAGES = tuple(f"{Path(one.__file__).parent}{os.sep}" for one in (gluonish, gluonish_engine))


def _is_in(frame: FrameType, files: Collection[str]) -> bool:
    path = frame.f_code.co_filename
    return path.startswith(_PACKAGES) and any(name in path for name in files)


@contextlib.contextmanager
def _no_other_switches() -> Iterator[None]:
    """Scope in which Python changes threads only where one blocks.

    A hook is Python code, so in it Python may change threads at places where our code never does.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e3)
    time.sleep(5e-4)  # those that asked before are let through
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def interrupted_at(
    place: int,
    program: Callable[[], Any],
    files: Collection[str] = ENGINE,
    destructors: bool = True,
) -> bool:
    """Run a program with an interrupt at one place of our code.

    Args:
        place: Its number in the order of running.
        program: What runs.
        files: What the names of the files whose places count contain, one of these.
        destructors: Whether the places of destructors count, whose callers no exception reaches.

    Returns:
        Whether it got there.
    """
    left = [place]

    def hook(frame: FrameType, event: str, _: Any) -> None:
        if event == "c_call" or not _is_in(frame, files):
            return
        if not destructors and frame.f_code.co_name == "__del__":
            return
        left[0] -= 1
        if left[0] == -1:
            sys.setprofile(None)
            raise KeyboardInterrupt

    with _no_other_switches():
        sys.setprofile(hook)
        try:
            program()
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)
    return left[0] < 0


class act_at:
    """Scope in which something is done at one place of our code.

    Args:
        place: Its number in the order of running.
        act: What to do there.
        threads: Whether the places of new threads count, too; otherwise those of this one.
        files: What the names of the files whose places count contain, one of these.

    Attributes:
        left: How many places the program was short of it; below 0: it was reached.
    """

    def __init__(
        self,
        place: int,
        act: Callable[[], object],
        threads: bool = False,
        files: Collection[str] = ENGINE,
    ) -> None:
        self.left = place
        self._act = act
        self._threads = threads
        self._files = files
        self._last: dict[FrameType, str] = {}
        self._switches = _no_other_switches()

    def __enter__(self) -> "act_at":
        self._switches.__enter__()
        self._before = sys.gettrace()
        if self._threads:
            threading.settrace(self._trace)
        else:
            # Python 3.12 tells of operations only where a frame wanted them before the hook is set,
            # 3.13 only of frames that have a hook when they want them.
            sys._getframe().f_trace_opcodes = True
            sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        if self.left >= 0:
            self._act = _nothing  # threads that run on keep the hook
        sys.settrace(self._before)
        if self._threads:
            threading.settrace(self._before)  # type: ignore[arg-type]  # None takes it off
        self._switches.__exit__(None, None, None)

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        if not _is_in(frame, self._files):
            return None
        if event == "call":
            frame.f_trace = self._trace
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
            return self._trace
        if event == "return":
            self._last.pop(frame, None)
        elif event == "opcode":
            last = self._last.get(frame)
            self._last[frame] = _operations(frame.f_code).get(frame.f_lasti, "")
            if last is not None and last.startswith(_CHECKS) and not _is_in_destructor(frame):
                self._arrive()
        return self._trace

    def _arrive(self) -> None:
        self.left -= 1
        if self.left == -1:
            self._last.clear()  # it keeps frames alive
            self._act()
