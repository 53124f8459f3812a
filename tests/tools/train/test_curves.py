from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.image import imread
from gluonish.tools.train.progress import plot_history


def history(*, validated: bool) -> list[dict[str, Any]]:
    values = [{"loss": 1 / epoch, "accuracy": 1 - 0.5 / epoch} for epoch in (1, 2, 3)]
    return [
        {
            "epoch": epoch + 1,
            "lr": 0.1,
            "training": value,
            "validation": value if validated else {},
        }
        for epoch, value in enumerate(values)
    ]


@pytest.mark.parametrize("validated", [True, False])
def test_picture_shows_the_curves(tmp_path: Path, validated: bool) -> None:
    path = plot_history(history(validated=validated), tmp_path / "curves.png")
    colours = {tuple(c) for c in np.unique(imread(path).asnumpy().reshape(-1, 3), axis=0).tolist()}
    blue, orange, green = (31, 119, 180), (255, 127, 14), (44, 160, 44)  # of matplotlib's cycle
    assert {blue, green} <= colours
    assert (orange in colours) == validated
    assert [entry.name for entry in tmp_path.iterdir()] == ["curves.png"]


def test_one_epoch_is_enough(tmp_path: Path) -> None:
    path = plot_history(history(validated=True)[:1], tmp_path / "curves.png")
    assert path.read_bytes().startswith(b"\x89PNG")
