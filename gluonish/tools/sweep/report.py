"""The report of a sweep: one table, as CSV, JSON and text, and a picture."""

import csv
import io
import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gluonish.core.files import atomic_write
from gluonish.tools.demo import new_figure, save_figure
from gluonish.tools.sweep.space import Range, Space
from gluonish.tools.sweep.trials import Trial
from gluonish.tools.table import table
from gluonish.tools.train.checkpoint import write_json

_MOST_PANELS = 11  # options in the picture
_COLUMNS = 4
_MOST_TEXT = 60  # characters of an error in the table


def in_order(trials: Sequence[Trial], mode: str) -> list[Trial]:
    """Return the trials, the best first and those without a result last."""
    sign = -1 if mode == "max" else 1

    def key(trial: Trial) -> tuple[float, int]:
        return (math.inf if trial.value is None else sign * trial.value, trial.number)

    return sorted(trials, key=key)


def write_tables(folder: Path, trials: Sequence[Trial], space: Space, metric: str) -> None:
    """Write ``trials.csv`` and ``trials.json``, atomically, by number of the trial."""
    ends = ("status", metric, "epoch", "last", "seconds", "error")
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["trial", *space, *ends])
    for trial in trials:
        result = (trial.status, trial.value, trial.epoch, trial.last)
        seconds = f"{trial.seconds:.3f}"
        setting = [trial.setting.get(name) for name in space]
        writer.writerow([trial.number, *setting, *result, seconds, trial.error])
    with atomic_write(folder / "trials.csv") as file:
        file.write(text.getvalue().encode())
    content: dict[str, Any] = {"metric": metric, "trials": [asdict(trial) for trial in trials]}
    write_json(folder / "trials.json", content)


def shown_table(
    trials: Sequence[Trial], space: Space, metric: str, mode: str, width: int | None
) -> str:
    """Return the table as text, with the best trial first."""
    rows = [["trial", *space, metric, "epoch", "seconds", "status"]]
    for trial in in_order(trials, mode):
        value = "-" if trial.value is None else f"{trial.value:.6g}"
        setting = [_short(trial.setting.get(name)) for name in space]
        epoch = "-" if trial.epoch is None else str(trial.epoch)
        error = trial.error if len(trial.error) <= _MOST_TEXT else f"{trial.error[:_MOST_TEXT]}..."
        status = f"{trial.status}: {error}" if error else trial.status
        rows.append([str(trial.number), *setting, value, epoch, f"{trial.seconds:.1f}", status])
    return table(rows, width)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def draw(path: Path, trials: Sequence[Trial], space: Space, metric: str, mode: str) -> None:
    """Draw the metric by trial, and by the value of each option, to a PNG file.

    Args:
        path: The file.
        trials: The trials; those without a result are marked at the bottom of the first panel.
        space: The settings that were tried.
        metric: Name of the metric.
        mode: Whether it should rise, ``"max"``, or fall.
    """
    names = list(space)[:_MOST_PANELS]
    columns = min(_COLUMNS, len(names) + 1)
    rows = -(-(len(names) + 1) // columns)
    figure = new_figure(3.6 * columns, 3.2 * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    done = [trial for trial in trials if trial.value is not None]
    best = in_order(done, mode)[0] if done else None
    _draw_progress(panels[0], trials, done, metric, mode)
    for axes, name in zip(panels[1:], names, strict=False):
        _draw_option(axes, name, space[name], done, best)
        axes.set(xlabel=name, ylabel=metric)
        axes.grid(alpha=0.3)
    for axes in panels[len(names) + 1 :]:
        axes.set_axis_off()
    save_figure(figure, path)


def _draw_progress(
    axes: Any, trials: Sequence[Trial], done: Sequence[Trial], metric: str, mode: str
) -> None:
    axes.scatter([t.number for t in done], [t.value for t in done], s=18, label="trial")
    better = max if mode == "max" else min
    values = [trial.value for trial in done if trial.value is not None]
    line = list(itertools.accumulate(values, better))
    if line:
        axes.step([t.number for t in done], line, where="post", color="C1", label="best so far")
    failed = [t.number for t in trials if t.status == "failed"]
    if failed:
        bottom = axes.get_xaxis_transform()  # heights are parts of the panel
        axes.scatter(failed, [0.03] * len(failed), marker="x", color="C3", transform=bottom)
        axes.scatter([], [], marker="x", color="C3", label="failed")
    axes.set(xlabel="trial", ylabel=metric, title="All trials")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(alpha=0.3)
    axes.legend(loc="best")


def _draw_option(axes: Any, name: str, values: Any, done: Sequence[Trial], best: Any) -> None:
    x: list[Any] = [trial.setting[name] for trial in done]
    numbers = all(isinstance(value, int | float) for value in x)
    if isinstance(values, Range) or (numbers and len(set(x)) > 1):
        positive = numbers and min(x, default=0) > 0
        spread = max(x, default=1) / min(x, default=1) if positive else 1
        log = values.log if isinstance(values, Range) else spread >= 50
        axes.set(xscale="log" if log else "linear")
        if isinstance(values, Range) and done:  # show all of it: labels overlap within a decade
            axes.scatter([values.low, values.high], [done[0].value] * 2, color="none")
    else:
        places = [str(value) for value in values]
        x = [places.index(str(value)) for value in x]
        axes.set_xticks(range(len(places)), places)
        axes.set_xlim(-0.5, len(places) - 0.5)
    axes.scatter(x, [trial.value for trial in done], s=18)
    if best is not None:
        at = x[[trial.number for trial in done].index(best.number)]
        axes.scatter([at], [best.value], s=90, facecolors="none", edgecolors="C1", linewidths=1.6)
        axes.set(title=f"best: {_short(best.setting[name])}")
