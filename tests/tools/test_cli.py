import argparse
import subprocess
import sys

import pytest

from gluonish.core.errors import ArgumentError
from gluonish.tools import cli

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
