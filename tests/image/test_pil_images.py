"""Images of PIL where arrays are taken, and arrays where PIL takes NumPy's."""

from typing import Any

import numpy as np
import pytest
from PIL import Image

import gluonish as mx
from gluonish import gluon, nd
from gluonish.gluon.data.vision import transforms

PIXELS = np.random.default_rng(0).integers(0, 256, (12, 16, 3), dtype=np.uint8)


@pytest.fixture
def image() -> Any:
    return Image.fromarray(PIXELS)


CALLS: dict[str, Any] = {
    "imresize": lambda x: mx.image.imresize(x, 5, 4),
    "resize_short": lambda x: mx.image.resize_short(x, 6),
    "fixed_crop": lambda x: mx.image.fixed_crop(x, 1, 2, 5, 4),
    "center_crop": lambda x: mx.image.center_crop(x, (6, 6))[0],
    "copyMakeBorder": lambda x: mx.image.copyMakeBorder(x, 1, 1, 2, 2),
    "augmenter": lambda x: mx.image.ResizeAug(6)(x),
    "cast augmenter": lambda x: mx.image.CastAug()(x),
    "ToTensor": lambda x: transforms.ToTensor()(x),
    "Resize": lambda x: transforms.Resize((5, 4))(x),
    "CenterCrop": lambda x: transforms.CenterCrop(6)(x),
    "CropResize": lambda x: transforms.CropResize(1, 1, 6, 6)(x),
    "Cast": lambda x: transforms.Cast("float32")(x),
    "Compose": lambda x: transforms.Compose(
        [transforms.Resize(6), transforms.ToTensor(), transforms.Normalize(0.5, 0.25)]
    )(x),
    "empty Compose": lambda x: transforms.Compose([])(x),
    "HybridCompose": lambda x: transforms.HybridCompose(
        [transforms.Resize(6), transforms.ToTensor()]
    )(x),
    "RandomApply": lambda x: transforms.RandomApply(transforms.ToTensor(), p=1.0)(x),
}


@pytest.mark.parametrize("name", CALLS)
def test_image_of_pil_gives_what_its_pixels_give(name: str, image: Any) -> None:
    found, expected = CALLS[name](image), CALLS[name](nd.array(PIXELS, dtype="uint8"))
    assert isinstance(found, nd.NDArray)
    assert found.dtype == expected.dtype
    assert found.asnumpy().tolist() == expected.asnumpy().tolist()


def test_normalization_leaves_the_image(image: Any) -> None:
    found = mx.image.color_normalize(image, 128.0, 2.0)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.asnumpy(), (PIXELS - 128.0) / 2)
    assert np.array_equal(np.asarray(image), PIXELS)


@pytest.mark.parametrize(
    ("mode", "channels", "dtype"),
    [
        *(("L", 1, "uint8"), ("1", 1, "uint8"), ("P", 3, "uint8"), ("RGBA", 4, "uint8")),
        *(("CMYK", 3, "uint8"), ("LA", 2, "uint8"), ("I", 1, "int32"), ("F", 1, "float32")),
        ("I;16", 1, "int32"),
    ],
)
def test_modes(mode: str, channels: int, dtype: str, image: Any) -> None:
    given = image.convert("I").convert("I;16") if mode == "I;16" else image.convert(mode)
    found = mx.image.fixed_crop(given, 2, 1, 5, 4)
    assert found.shape == (4, 5, channels)
    assert found.dtype == np.dtype(dtype).type
    values = np.asarray(image.convert("L") if mode in ("L", "I", "F", "I;16") else given)
    if mode in ("L", "I", "F", "I;16", "RGBA", "LA"):
        expected = values.reshape(12, 16, channels)[1:5, 2:7]
        np.testing.assert_allclose(found.asnumpy(), expected, atol=1)


def test_arrays_become_images() -> None:
    x = nd.array(PIXELS, dtype="uint8")
    turned = x.transpose((1, 0, 2))
    for array, expected in (
        (x, PIXELS),
        (mx.np.array(PIXELS), PIXELS),
        (turned, PIXELS.transpose(1, 0, 2)),
        (x[2:9, 3:7], PIXELS[2:9, 3:7]),
        (x[:, :, 0], PIXELS[:, :, 0]),
    ):
        assert np.array_equal(np.asarray(Image.fromarray(array)), expected)
    gray = Image.fromarray(nd.array(PIXELS[:, :, 0]))
    assert gray.mode == "F"
    assert np.array_equal(np.asarray(gray), PIXELS[:, :, 0])
    with pytest.raises(TypeError, match="Cannot handle this data type"):
        Image.fromarray(nd.array(PIXELS))


def test_numpy_reads_a_copy() -> None:
    last = nd.array(PIXELS, dtype="uint8").transpose((2, 1, 0))
    assert np.asarray(last).tolist() == PIXELS.transpose(2, 1, 0).tolist()
    x = nd.array([1.0, 2.0])
    values = np.asarray(x)
    values[0] = 5
    assert x.tolist() == [1, 2]
    assert np.asarray(x.astype("bfloat16")).dtype.name == "bfloat16"
    assert x.tobytes() == np.array([1, 2], np.float32).tobytes()


def test_dataset_of_images_goes_through_a_loader(image: Any) -> None:
    dataset = gluon.data.SimpleDataset([(image, i) for i in range(4)])
    loader = gluon.data.DataLoader(dataset.transform_first(transforms.ToTensor()), 2)
    batch, labels = next(iter(loader))
    assert batch.shape == (2, 3, 12, 16)
    np.testing.assert_allclose(batch[0].asnumpy(), PIXELS.transpose(2, 0, 1) / 255, rtol=1e-6)
    assert labels.tolist() == [0, 1]
    raw, _ = next(iter(gluon.data.DataLoader(dataset, 2)))
    assert raw.dtype == np.uint8
    assert raw.shape == (2, 12, 16, 3)
