"""Two sides in turns: what a row says of them, and a rehearsal on the double."""

import json
from pathlib import Path

import pytest

from benchmarks.gpu_run.stages import rows_of
from benchmarks.gpu_run.switches import SWITCHES, Switch
from benchmarks.gpu_run.timeline import Work, lines, summary
from benchmarks.gpu_run.versus import sides_of_checkout, sides_of_variable, verdict
from benchmarks.gpu_run.workers import ROOT
from gluonish.core.config import all_flags
from tests.benchmarks.test_gpu_run import gpu_run

pytestmark = pytest.mark.timeout(240)


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ([2.0, 2.1, 2.0], [1.0, 1.0, 1.05], "better"),
        ([1.0, 1.0, 1.05], [2.0, 2.1, 2.0], "worse"),
        ([1.0, 1.2, 1.1], [1.05, 1.15, 1.2], "same"),
        ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], "same"),
        ([1.0, 3.0, 1.0], [0.5, 0.5, 0.5], "same"),  # A's own turns differ more
    ],
)
def test_difference_counts_beyond_the_spread(
    first: list[float], second: list[float], found: str
) -> None:
    assert verdict(first, second)[1] == found


def test_sides_of_a_variable() -> None:
    first, second = sides_of_variable("MXNET_USE_FUSION=0,1")
    assert (first.environment, second.environment) == (
        {"MXNET_USE_FUSION": "0"},
        {"MXNET_USE_FUSION": "1"},
    )
    assert sides_of_variable("A=b,")[1].environment == {"A": ""}
    for text in ("A", "A=b", "=a,b", "A=a,b,c"):
        with pytest.raises(ValueError, match="expected NAME=a,b"):
            sides_of_variable(text)


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.text)
def test_switch_ends_at_the_default_and_has_rows(
    switch: Switch, monkeypatch: pytest.MonkeyPatch
) -> None:
    flag = {flag.name: flag for flag in all_flags()}[switch.text.partition("=")[0]]
    first, second = sides_of_variable(switch.text)
    found = []
    for side in (first, second):
        monkeypatch.setenv(flag.name, side.environment[flag.name])
        found.append(flag.value_as_text)
    assert found[1] == flag.default_as_text
    assert found[0] != found[1]
    assert {row.name for row in rows_of(3)} >= {*switch.rows}


def test_sides_of_a_checkout(tmp_path: Path) -> None:
    first, second = sides_of_checkout(ROOT)
    assert first.root == second.root == ROOT
    with pytest.raises(ValueError, match="expected a checkout with benchmarks/gpu_run"):
        sides_of_checkout(tmp_path)


def test_timeline_adds_up_kernels_and_gaps() -> None:
    work = [Work("a", 10, 5), Work("b", 14, 4), Work("Memcpy", 20, 1), Work("a", 25, 2)]
    found = summary(work)
    assert found["launches"] == 3
    assert found["busy_us"] == 5 + 3 + 1 + 2
    assert found["gaps_us"] == 2 + 4
    assert found["kernels"] == [("a", 2, 7), ("b", 1, 4), ("Memcpy", 1, 1)]
    assert lines(found)[0] == "3 kernels, 0.011 ms busy, 0.006 ms of gaps"
    assert summary([])["kernels"] == []


def test_rehearsal_compares_two_values_of_a_variable(tmp_path: Path) -> None:
    words = ("--ab", "MXNET_USE_FUSION=0,1", "--only", "inference, 1, TF32")
    ended = gpu_run(tmp_path, *words, "--out", str(tmp_path / "out"), "--rehearse")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = json.loads((tmp_path / "out" / "versus0.json").read_text("utf-8"))
    assert len(found["rows"]) == 2
    for row in found["rows"]:
        assert row["state"] == "ok", row
        assert row["values"][0]["value"] in ("better", "same", "worse")
        assert [len(told["turns"]) for told in row["values"][1:]] == [7, 7]


def test_unknown_comparison_is_refused(tmp_path: Path) -> None:
    ended = gpu_run(tmp_path, "--ab", "nothing", "--out", str(tmp_path / "out"), "--rehearse")
    assert ended.returncode == 2
    assert "--ab: expected NAME=a,b, got 'nothing'" in ended.stderr
