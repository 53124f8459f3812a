import io
import sys

import pytest

from gluonish.core.progress import progress_bar, shows_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_bars_are_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert shows_progress()
    assert list(progress_bar(range(3), desc="read", mininterval=0)) == [0, 1, 2]
    assert "read: 100%" in terminal.getvalue()


def test_bars_are_not_shown_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    assert not shows_progress()
    assert list(progress_bar(range(3))) == [0, 1, 2]
    assert file.getvalue() == ""
    assert list(progress_bar(range(3), disable=False)) == [0, 1, 2]
    assert "3/3" in file.getvalue()


def test_bars_are_not_shown_without_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        assert not shows_progress()
        assert list(progress_bar(range(3))) == [0, 1, 2]
