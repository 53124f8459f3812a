"""README.md is true: its program runs, .ci/run runs its commands, its options are the code's."""

import re
from pathlib import Path

import pytest

from gluonish.core.config import Flag, all_flags

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = ("pip install . && gluonish demo", "pip install '.[test]' && pytest")


def documented_row(flag: Flag[object]) -> str:
    default = f"`{flag.default_as_text}`" if flag.default_as_text else "empty"
    return f"| `{flag.name}` | {default} | {flag.doc} |"


def test_training_loop_runs_and_learns(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(program, "README.md", "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    accuracy = re.fullmatch(r"\('accuracy', ([0-9.]+)\)\n", printed)
    assert accuracy is not None, printed
    assert float(accuracy[1]) > 0.9


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_those_that_ci_runs(command: str) -> None:
    assert f"    {command}\n" in README
    assert f'"{command}"' in (ROOT / ".ci" / "run").read_text("utf-8")


def test_table_of_options_is_that_of_the_flags() -> None:
    documented = re.findall(r"^\| `[A-Z]+_.*$", README, re.MULTILINE)
    assert documented == [documented_row(flag) for flag in all_flags()]
