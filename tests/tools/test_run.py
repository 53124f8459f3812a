import os
import subprocess
import sys
from pathlib import Path

import pytest

from gluonish.tools.cli import main

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = [["gluonish", "run"], ["gluonish.as_mxnet"]]

PROGRAM = """
import sys
import mxnet as mx
import beside
found = __file__ == sys.argv[1], sys.path[0] == sys.argv[1][:-11]
print(__name__, *found, __spec__, sys.argv[0], sys.argv[2:])
print(sys.modules["__main__"].mx is mx, mx.__version__)
sys.exit(3)
"""


def run(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
    )


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_script_runs_as_python_runs_it(command: list[str], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    (tmp_path / "beside.py").write_text("")
    done = run(*command, "program.py", str(program), "--lr", "-m", "--", "1", cwd=tmp_path)
    assert done.stdout.splitlines() == [
        "__main__ True True None program.py ['--lr', '-m', '--', '1']",
        "True 1.9.1",
    ], done.stderr
    assert done.returncode == 3


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_module_and_code_run_as_python_runs_them(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import mxnet, sys; print(__spec__.name, sys.argv[1:])")
    assert run(*command, "-m", "program", "-c", cwd=tmp_path).stdout == "program ['-c']\n"
    code = "import mxnet, sys; print(__name__, sys.argv, sys.path[0] == '')"
    assert run(*command, "-c", code, "-m", cwd=tmp_path).stdout == "__main__ ['-c', '-m'] True\n"


def test_error_is_shown_as_if_the_program_ran_by_itself(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("def f():\n    raise KeyError('a')\nf()\n")
    done = run("gluonish", "run", "program.py", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert done.stderr.splitlines()[1].endswith('program.py", line 3, in <module>')


def test_spawned_process_finds_the_programs_classes(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        """
import atexit, multiprocessing, pickle
from mxnet import gluon

class Item:
    pass

def work(item):
    return type(item).__name__, gluon.nn.Dense.__name__

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(*pool.apply(work, (Item(),)))
    atexit.register(lambda: print(len(pickle.dumps(Item())) > 0))
"""
    )
    done = run("gluonish", "run", "program.py", cwd=tmp_path)
    assert done.stdout == "Item Dense\nTrue\n", done.stderr


def test_no_program_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run"]) == 1
    assert "expected a script" in capsys.readouterr().err
