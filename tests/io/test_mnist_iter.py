import gzip
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, FileFormatError, MissingFileError
from gluonish.io import MNISTIter


def idx(values: np.ndarray[Any, Any]) -> bytes:
    head = struct.pack(f">4B{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
    return head + values.astype(np.uint8).tobytes()


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    images = np.arange(10).reshape(10, 1, 1) * np.ones((1, 2, 2))
    (tmp_path / "images").write_bytes(idx(images))
    (tmp_path / "labels").write_bytes(gzip.compress(idx(np.arange(10))))
    return {"image": str(tmp_path / "images"), "label": str(tmp_path / "labels")}


def labels(data_iter: MNISTIter) -> list[int]:
    found = [int(y) for batch in data_iter for y in batch.label[0].asnumpy()]
    data_iter.reset()
    return found


def test_order_follows_from_the_seed_and_is_that_of_every_pass(files: dict[str, str]) -> None:
    made = MNISTIter(**files, batch_size=5, seed=1)
    first = labels(made)
    assert sorted(first) == list(range(10))
    assert first != list(range(10))
    assert labels(made) == first == labels(MNISTIter(**files, batch_size=5, seed=1))
    assert labels(MNISTIter(**files, batch_size=5, seed=2)) != first


def test_numbers_of_samples_tell_which_they_are(files: dict[str, str]) -> None:
    for batch in MNISTIter(**files, batch_size=3, num_parts=2, part_index=1):
        assert batch.index.tolist() == batch.label[0].asnumpy().tolist()
        pixels = batch.data[0].asnumpy()
        assert pixels.shape == (3, 1, 2, 2)
        assert (pixels == batch.index.reshape(3, 1, 1, 1) / 256).all()


def test_samples_that_fill_no_batch_are_left_out(files: dict[str, str]) -> None:
    assert len(labels(MNISTIter(**files, batch_size=4, shuffle=False))) == 8


def test_other_floating_dtypes(files: dict[str, str]) -> None:
    batch = MNISTIter(**files, batch_size=2, dtype="float16").next()
    assert (batch.data[0].dtype, batch.label[0].dtype) == (np.float16, np.float16)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dtype": "uint8"}, "expected a floating dtype"),
        ({"batch_size": 11}, "expected at least batch_size 11 images"),
        ({"num_parts": 3, "part_index": 3}, "expected part_index in"),
    ],
)
def test_wrong_argument_is_refused(
    given: dict[str, Any], message: str, files: dict[str, str]
) -> None:
    with pytest.raises(ArgumentError, match=f"MNISTIter: {message}"):
        MNISTIter(**files, **given)


def test_missing_file_is_refused(files: dict[str, str]) -> None:
    with pytest.raises(MissingFileError, match="MNISTIter"):
        MNISTIter(**(files | {"label": files["label"] + ".none"}))


HUGE = struct.pack(">4B3I", 0, 0, 8, 3, 60_000, 30_000, 30_000)
CONTENTS = {
    "empty": (b"", "begin with 00 00 08 03"),
    "labels": (idx(np.arange(10)), "begin with 00 00 08 03"),
    "head alone": (b"\0\0\x08\x03\0\0", "begin with 00 00 08 03"),
    "floats": (b"\0\0\x0d" + idx(np.zeros((10, 2, 2)))[3:], "begin with 00 00 08 03"),
    "cut": (idx(np.zeros((10, 2, 2)))[:-9], r"to hold \(10, 2, 2\) values"),
    "long": (idx(np.zeros((10, 2, 2))) + b"1", "got 41"),
    "huge": (HUGE + bytes(100), "to hold 54000000000000 bytes"),
    "packed and huge": (gzip.compress(HUGE + bytes(100)), "to hold 54000000000000 bytes"),
    "packed and cut": (gzip.compress(idx(np.zeros((10, 20, 20))))[:-12], "a complete gzip file"),
    "packed and broken": (b"\x1f\x8b\x08" + bytes(40), "a complete gzip file|begin with"),
    "nine images": (idx(np.zeros((9, 2, 2))), "as many labels as images"),
}


@pytest.mark.parametrize("name", list(CONTENTS))
def test_wrong_file_is_refused_without_memory_for_it(name: str, files: dict[str, str]) -> None:
    content, message = CONTENTS[name]
    Path(files["image"]).write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match=message) as caught:
            MNISTIter(**files, batch_size=2)
        assert tracemalloc.get_traced_memory()[1] < 1 << 21
    finally:
        tracemalloc.stop()
    assert files["image"] in str(caught.value)
