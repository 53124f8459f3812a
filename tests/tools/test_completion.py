"""Scripts of ``gluonish completion``, in the shells that are there."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gluonish.tools import cli
from gluonish.tools.completion import bash_script, commands_of, fish_script, zsh_script

SCRIPTS = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
COMMANDS = list(commands_of(cli.make_parser()))
# Runs the script's function in place of a shell with a terminal.
ASK = {
    "bash": 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gluonish; '
    'printf "%s\\n" "${COMPREPLY[@]}"',
    "zsh": 'compdef() { }; compadd() { print -l -- "${(M)found[@]:#$words[CURRENT]*}" }; '
    "_files() { print -l -- $words[CURRENT]*(N) }; "
    'source "$1"; shift; words=("$@"); CURRENT=$#; _gluonish',
    "fish": 'source $argv[1]; complete -C "$argv[2..-1]" | string replace -r "\\t.*" ""; true',
}


def completed(shell: str, folder: Path, *words: str) -> set[str]:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"needs {shell}")
    script = folder / "script"
    script.write_text(SCRIPTS[shell](COMMANDS))
    plain = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    given = [program, *plain, "-c", ASK[shell], *([] if shell == "fish" else ["x"])]
    done = subprocess.run(
        [*given, str(script), "gluonish", *words],
        check=True,
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=60,
    )
    assert done.stderr == ""
    return set(done.stdout.split())


@pytest.mark.parametrize("shell", SCRIPTS)
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["whe"], {"where"}),
        (["zoo", "inf"], {"info"}),
        (["zoo", "info", "alexn"], {"alexnet"}),
        (["score", "--mode", "tr"], {"training"}),
        (["score", "--mode", "training", "--batch-s"], {"--batch-sizes"}),
        (["env", "MXNET_CPU_PRI"], {"MXNET_CPU_PRIORITY_NTHREADS"}),
        (["check", "some_fi"], {"some_file.py"}),
        (["convert", "--symbol", "some_fi"], {"some_file.py"}),
        (["completion", "fi"], {"fish"}),
        (["--vers"], {"--version"}),
    ],
    ids=" ".join,
)
def test_words_are_completed(shell: str, words: list[str], found: set[str], tmp_path: Path) -> None:
    (tmp_path / "some_file.py").touch()
    assert completed(shell, tmp_path, *words) == found


def test_every_command_is_there() -> None:
    paths = {" ".join(command.path) for command in COMMANDS}
    assert {"", "zoo", "zoo import", "onnx export", "quantize report", "train"} <= paths
    top = next(command for command in COMMANDS if not command.path)
    assert set(top.commands) == {path for path in paths if path and " " not in path}


def test_the_command_prints_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "bash"]) == 0
    assert capsys.readouterr().out == bash_script(COMMANDS)
