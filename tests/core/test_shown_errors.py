"""Uncaught errors, as Python and IPython show them."""

import subprocess
import sys
from pathlib import Path

import pytest

from gluonish.core import shown_errors

START = """
import gluonish as mx
from gluonish import gluon, nd, np
"""


def shown(tmp_path: Path, program: str, **options: str) -> list[str]:
    """The lines that an interpreter writes to its standard error."""
    path = tmp_path / "program.py"
    path.write_text(START + program, "utf-8")
    root = Path(__file__).resolve().parents[2]
    paths = f"{root}:{root / 'engine'}"
    done = subprocess.run(
        [sys.executable, str(path)],
        env={"PYTHONPATH": paths, "PATH": "", **options},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    return done.stderr.splitlines()


def frames(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith('  File "')]


def test_the_last_line_of_the_program_is_the_last_of_the_traceback(tmp_path: Path) -> None:
    lines = shown(tmp_path, "nd.ones((2, 3)) + nd.ones((2, 4))")
    assert len(frames(lines)) == 1
    assert "program.py" in frames(lines)[0]
    assert "broadcast_add: expected shapes that broadcast" in lines[-1]


def test_all_frames_are_shown_on_request(tmp_path: Path) -> None:
    lines = shown(tmp_path, "nd.ones((2, 3)) + nd.ones((2, 4))", GLUONISH_FULL_TRACEBACKS="1")
    assert len(frames(lines)) > 1


def test_a_deliberate_error_has_one_traceback(tmp_path: Path) -> None:
    lines = shown(tmp_path, "mx.image.imread('no_such_image.png')")
    assert lines[0].startswith("Traceback")
    assert sum(line.startswith("Traceback") for line in lines) == 1
    assert len(frames(lines)) == 1


def test_errors_of_a_program_are_shown_as_ever(tmp_path: Path) -> None:
    lines = shown(tmp_path, "try:\n    {}['key']\nexcept KeyError:\n    1 / 0")
    assert sum(line.startswith("Traceback") for line in lines) == 2
    assert lines[-1] == "ZeroDivisionError: division by zero"


def test_a_hook_that_was_there_before_still_shows_errors(tmp_path: Path) -> None:
    program = """
import sys
from gluonish.core import shown_errors

sys.excepthook = lambda kind, error, trace: print("mine:", error, file=sys.stderr)
shown_errors.install()
np.sum(np.ones(3), dim=1)
"""
    assert shown(tmp_path, program) == [
        "mine: sum() got an unexpected keyword argument 'dim'; its name here is axis"
    ]


def message(program: str, **names: object) -> str:
    """The message of a program's error, as shown."""
    scope: dict[str, object] = dict(names)
    exec(START, scope)
    with pytest.raises(TypeError) as caught:
        exec(program, scope)
    shown_errors.prepare(caught.value)
    return str(caught.value).partition(" got an unexpected keyword argument ")[2]


@pytest.mark.parametrize(
    ("program", "advice"),
    [
        ("np.sum(np.ones((2, 3)), dim=1)", "'dim'; its name here is axis"),
        ("np.mean(np.ones((2, 3)), keepdim=True)", "'keepdim'; its name here is keepdims"),
        ("np.ones((2, 3)).max(dim=1)", "'dim'; its name here is axis"),
        ("np.stack([np.ones(2)], dim=1)", "'dim'; its name here is axis"),
        (
            "from gluonish.numpy import squeeze\nsqueeze(np.ones((1, 2)), dim=0)",
            "'dim'; its name here is axis",
        ),
        ("np.random.uniform(0, 1, shape=(2, 3))", "'shape'; its name here is size"),
        (
            "gluon.contrib.estimator.Estimator(None, None, metrics=1)",
            "'metrics'; pass train_metrics to Estimator",
        ),
    ],
)
def test_words_of_other_libraries_are_answered(program: str, advice: str) -> None:
    assert message(program) == advice


def test_a_function_of_the_program_is_not_taken_for_one_of_ours() -> None:
    program = "def mean(x, axis): pass\nmean(1, dim=0)"
    assert "axis" not in message(program)


def test_a_method_of_the_program_is_not_taken_for_one_of_ours() -> None:
    program = "class Mine:\n    def max(self, axis): pass\nMine().max(dim=0)"
    assert "axis" not in message(program)


def test_notebooks_show_the_advice_and_the_lines_of_the_program() -> None:
    embedded = pytest.importorskip("IPython.core.interactiveshell")
    shell = embedded.InteractiveShell.instance()
    try:
        shell.colors = "nocolor"
        shown_errors.install()
        written: list[str] = []
        shell._showtraceback = lambda kind, error, lines: written.extend(lines)
        shell.run_cell(START + "np.sum(np.ones((2, 3)), dim=1)")
        assert "its name here is axis" in written[-1]
        written.clear()
        shell.run_cell("nd.ones((2, 3)) + nd.ones((2, 4))")
        assert not [line for line in written if "gluonish/ndarray" in line]
        assert "broadcast_add" in written[-1]
    finally:
        embedded.InteractiveShell.clear_instance()
