"""Record files with keys."""

import json
import pickle
import threading
from pathlib import Path

import pytest

from gluonish.core.errors import (
    ArgumentError,
    FileFormatError,
    GluonishError,
    MissingFileError,
)
from gluonish.recordio import MXIndexedRecordIO, MXRecordIO

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text("utf-8"))["raw.rec"]


def opened(folder: Path, flag: str, key_type: object = int) -> MXIndexedRecordIO:
    paths = str(folder / "a.idx"), str(folder / "a.rec")
    return MXIndexedRecordIO(*paths, flag, key_type)  # type: ignore[arg-type]


@pytest.fixture
def some(tmp_path: Path) -> Path:
    file = opened(tmp_path, "w")
    for key, record in ((5, b"five"), ("7", b"seven"), (5, b"five again")):
        file.write_idx(key, record)
    file.close()
    return tmp_path


def test_a_file_of_mxnet_is_read_in_any_order() -> None:
    file = MXIndexedRecordIO(str(GOLDEN / "raw.idx"), str(GOLDEN / "raw.rec"), "r")
    assert file.keys == EXPECTED["keys"]
    pairs = list(zip(file.keys, EXPECTED["payloads_hex"], strict=True))
    assert all(file.read_idx(key).hex() == text for key, text in reversed(pairs))
    file.close()


def test_the_same_records_make_the_same_files(tmp_path: Path) -> None:
    file = opened(tmp_path, "w")
    for key, text in zip(EXPECTED["keys"], EXPECTED["payloads_hex"], strict=True):
        file.write_idx(key, bytes.fromhex(text))
    file.close()
    for end in ("idx", "rec"):
        assert (tmp_path / f"a.{end}").read_bytes() == (GOLDEN / f"raw.{end}").read_bytes()


def test_a_key_leads_to_its_last_record(some: Path) -> None:
    file = opened(some, "r")
    assert (file.keys, file.idx) == ([5, 7, 5], {5: 28, 7: 12})
    assert (file.read_idx(5), file.read_idx(7)) == (b"five again", b"seven")
    file.close()


def test_records_follow_the_one_that_was_sought(some: Path) -> None:
    file = opened(some, "r")
    file.seek(7)
    assert [file.read(), file.read(), file.read()] == [b"seven", b"five again", None]
    file.reset()
    assert file.read() == b"five"
    file.close()


def test_keys_may_be_text(tmp_path: Path) -> None:
    file = opened(tmp_path, "w", str)
    file.write_idx("a cat", b"one")
    file.write_idx("ö", b"two")
    file.close()
    file = opened(tmp_path, "r", str)
    assert file.keys == ["a cat", "ö"]
    assert file.read_idx("ö") == b"two"
    file.close()


@pytest.mark.parametrize("key", ["x", None, "1.5"])
def test_a_wrong_key_writes_nothing(tmp_path: Path, key: object) -> None:
    file = opened(tmp_path, "w")
    with pytest.raises(ArgumentError, match=r"expected a key for .*int.*key_type=str"):
        file.write_idx(key, b"record")
    assert file.tell() == 0
    file.close()


def test_a_key_that_would_break_the_index_is_refused(tmp_path: Path) -> None:
    file = opened(tmp_path, "w", str)
    with pytest.raises(ArgumentError, match="without tabs"):
        file.write_idx("a\tb", b"")
    file.close()


@pytest.mark.parametrize("kind", [KeyError, IndexError, GluonishError])
def test_an_unknown_key_is_told(some: Path, kind: type[Exception]) -> None:
    file = opened(some, "r")
    with pytest.raises(kind, match=r"expected one of 3 keys of .*a.idx, got 9"):
        file.read_idx(9)
    file.close()


@pytest.mark.parametrize("line", [b"nonsense\n", b"1\tx\n", b"1\t-4\n", b"1\t\n"])
def test_a_damaged_index_is_told_with_the_line(some: Path, line: bytes) -> None:
    with (some / "a.idx").open("ab") as file:
        file.write(line)
    with pytest.raises(FileFormatError, match="on line 4 of"):
        opened(some, "r")


def test_an_index_of_another_file_is_told(some: Path) -> None:
    (some / "a.idx").write_bytes(b"1\t4\n2\t48\n3\t9999\n")
    file = opened(some, "r")
    with pytest.raises(
        FileFormatError, match="expected the magic number 0xced7230a of a record at byte 4"
    ):
        file.read_idx(1)
    for key in (2, 3):
        with pytest.raises(FileFormatError, match="got the end of the file"):
            file.read_idx(key)
    file.close()


def test_a_missing_index_is_told(some: Path) -> None:
    (some / "a.idx").unlink()
    with pytest.raises(MissingFileError, match=r"a\.idx"):
        opened(some, "r")


def test_reading_a_writer_and_writing_a_reader_are_refused(some: Path, tmp_path: Path) -> None:
    reader = opened(some, "r")
    with pytest.raises(AssertionError, match="opened for writing"):
        reader.write_idx(1, b"")
    with pytest.raises(AssertionError, match="opened for writing"):
        reader.tell()
    reader.close()
    reader.close()
    (tmp_path / "w").mkdir()
    writer = opened(tmp_path / "w", "w")
    with pytest.raises(AssertionError, match="opened for reading"):
        writer.read_idx(1)
    with pytest.raises(AssertionError, match="opened for reading"):
        writer.seek(1)
    writer.close()


def test_a_reader_can_be_sent(some: Path) -> None:
    file = opened(some, "r")
    again = pickle.loads(pickle.dumps(file))
    assert isinstance(again, MXRecordIO)
    assert again.read_idx(7) == file.read_idx(7) == b"seven"  # type: ignore[attr-defined]
    again.close()
    file.close()


def test_threads_may_read_together(some: Path) -> None:
    file = opened(some, "r")
    found: list[bool] = []

    def read(key: int, record: bytes) -> None:
        found.append(all(file.read_idx(key) == record for _ in range(300)))

    pairs = [(5, b"five again"), (7, b"seven")] * 2
    threads = [threading.Thread(target=read, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert found == [True] * 4
    file.close()
