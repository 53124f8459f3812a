import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from gluonish.mxnet_names.script import run_script


def run(folder: Path, source: str, *arguments: str) -> int:
    path = folder / "program.py"
    path.write_text(source)
    return run_script(str(path), arguments)


def test_script_is_main_with_its_own_arguments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "beside_the_script.py").write_text("VALUE = 7")
    source = (
        "import sys, __main__, beside_the_script\n"
        "print(__name__, __file__, sys.argv, beside_the_script.VALUE, __main__.__dict__ is vars())"
    )
    before = (sys.argv[:], sys.path[:], sys.modules["__main__"])
    assert run(tmp_path, source, "--epochs", "3") == 0
    path = str(tmp_path / "program.py")
    expected = f"__main__ {path} {[path, '--epochs', '3']} 7 True\n"
    assert capsys.readouterr().out == expected
    assert (sys.argv, sys.path, sys.modules["__main__"]) == before
    del sys.modules["beside_the_script"]


@pytest.mark.parametrize(
    ("end", "status", "printed"),
    [
        ("sys.exit()", 0, ""),
        ("sys.exit(0)", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('no data')", 1, "no data\n"),
    ],
)
def test_exit_status_is_the_scripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], end: str, status: int, printed: str
) -> None:
    assert run(tmp_path, f"import sys\n{end}\nprint('not here')") == status
    assert capsys.readouterr() == ("", printed)


def test_an_error_is_shown_from_the_script_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "def train():\n    raise KeyError('lr')\ntrain()") == 1
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "Traceback (most recent call last):"
    assert shown[1] == f'  File "{tmp_path / "program.py"}", line 3, in <module>'
    assert shown[-1] == "KeyError: 'lr'"


def test_a_script_that_cannot_be_read_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "a = = 1") == 1
    assert "SyntaxError" in capsys.readouterr().err


def test_an_error_of_work_on_its_way_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = (
        "from gluonish.engine import current_engine\n"
        "from gluonish_engine import Var\n"
        "def fail(): raise ValueError('too late')\n"
        "current_engine().push(fail, (), (Var(),), ('cpu', 0, 'compute'), 0)\n"
    )
    assert run(tmp_path, source) == 1
    assert "too late" in capsys.readouterr().err


def test_ctrl_c_ends_the_script_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    assert run(tmp_path, "import time\ntime.sleep(20)") == 130
    timer.join(10)
    assert capsys.readouterr().err.endswith("KeyboardInterrupt\n")
