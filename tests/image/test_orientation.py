"""EXIF orientation: images are turned upright, but where boxes of the stored image go with them."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import gluonish as mx
from gluonish.ops.image import codec

ORIENTATIONS = range(1, 9)
# How the stored pixels come upright, by the EXIF standard.
UPRIGHT = {
    1: lambda x: x,
    2: lambda x: x[:, ::-1],
    3: lambda x: x[::-1, ::-1],
    4: lambda x: x[::-1],
    5: lambda x: x.transpose(1, 0, 2),
    6: lambda x: np.rot90(x, -1),
    7: lambda x: x[::-1, ::-1].transpose(1, 0, 2),
    8: lambda x: np.rot90(x, 1),
}
STORED = np.zeros((8, 16, 3), np.uint8)
STORED[:4, :8] = (250, 0, 0)  # what the box is around
STORED[4:, :8] = (0, 0, 250)
BOX = [1.0, 0.0, 0.0, 0.5, 0.5]


@pytest.fixture(params=["OpenCV", "Pillow"])
def decoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "OpenCV":
        pytest.importorskip("cv2")
    else:
        monkeypatch.setattr(codec, "open_cv", lambda: None)
    return str(request.param)


def stored(orientation: int) -> bytes:
    """Return the bytes of a JPEG file."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = io.BytesIO()
    Image.fromarray(STORED).save(file, "JPEG", quality=98, subsampling=0, exif=exif)
    return file.getvalue()


def check(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found, float), expected, atol=12)


def records(folder: Path, label: Any) -> str:
    """Write a record file with an image of each orientation, and return its path."""
    path = str(folder / "images.rec")
    writer = mx.recordio.MXIndexedRecordIO(str(folder / "images.idx"), path, "w")
    for i in ORIENTATIONS:
        writer.write_idx(i, mx.recordio.pack(mx.recordio.IRHeader(0, label, i, 0), stored(i)))
    writer.close()
    return path


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_image_is_upright(orientation: int, decoder: str, tmp_path: Path) -> None:
    expected = UPRIGHT[orientation](STORED)
    check(mx.image.imdecode(stored(orientation)).asnumpy(), expected)
    check(mx.image.imdecode(stored(orientation), to_rgb=False).asnumpy(), expected[..., ::-1])
    gray = mx.image.imdecode(stored(orientation), flag=0).asnumpy()
    check(gray[..., 0], expected @ [0.299, 0.587, 0.114])
    (tmp_path / "image.jpg").write_bytes(stored(orientation))
    check(mx.image.imread(str(tmp_path / "image.jpg")).asnumpy(), expected)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_what_is_asked_for_as_stored_is_not_turned(orientation: int, decoder: str) -> None:
    record = mx.recordio.pack(mx.recordio.IRHeader(0, 1.0, 1, 0), stored(orientation))
    check(mx.recordio.unpack_img(record, -1)[1][..., ::-1], STORED)
    raw = np.frombuffer(stored(orientation), np.uint8)
    for flag in (codec.COLOR, codec.GRAY):
        assert codec.decode("test", raw, flag, upright=False).shape[:2] == STORED.shape[:2]


def test_boxes_of_image_det_iter_fit_their_images(decoder: str, tmp_path: Path) -> None:
    path = records(tmp_path, [2, 5, *BOX])
    for i in (0, 1):  # of a record file, and of single files
        source: dict[str, Any] = {"path_imgrec": path}
        if i:
            for k in ORIENTATIONS:
                (tmp_path / f"{k}.jpg").write_bytes(stored(k))
            source = {"imglist": [[[2, 5, *BOX], f"{k}.jpg"] for k in ORIENTATIONS]}
            source["path_root"] = str(tmp_path)
        iterator = mx.image.ImageDetIter(8, (3, 8, 16), aug_list=[], **source)
        batch = next(iterator)
        for image, label in zip(batch.data[0].asnumpy(), batch.label[0].asnumpy(), strict=True):
            np.testing.assert_array_equal(label, [BOX])
            check(image.transpose(1, 2, 0), STORED)


def test_boxes_of_image_det_record_iter_fit_their_images(decoder: str, tmp_path: Path) -> None:
    path = records(tmp_path, [2, 5, *BOX])
    iterator = mx.io.ImageDetRecordIter(path_imgrec=path, data_shape=(3, 8, 16), batch_size=8)
    batch = iterator.next()
    for image, label in zip(batch.data[0].asnumpy(), batch.label[0].asnumpy(), strict=True):
        np.testing.assert_array_equal(label[-5:], BOX)
        check(image.transpose(1, 2, 0), STORED)


def test_images_without_boxes_are_upright_in_iterators(decoder: str, tmp_path: Path) -> None:
    path = records(tmp_path, 1.0)
    whole = mx.io.ImageRecordIter(path_imgrec=path, data_shape=(3, 8, 8), batch_size=8).next()
    resize = [mx.image.ForceResizeAug((8, 8))]
    single = next(mx.image.ImageIter(8, (3, 8, 8), path_imgrec=path, aug_list=resize))
    dataset = mx.gluon.data.vision.ImageRecordDataset(path)
    for place, orientation in enumerate(ORIENTATIONS):
        expected = UPRIGHT[orientation](STORED)
        check(dataset[place][0].asnumpy(), expected)
        # The corners tell how it lies; ImageRecordIter cuts the middle out.
        corner = single.data[0][place].asnumpy()[:, 0, 0]
        check(corner, expected[0, 0])
        center = (expected.shape[0] - 8) // 2, (expected.shape[1] - 8) // 2
        check(whole.data[0][place].asnumpy()[:, 0, 0], expected[center])
