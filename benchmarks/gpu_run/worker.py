"""A process that runs rows: prepares one, waits, measures it, and tells what it finds.

    python -m benchmarks.gpu_run.worker '{"stage": 2, "only": "", "rehearse": true, "ends_at": 2e9,
        "failures": "out/stage2-failures.txt", "compiles": true}'

Commands come as JSON, one a line, on standard input: ``{"prepare": 3}`` and ``{"measure": 3}``
name a row by its number, and ``{"turn": 3}`` asks for one turn of ours, of a row that compares.
Answers go to what was standard output (what a library prints goes to standard error):
``{"kind": "value", ...}`` for each value, ``{"kind": "prepared"}``, ``{"kind": "turned"}``, and
``{"kind": "end", "state": ..., "error": ..., "where": ...}``.
"""

import faulthandler
import gc
import inspect
import json
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from benchmarks.gpu_run.place import make_place
from benchmarks.gpu_run.rows import Refused, Row, State
from benchmarks.gpu_run.stages import rows_of

_ERROR_LENGTH = 400


def _end_of(error: BaseException) -> dict[str, Any]:
    """Describe what a row raised."""
    text = str(error) or type(error).__name__
    if isinstance(error, Refused):
        return {"state": State.REFUSED, "error": text[:_ERROR_LENGTH]}
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    where = f"{os.path.relpath(last.filename)}:{last.lineno} in {last.name}" if last else ""
    cause = f" <- {error.__cause__!r}" if error.__cause__ is not None else ""
    return {
        "state": State.FAILED,
        "error": f"{type(error).__name__}: {text}{cause}"[:_ERROR_LENGTH],
        "where": where,
    }


class _Runner:
    """Runs one row at a time.

    Args:
        settings: The process's argument.
        replies: Where answers go.
    """

    def __init__(self, settings: dict[str, Any], replies: TextIO) -> None:
        self._replies = replies
        self._rows: list[Row] = rows_of(settings["stage"], settings["only"])
        self._place = make_place(
            rehearse=settings["rehearse"],
            ends_at=settings["ends_at"],
            failures=Path(settings["failures"]),
            compiles=settings["compiles"],
            turns=settings.get("turns", False),
        )
        self._body: Iterator[None] | None = None
        self._tell(kind="started")

    def _tell(self, **message: Any) -> None:
        print(json.dumps(message, default=str), file=self._replies, flush=True)

    def _note(self, what: str, value: Any, unit: str = "", **more: Any) -> None:
        self._tell(kind="value", what=what, value=value, unit=unit, **more)

    def prepare(self, number: int) -> None:
        """Run the first part of a row."""
        row = self._rows[number]
        self._place.row = row.name
        try:
            if inspect.isgeneratorfunction(row.body):
                self._body = row.body(self._place, self._note)
                next(self._body)
        except (Exception, StopIteration) as error:
            self._finish(error)
            return
        self._tell(kind="prepared")

    def measure(self, number: int) -> None:
        """Run the second part."""
        row = self._rows[number]
        try:
            if self._body is None:
                row.body(self._place, self._note)
            else:
                next(self._body, None)
            self._place.settle()
        except Exception as error:
            self._finish(error)
            return
        self._finish(None)

    def turn(self, number: int) -> None:
        """Take one turn of a row that was prepared."""
        try:
            if self._body is None or next(self._body, number) is number:
                raise Refused(f"{self._rows[number].name}: no row that takes turns")
        except Exception as error:
            self._finish(error)
            return
        self._tell(kind="turned")

    def _finish(self, error: BaseException | None) -> None:
        if error is not None and not isinstance(error, Refused):
            traceback.print_exception(error)
            sys.stderr.flush()
            self._place.keep_failure("".join(traceback.format_exception(error)))
        end = _end_of(error) if error is not None else {"state": State.OK, "error": ""}
        self._body = error = None
        if end["state"] != State.FAILED:
            gc.collect()
            self._place.clear()
        self._tell(kind="end", **end)


def main() -> None:
    """Answer commands until standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    faulthandler.register(signal.SIGUSR1, all_threads=False)
    runner = _Runner(json.loads(sys.argv[1]), replies)
    for line in sys.stdin:
        [(command, number)] = json.loads(line).items()
        getattr(runner, command)(number)
    replies.flush()
    # Destructors of a broken CUDA context may hang; everything was told.
    os._exit(0)


if __name__ == "__main__":
    main()
