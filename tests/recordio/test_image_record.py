"""Headers, labels and images in records."""

import json
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileFormatError,
    OperatorError,
)
from gluonish.recordio import (
    IRHeader,
    MXIndexedRecordIO,
    RecordFile,
    pack,
    pack_img,
    read_header,
    unpack,
    unpack_img,
)
from gluonish.recordio.framing import frame

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text("utf-8"))["images.rec"]["records"]
IMAGES = dict(np.load(GOLDEN / "images.npz"))


@pytest.fixture(params=["opencv", "pillow"])
def codec(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "opencv":
        pytest.importorskip("cv2")
    else:
        monkeypatch.setitem(sys.modules, "cv2", None)
    found: str = request.param
    return found


def stored(key: int) -> bytes:
    file = MXIndexedRecordIO(str(GOLDEN / "images.idx"), str(GOLDEN / "images.rec"), "r")
    record = file.read_idx(key)
    file.close()
    return record


@pytest.mark.usefixtures("codec")
@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected["format"])
def test_image_records_of_mxnet_are_read(expected: dict[str, Any]) -> None:
    key = expected["key"]
    header, color = unpack_img(stored(key), 1)
    assert header.id == expected["id"]
    assert np.array_equal(header.label, expected["label"])
    levels = 3 if expected["format"] == "jpg" else 0
    off = np.abs(color[..., ::-1].astype(int) - IMAGES[f"rgb{key}"])
    assert off.max() <= levels
    gray = unpack_img(stored(key), 0)[1]
    assert gray.ndim == 2
    assert np.abs(gray.astype(int) - IMAGES[f"gray{key}"].squeeze()).max() <= max(levels, 1)
    as_stored = unpack_img(stored(key))[1]
    assert as_stored.ndim == (2 if expected["mode"] == "L" else 3)


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected["format"])
def test_packing_again_gives_the_same_bytes(expected: dict[str, Any]) -> None:
    header, content = unpack(stored(expected["key"]))
    assert pack(header, content) == stored(expected["key"])
    assert len(content) == expected["bytes"]


@pytest.mark.parametrize(
    ("label", "flag", "labels"),
    [
        (3, 0, b""),
        (3.5, 0, b""),
        (True, 0, b""),
        (np.float32(3.5), 0, b""),
        (np.int64(3), 0, b""),
        ([1, 2.5], 2, struct.pack("<2f", 1, 2.5)),
        ((1,), 1, struct.pack("<f", 1)),
        (np.array(2.0), 1, struct.pack("<f", 2)),
        (np.ones((2, 2)), 4, struct.pack("<4f", 1, 1, 1, 1)),
        ([], 0, b""),
    ],
)
def test_the_flag_says_how_many_labels_there_are(label: Any, flag: int, labels: bytes) -> None:
    number = 0 if flag or isinstance(label, list) else float(label)
    want = struct.pack("<IfQQ", flag, number, 4, 5) + labels + b"xy"
    assert pack(IRHeader(9, label, 4, 5), b"xy") == want


def test_a_tuple_serves_as_header() -> None:
    assert unpack(pack((0, 3, 4, 5), b"xy")) == (IRHeader(0, 3.0, 4, 5), b"xy")


def test_labels_come_back_as_an_array_to_write() -> None:
    header, rest = unpack(pack(IRHeader(0, nd.array([1, 2]), 4, 0), b"xy"))
    assert header.label.dtype == np.float32
    assert header.label.tolist() == [1, 2]
    header.label[0] = 7
    assert (header.flag, rest) == (2, b"xy")


@pytest.mark.parametrize(
    "header",
    [
        (0, 1, 2**64, 0),
        (0, 1, -1, 0),
        (0, 1, 0.5, 0),
        (0, 1e50, 0, 0),
        (0, "cat", 0, 0),
    ],
)
def test_fields_out_of_range_are_refused(header: tuple[Any, ...]) -> None:
    with pytest.raises(ArgumentError, match="pack: expected"):
        pack(header, b"")


def test_records_that_are_too_short_are_told() -> None:
    with pytest.raises(FileFormatError, match="a header of 24 bytes, got a record of 3"):
        unpack(b"abc")
    with pytest.raises(FileFormatError, match="4 labels in 40 bytes, got a record of 28"):
        unpack(struct.pack("<IfQQ", 4, 0, 0, 0) + b"abcd")


