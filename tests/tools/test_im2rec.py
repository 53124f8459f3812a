"""Lists and record files of im2rec: those of MXNet's tool, and what is better here."""

import argparse
import base64
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, GluonishError, MissingFileError
from gluonish.recordio import MXIndexedRecordIO, scan, unpack, unpack_img
from gluonish.tools import im2rec
from gluonish.tools.im2rec import Packing, make_lists, make_records, records

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "im2rec.json").read_text("utf-8"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "empty").mkdir(parents=True)
    for name, content in GOLDEN["files"].items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(base64.b64decode(content))
    return folder


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    im2rec.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["im2rec", *words])
    status: int = arguments.run(arguments)
    return status


def listed(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x.lst"
    path.write_text(text, encoding="utf-8")
    return path


def opened(rec: Path) -> MXIndexedRecordIO:
    return MXIndexedRecordIO(str(rec.with_suffix(".idx")), str(rec), "r")


@pytest.mark.parametrize("case", GOLDEN["lists"])
def test_lists_are_those_of_mxnet_byte_for_byte(case: str, root: Path, tmp_path: Path) -> None:
    want = GOLDEN["lists"][case]
    (tmp_path / "out").mkdir()
    assert run(str(tmp_path / "out" / "x"), str(root), "--list", *want["options"].split()) == 0
    found = {path.name: path.read_text("utf-8") for path in (tmp_path / "out").iterdir()}
    assert found == want["files"]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("case", GOLDEN["records"])
def test_record_files_are_those_of_mxnet(
    case: str, threads: int, root: Path, tmp_path: Path
) -> None:
    pytest.importorskip("cv2")
    want = GOLDEN["records"][case]
    listed(tmp_path, GOLDEN["list"])
    options = [*want["options"].split(), "--num-thread", str(threads)]
    assert run(str(tmp_path / "x"), str(root), *options) == 0
    made = (tmp_path / "x.rec").read_bytes()
    stored = base64.b64decode(want["rec"])
    if "pass-through" in want["options"]:
        assert made == stored
        assert (tmp_path / "x.idx").read_text("utf-8") == want["idx"]
    (tmp_path / "mx.rec").write_bytes(stored)
    (tmp_path / "mx.idx").write_text(want["idx"], encoding="utf-8")
    ours, theirs = opened(tmp_path / "x.rec"), opened(tmp_path / "mx.rec")
    assert ours.keys == theirs.keys
    exact = "pass-through" in want["options"] or ".png" in want["options"]
    for key in theirs.keys:
        (header, image), (want_header, want_image) = (
            unpack_img(file.read_idx(key)) for file in (ours, theirs)
        )
        assert np.array_equal(header.label, want_header.label)
        assert (header.flag, header.id, header.id2) == (want_header.flag, want_header.id, 0)
        assert image.shape == want_image.shape
        assert image.dtype == want_image.dtype
        # Another libjpeg may round otherwise.
        off = np.abs(image.astype(int) - want_image).max()
        assert off <= (0 if exact else 4)
    ours.close()
    theirs.close()


def test_without_opencv_pixels_differ_by_rounding_only(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    text = "".join(f"{i}\t0\tb/{i}.png\n" for i in range(3))
    packing = Packing(resize=9, encoding=".png", quality=1)
    assert make_records(listed(tmp_path, text), root, packing).records == 3
    stored = base64.b64decode(GOLDEN["records"]["resized"]["rec"])
    (tmp_path / "mx.rec").write_bytes(stored)
    (tmp_path / "mx.idx").write_text(GOLDEN["records"]["resized"]["idx"], encoding="utf-8")
    places = {line.split("\t")[-1]: line.split("\t")[0] for line in GOLDEN["list"].splitlines()}
    ours, theirs = opened(tmp_path / "x.rec"), opened(tmp_path / "mx.rec")
    for i in range(3):
        image = unpack_img(ours.read_idx(i))[1]
        want = unpack_img(theirs.read_idx(int(places[f"b/{i}.png"])))[1]
        assert np.abs(image.astype(int) - want).max() <= 1
    ours.close()
    theirs.close()


def test_16_bits_survive_resizing(tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    image = np.full((8, 6), 40000, np.uint16)
    (tmp_path / "deep.png").write_bytes(bytes(cv2.imencode(".png", image)[1]))
    packing = Packing(resize=3, color=-1, encoding=".png")
    made = make_records(listed(tmp_path, "0\t1\tdeep.png\n"), tmp_path, packing)
    file = opened(made.path)
    found = unpack_img(file.read_idx(0))[1]
    file.close()
    assert found.dtype == np.uint16
    assert (found.shape, found.min(), found.max()) == ((4, 3), 40000, 40000)


BROKEN = (
    "0\t1\ttop.jpg\n"
    "two\tcolumns\n"
    "\n"
    "x\t1\ttop.jpg\n"
    "1\tx\ttop.jpg\n"
    "2\t1\tnone.jpg\n"
    "3\t1\tc d/note.txt\n"
    "-4\t1\ttop.jpg\n"
    "5\t1\tempty\n"
    "6\t1\ttop2.png\n"
)


@pytest.mark.parametrize("threads", ["0", "1", "4"])
def test_what_cannot_be_read_is_told_and_left_out(
    threads: str, root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    listed(tmp_path, BROKEN)
    assert run(str(tmp_path / "x"), str(root), "--num-thread", threads) == 1
    file = opened(tmp_path / "x.rec")
    assert file.keys == [0, 6]
    file.close()
    out, err = capfd.readouterr()
    assert "x.rec: 2 records, 7 left out" in out
    lines = [line for line in err.splitlines() if "im2rec:" in line and "expected" in line]
    for line, part in zip(
        lines,
        ("line 2 of", "line 4 of", "line 5 of", "none.jpg", "note.txt", "id=-4", "empty"),
        strict=True,
    ):
        assert part in line


def test_all_lists_of_a_prefix_are_packed(root: Path, tmp_path: Path) -> None:
    for name in ("x.lst", "x_val.lst", "y.lst"):
        (tmp_path / name).write_text("0\t1\ttop.jpg\n", encoding="utf-8")
    run(str(tmp_path / "x"), str(root), "--pass-through")
    assert sorted(path.name for path in tmp_path.glob("*.rec")) == ["x.rec", "x_val.rec"]
    run(str(tmp_path), str(root), "--pass-through")
    assert (tmp_path / "y.rec").exists()


def test_an_error_in_writing_leaves_the_former_files(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = listed(tmp_path, "0\t1\ttop.jpg\n1\t1\ttop2.png\n")
    make_records(path, root, Packing(pass_through=True))
    before = (tmp_path / "x.rec").read_bytes(), (tmp_path / "x.idx").read_bytes()
    calls: Any = []

    def full(*_: Any) -> bytes:
        if calls:
            raise MemoryError("full")
        calls.append(1)
        return b"new"

    monkeypatch.setattr(records, "pack_entry", full)
    with pytest.raises(MemoryError):
        make_records(path, root)
    assert ((tmp_path / "x.rec").read_bytes(), (tmp_path / "x.idx").read_bytes()) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["root", "x.idx", "x.lst", "x.rec"]


@pytest.mark.parametrize("failing", ["x.rec", "x.idx"])
def test_an_index_never_lies_beside_records_of_others(
    failing: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = listed(tmp_path, "0\t1\ttop.jpg\n1\t1\ttop2.png\n")
    make_records(path, root, Packing(pass_through=True))
    listed(tmp_path, "7\t1\ttop2.png\n8\t1\ttop.jpg\n")
    replace = Path.replace

    def refused(self: Path, target: Path) -> Path:
        if Path(target).name == failing:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(OSError, match="No space left"):
        make_records(path, root, Packing(pass_through=True))
    assert not (tmp_path / "x.idx").exists()
    assert len(scan(tmp_path / "x.rec").offsets) == 2


def test_threads_work_ahead_and_keep_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = threading.Event()

    def slow_first(entry: Any, *_: Any) -> bytes:
        if entry.number == 0:
            assert later.wait(30)  # set by the third image: two threads are at work
        elif entry.number == 2:
            later.set()
        return bytes([entry.number])

    monkeypatch.setattr(records, "pack_entry", slow_first)
    path = listed(tmp_path, "".join(f"{i}\t0\tx\n" for i in range(50)))
    make_records(path, tmp_path, num_thread=2)
    file = opened(tmp_path / "x.rec")
    assert [file.read_idx(i) for i in range(50)] == [bytes([i]) for i in range(50)]
    file.close()


def test_images_on_no_list_are_told(root: Path, tmp_path: Path) -> None:
    notes: list[str] = []
    make_lists(tmp_path / "x", root / "a", train_ratio=0.5, test_ratio=0.5, note=notes.append)
    assert notes == ["im2rec: 1 of 3 images are on no list, because sizes are rounded down"]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="this system has no links")
def test_a_link_to_a_folder_is_followed_and_a_circle_is_not(root: Path, tmp_path: Path) -> None:
    (root / "link").symlink_to(root / "a")
    (root / "a" / "circle").symlink_to(root)
    make_lists(tmp_path / "x", root, recursive=True, note=lambda _: None)
    paths = [line.split("\t")[-1] for line in (tmp_path / "x.lst").read_text().splitlines()]
    assert "link/0.jpg" in paths
    assert not [path for path in paths if "circle" in path]


def test_a_name_that_a_list_cannot_hold_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a\tb.jpg").write_bytes(b"")
    notes: list[str] = []
    make_lists(tmp_path / "x", tmp_path / "root", note=notes.append)
    assert (tmp_path / "x.lst").read_text() == ""
    assert "left out 'a\\tb.jpg'" in notes[0]


@pytest.mark.parametrize(
    "options",
    [
        {"chunks": 0},
        {"train_ratio": 1.5},
        {"train_ratio": -0.1},
        {"train_ratio": float("nan")},
        {"train_ratio": 0.8, "test_ratio": 0.3},
    ],
    ids=["chunks", "above", "below", "nan", "together"],
)
def test_parts_out_of_range_are_refused(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="im2rec: expected"):
        make_lists(tmp_path / "x", tmp_path, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "packing",
    [Packing(resize=-1), Packing(quality=101), Packing(color=2), Packing(encoding=".bmp")],
    ids=["resize", "quality", "color", "encoding"],
)
def test_packing_out_of_range_is_refused(packing: Packing, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="im2rec: expected"):
        make_records(listed(tmp_path, ""), tmp_path, packing)


def test_missing_folders_and_lists_are_told(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="expected a folder of images"):
        run(str(tmp_path / "x"), str(tmp_path / "none"), "--list")
    with pytest.raises(GluonishError, match=r"expected lists .*x\*\.lst, got none"):
        run(str(tmp_path / "x"), str(tmp_path))


def test_labels_behind_the_first_need_pack_label(root: Path, tmp_path: Path) -> None:
    path = listed(tmp_path, "3\t1.5\t2\t3\ttop.jpg\n")
    labels = []
    for pack_label in (False, True):
        made = make_records(path, root, Packing(pass_through=True, pack_label=pack_label))
        file = opened(made.path)
        labels.append(np.asarray(unpack(file.read_idx(3))[0].label).tolist())
        file.close()
    assert labels == [1.5, [1.5, 2, 3]]
