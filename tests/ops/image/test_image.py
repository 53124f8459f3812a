"""Facts of image operators beyond the golden cases."""

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import OperatorError

PIXELS = np.random.default_rng(0).integers(0, 256, (6, 8, 3)).astype(np.uint8)


def image(dtype: str = "uint8") -> nd.NDArray:
    return nd.array(PIXELS, dtype=dtype)


def decoded(buffer: Any, flag: int) -> Any:
    """Stand in for OpenCV: the bytes are the image itself, in blue, green, red."""
    if buffer[0] != 7:
        return None
    found = PIXELS[..., ::-1]
    return found if flag else found[..., 0]


@pytest.fixture
def opencv(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = types.ModuleType("cv2")
    fake.imdecode = decoded  # type: ignore[attr-defined]
    fake.error = ValueError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cv2", fake)


@pytest.mark.parametrize("word", ["brightness", "contrast", "saturation", "hue"])
def test_random_changes_depend_on_the_seed_alone(word: str) -> None:
    found = []
    for seed in (1, 1, 2):
        mx.random.seed(seed)
        operator = getattr(nd.image, f"random_{word}")
        found.append(operator(image("float32"), min_factor=0.2, max_factor=1.8).asnumpy())
    assert (found[0] == found[1]).all()
    assert (found[0] != found[2]).any()


def test_random_flips_happen_about_half_of_the_time() -> None:
    mx.random.seed(3)
    x = image()
    flipped = sum(
        bool((nd.image.random_flip_left_right(x).asnumpy() != PIXELS).any()) for _ in range(100)
    )
    assert 25 < flipped < 75


def test_a_full_turn_of_the_hues_is_no_change() -> None:
    x = image("float32")
    turned = nd.image.random_hue(x, min_factor=1, max_factor=1)
    np.testing.assert_allclose(turned.asnumpy(), PIXELS, atol=1e-3)


def test_jitter_without_amounts_is_no_change() -> None:
    x = nd.image.random_color_jitter(image(), brightness=0, contrast=0, saturation=0, hue=0)
    assert (x.asnumpy() == PIXELS).all()


def test_resizing_to_the_same_size_is_no_change() -> None:
    assert (nd.image.resize(image(), size=(8, 6)).asnumpy() == PIXELS).all()
    assert (nd.image.resize(image(), size=(8, 6), interp=0).asnumpy() == PIXELS).all()


@pytest.mark.usefixtures("opencv")
def test_decoding_gives_red_first_unless_told_otherwise(tmp_path: Path) -> None:
    buffer = nd.array([7], dtype="uint8")
    assert (nd._cvimdecode(buffer).asnumpy() == PIXELS).all()  # type: ignore[attr-defined]
    assert (nd._cvimdecode(buffer, to_rgb=False).asnumpy() == PIXELS[..., ::-1]).all()  # type: ignore[attr-defined]
    assert nd._cvimdecode(buffer, flag=0).shape == (6, 8, 1)  # type: ignore[attr-defined]
    path = tmp_path / "image.png"
    path.write_bytes(b"\x07")
    assert (nd._cvimread(filename=str(path)).asnumpy() == PIXELS).all()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("opencv")
def test_what_is_no_image_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="got 1 that OpenCV cannot decode"):
        nd._cvimdecode(nd.array([1], dtype="uint8")).asnumpy()  # type: ignore[attr-defined]
    with pytest.raises(OperatorError, match="expected an image file"):
        nd._cvimread(filename=str(tmp_path / "missing.png"))  # type: ignore[attr-defined]


def test_gradient_of_a_crop_is_zero_outside() -> None:
    x = image("float32")
    x.attach_grad()
    with mx.autograd.record():
        y = nd.image.crop(x, x=1, y=2, width=3, height=2)
    y.backward()
    assert x.grad is not None
    want = np.zeros(PIXELS.shape)
    want[2:4, 1:4] = 1
    assert (x.grad.asnumpy() == want).all()
