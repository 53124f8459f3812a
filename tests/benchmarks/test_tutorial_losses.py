"""The comparison of the tutorials' losses: numbers found in output, and rows of the table."""

import ast
from pathlib import Path

import pytest

from benchmarks.cpu.tutorial_losses import LOSSES, loss_of, row

ROOT = Path(__file__).resolve().parents[2]


def test_row_counts_seeds_in_the_range_and_measures_in_deviations() -> None:
    # Variances 1 and 4: the pooled deviation is sqrt(2.5).
    found = row("x", [2.0, 3.0, 4.0], [0.0, 2.0, 4.0])
    assert found[-3:] == ["3 of 3", "+1.0000", "+0.6"]
    assert row("x", [5.0], [4.0])[-3:] == ["0 of 1", "+1.0000", "-"]


def test_output_without_a_loss_ends_the_run() -> None:
    assert loss_of("base loss: 1.5\n", r"base loss: (\S+)") == 1.5
    with pytest.raises(SystemExit, match="expected 'base loss"):
        loss_of("nothing", r"base loss: (\S+)")


def test_each_tutorial_has_a_network_in_pytorch() -> None:
    text = (ROOT / "benchmarks" / "cpu" / "tutorial_networks.py").read_text("utf-8")
    functions = {x.name for x in ast.parse(text).body if isinstance(x, ast.FunctionDef)}
    assert set(LOSSES) <= functions
    for name, losses in LOSSES.items():
        assert (ROOT / "tutorials" / f"{name}.py").exists()
        for label in losses:
            assert label.split()[-1] == "loss"
