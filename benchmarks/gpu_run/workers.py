"""The parent's side: a pool of worker processes, and the loop that takes a stage's rows in turn.

While one row measures, the next ones are prepared in processes of their own, ``beside`` of them. A
process whose row failed, hung or died is replaced: an error of CUDA stays with its process. Nothing
here imports CuPy, PyTorch or gluonish, so that nothing here can hang on them.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.gpu_run.record import Outcome
from benchmarks.gpu_run.rows import Row, State

ROOT = Path(__file__).resolve().parents[2]
START_S = 40.0  # that a new process may take to import what it needs
_LEAST_S = 2.0  # a row is not begun with less left
_DUMP_S = 0.5  # a process that hangs gets this long to say where


def environment_of(more: Mapping[str, str], root: Path = ROOT) -> dict[str, str]:
    """Return a process's environment: the checkout's code first, one kernel cache for all."""
    path = [str(root), str(root / "engine")]
    path += [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    caches = Path(tempfile.gettempdir()) / f"gluonish-gpu-run-{os.getuid()}"
    shared = {
        "CUPY_CACHE_DIR": str(caches / "cupy"),
        "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
        "TRITON_CACHE_DIR": str(caches / "triton"),
        "MXNET_HOME": str(caches / "home"),
    }
    for name, folder in shared.items():
        Path(os.environ.get(name, folder)).mkdir(parents=True, exist_ok=True)
    return {**shared, **os.environ, "PYTHONPATH": os.pathsep.join(path), **more}


class Worker:
    """A process, and what it said.

    Args:
        settings: Its argument.
        environment: Variables beside the usual ones.
        root: The checkout that it runs.
    """

    def __init__(
        self, settings: Mapping[str, Any], environment: Mapping[str, str], root: Path = ROOT
    ) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.gpu_run.worker", json.dumps(settings)],
            cwd=root,
            env=environment_of(environment, root),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            start_new_session=True,
        )
        self._said: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.put(json.loads(line))
        self._said.put(None)

    def send(self, command: str, number: int) -> None:
        """Give a command; a process that is gone shows when it is asked."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._process.stdin.write(json.dumps({command: number}) + "\n")
            self._process.stdin.flush()

    def receive(self, timeout_s: float) -> dict[str, Any] | None:
        """Return the next message, None when the process is gone.

        Raises:
            queue.Empty: nothing came in time.
        """
        return self._said.get(timeout=max(timeout_s, 0.001))

    def last_words(self, *, hangs: bool = False) -> str:
        """Return the last line of where the process is, or was."""
        if hangs:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGUSR1)
            time.sleep(_DUMP_S)
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        frames = [line.strip() for line in lines if line.lstrip().startswith('File "')]
        # faulthandler names the innermost call first, a traceback names it last.
        starts = [i for i, line in enumerate(lines) if "most recent call first" in line]
        if starts and starts[-1] + 1 < len(lines):
            return lines[starts[-1] + 1].strip()
        return frames[-1] if frames else (lines[-1] if lines else "")

    def kill(self) -> None:
        """End the process and all that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._errors.close()


class _Turn:
    """A row in a worker."""

    def __init__(self, number: int, row: Row, worker: Worker, *, new: bool) -> None:
        self.row = row
        self.worker = worker
        self._new = new
        self._number = number
        self._began = time.monotonic()
        self._values: list[dict[str, Any]] = []
        worker.send("prepare", number)

    def finish(self, deadline: float) -> Outcome:
        """Wait until it is prepared, measure, and return what came of it."""
        limit = self._began + self.row.limit_s + (START_S if self._new else 0)
        end = self._follow("prepared", limit, deadline)
        if end is None:
            self.worker.send("measure", self._number)
            end = self._follow("", time.monotonic() + self.row.limit_s, deadline)
        assert end is not None, "only an end ends the second part"
        seconds = time.monotonic() - self._began
        return Outcome(self.row.name, values=self._values, seconds=round(seconds, 2), **end)

    def _follow(self, until: str, limit: float, deadline: float) -> dict[str, str] | None:
        """Collect values up to a message, None, or to the end, which is returned."""
        while True:
            try:
                message = self.worker.receive(min(limit, deadline) - time.monotonic())
            except queue.Empty:
                return self._out_of_time(limit, deadline)
            if message is None:
                where = self.worker.last_words()
                return {"state": State.FAILED, "error": "its process died", "where": where}
            kind = message.pop("kind")
            if kind == "value":
                self._values.append(message)
            elif kind == "end":
                return message
            elif kind == until:
                return None

    def _out_of_time(self, limit: float, deadline: float) -> dict[str, str]:
        where = self.worker.last_words(hangs=True)
        if deadline < limit:
            return {"state": State.NOT_RUN, "error": "deadline: stopped on the way", "where": where}
        error = f"no answer within {self.row.limit_s:g} s"
        return {"state": State.FAILED, "error": error, "where": where}


class StageRun:
    """Takes the rows of a stage in turn, until they end or the deadline comes.

    Args:
        rows: In order.
        settings: What each worker is started with.
        deadline_s: Seconds from now.
        beside: How many rows are prepared while another one measures.
        keep: Called with each outcome, at once.
    """

    def __init__(
        self,
        rows: list[Row],
        settings: Mapping[str, Any],
        deadline_s: float,
        beside: int,
        keep: Callable[[Outcome], None],
    ) -> None:
        self._rows = rows
        self._settings = settings
        self._deadline = time.monotonic() + deadline_s
        self._beside = beside
        self._keep = keep
        self._turns: dict[int, _Turn] = {}
        self._idle: list[Worker] = []

    def run(self) -> None:
        """Run the rows; no row's failure stops it."""
        try:
            for number, row in enumerate(self._rows):
                if self._deadline - time.monotonic() < _LEAST_S:
                    self._keep(Outcome(row.name, State.NOT_RUN, "deadline"))
                    continue
                self._begin_up_to(number)
                turn = self._turns.pop(number)
                outcome = turn.finish(self._deadline)
                self._keep(outcome)
                self._put_back(turn, outcome)
        finally:
            for worker in [*self._idle, *(turn.worker for turn in self._turns.values())]:
                worker.kill()

    def _begin_up_to(self, number: int) -> None:
        """Begin a row and those that are prepared beside it."""
        for ahead in range(number, min(number + self._beside + 1, len(self._rows))):
            if ahead > number and (self._rows[ahead].alone or self._rows[number].alone):
                return
            if ahead not in self._turns:
                row = self._rows[ahead]
                new = row.fresh or bool(row.environment) or not self._idle
                worker = Worker(self._settings, row.environment) if new else self._idle.pop()
                self._turns[ahead] = _Turn(ahead, row, worker, new=new)

    def _put_back(self, turn: _Turn, outcome: Outcome) -> None:
        reusable = outcome.state in (State.OK, State.REFUSED)
        if reusable and not turn.row.fresh and not turn.row.environment:
            self._idle.append(turn.worker)
        else:
            turn.worker.kill()
