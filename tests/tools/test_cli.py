import argparse
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gluonish.core.config import MXNET_HOME
from gluonish.core.errors import ArgumentError
from gluonish.tools import cli, docs
from gluonish.tools.doctor.machine import BROKEN, Finding

COMMANDS = [
    command
    for action in cli.make_parser()._actions
    if isinstance(action, argparse._SubParsersAction)
    for command in action.choices
]


def fail(arguments: argparse.Namespace) -> int:
    raise ArgumentError("Thing: expected 1, got 2")


def parser_that_runs(run: object) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.set_defaults(run=run)
    return parser


@pytest.mark.parametrize("command", [*COMMANDS, "zoo import"])
def test_help_of_each_command_exits_with_zero(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main([*command.split(), "--help"])
    assert caught.value.code == 0
    assert f"usage: gluonish {command}" in capsys.readouterr().out


def test_env_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["env"]) == 0
    assert "MXNET_ENGINE_TYPE" in capsys.readouterr().out


@pytest.mark.parametrize("argv", [[], ["nonsense"], ["env", "--nonsense"]])
def test_bad_command_line_exits_with_two(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(argv)
    assert caught.value.code == 2
    assert "usage: gluonish" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("trian", "gluonish: error: expected a command, got 'trian' (nearest: 'train'"),
        ("zoo lst", "gluonish zoo: error: expected a command, got 'lst' (nearest: 'list'"),
        (
            "doctor --jsn",
            "gluonish doctor: error: unrecognized arguments: --jsn (nearest: '--json')",
        ),
        ("zoo list more", "gluonish zoo list: error: unrecognized arguments: more"),
    ],
)
def test_a_misspelt_command_or_option_is_answered_by_its_own_parser(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(line.split())
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_error_of_a_command_is_printed_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "make_parser", lambda: parser_that_runs(fail))
    assert cli.main([]) == 1
    assert capsys.readouterr().err == "gluonish: Thing: expected 1, got 2\n"


def test_an_error_of_the_system_is_printed_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fill_disk(arguments: argparse.Namespace) -> int:
        raise OSError(28, "No space left on device", "x.npz")

    monkeypatch.setattr(cli, "make_parser", lambda: parser_that_runs(fill_disk))
    assert cli.main([]) == 1
    assert capsys.readouterr().err == (
        "gluonish: expected files to read and write, got [Errno 28] No space left on device: "
        "'x.npz'\n"
    )


def test_status_of_the_command_is_the_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "make_parser", lambda: parser_that_runs(lambda arguments: 7))
    assert cli.main([]) == 7


def test_output_that_nobody_reads_to_its_end_is_no_failure_to_tell() -> None:
    program = [sys.executable, "-m", "gluonish", "env"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 1


def parsers() -> dict[str, argparse.ArgumentParser]:
    """The parsers of all commands and their subcommands, by name."""
    found: dict[str, argparse.ArgumentParser] = {}

    def walk(parser: argparse.ArgumentParser, path: str) -> None:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for name, child in action.choices.items():
                    found[f"{path} {name}".strip()] = child
                    walk(child, f"{path} {name}".strip())

    walk(cli.make_parser(), "")
    return found


@pytest.mark.parametrize(("name", "parser"), parsers().items())
def test_help_says_what_each_option_is(name: str, parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        words = re.sub(r"\(default[^)]*\)", "", action.help or "").split()
        where = f"{name} {action.option_strings or action.dest}"
        assert len(words) > 1 or isinstance(action, argparse._SubParsersAction), where
    assert parser.description, name
    assert "``" not in parser.format_help()


@pytest.mark.parametrize("name", sorted(parsers()))
def test_a_command_line_that_is_invalid_exits_with_two(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main([*name.split(), "--no-such-option"])
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("usage: gluonish")


# A command line of each command that fails, where there is nothing to find.
FAILING = {
    "bandwidth": "bandwidth --cpus x",
    "chat": "chat --model nowhere",
    "check": "check nowhere.py",
    "convert": "convert nowhere.params to.npz",
    "demo": "demo --epochs 0",
    "doctor": "doctor",  # a broken requirement, see below
    "embed": "embed text --model nowhere -o x.npy",
    "env": "env NO_SUCH_VARIABLE",
    "generate": "generate text --model nowhere",
    "im2rec": "im2rec x nowhere --list",
    "launch": "launch -n 0 true",
    "onnx export": "onnx export nowhere.json nowhere.params -s 1,2",
    "onnx check": "onnx check nowhere.onnx",
    "onnx import": "onnx import nowhere.onnx",
    "profile": "profile nowhere.py",
    "quantize convert": "quantize convert nowhere.json nowhere.params --data no.npy --output x",
    "quantize report": "quantize report a.json a.params --data no.npy --quantized b.json b.params",
    "rec": "rec nowhere.rec",
    "run": "run nowhere.py",
    "score": "score --networks nothing",
    "sweep": "sweep --output out --param nothing=1",
    "train": "train --network nothing --dataset digits",
    "warm": "warm --networks nothing",
    "where": "where nothing_of_this_name",
    "zoo import": "zoo import nowhere.pth --network alexnet",
    "zoo fetch": "zoo fetch nothing",
    "zoo verify": "zoo verify alexnet",
    "zoo info": "zoo info nothing",
    "docs": "docs",
}
# These print, or have subcommands.
NEVER_FAIL = {"completion", "zoo list", "zoo", "onnx", "quantize"}


def test_there_is_a_failing_line_of_each_command() -> None:
    assert set(FAILING) | NEVER_FAIL == set(parsers())


@pytest.mark.parametrize("name", sorted(FAILING))
def test_a_failure_exits_with_one(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(docs, "_NEEDED", ("no_such_module",))
    broken = Finding("x", "y", BROKEN, "z", "")
    monkeypatch.setattr("gluonish.tools.doctor.command.all_findings", lambda: [broken])
    with MXNET_HOME.override(str(tmp_path)):
        assert cli.main(FAILING[name].split()) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("gluonish: ") or name in ("doctor", "zoo verify")
    assert captured.err.count("\n") <= 2, "a message and no traceback"


def test_ctrl_c_exits_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(arguments: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "make_parser", lambda: parser_that_runs(interrupt))
    assert cli.main([]) == 130
    assert capsys.readouterr().err == "gluonish: interrupted\n"


def test_the_documentation_has_each_status() -> None:
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text("utf-8")
    section = page.partition("\n## Exit statuses\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| (\d+) \|", section, re.MULTILINE) == ["0", "1", "2", "130"]
    named = set(re.findall(r"^\| `([a-z0-9 ]+)` \|", section, re.MULTILINE))
    said = {name for name, parser in parsers().items() if "xits with" in parser.format_help()}
    said |= {name for name, x in parsers().items() if "exit status is then 1" in x.format_help()}
    assert said <= named <= set(parsers())
    for command in COMMANDS:
        assert f"`gluonish {command}" in page, command
