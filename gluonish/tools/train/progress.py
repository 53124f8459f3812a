"""Progress of training: log lines, and a plot of the learning curves."""

from pathlib import Path
from time import perf_counter
from typing import Any

from gluonish.core.progress import progress_bar, shows_progress
from gluonish.tools.demo import new_figure, save_figure

Values = dict[str, float]


def shown(values: Values, prefix: str = "") -> str:
    """Format names and values for log lines: ``accuracy=0.912345``."""
    return "\t".join(f"{prefix}{name}={value:.6f}" for name, value in values.items())


class Progress:
    """Reports the progress of one epoch.

    On a terminal a bar shows speed and metrics of the last ``every`` batches, and is removed at the
    end of the epoch; elsewhere lines are printed.

    Args:
        epoch: Number of the epoch, from 0.
        epochs: Number of epochs.
        batches: Number of batches in the epoch.
        every: Number of batches between reports; 0 for none.
        form: ``"bar"``, ``"lines"``, ``"none"``, or ``"auto"`` as above.
    """

    def __init__(
        self, epoch: int, epochs: int, batches: int, every: int, form: str = "auto"
    ) -> None:
        self._epoch = epoch
        self._every = every
        self._batch = 0
        self._samples = 0
        self._since = perf_counter()
        self._bar: Any = None
        if form == "none":
            self._every = 0
        elif form == "bar" or (form == "auto" and shows_progress()):
            label = f"epoch {epoch + 1}/{epochs}"
            options = {"disable": False, "leave": False, "unit": "batch"}
            self._bar = progress_bar(total=batches, desc=label, **options)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()

    def batch(self, samples: int) -> bool:
        """Count a batch; return whether a `report` is due."""
        self._batch += 1
        self._samples += samples
        if self._bar is not None:
            self._bar.update()
        return bool(self._every) and self._batch % self._every == 0

    def report(self, values: Values) -> None:
        """Report speed and metrics since the last report."""
        now = perf_counter()
        speed = self._samples / max(now - self._since, 1e-9)
        if self._bar is not None:
            figures = [f"{name} {value:.4f}" for name, value in values.items()]
            self._bar.set_postfix_str(", ".join([f"{speed:.0f} samples/s", *figures]))
        else:
            start = self._batch - self._every
            print(
                f"Epoch[{self._epoch}] Batch [{start}-{self._batch}]\t"
                f"Speed: {speed:.2f} samples/sec\t{shown(values)}".rstrip(),
                flush=True,
            )
        self._samples = 0
        self._since = now


_PARTS = (("training", "o"), ("validation", "s"))


def plot_history(history: list[dict[str, Any]], path: Path) -> Path:
    """Plot the learning curves to a PNG file, atomically, and return its path.

    Args:
        history: Results of one or more epochs; see `Record.history`.
        path: The file to write.
    """
    figure = new_figure(12, 3.6)
    loss, accuracy, rate = figure.subplots(1, 3)
    epochs = [entry["epoch"] for entry in history]
    for part, marker in _PARTS:
        for axes, name in ((loss, "loss"), (accuracy, "accuracy")):
            points = [
                (epoch, entry[part][name])
                for epoch, entry in zip(epochs, history, strict=True)
                if name in entry[part]
            ]
            if points:
                axes.plot(*zip(*points, strict=True), marker=marker, markersize=3, label=part)
    rate.plot(epochs, [entry["lr"] for entry in history], marker="o", markersize=3, color="C2")
    loss.set(title="Loss", ylabel="cross entropy", yscale="log")
    accuracy.set(title="Accuracy")
    rate.set(title="Learning rate at the end of the epoch", yscale="log")
    _mark_best(accuracy, history)
    for axes in (loss, accuracy, rate):
        axes.set(xlabel="epoch")
        axes.grid(alpha=0.3)
        axes.xaxis.get_major_locator().set_params(integer=True)
    loss.legend()
    accuracy.legend(loc="lower right")
    save_figure(figure, path)
    return path


def _mark_best(axes: Any, history: list[dict[str, Any]]) -> None:
    found = [
        (entry["validation"]["accuracy"], -entry["epoch"])
        for entry in history
        if "accuracy" in entry["validation"]
    ]
    if found:
        value, epoch = max(found)  # the earliest epoch, if several are equal
        axes.axhline(value, color="grey", linewidth=0.8, linestyle="--")
        axes.set(title=f"Accuracy, at best {value:.4f} in epoch {-epoch}")
