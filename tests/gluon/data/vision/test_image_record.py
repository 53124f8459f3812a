"""Records of images that are read at once, and those that are not as usual."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import FileFormatError, OutOfBoundsError
from gluonish.gluon.data.vision import ImageRecordDataset
from gluonish.recordio import IRHeader, MXIndexedRecordIO, pack, pack_img
from gluonish.recordio.framing import MAGIC_BYTES


def write(folder: Path, images: list[Any], extra: list[bytes] | None = None) -> str:
    path = folder / "images.rec"
    file = MXIndexedRecordIO(str(path.with_suffix(".idx")), str(path), "w")
    for i, image in enumerate(images):
        file.write_idx(i, pack_img(IRHeader(0, float(i), i, 0), image, 3, ".png"))
    for i, record in enumerate(extra or [], len(images)):
        file.write_idx(i, record)
    file.close()
    return str(path)


def images_of_sizes(*sizes: int) -> list[Any]:
    numbers = np.random.default_rng(0)
    return [numbers.integers(0, 256, (size, size + 3, 3)).astype(np.uint8) for size in sizes]


def test_records_shorter_and_longer_than_those_before_are_read(tmp_path: Path) -> None:
    images = images_of_sizes(9, 30, 4, 60, 61, 5)
    dataset = ImageRecordDataset(write(tmp_path, images))
    for _ in range(2):
        for i, (found, label) in enumerate(dataset[i] for i in range(len(images))):
            np.testing.assert_array_equal(found.asnumpy(), images[i][..., ::-1])
            assert label == i
    np.testing.assert_array_equal(dataset[-1][0].asnumpy(), images[-1][..., ::-1])


def test_a_record_of_several_parts_is_read(tmp_path: Path) -> None:
    images = images_of_sizes(30, 9)
    stored = pack_img((0, 5.0, 0, 0), images[1], 3, ".png")[24:]
    # Behind its end a PNG may have anything; at a multiple of 4 the mark cuts the record.
    record = pack(IRHeader(0, 5.0, 0, 0), stored + bytes(-len(stored) % 4) + MAGIC_BYTES + b"end")
    dataset = ImageRecordDataset(write(tmp_path, images, [record]))
    dataset[0]
    found, label = dataset[2]
    assert label == 5
    np.testing.assert_array_equal(found.asnumpy(), images[1][..., ::-1])


def test_an_index_outside_is_refused(tmp_path: Path) -> None:
    dataset = ImageRecordDataset(write(tmp_path, images_of_sizes(9, 9)))
    dataset[0]
    for idx in (2, -3):
        with pytest.raises(OutOfBoundsError, match="expected an index below 2"):
            dataset[idx]


def test_a_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, images_of_sizes(300, 300))
    dataset = ImageRecordDataset(path)
    dataset[0]
    Path(path).write_bytes(Path(path).read_bytes()[:-40])
    with pytest.raises(FileFormatError, match="at byte"):
        dataset[1]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (pack(IRHeader(0, 1.0, 0, 0), b"no image"), "expected the bytes of an image"),
        (b"too short", "header"),
    ],
    ids=["image", "header"],
)
def test_a_broken_record_is_named(tmp_path: Path, record: bytes, message: str) -> None:
    path = write(tmp_path, images_of_sizes(9), [record])
    dataset = ImageRecordDataset(path)
    dataset[0]
    with pytest.raises(
        ValueError, match=rf"{message}.*, in record 1 at byte \d\d+ of .*images\.rec"
    ):
        dataset[1]
    dataset[0]