@pytest.mark.usefixtures("codec")
@pytest.mark.parametrize("shape", [(7, 5), (7, 5, 3), (7, 5, 4), (7, 5, 1)])
def test_png_keeps_every_pixel(shape: tuple[int, ...]) -> None:
    image = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    header, found = unpack_img(pack_img((0, 1, 2, 3), image, 9, ".png"))
    assert header == IRHeader(0, 1.0, 2, 3)
    assert (found == image.reshape(found.shape)).all()


@pytest.mark.usefixtures("codec")
def test_png_keeps_16_bits() -> None:
    image = np.arange(12, dtype=np.uint16).reshape(3, 4) * 5000
    record = pack_img((0, 1, 2, 3), image, 3, ".png")
    assert (unpack_img(record)[1] == image).all()
    assert (unpack_img(record, 0)[1] == image >> 8).all()
    assert unpack_img(record, 1)[1].shape == (3, 4, 3)


@pytest.mark.usefixtures("codec")
@pytest.mark.parametrize("extension", [".jpg", ".JPEG", ".jpeg"])
def test_jpeg_obeys_its_quality(extension: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (32, 32, 3)).astype(np.uint8)
    sizes = [len(pack_img((0, 1, 2, 3), noise, quality, extension)) for quality in (10, 50, 95)]
    assert sizes[0] < sizes[1] < sizes[2]


@pytest.mark.usefixtures("codec")
def test_floating_point_images_are_rounded() -> None:
    image = np.array([[-3.0, 0.4, 0.6, 254.7, 999.0]])
    found = unpack_img(pack_img((0, 1, 2, 3), image, 9, ".png"))[1]
    assert found.tolist() == [[0, 0, 1, 255, 255]]


@pytest.mark.usefixtures("codec")
@pytest.mark.parametrize("extension", ["jpg", ".xyz", ""])
def test_an_unknown_format_is_told(extension: str) -> None:
    with pytest.raises(OperatorError, match=r"pack_img: expected an image and a format"):
        pack_img((0, 1, 2, 3), np.zeros((3, 3), np.uint8), 9, extension)


@pytest.mark.usefixtures("codec")
@pytest.mark.parametrize("content", [b"", b"no image"])
def test_what_is_no_image_is_told(content: bytes) -> None:
    with pytest.raises(OperatorError, match="unpack_img: expected the bytes of an image"):
        unpack_img(pack((0, 1, 2, 3), content))


def test_an_ndarray_is_refused_for_its_order_of_colors() -> None:
    with pytest.raises(ArgumentTypeError, match="blue, green, red, got NDArray"):
        pack_img((0, 1, 2, 3), nd.zeros((3, 3, 3)))  # type: ignore[arg-type]


@pytest.mark.usefixtures("codec")
def test_an_image_that_would_fill_the_memory_is_refused() -> None:
    content = bytearray(unpack(pack_img((0, 1, 2, 3), np.zeros((3, 3), np.uint8), 9, ".png"))[1])
    content[16:24] = struct.pack(">II", 60_000, 60_000)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    with pytest.raises(OperatorError, match="unpack_img: expected the bytes of an image"):
        unpack_img(pack((0, 1, 2, 3), bytes(content)))


@pytest.mark.parametrize("labels", [None, 1, 3, 1018, 1019, 5000])
def test_the_header_is_read_without_the_image(tmp_path: Path, labels: int | None) -> None:
    label: Any = 7.0 if labels is None else np.arange(labels, dtype=np.float32)
    records = [pack((0, label, number, 9), bytes(nbytes)) for number, nbytes in [(4, 0), (5, 9000)]]
    (tmp_path / "a.rec").write_bytes(b"".join(map(frame, records)))
    with RecordFile(tmp_path / "a.rec") as file:
        for offset, record in zip(file.scan().offsets.tolist(), records, strict=True):
            found, wanted = read_header(file, offset), unpack(record)[0]
            assert found._replace(label=0) == wanted._replace(label=0)
            np.testing.assert_array_equal(found.label, wanted.label)


def test_a_record_too_short_for_its_labels_has_no_header(tmp_path: Path) -> None:
    for name, labels in ("few", 2), ("many", 5000):
        record = pack((0, np.zeros(labels), 0, 0), b"")[:-1]
        (tmp_path / name).write_bytes(frame(record))
        with RecordFile(tmp_path / name) as file, pytest.raises(FileFormatError, match=str(labels)):
            read_header(file, 0)
