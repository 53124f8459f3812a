"""Pictures of the demo: learning curves and a confusion matrix."""

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gluonish.core.files import atomic_write

__all__ = ["new_figure", "plot_confusion", "plot_curves", "save_figure"]


class _Curves(Protocol):
    """Values by epoch."""

    loss: list[float]
    train_accuracy: list[float]
    test_accuracy: list[float]


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure of so many inches, which no window shows."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure as a PNG file, as a whole or not at all."""
    with atomic_write(path) as file:
        figure.savefig(file, dpi=120, format="png")


def plot_curves(curves: _Curves, path: Path) -> Path:
    """Draw loss and accuracies over epochs into a PNG file, and return its path."""
    figure = new_figure(9, 3.6)
    left, right = figure.subplots(1, 2)
    epochs = range(1, len(curves.loss) + 1)
    left.plot(epochs, curves.loss, marker="o", markersize=3)
    left.set(title="Training loss", xlabel="epoch", ylabel="cross entropy", yscale="log")
    right.plot(epochs, curves.train_accuracy, marker="o", markersize=3, label="training")
    right.plot(epochs, curves.test_accuracy, marker="s", markersize=3, label="held out")
    right.axhline(0.98, color="grey", linewidth=0.8, linestyle="--", label="98 %")
    right.set(title="Accuracy", xlabel="epoch", ylim=(0.8, 1.005))
    right.legend(loc="lower right")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    save_figure(figure, path)
    return path


def plot_confusion(
    predicted: np.ndarray[Any, Any], labels: np.ndarray[Any, Any], path: Path
) -> Path:
    """Draw how often each digit was taken for each into a PNG file, and return its path.

    Args:
        predicted: (N,), digits.
        labels: (N,), digits.
        path: Where to.
    """
    counts = np.zeros((10, 10), dtype=np.int64)
    np.add.at(counts, (labels.astype(np.int64), predicted.astype(np.int64)), 1)
    figure = new_figure(5.2, 5)
    axes = figure.subplots()
    axes.imshow(np.log1p(counts), cmap="Blues")
    for (row, column), count in np.ndenumerate(counts):
        if count:
            color = "white" if count > counts.max() / 3 else "black"
            axes.text(column, row, str(count), ha="center", va="center", color=color, fontsize=9)
    wrong = int(counts.sum() - np.trace(counts))
    axes.set(
        title=f"Held-out digits: {wrong} of {len(labels)} wrong",
        xlabel="predicted",
        ylabel="true",
        xticks=range(10),
        yticks=range(10),
    )
    save_figure(figure, path)
    return path
