"""The files of a stage, and the report that joins them."""

import json
from pathlib import Path

import pytest

from benchmarks.gpu_run.record import Outcome, Record, markdown_table
from benchmarks.gpu_run.report import write_report

ABOUT = {
    "command": "python -m benchmarks.gpu_run --stage 1",
    "date": "2026-11-22 18:00 UTC",
    "rehearsal": False,
    "machine": {
        "processor": "Some Processor",
        "cpus": 16,
        "memory_gb": 128.0,
        "system": "Linux",
        "python": "3.12.3",
    },
}
VERSIONS = Outcome(
    "versions",
    "ok",
    values=[
        {"what": "cupy", "value": "14.2.0", "unit": ""},
        {"what": "device", "value": "NVIDIA H200", "unit": ""},
    ],
)


def test_each_row_is_on_disk_when_it_was_added(tmp_path: Path) -> None:
    record = Record(tmp_path, 1, ABOUT)
    for count in (1, 2):
        record.add(Outcome(f"row {count}", "ok"))
        assert len(json.loads((tmp_path / "stage1.json").read_text("utf-8"))["rows"]) == count
        assert f"row {count}" in (tmp_path / "stage1.md").read_text("utf-8")


def test_table_shows_ratios_and_why_a_row_failed() -> None:
    values = [{"what": "torch eager", "value": 12.3456, "unit": "ms", "ratio": 1.5}]
    row = Outcome("a", "failed", "ValueError: x | y", "x.py:3 in f", values)
    last = markdown_table([vars(row)]).splitlines()[-1]
    assert last == "| a | failed | torch eager 12.35 ms (1.50 x); ValueError: x \\| y x.py:3 in f |"


def test_report_names_machine_versions_date_and_command(tmp_path: Path) -> None:
    Record(tmp_path, 1, ABOUT).add(VERSIONS)
    text = write_report(tmp_path)
    for part in ("NVIDIA H200", "Some Processor", "cupy 14.2.0", ABOUT["command"], ABOUT["date"]):
        assert str(part) in text
    assert (tmp_path / "report.md").read_text("utf-8") == text


def test_report_has_the_rows_of_all_stages(tmp_path: Path) -> None:
    for stage in (1, 3):
        Record(tmp_path, stage, ABOUT).add(Outcome(f"row of {stage}", "ok"))
    write_report(tmp_path)
    found = json.loads((tmp_path / "report.json").read_text("utf-8"))
    names = [row["name"] for stage in found["stages"] for row in stage["rows"]]
    assert names == ["row of 1", "row of 3"]


def test_report_of_a_rehearsal_says_that_it_is_one(tmp_path: Path) -> None:
    Record(tmp_path, 1, {**ABOUT, "rehearsal": True}).add(VERSIONS)
    assert "A rehearsal on the double of CuPy" in write_report(tmp_path)


def test_report_of_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"expected stageN.json in the folder, got none"):
        write_report(tmp_path)
