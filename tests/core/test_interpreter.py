"""Pythons that the package refuses at its import."""

import subprocess
import sys

import pytest

from gluonish.core.interpreter import refuse_without_lock

PROGRAM = """
import sys
sys._is_gil_enabled = lambda: {enabled}
import gluonish
print(gluonish.nd.ones((2,)).sum().asscalar())
"""


def started(enabled: bool) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(enabled=enabled)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_a_free_threaded_python_without_its_lock_is_refused_at_import() -> None:
    ended = started(False)
    assert ended.returncode == 1
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: gluonish: expected a Python with the global interpreter")
    assert "PYTHON_GIL=1" in last
    assert "numpy" not in ended.stderr  # before anything that takes time


def test_a_free_threaded_python_with_its_lock_runs() -> None:
    assert started(True).stdout == "2.0\n"


def test_pythons_that_know_no_such_build_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys, "_is_gil_enabled", raising=False)
    refuse_without_lock()
