import argparse

import pytest

from gluonish.core.config import MXNET_CPU_WORKER_NTHREADS, all_flags
from gluonish.tools import env

ARGUMENTS = argparse.Namespace()


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
    assert row(table, "MXNET_ENGINE_TYPE").split()[1:4] == [
        "NaiveEngine",
        "environment",
        "ThreadedEnginePerDevice",
    ]
    assert row(table, "MXNET_CPU_WORKER_NTHREADS").split()[1:4] == ["6", "override", "1"]


def test_columns_are_aligned() -> None:
    lines = env.flag_table(all_flags()).splitlines()
    start = lines[0].index("Effect")
    for flag, line in zip(all_flags(), lines[1:], strict=True):
        assert line[start:] == flag.doc


def test_valid_environment_exits_with_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert env.run(ARGUMENTS) == 0
    assert capsys.readouterr().err == ""


def test_invalid_value_is_shown_and_the_table_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "many")
    assert env.run(ARGUMENTS) == 1
    printed = capsys.readouterr()
    assert row(printed.out, "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN").split()[1:3] == [
        "many",
        "invalid",
    ]
    assert row(printed.out, "DMLC_LOG_STACK_TRACE_DEPTH").split()[1:3] == ["0", "default"]
    (error,) = printed.err.splitlines()
    assert error == "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN: expected an integer >= 0, got 'many'"


def test_a_follower_of_an_invalid_flag_is_not_called_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "many")
    line = row(env.flag_table(all_flags()), "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD")
    assert line.split()[1] == "invalid"
