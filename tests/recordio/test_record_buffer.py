"""Records read into memory that is used again are those that the slow way reads."""

from pathlib import Path

import numpy as np
import pytest

from gluonish.core.errors import FileFormatError
from gluonish.recordio import MXRecordIO, RecordFile, record_file
from gluonish.recordio.framing import MAGIC_BYTES
from gluonish.recordio.record_file import RecordBuffer


def written(path: Path) -> list[bytes]:
    rng = np.random.default_rng(0)
    records = [rng.bytes(int(n)) for n in (5, 900, 0, 40, 3, 70_000, 1200)]
    records.insert(4, b"abcd" + MAGIC_BYTES + b"in two parts")
    file = MXRecordIO(str(path), "w")
    for record in records:
        file.write(record)
    file.close()
    return records


@pytest.mark.parametrize("system", [True, False])
def test_records_of_any_length_and_number_of_parts_are_read(
    tmp_path: Path, system: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not system:
        monkeypatch.setattr(record_file, "_PREADV", None)
    records = written(tmp_path / "a.rec")
    with RecordFile(tmp_path / "a.rec") as file:
        places = file.scan().offsets.tolist()
        buffer = RecordBuffer()
        for _ in range(2):
            for record, place in zip(records, places, strict=True):
                found = file.read_into(buffer, place)  # alive while the next one is read
                assert bytes(found) == record
        assert len(buffer._memory) == 8 + 70_000


def test_very_long_records_do_not_stay_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_file, "_MAX_NBYTES", 1000)
    records = written(tmp_path / "a.rec")
    with RecordFile(tmp_path / "a.rec") as file:
        buffer = RecordBuffer()
        for record, place in zip(records, file.scan().offsets.tolist(), strict=True):
            assert bytes(file.read_into(buffer, place)) == record
        assert len(buffer._memory) == 908


@pytest.mark.parametrize("missing", [1, 100, 1203, 1207])
def test_a_record_that_is_cut_off_is_told_with_its_place(tmp_path: Path, missing: int) -> None:
    path = tmp_path / "a.rec"
    written(path)
    with RecordFile(path) as file:
        places = file.scan().offsets.tolist()
    path.write_bytes(path.read_bytes()[:-missing])
    with RecordFile(path) as file:
        buffer = RecordBuffer()
        file.read_into(buffer, places[5])
        with pytest.raises(FileFormatError, match=rf"{places[-1]}"):
            file.read_into(buffer, places[-1])
