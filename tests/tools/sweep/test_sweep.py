"""``gluonish sweep``: trials in processes, a table, a picture, and sweeps that go on."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.tools.cli import make_parser
from gluonish.tools.sweep.report import in_order
from gluonish.tools.sweep.trials import Trial
from gluonish.tools.train.checkpoint import write_json

DIGITS = ("--dataset", "digits", "--num-examples", "128", "--batch-size", "64")
TIMEOUT_S = 120


def sweep(*options: str) -> int:
    arguments = make_parser().parse_args(["sweep", *options])
    status: int = arguments.run(arguments)
    return status


def stored(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "trials.json").read_text())["trials"]
    return found


def results(folder: Path) -> list[Any]:
    names = ("number", "setting", "status", "value", "epoch", "last")
    return [{name: trial[name] for name in names} for trial in stored(folder)]


def test_a_damaged_record_is_refused_and_wrong_settings_leave_no_folder(tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_text("{")
    with pytest.raises(FileFormatError, match=r"--output: expected JSON in .*sweep\.json"):
        sweep("--output", str(tmp_path), "--param", "lr=0.1", "--", *DIGITS)
    options = ("--sampler", "grid", "--param", "lr=0.1..1", "--", *DIGITS)
    with pytest.raises(ArgumentError, match="expected values or a number of them in a grid"):
        sweep("--output", str(tmp_path / "new"), *options)
    assert not (tmp_path / "new").exists()
    with pytest.raises(ArgumentError, match=r"^--metric: expected training- or "):
        sweep(
            "--output", str(tmp_path / "new"), "--param", "lr=1", "--metric", "acc", "--", *DIGITS
        )


def test_a_grid_is_tried_and_failures_are_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "sweep"
    options = ("--output", str(folder), "--sampler", "grid", "--param", "optimizer=sgd,sgdd")
    train = ("--", *DIGITS, "--num-epochs", "2")
    assert sweep(*options, *train) == 0
    done, failed = stored(folder)
    assert (done["status"], failed["status"]) == ("done", "failed")
    assert 0 < done["value"] <= 1
    assert "got 'sgdd'" in failed["error"]
    with (folder / "trials.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0][:4] == ["trial", "optimizer", "status", "validation-accuracy"]
    assert [row[1:3] for row in rows[1:]] == [["sgd", "done"], ["sgdd", "failed"]]
    assert float(rows[1][3]) == done["value"]
    assert (folder / "sweep.png").read_bytes().startswith(b"\x89PNG")
    history = json.loads((folder / "trial-0000/net-history.json").read_text())["history"]
    assert done["value"] == max(entry["validation"]["accuracy"] for entry in history)
    assert "failed: optimizer: expected one of" in capsys.readouterr().out

    # The same command has nothing left to do, and another one is refused.
    before = (folder / "trial-0000/net-0002.params").stat().st_mtime_ns
    assert sweep(*options, *train) == 0
    assert (folder / "trial-0000/net-0002.params").stat().st_mtime_ns == before
    assert results(folder)[0]["value"] == done["value"]
    with pytest.raises(ArgumentError, match="expected the same seed as that of the sweep"):
        sweep(*options, "--seed", "3", *train)
    with pytest.raises(ArgumentError, match="expected the same train as that of the sweep"):
        sweep(*options, *train, "--lr", "3")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_sweep_goes_on_to_the_same_results(tmp_path: Path) -> None:
    def command(folder: Path) -> list[str]:
        options = ["--output", str(folder), "--param", "lr=log:1e-2..1", "--trials", "2"]
        train = ["--", *DIGITS, "--num-epochs", "3"]
        return [sys.executable, "-m", "gluonish", "sweep", *options, *train]

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(command(whole), check=True, timeout=TIMEOUT_S, stdout=subprocess.DEVNULL)
    process = subprocess.Popen(command(killed), stdout=subprocess.DEVNULL)
    end = time.monotonic() + TIMEOUT_S
    while not (killed / "trial-0001/net-0001.json").exists():
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(TIMEOUT_S)
    subprocess.run(command(killed), check=True, timeout=TIMEOUT_S, stdout=subprocess.DEVNULL)
    assert results(killed) == results(whole)
    for name in ("trial-0000", "trial-0001"):
        first, second = (folder / name / "net-0003.params" for folder in (whole, killed))
        assert first.read_bytes() == second.read_bytes()


def test_a_trial_that_takes_too_long_has_failed(tmp_path: Path) -> None:
    options = ("--output", str(tmp_path), "--param", "lr=0.1", "--sampler", "grid")
    assert sweep(*options, "--timeout", "0.2", "--", *DIGITS, "--num-epochs", "9") == 1
    (trial,) = stored(tmp_path)
    assert (trial["status"], trial["error"]) == ("failed", "not done after 0.2 seconds")


def test_failed_trials_run_again_if_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []

    def pretend(folder: Path, trial: Trial, *_: Any) -> Trial:
        ran.append(trial.number)
        trial.status = "failed"
        place = folder / trial.name
        place.mkdir(exist_ok=True)
        write_json(place / "result.json", vars(trial))
        return trial

    monkeypatch.setattr("gluonish.tools.sweep.command.run_trial", pretend)
    options = ("--output", str(tmp_path), "--param", "lr=0.1,0.2", "--sampler", "grid")
    assert sweep(*options) == 1
    assert sweep(*options) == 1
    assert ran == [0, 1]
    assert sweep(*options, "--retry-failed") == 1
    assert ran == [0, 1, 0, 1]
    for trial in stored(tmp_path):
        assert trial["value"] is None


def test_settings_can_be_printed_without_a_trial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "none"
    assert (
        sweep("--output", str(folder), "--param", "lr=log:0.01..1", "--trials", "2", "--dry-run")
        == 0
    )
    assert capsys.readouterr().out.startswith("trial-0000: lr=0.")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--trials 0", "--trials: expected at least 1"),
        ("--timeout -1", "--timeout: expected at least 0"),
        ("--metric accuracy", "^--metric: expected training- or validation-"),
        ("-- --model-prefix x", "without --model-prefix"),
        ("-- --bach-size 3", "expected options of gluonish train, got --bach-size.*--batch-size"),
        ("-- --lr 3", "expected --lr as --param or as an option, got both"),
        ("--sampler optuna --dry-run", "expected --sampler random or grid"),
    ],
)
def test_what_cannot_be_is_refused(options: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=message):
        sweep("--output", str(tmp_path / "x"), "--param", "lr=0.1", *options.split())


def test_the_best_comes_first() -> None:
    values = [0.5, None, 0.9, 0.7]
    found = [Trial(i, {}, value=value) for i, value in enumerate(values)]
    assert [trial.number for trial in in_order(found, "max")] == [2, 3, 0, 1]
    assert [trial.number for trial in in_order(found, "min")] == [0, 3, 2, 1]
