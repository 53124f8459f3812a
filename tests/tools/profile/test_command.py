import argparse
import json
from pathlib import Path

import pytest

from gluonish import profiler
from gluonish.core.errors import ArgumentError, MissingFileError
from gluonish.tools.profile import add_parser

PROGRAM = """
import sys
import gluonish as mx
mx.profiler.set_config(filename="elsewhere.json", continuous_dump=False)
net = mx.gluon.nn.Dense(3, prefix="head_")
net.initialize()
for _ in range(int(sys.argv[1])):
    net(mx.nd.ones((2, 5))).wait_to_read()
print("done")
sys.exit(4)
"""


def profile(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["profile", *words])
    status: int = arguments.run(arguments)
    return status


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM)


def test_a_trace_and_a_page_are_written_and_the_status_is_the_scripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert profile("--output", "run", "program.py", "3") == 4
    assert capsys.readouterr().out == "done\n"
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    blocks = [event["name"] for event in events if event.get("cat") == "block"]
    assert blocks == ["head"] * 3
    assert "program.py" in (tmp_path / "run.html").read_text("utf-8")


def test_operators_of_the_script_are_in_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert profile("program.py", "3") == 4
    text = (tmp_path / "profile.html").read_text("utf-8")
    name = "FullyConnected"
    assert f'<tr data-name="{name}"><th scope="row">{name}</th><td data-value="3">' in text
    assert " 3 x " in capsys.readouterr().err


def test_both_are_written_after_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "program.py").write_text("import gluonish as mx\nraise KeyError('lr')")
    assert profile("program.py") == 1
    assert "KeyError: 'lr'" in capsys.readouterr().err
    assert (tmp_path / "profile.json").is_file()
    assert "No operator ran" in (tmp_path / "profile.html").read_text("utf-8")


def test_the_profiler_is_off_afterwards(tmp_path: Path) -> None:
    profile("program.py", "1")
    profiler.dump()
    events = json.loads((tmp_path / "profile.json").read_text())["traceEvents"]
    assert [event for event in events if event["ph"] != "M"] == []


def test_a_missing_script_or_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        MissingFileError, match=r"expected a script, got 'none\.py', which does not exist"
    ):
        profile("none.py")
    with pytest.raises(ArgumentError, match=r"--output: expected an existing folder, got '.*none'"):
        profile("--output", str(tmp_path / "none" / "a"), "program.py")
