import os
import py_compile
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


def run(*arguments: str, cwd: Path, given: str = "") -> "subprocess.CompletedProcess[str]":
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        env={**os.environ, "PYTHONPATH": paths},
        input=given,
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


def test_standard_input_runs_as_python_runs_it(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("")
    program = (
        "import mxnet, beside, sys\n"
        "print(__name__, sys.argv, sys.path[0] == '', '__file__' in globals(), sys.stdin.read())\n"
        "def f():\n"
        "    raise KeyError('a')\n"
        "f()\n"
    )
    done = run("gluonish", "run", "-", "--lr", "-", cwd=tmp_path, given=program)
    assert done.stdout == "__main__ ['-', '--lr', '-'] True False \n", done.stderr
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Traceback (most recent call last):",
        '  File "<stdin>", line 5, in <module>',
        '  File "<stdin>", line 4, in f',
        "KeyError: 'a'",
    ]
    ended = run("gluonish.as_mxnet", "-", cwd=tmp_path, given="import sys; sys.exit('over')")
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "over\n")


def test_a_program_in_another_encoding_and_a_compiled_one_run(tmp_path: Path) -> None:
    text = "# -*- coding: latin-1 -*-\nprint('\u00e9' == chr(233))\n"
    (tmp_path / "program.py").write_bytes(text.encode("latin-1"))
    assert run("gluonish", "run", "program.py", cwd=tmp_path).stdout == "True\n"
    compiled = py_compile.compile(str(tmp_path / "program.py"), str(tmp_path / "program.pyc"))
    assert run("gluonish", "run", str(compiled), cwd=tmp_path).stdout == "True\n"


def test_what_is_no_program_is_refused_before_it_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, data = tmp_path / "folder", tmp_path / "data.py"
    folder.mkdir()
    data.write_bytes(b"x = 1\n\0\n")
    expected = {
        "no.py": "run: expected a script, got 'no.py', which does not exist",
        str(
            folder
        ): f"expected a script, or a folder with a __main__.py, got the folder '{folder}'",
        str(data): f"expected a Python program, got '{data}', which contains null bytes",
    }
    for path, message in expected.items():
        assert main(["run", path]) == 1
        shown = capsys.readouterr().err
        assert message in shown
        assert shown.count("\n") == 1
        assert main(["profile", path]) == 1
        assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["no_such_module", "no_such_package.inner", "json.nothing"])
def test_a_module_that_is_not_there_is_refused(name: str, tmp_path: Path) -> None:
    done = run("gluonish", "run", "-m", name, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == f"gluonish: run: expected a module that Python finds, got {name!r}\n"


def test_a_syntax_error_and_bytes_that_are_no_utf_8_are_shown_as_python_does(
    tmp_path: Path,
) -> None:
    program = tmp_path / "program.py"
    for source in (b"a = = 1\n", b"a = '\xe9'\n"):
        program.write_bytes(source)
        done = run("gluonish", "run", "program.py", cwd=tmp_path)
        assert done.returncode == 1
        assert "SyntaxError" in done.stderr
        assert "gluonish" not in done.stderr.replace(str(tmp_path), "")
