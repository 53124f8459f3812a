"""Record files: what they hold byte for byte, damaged ones, other processes."""

import json
import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileFormatError,
    GluonishError,
    MissingFileError,
)
from gluonish.recordio import MXIndexedRecordIO, MXRecordIO
from gluonish.recordio.framing import frame

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
PAYLOADS = [
    bytes.fromhex(text)
    for text in json.loads((GOLDEN / "expected.json").read_text("utf-8"))["raw.rec"]["payloads_hex"]
]
MARK = struct.pack("<I", 0xCED7230A)


def written(path: Path, *records: bytes) -> str:
    file = MXRecordIO(str(path), "w")
    for record in records:
        file.write(record)
    file.close()
    return str(path)


def all_of(path: str | Path) -> list[bytes]:
    file = MXRecordIO(str(path), "r")
    found = list(iter(file.read, None))
    file.close()
    return found


def test_records_of_mxnet_are_read() -> None:
    assert all_of(GOLDEN / "raw.rec") == PAYLOADS


def test_the_same_records_make_the_same_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.rec", *PAYLOADS)
    assert Path(path).read_bytes() == (GOLDEN / "raw.rec").read_bytes()


@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 4096])
def test_marks_anywhere_come_back(tmp_path: Path, length: int) -> None:
    records = [bytes(length) + MARK * n + b"x" * n for n in range(4)]
    assert all_of(written(tmp_path / "a.rec", *records)) == records


def test_reset_goes_back_to_the_first_record(tmp_path: Path) -> None:
    file = MXRecordIO(written(tmp_path / "a.rec", b"one", b"two"), "r")
    assert [file.read(), file.read(), file.read(), file.read()] == [b"one", b"two", None, None]
    file.reset()
    assert file.read() == b"one"
    file.close()


def test_other_bytes_are_taken_too(tmp_path: Path) -> None:
    records = [bytearray(b"ab"), memoryview(b"cd")]
    path = written(tmp_path / "a.rec", *records)  # type: ignore[arg-type]
    assert all_of(path) == [b"ab", b"cd"]


def test_text_is_refused(tmp_path: Path) -> None:
    file = MXRecordIO(str(tmp_path / "a.rec"), "w")
    with pytest.raises(ArgumentTypeError, match=r"write: expected bytes, got str"):
        file.write("abc")  # type: ignore[arg-type]
    file.close()


def test_a_record_that_is_too_long_is_refused() -> None:
    class Long(bytes):
        def __len__(self) -> int:
            return 1 << 29

    with pytest.raises(ArgumentError, match="below 536870912 bytes, got 536870912"):
        frame(Long())


@pytest.mark.parametrize("flag", ["x", "a", "rb", ""])
def test_another_flag_is_refused(flag: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="expected flag 'r' or 'w', got"):
        MXRecordIO(str(tmp_path / "a.rec"), flag)


def test_missing_files_and_folders_are_told(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="expected an existing file"):
        MXRecordIO(str(tmp_path / "a.rec"), "r")
    with pytest.raises(MissingFileError, match="expected a path in an existing folder"):
        MXRecordIO(str(tmp_path / "no" / "a.rec"), "w")


def test_reading_a_writer_and_writing_a_reader_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.rec", b"one")
    reader, writer = MXRecordIO(path, "r"), MXRecordIO(str(tmp_path / "b.rec"), "w")
    with pytest.raises(GluonishError, match="write: expected a file opened for writing"):
        reader.write(b"")
    with pytest.raises(GluonishError, match="read: expected a file opened for reading"):
        writer.read()
    reader.close()
    writer.close()
    with pytest.raises(GluonishError, match="which is closed"):
        reader.read()
    reader.close()


def test_every_cut_is_told_with_its_offset(tmp_path: Path) -> None:
    whole = frame(b"first!") + frame(MARK + b"second")
    starts = {0, len(frame(b"first!"))}
    for end in range(1, len(whole)):
        path = tmp_path / "cut.rec"
        path.write_bytes(whole[:end])
        if end in starts:
            assert all_of(path) == [b"first!"]
            continue
        with pytest.raises(FileFormatError, match=r"at byte \d+ of .*cut.rec, got"):
            all_of(path)


@pytest.mark.parametrize("at", [0, 7])
def test_damage_is_told_with_its_offset(tmp_path: Path, at: int) -> None:
    content = bytearray(frame(b"first!") + frame(b"second"))
    content[len(frame(b"first!")) + at] ^= 0xFF
    path = tmp_path / "a.rec"
    path.write_bytes(content)
    file = MXRecordIO(str(path), "r")
    assert file.read() == b"first!"
    with pytest.raises(FileFormatError, match="at byte 16 of"):
        file.read()
    file.close()


