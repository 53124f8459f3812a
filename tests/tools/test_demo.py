"""The demo as a command, with one epoch in place of forty: what it writes and refuses."""

from pathlib import Path

import numpy as np
import pytest

from gluonish.core.context import cpu, gpu
from gluonish.core.errors import ArgumentError
from gluonish.ndarray import random, zeros
from gluonish.tools.cli import make_parser
from gluonish.tools.demo import digits_network, parse_contexts, shifted


def run(folder: Path, *options: str) -> int:
    arguments = make_parser().parse_args(
        ["demo", "--epochs", "1", "--output", str(folder), *options]
    )
    status: int = arguments.run(arguments)
    return status


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--imperative",),
        ("--ctx", "cpu:0,cpu:1", "--kvstore", "device"),
        ("--ctx", "cpu:0,cpu:1", "--kvstore", "local", "--imperative"),
    ],
    ids=["hybridized", "imperative", "two-devices", "two-devices-imperative"],
)
def test_demo_trains_plots_exports_and_imports(
    tmp_path: Path, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    status = run(tmp_path, *options)
    said = capsys.readouterr().out
    assert status == 1, "one epoch is not enough for the promised accuracy"
    assert "equal bit for bit" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "confusion.png",
        "digits-0000.params",
        "digits-symbol.json",
        "learning-curves.png",
    ]
    for picture in tmp_path.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_loader_processes_may_feed_it(tmp_path: Path) -> None:
    assert run(tmp_path, "--workers", "2") == 1


def test_contexts_are_read_from_text() -> None:
    assert parse_contexts("cpu:0, cpu:1,gpu") == [cpu(0), cpu(1), gpu(0)]


@pytest.mark.parametrize("text", ["cpu:x", "tpu:0", "cpu:-1", "", "cpu(0)"])
def test_other_devices_are_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="expected"):
        parse_contexts(text)


def test_shifting_moves_each_image_by_at_most_one_pixel() -> None:
    images = np.zeros((50, 1, 8, 8), np.float32)
    images[:, 0, 4, 4] = 1
    moved = shifted(images, np.random.default_rng(0))
    rows, columns = np.nonzero(moved[:, 0])[1:]
    assert moved.sum() == 50
    assert set(rows) == set(columns) == {3, 4, 5}


def test_network_maps_digits_to_ten_scores() -> None:
    random.seed(0)
    net = digits_network()
    net.initialize()
    assert net(zeros((3, 1, 8, 8))).shape == (3, 10)


def test_too_few_epochs_are_refused() -> None:
    arguments = make_parser().parse_args(["demo", "--epochs", "0"])
    with pytest.raises(ArgumentError, match="--epochs: expected at least 1, got 0"):
        arguments.run(arguments)
