import argparse
import json
import logging
import re
import sys
from pathlib import Path

import pytest

from gluonish.core.config import MXNET_CPU_WORKER_NTHREADS, Flag, all_flags, without_effect
from gluonish.core.errors import ArgumentError
from gluonish.tools import env, env_checks
from gluonish.tools.env_checks import CheckFailedError, NotHereError


def arguments(
    *variables: str, json: bool = False, check: bool = False, markdown: bool = False
) -> argparse.Namespace:
    return argparse.Namespace(variables=variables, json=json, check=check, markdown=markdown)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for flag in all_flags():
        monkeypatch.delenv(flag.name, raising=False)


def row(table: str, name: str) -> str:
    (line,) = [line for line in table.splitlines() if line.split()[0] == name]
    return line


def test_every_flag_has_a_row_with_its_effect() -> None:
    table = env.flag_table(all_flags())
    for flag in all_flags():
        assert row(table, flag.name).endswith(flag.doc)
    assert len(table.splitlines()) == len(all_flags()) + 1


def test_row_tells_value_and_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_ENGINE_TYPE", "NaiveEngine")
    with MXNET_CPU_WORKER_NTHREADS.override(6):
        table = env.flag_table(all_flags())
    assert row(table, "MXNET_ENGINE_TYPE").split()[1:5] == [
        "choice",
        "NaiveEngine",
        "environment",
        "ThreadedEnginePerDevice",
    ]
    assert row(table, "MXNET_CPU_WORKER_NTHREADS").split()[1:5] == ["int", "6", "override", "1"]


def test_columns_are_aligned() -> None:
    lines = env.flag_table(all_flags()).splitlines()
    start = lines[0].index("Effect")
    for flag, line in zip(all_flags(), lines[1:], strict=True):
        assert line[start:] == flag.doc


def test_valid_environment_exits_with_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert env.run(arguments()) == 0
    assert capsys.readouterr().err == ""


def test_invalid_value_is_shown_and_the_table_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "many")
    assert env.run(arguments()) == 1
    printed = capsys.readouterr()
    assert row(printed.out, "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN").split()[2:4] == [
        "many",
        "invalid",
    ]
    assert row(printed.out, "DMLC_LOG_STACK_TRACE_DEPTH").split()[2:4] == ["0", "default"]
    (error,) = printed.err.splitlines()
    assert error == "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN: expected an integer >= 0, got 'many'"


def test_a_follower_of_an_invalid_flag_is_not_called_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "many")
    line = row(env.flag_table(all_flags()), "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD")
    assert line.split()[2] == "invalid"