@pytest.mark.parametrize("kind", [2, 3])
def test_a_later_part_alone_is_refused(tmp_path: Path, kind: int) -> None:
    path = tmp_path / "a.rec"
    path.write_bytes(MARK + struct.pack("<I", kind << 29 | 4) + b"abcd")
    with pytest.raises(FileFormatError, match=f"got a later one \\(kind {kind}\\)"):
        all_of(path)


def test_a_first_part_without_more_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    path.write_bytes(MARK + struct.pack("<I", 1 << 29 | 4) + b"abcd" + frame(b"next"))
    with pytest.raises(FileFormatError, match="the next part of the record at byte 0"):
        all_of(path)


def test_a_reader_is_reopened_where_it_is_sent(tmp_path: Path) -> None:
    path = written(tmp_path / "a.rec", b"one", b"two")
    file = MXRecordIO(path, "r")
    assert file.read() == b"one"
    program = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()).read())"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'engine'}"}
    found = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps(file),
        env=environment,
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert found.stdout.strip() == b"b'one'"
    assert file.read() == b"two"
    file.close()
    assert not pickle.loads(pickle.dumps(file)).is_open


def test_an_open_writer_is_not_sent(tmp_path: Path) -> None:
    file = MXRecordIO(str(tmp_path / "a.rec"), "w")
    with pytest.raises(ArgumentTypeError, match="got a writer"):
        pickle.dumps(file)
    file.close()


FORKED = """
import os, sys
from gluonish.recordio import MXIndexedRecordIO
path = sys.argv[1]
writer = MXIndexedRecordIO(path + ".idx", path + ".rec", "w")
writer.write_idx(0, b"zero")
child = os.fork()
if not child:
    try:
        writer.write_idx(1, b"one")
    except RuntimeError as error:
        print("refused" if "Forbidden operation" in str(error) else error, flush=True)
    writer.close()
    os._exit(0)
os.waitpid(child, 0)
writer.write_idx(2, b"two")
writer.close()
reader = MXIndexedRecordIO(path + ".idx", path + ".rec", "r")
child = os.fork()
if not child:
    same = [reader.read_idx(2) for _ in range(500)] == [b"two"] * 500
    os.write(1, b"%r\\n" % same)  # at once: what `print` writes, the other may write between
    os._exit(0)
same = [reader.read_idx(0) for _ in range(500)] == [b"zero"] * 500
os.write(1, b"%r\\n" % same)
os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_leaves_both_processes_a_whole_file(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'engine'}"}
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, str(tmp_path / "a")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert sorted(found.stdout.split()) == ["True", "True", "refused"]
    assert all_of(tmp_path / "a.rec") == [b"zero", b"two"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
@pytest.mark.parametrize("nbytes", [10, 100_000])
def test_a_full_disk_is_told_with_the_file(nbytes: int) -> None:
    file = MXRecordIO("/dev/full", "w")

    def fill() -> None:
        file.write(bytes(nbytes))
        file.close()  # where small records reach the disk

    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        fill()
    file.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
def test_a_record_that_does_not_fit_is_not_in_the_index(tmp_path: Path) -> None:
    file = MXIndexedRecordIO(str(tmp_path / "a.idx"), "/dev/full", "w")
    with pytest.raises(OSError, match="/dev/full"):
        file.write_idx(0, b"hello")
    file.close()
    assert (tmp_path / "a.idx").read_bytes() == b""


def test_records_are_in_the_file_as_soon_as_they_are_written(tmp_path: Path) -> None:
    file = MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w")
    file.write_idx(3, b"hello")
    assert all_of(tmp_path / "a.rec") == [b"hello"]
    assert (tmp_path / "a.idx").read_bytes() == b"3\t0\n"
    file.close()


@pytest.mark.parametrize("flag", ["w", "r"])
def test_a_file_that_nobody_closed_is_closed_without_a_step_of_python(
    flag: str, tmp_path: Path
) -> None:
    # A signal's handler runs between steps; what it raises in a destructor is printed and lost.
    paths = str(tmp_path / "a.idx"), str(tmp_path / "a.rec")
    writer = MXIndexedRecordIO(*paths, "w")
    writer.write_idx(0, b"hello")
    writer.close()
    file = MXIndexedRecordIO(*paths, flag)
    opened = [f for f in (file.handle, file.fidx) if f is not None]
    assert len(opened) == 1 + (flag == "w")
    calls: list[str] = []
    sys.setprofile(
        lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" else None
    )
    del file
    sys.setprofile(None)
    assert calls == []
    assert all(f.closed for f in opened)
