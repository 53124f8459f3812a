"""``gluonish rec``: what it tells of whole and damaged record files."""

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.recordio import MXIndexedRecordIO, pack, pack_img
from gluonish.tools import rec

IMAGE = np.zeros((4, 6, 3), np.uint8)
RECORDS = [
    pack_img((0, 2.5, 7, 0), IMAGE, 9, ".png"),
    pack_img((0, [1, 2, 3], 8, 0), IMAGE, 90, ".jpg"),
    b"no image",
    pack((0, 1, 9, 0), b"behind a header"),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written = MXIndexedRecordIO(str(tmp_path / "x.idx"), str(tmp_path / "x.rec"), "w")
    for key, record in enumerate(RECORDS):
        written.write_idx(key * 10, record)
    written.close()
    return tmp_path / "x.rec"


def run(*words: str | Path) -> int:
    parser = argparse.ArgumentParser()
    rec.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["rec", *map(str, words)])
    status: int = arguments.run(arguments)
    return status


def offsets(file: Path) -> list[int]:
    lines = file.with_suffix(".idx").read_text("utf-8").splitlines()
    return [int(line.split("\t")[1]) for line in lines]


def test_the_summary_counts_records_and_bytes(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(file) == 0
    lengths = sorted(map(len, RECORDS))
    assert capsys.readouterr().out.splitlines() == [
        f"{file}: 4 records in {file.stat().st_size} bytes, each of {lengths[0]} to {lengths[-1]} "
        "bytes",
        f"{file.with_suffix('.idx')}: fits",
    ]


def test_the_table_has_a_line_for_each_record(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(file, "--list") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    starts = offsets(file)
    sizes = [str(len(record)) for record in RECORDS]
    assert rows == [
        ["record", "offset", "bytes", "flag", "label", "id", "format", "size"],
        ["0", "0", sizes[0], "0", "2.5", "7", "PNG", "6x4"],
        ["1", str(starts[1]), sizes[1], "3", "1", "2", "3", "8", "JPEG", "6x4"],
        ["2", str(starts[2]), sizes[2], "-", "-", "-", "-", "-"],
        ["3", str(starts[3]), sizes[3], "-", "-", "-", "-", "-"],
    ]


def test_a_limit_shortens_the_table(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(file, "--list", "--limit", "1")
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 5
    assert out[-1] == "and 3 more; see --limit"
    with pytest.raises(ArgumentError, match="--limit: expected 0 or more, got -1"):
        run(file, "--limit", "-1")


def test_json_has_the_same(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(file, "--list", "--json", "--verify") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["records"], report["damages"], report["index_problems"]) == (4, [], [])
    assert [found["label"] for found in report["listed"]] == [2.5, [1, 2, 3], None, None]
    assert report["listed"][1]["size"] == [6, 4]


def test_a_damaged_file_is_refused_with_the_byte(file: Path) -> None:
    content = bytearray(file.read_bytes())
    second = offsets(file)[1]
    content[second] ^= 1
    file.write_bytes(content)
    with pytest.raises(FileFormatError, match=f"at byte {second} of"):
        run(file)


def test_verify_finds_all_damages_and_the_records_between(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    starts = offsets(file)
    content = bytearray(file.read_bytes())
    content[starts[1]] ^= 1
    file.write_bytes(content[:-4])
    assert run(file, "--verify") == 1
    out = capsys.readouterr().out
    assert "2 records in" in out
    assert (
        f"damaged: bytes {starts[1]} to {starts[2]}: MXRecordIO: expected the magic number" in out
    )
    assert f"damaged: bytes {starts[3]} to {len(content) - 4}: MXRecordIO: expected a part" in out
    assert f"index: key '10' leads to byte {starts[1]}, where no record begins" in out


def test_a_wrong_index_is_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    starts = offsets(file)
    file.with_suffix(".idx").write_text(f"0\t0\n0\t{starts[1]}\n1\t4\n", encoding="utf-8")
    assert run(file) == 1
    out = capsys.readouterr().out
    assert "x.idx: wrong" in out
    assert "key '1' leads to byte 4, where no record begins" in out
    assert f"no key leads to the record at byte {starts[2]}" in out
    assert "3 lines have 2 different keys" in out


def test_a_line_that_is_none_is_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.with_suffix(".idx").write_text("0\t0\nnonsense\n", encoding="utf-8")
    assert run(file) == 1
    assert "on line 2 of" in capsys.readouterr().out


def test_a_new_index_fits(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    starts = offsets(file)
    file.with_suffix(".idx").unlink()
    assert run(file) == 0
    assert "no index; make one" in capsys.readouterr().out
    assert run(file, "--rebuild-index") == 0
    assert offsets(file) == starts
    found = MXIndexedRecordIO(str(file.with_suffix(".idx")), str(file), "r")
    assert found.keys == [0, 1, 2, 3]
    assert [found.read_idx(key) for key in range(4)] == RECORDS
    found.close()


def test_no_index_is_made_of_a_damaged_file(file: Path) -> None:
    before = file.with_suffix(".idx").read_bytes()
    file.write_bytes(file.read_bytes()[:-4])
    with pytest.raises(FileFormatError, match="the end of the file after"):
        run(file, "--rebuild-index")
    assert file.with_suffix(".idx").read_bytes() == before


def test_images_are_extracted_without_their_header(file: Path, tmp_path: Path) -> None:
    assert run(file, "--extract", "0", tmp_path / "out.png") == 0
    assert (tmp_path / "out.png").read_bytes() == RECORDS[0][24:]
    assert run(file, "--extract", "3", tmp_path / "out") == 0
    assert (tmp_path / "out").read_bytes() == RECORDS[3]


@pytest.mark.parametrize("number", ["4", "-1", "x"])
def test_a_record_that_is_not_there_is_not_extracted(
    number: str, file: Path, tmp_path: Path
) -> None:
    with pytest.raises(ArgumentError, match="a record below 4, got"):
        run(file, "--extract", number, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_empty_file_has_no_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.rec").write_bytes(b"")
    assert run(tmp_path / "x.rec", "--verify", "--list") == 0
    assert "0 records in 0 bytes\n" in capsys.readouterr().out