def test_json_has_every_variable_with_typed_values(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MXNET_CPU_WORKER_NTHREADS", "many")
    monkeypatch.setenv("MXNET_CPU_PRIORITY_NTHREADS", "7")
    assert env.run(arguments(json=True)) == 1
    entries = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert list(entries) == [flag.name for flag in all_flags()]
    assert entries["MXNET_CPU_PRIORITY_NTHREADS"] == {
        "name": "MXNET_CPU_PRIORITY_NTHREADS",
        "type": "int",
        "value": 7,
        "source": "environment",
        "default": "4",
        "allowed": "an integer >= 1",
        "effect": "Engine threads for CPU operations of high priority, such as communication.",
        "acts": True,
    }
    invalid = entries["MXNET_CPU_WORKER_NTHREADS"]
    assert (invalid["value"], invalid["source"]) == ("many", "invalid")
    assert entries["MXNET_USE_FUSION"]["value"] is True
    assert entries["MXNET_ENABLE_CYTHON"]["acts"] is False


def test_markdown_is_the_page_of_the_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    assert env.run(arguments(markdown=True)) == 0
    page = Path(__file__).resolve().parents[2] / "docs" / "options.md"
    assert capsys.readouterr().out == page.read_text("utf-8"), (
        "run `gluonish env --markdown > docs/options.md`"
    )


def test_markdown_has_a_row_for_every_flag_whatever_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MXNET_CPU_WORKER_NTHREADS", "many")
    page = env.markdown_page()
    assert re.findall(r"^\| `([A-Z0-9_]+)` \|", page, re.MULTILINE) == [f.name for f in all_flags()]
    assert "| `MXNET_MEMORY_OPT` | `0` | 0 or 1 | Save only about" in page
    assert "| `OMP_NUM_THREADS` | empty | any text | Threads of" in page


def test_only_named_variables_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert env.run(arguments("MXNET_HOME", "MXNET_ENGINE_TYPE")) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert names == ["MXNET_ENGINE_TYPE", "MXNET_HOME"]


def test_an_unknown_variable_is_refused_with_its_neighbours() -> None:
    with pytest.raises(ArgumentError, match=r"got 'MXNET_HOMES' \(nearest: 'MXNET_HOME'"):
        env.run(arguments("MXNET_HOMES"))


def fail() -> str:
    raise CheckFailedError("MXNET_GLUON_REPO: expected a file, got none")


def stumble() -> str:
    raise KeyError("inside")


def miss() -> str:
    raise NotHereError("needs a GPU")


def speak() -> str:
    sys.stdout.write("a kernel's source\n")
    return "seen twice"


CHECKS = {
    "MXNET_ENGINE_TYPE": stumble,
    "MXNET_ENABLE_CYTHON": speak,
    "MXNET_GLUON_REPO": fail,
    "MXNET_HOME": speak,
    "MXNET_MKLDNN_ENABLED": miss,
}


@pytest.fixture
def _few_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env_checks, "CHECKS", CHECKS)


@pytest.mark.usefixtures("_few_checks")
def test_check_prints_a_row_a_variable_and_what_was_seen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert env.run(arguments(*CHECKS, "MXNET_USE_FUSION", check=True)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(maxsplit=1) for line in lines[:-1]] == [
        ["MXNET_ENGINE_TYPE", "failed     KeyError: 'inside'"],
        ["MXNET_USE_FUSION", "failed     no check observes it"],
        ["MXNET_MKLDNN_ENABLED", "not here   needs a GPU"],
        ["MXNET_GLUON_REPO", "failed     MXNET_GLUON_REPO: expected a file, got none"],
        ["MXNET_HOME", "acts       seen twice"],
        ["MXNET_ENABLE_CYTHON", "no effect  seen twice"],
    ]
    assert lines[-1] == "6 variables: 1 acts, 1 no effect, 1 not here, 3 failed"


@pytest.mark.usefixtures("_few_checks")
def test_check_without_a_failure_exits_with_zero(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("MXNET_HOME", "MXNET_MKLDNN_ENABLED")
    assert env.run(arguments(*names, check=True, json=True)) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"variable": "MXNET_MKLDNN_ENABLED", "result": "not here", "seen": "needs a GPU"},
        {"variable": "MXNET_HOME", "result": "acts", "seen": "seen twice"},
    ]


def told(flag: Flag[object], caplog: pytest.LogCaptureFixture) -> int:
    return caplog.messages.count(f"{flag.name} is set. {flag.doc}")


def test_the_table_tells_once_of_a_variable_without_effect(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = without_effect.flags_without_effect()[:2]
    monkeypatch.setattr(without_effect, "_reported", {})
    monkeypatch.setenv(first.name, first.default_as_text)
    with caplog.at_level(logging.WARNING, "gluonish"):
        env.run(arguments())
        assert (told(first, caplog), told(second, caplog)) == (1, 0)
        monkeypatch.setenv(second.name, second.default_as_text)
        env.run(arguments())
    assert (told(first, caplog), told(second, caplog)) == (1, 1)


@pytest.mark.parametrize("json", [False, True])
def test_a_token_is_not_printed(
    json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert env.run(arguments("HF_TOKEN", json=json)) == 0
    printed = capsys.readouterr().out
    assert "(hidden)" in printed
    assert "hf_secret" not in printed
