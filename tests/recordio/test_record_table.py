"""Records found without an index and read by offset; damaged files."""

import struct
import threading
from pathlib import Path

import numpy as np
import pytest

from gluonish.core.errors import FileFormatError, GluonishError, MissingFileError
from gluonish.recordio import MXRecordIO, RecordFile, record_table, scan
from gluonish.recordio import framing as positioned_reads
from gluonish.recordio.framing import frame
from gluonish.recordio.record_table import Damage, survey

GOLDEN = Path(__file__).parents[1] / "golden"
MARK = struct.pack("<I", 0xCED7230A)
RECORDS = [b"", b"a", b"four", MARK, MARK * 3 + b"x", b"abcd" + MARK + b"efgh", bytes(5000)]


def head(kind: int, length: int) -> bytes:
    return MARK + struct.pack("<I", kind << 29 | length)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "a.rec").write_bytes(b"".join(map(frame, RECORDS)))
    return tmp_path / "a.rec"


def test_a_scan_finds_what_the_index_of_mxnet_tells() -> None:
    lines = (GOLDEN / "raw.idx").read_text("utf-8").splitlines()
    table = scan(GOLDEN / "raw.rec")
    assert table.offsets.tolist() == [int(line.split("\t")[1]) for line in lines]
    assert table.offsets.dtype == table.lengths.dtype == np.int64


def test_records_are_read_by_offset(path: Path) -> None:
    table = scan(path)
    assert table.lengths.tolist() == list(map(len, RECORDS))
    with RecordFile(path) as file:
        assert [file.read(offset) for offset in table.offsets.tolist()] == RECORDS


@pytest.mark.parametrize("nbytes", [0, 1, 4, 6, 5000, 9000])
def test_only_the_start_of_a_record_is_read(path: Path, nbytes: int) -> None:
    with RecordFile(path) as file:
        for offset, record in zip(file.scan().offsets.tolist(), RECORDS, strict=True):
            # What holds a mark is stored in parts, and read whole.
            wanted = record if MARK in record else record[:nbytes]
            assert file.read_start(offset, nbytes) == wanted


def test_the_start_of_a_record_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    path.write_bytes(frame(bytes(100))[:50])
    with RecordFile(path) as file:
        assert file.read_start(0, 42) == bytes(42)
        with pytest.raises(FileFormatError, match=r"expected a part of 100 bytes at byte 0 of"):
            file.read_start(0, 43)
        with pytest.raises(FileFormatError, match=r"8 bytes of a record's header at byte 50"):
            file.read_start(50, 10)


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    (tmp_path / "a.rec").write_bytes(b"")
    assert [column.shape for column in scan(tmp_path / "a.rec")] == [(0,), (0,)]
    assert survey(tmp_path / "a.rec")[1] == []


@pytest.mark.parametrize("positioned", [True, False], ids=["pread", "seek"])
def test_threads_read_one_file_at_once(
    path: Path, positioned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not positioned:
        monkeypatch.setattr(positioned_reads, "_PREAD", None)
    offsets = scan(path).offsets.tolist()
    wrong: list[object] = []

    def read_all(file: RecordFile) -> None:
        for _ in range(100):
            found = [file.read(offset) for offset in offsets]
            if found != RECORDS:
                wrong.append(found)

    with RecordFile(path) as file:
        threads = [threading.Thread(target=read_all, args=(file,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert not wrong


def test_a_wrong_offset_and_a_closed_file_are_told(path: Path) -> None:
    file = RecordFile(path)
    with pytest.raises(
        FileFormatError, match=r"the magic number 0xced7230a of a record at byte 4 of .*a\.rec"
    ):
        file.read(4)
    with pytest.raises(FileFormatError, match=r"a record at byte 999999 of .*a\.rec, got the end"):
        file.read(999999)
    file.close()
    file.close()
    with pytest.raises(GluonishError, match="expected an open file"):
        file.read(0)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="RecordFile: expected an existing file"):
        scan(tmp_path / "a.rec")


@pytest.mark.parametrize("end", range(1, 36))
def test_a_cut_is_told_with_its_byte(end: int, tmp_path: Path) -> None:
    whole = frame(b"abcd" + MARK + b"efgh") + frame(b"x")
    (tmp_path / "a.rec").write_bytes(whole[:end])
    if end == 24:
        assert len(scan(tmp_path / "a.rec").offsets) == 1
        return
    with pytest.raises(FileFormatError, match=r"at byte \d+ of .*a\.rec"):
        scan(tmp_path / "a.rec")


def test_a_length_that_lies_allocates_nothing(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "a.rec"
    path.write_bytes(head(0, (1 << 29) - 1) + b"abcd")
    file = MXRecordIO(str(path), "r")
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match="the end of the file after 4"):
            file.read()
        with RecordFile(path) as table, pytest.raises(FileFormatError, match="after 4"):
            table.read(0)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
        file.close()


def test_a_survey_finds_the_records_between_damages(path: Path) -> None:
    starts = scan(path).offsets.tolist()
    content = bytearray(path.read_bytes())
    content[starts[1]] ^= 0xFF
    content[starts[5] + 7] ^= 0x80  # the kind of a first part
    path.write_bytes(content)
    table, damages = survey(path)
    assert table.offsets.tolist() == [starts[i] for i in (0, 2, 3, 4, 6)]
    assert [(found.start, found.end) for found in damages] == [
        (starts[1], starts[2]),
        (starts[5], starts[6]),
    ]
    assert all(f"at byte {found.start}" in found.problem for found in damages)


def test_marks_across_chunks_and_off_the_grid_are_no_trap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_table, "_CHUNK_NBYTES", 8)
    path = tmp_path / "a.rec"
    path.write_bytes(b"xyz" + head(0, 0) + b"12345" + frame(b"whole"))
    table, damages = survey(path)
    assert table.offsets.tolist() == [16]
    assert [(found.start, found.end) for found in damages] == [(0, 16)]


def test_a_file_that_ends_off_the_grid_is_surveyed(tmp_path: Path) -> None:
    (tmp_path / "a.rec").write_bytes(frame(b"whole") + b"xyz")
    table, damages = survey(tmp_path / "a.rec")
    assert table.offsets.tolist() == [0]
    assert [(found.start, found.end) for found in damages] == [(16, 19)]
    assert isinstance(damages[0], Damage)


def test_chains_without_an_end_take_time_in_proportion_to_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each of many first parts leads to the same long chain of middle parts, which never ends.
    count = 500
    middle = head(2, 0) * count
    firsts = b"".join(head(1, 8 * (count - 1 - i)) for i in range(count))
    (tmp_path / "a.rec").write_bytes(firsts + middle)
    heads = []
    read_at = RecordFile._read_at

    def counted(self: RecordFile, size: int, offset: int) -> bytes:
        heads.append(offset)
        return read_at(self, size, offset)

    monkeypatch.setattr(RecordFile, "_read_at", counted)
    table, damages = survey(tmp_path / "a.rec")
    assert (len(table.offsets), len(damages)) == (0, 1)
    assert len(heads) < 5 * count
