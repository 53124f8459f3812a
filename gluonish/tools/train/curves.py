"""The picture of a training: loss, accuracy and learning rate over epochs."""

from pathlib import Path
from typing import Any

from gluonish.tools.demo_plots import new_figure, save_figure

__all__ = ["plot_history"]

_PARTS = (("training", "o"), ("validation", "s"))


def plot_history(history: list[dict[str, Any]], path: Path) -> Path:
    """Draw the curves into a PNG file, as a whole or not at all, and return its path.

    Args:
        history: As a checkpoint's record has it, with an epoch or more.
        path: Where to.
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
        value, epoch = max(found)  # of equal ones the first epoch
        axes.axhline(value, color="grey", linewidth=0.8, linestyle="--")
        axes.set(title=f"Accuracy, at best {value:.4f} in epoch {-epoch}")
