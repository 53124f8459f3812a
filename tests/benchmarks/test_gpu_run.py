"""``python -m benchmarks.gpu_run``, rehearsed on the double of CuPy as a program of its own."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LIMIT_S = 200  # of one stage, on a machine that does other things, too

pytestmark = pytest.mark.timeout(LIMIT_S + 40)


def gpu_run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu_run", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def rows_in(folder: Path, stage: int) -> dict[str, Any]:
    """Return the rows that a stage left on disk, by name."""
    found = json.loads((folder / f"stage{stage}.json").read_text("utf-8"))
    return {row["name"]: row for row in found["rows"]}


@pytest.mark.parametrize("stage", [1, 2, 3, 4, 5])
def test_rehearsal_of_a_stage_fails_in_no_row(stage: int, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--stage", str(stage), "--out", str(out), "--rehearse")
    ended = gpu_run(tmp_path, *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = rows_in(out, stage)
    assert sum(row["state"] == "ok" for row in rows.values()) >= len(rows) // 2
    assert sorted(p.name for p in out.iterdir()) == [f"stage{stage}.json", f"stage{stage}.md"]


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Stage 0, whose rows fail, hang and die: the finished program, its seconds, its rows."""
    folder = tmp_path_factory.mktemp("failing")
    begin = time.monotonic()
    ended = gpu_run(folder, "--stage", "0", "--out", str(folder / "out"), "--rehearse")
    return ended, time.monotonic() - begin, rows_in(folder / "out", 0)


def test_failed_rows_make_the_exit_status_1(failing: Any) -> None:
    assert failing[0].returncode == 1


def test_rows_after_failures_run(failing: Any) -> None:
    row = failing[2]["works after all of them"]
    assert row["state"] == "ok"
    assert [told["value"] for told in row["values"]] == [True, 3.5]


@pytest.mark.parametrize("part", ["while it measures", "while it is prepared"])
def test_row_that_raises_tells_what_and_where(failing: Any, part: str) -> None:
    row = failing[2][f"raises {part}"]
    assert (row["state"], row["error"]) == ("failed", "ValueError: on purpose")
    assert row["where"].startswith("benchmarks/gpu_run/stage0.py:")


def test_row_that_hangs_is_stopped_and_tells_where(failing: Any) -> None:
    row = failing[2]["hangs while it measures"]
    assert (row["state"], row["error"]) == ("failed", "no answer within 2 s")
    assert "stage0.py" in row["where"]


def test_row_that_hangs_keeps_what_it_told_before(failing: Any) -> None:
    assert failing[2]["hangs while it measures"]["values"][0]["value"] == 2


def test_row_that_takes_no_signals_is_stopped(failing: Any) -> None:
    row = failing[2]["hangs, and does not let itself be interrupted"]
    assert row["error"] == "no answer within 2 s"


def test_row_whose_process_dies_is_a_failed_row(failing: Any) -> None:
    assert failing[2]["dies"]["error"] == "its process died"


def test_what_the_double_lacks_is_refused(failing: Any) -> None:
    row = failing[2]["is refused"]
    assert (row["state"], row["error"]) == ("refused", "not on the double: a row of stage 0")


def test_row_has_its_variables(failing: Any) -> None:
    assert failing[2]["has a variable of its own"]["values"][0]["value"] == "17"


def test_stage_with_hanging_rows_ends_within_its_deadline(failing: Any) -> None:
    assert failing[1] < 60


def test_rows_after_the_deadline_are_not_run_and_say_so(tmp_path: Path) -> None:
    words = ("--stage", "0", "--out", str(tmp_path / "out"), "--rehearse", "--deadline", "13")
    begin = time.monotonic()
    gpu_run(tmp_path, *words)
    assert time.monotonic() - begin < 13
    rows = rows_in(tmp_path / "out", 0)
    last = rows["works after all of them"]
    assert (last["state"], last["error"]) == ("not run", "deadline")


def test_rows_are_chosen_by_a_part_of_their_names(tmp_path: Path) -> None:
    words = ("--stage", "0", "--out", str(tmp_path / "out"), "--rehearse", "--only", "works after")
    assert gpu_run(tmp_path, *words).returncode == 0
    assert list(rows_in(tmp_path / "out", 0)) == ["works after all of them"]
