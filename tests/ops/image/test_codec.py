"""Images from and to bytes, by both decoders."""

import io
import sys
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gluonish.core.errors import OperatorError
from gluonish.ops.image.codec import AS_STORED, COLOR, GRAY, decode, encode

RNG = np.random.default_rng(2)


@pytest.fixture(params=["opencv", "pillow"], autouse=True)
def codec(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "opencv":
        pytest.importorskip("cv2")
    else:
        monkeypatch.setitem(sys.modules, "cv2", None)


def stored(picture: Image.Image, kind: str = "PNG", **options: Any) -> Any:
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return np.frombuffer(file.getvalue(), np.uint8)


def pixels(*shape: int) -> Any:
    return RNG.integers(0, 256, shape).astype(np.uint8)


def test_channels_are_blue_green_red() -> None:
    image = pixels(5, 4, 3)
    assert (decode("x", stored(Image.fromarray(image)), COLOR) == image[..., ::-1]).all()


def test_alpha_is_kept_only_as_stored() -> None:
    image = pixels(5, 4, 4)
    buffer = stored(Image.fromarray(image))
    assert (decode("x", buffer, AS_STORED) == image[..., [2, 1, 0, 3]]).all()
    assert (decode("x", buffer, COLOR) == image[..., 2::-1]).all()


def test_one_channel_becomes_three_equal_ones() -> None:
    image = pixels(5, 4)
    buffer = stored(Image.fromarray(image))
    assert (decode("x", buffer, AS_STORED) == image).all()
    assert (decode("x", buffer, GRAY) == image).all()
    assert (decode("x", buffer, COLOR) == image[..., None]).all()


def test_palettes_are_resolved() -> None:
    image = np.repeat(np.repeat(pixels(2, 2, 3), 3, 0), 3, 1)
    paletted = Image.fromarray(image).quantize(4, dither=Image.Dither.NONE)
    want = np.asarray(paletted.convert("RGB"))[..., ::-1]
    assert (decode("x", stored(paletted), COLOR) == want).all()


def test_gray_of_colors_weighs_them() -> None:
    image = pixels(9, 7, 3)
    want = image @ np.array([0.299, 0.587, 0.114])
    found = decode("x", stored(Image.fromarray(image)), GRAY)
    assert found.shape == (9, 7)
    assert np.abs(found - want).max() <= 1.1


@pytest.mark.parametrize("turn", [3, 6, 8])
def test_images_stand_the_way_the_camera_noted(turn: int) -> None:
    image = np.zeros((16, 24, 3), np.uint8)
    image[:8, :8] = 255
    notes = Image.Exif()
    notes[0x0112] = turn
    buffer = stored(Image.fromarray(image), "JPEG", exif=notes, quality=95)
    found = decode("x", buffer, GRAY) > 128
    want = np.rot90(image[..., 0] > 128, {3: 2, 6: 3, 8: 1}[turn])
    assert found.shape == want.shape
    assert (found == want).mean() > 0.98


def test_damaged_bytes_are_told() -> None:
    buffer = stored(Image.fromarray(pixels(5, 4, 3)))
    with pytest.raises(OperatorError, match=r"name: expected the bytes of an image, got 20 that"):
        decode("name", buffer[:20], COLOR)


@pytest.mark.parametrize("extension", [".png", ".bmp", ".tiff"])
def test_lossless_formats_keep_every_pixel(extension: str) -> None:
    image = pixels(6, 5, 3)
    buffer = np.frombuffer(encode("x", image, extension, 3), np.uint8)
    assert (decode("x", buffer, COLOR) == image).all()


def test_an_image_of_two_channels_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"got uint8\(4, 4, 2\) and '.jpg'"):
        encode("x", pixels(4, 4, 2), ".jpg", 90)
