"""What a training says of its batches, on a terminal and elsewhere."""

import io
import sys

import pytest

from gluonish.tools.train.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_that_goes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", "120")  # a bar is cut where the line ends
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress(1, 3, 4, 2) as progress:
        told = [progress.batch(8) for _ in range(4)]
        progress.report({"accuracy": 0.5})
    assert told == [False, True, False, True]
    shown = terminal.getvalue()
    assert "epoch 2/3" in shown
    assert "samples/s, accuracy 0.5000" in shown
    assert shown.endswith("\r")
    assert capsys.readouterr().out == ""


def test_elsewhere_there_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(1, 3, 4, 2) as progress:
        for _ in range(2):
            progress.batch(8)
        progress.report({"accuracy": 0.5})
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.startswith("Epoch[1] Batch [0-2]\tSpeed: ")
    assert said.out.endswith(" samples/sec\taccuracy=0.500000\n")


def test_nothing_is_said_where_nothing_was_asked_for() -> None:
    with Progress(0, 1, 4, 0) as progress:
        assert not any(progress.batch(8) for _ in range(4))
