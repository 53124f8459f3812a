"""Trials of a sweep: each is a ``gluonish train`` in a process of its own."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from gluonish.core.command import INTERRUPTED
from gluonish.core.operating_system import LINUX
from gluonish.tools.guard import end_with_parent
from gluonish.tools.sweep.space import Setting, flags
from gluonish.tools.train.checkpoint import write_json
from gluonish.tools.train.regimen import Best

_PATIENCE_S = 5.0  # between SIGTERM and SIGKILL
_RESULT = "result.json"


@dataclass
class Trial:
    """A trial and its result.

    Attributes:
        number: Its number, from 0.
        setting: Values of options.
        status: ``"done"``, ``"failed"``, or ``"open"`` before its end.
        value: The metric of the best epoch; None without.
        epoch: The best epoch, from 1.
        last: The metric of the last epoch.
        seconds: Duration, of the last start if there were several.
        error: What the failed trial wrote last.
    """

    number: int
    setting: Setting
    status: str = "open"
    value: float | None = None
    epoch: int | None = None
    last: float | None = None
    seconds: float = 0.0
    error: str = ""
    command: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"trial-{self.number:04d}"


def finished(folder: Path, trial: Trial) -> Trial | None:
    """Return a trial with the result that its folder has; None if there is none."""
    path = folder / trial.name / _RESULT
    try:
        stored = json.loads(path.read_text("utf-8"))
        found = Trial(**stored)
    except (OSError, ValueError, TypeError):
        return None
    return found if found.setting == trial.setting else None


def run_trial(
    folder: Path, trial: Trial, options: Sequence[str], metric: str, timeout_s: float | None
) -> Trial:
    """Train with a setting, and write the result to the trial's folder.

    A trial that was killed goes on from its last checkpoint.

    Args:
        folder: The folder of the sweep.
        trial: The trial; its result is set.
        options: Further options of ``gluonish train``.
        metric: Name of the metric, as of ``--best-metric``.
        timeout_s: Limit of the duration in seconds; None for none.

    Raises:
        KeyboardInterrupt: The trial, or this process, was interrupted.
    """
    place = folder / trial.name
    place.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "gluonish", "train", *options, *flags(trial.setting)]
    command += ["--model-prefix", str(place / "net"), "--resume", "--json", "--progress", "lines"]
    trial.command = command
    start = perf_counter()
    with (place / "log.txt").open("ab") as log, (place / "report.json").open("wb") as report:
        prepare = partial(end_with_parent, os.getpid()) if LINUX else None
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=report, stderr=log, preexec_fn=prepare
        )
        try:
            status: int | None = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            status = None
            _end(process)
        except BaseException:
            _end(process)
            raise
    trial.seconds = perf_counter() - start
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    if status:
        _fail(trial, _last_line(place / "log.txt") or f"exit status {status}")
    elif status is None:
        _fail(trial, f"not done after {timeout_s:g} seconds")
    else:
        _judge(trial, place / "report.json", metric)
    write_json(place / _RESULT, asdict(trial))
    return trial


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _fail(trial: Trial, error: str) -> None:
    trial.status, trial.error = "failed", error


def _judge(trial: Trial, report: Path, metric: str) -> None:
    """Set the result from the report of the training."""
    best = Best(metric)
    last = math.nan
    try:
        epochs: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))["epochs"]
        for entry in epochs:
            # JSON has null for NaN.
            values = {k: math.nan if v is None else v for k, v in entry[best.part].items()}
            entry = {**entry, best.part: values}
            best.add(entry)
            last = best.of(entry)
    except (OSError, ValueError, KeyError) as error:
        _fail(trial, f"no {metric} in the report: {error}")
        return
    if not best.epoch:
        _fail(trial, f"{metric} is NaN in all epochs")
        return
    trial.status, trial.value, trial.epoch = "done", best.value, best.epoch
    trial.last = None if math.isnan(last) else last


def _last_line(path: Path) -> str:
    lines = path.read_text("utf-8", "replace").splitlines()[-1:]
    return lines[0].removeprefix("gluonish: ") if lines else ""
