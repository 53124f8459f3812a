"""Loaders of images; expectations are what MXNet 2.0.0b1 gave, or arithmetic."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import ArgumentError
from gluonish.gluon.contrib.data.vision import (
    ImageBboxDataLoader,
    ImageDataLoader,
    create_image_augment,
    dataloader,
)

pytest.importorskip("PIL")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    image = pytest.importorskip("PIL.Image")
    for i in range(5):
        pixels = np.full((40 + i, 50, 3), 10 * i, np.uint8)
        image.fromarray(pixels).save(tmp_path / f"{i}.png")
    return tmp_path


def pairs(count: int = 5) -> list[Any]:
    return [[float(i), f"{i}.png"] for i in range(count)]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, [100 / 255] * 3),
        ({"mean": True, "std": True}, [-2.111274, -2.0288488, -1.7976094]),
        ({"mean": [10, 20, 30], "std": [2, 2, 2]}, [-4.803922, -9.803922, -14.803922]),
        ({"mean": [0.1, 0.2, 0.3]}, [0.2921569, 0.1921569, 0.0921569]),
    ],
)
def test_pixels_are_divided_and_normalized(options: dict[str, Any], wanted: list[float]) -> None:
    found = create_image_augment((3, 24, 20), **options)(nd.full((40, 50, 3), 100, dtype="uint8"))
    assert found.shape == (3, 24, 20)
    np.testing.assert_allclose(found[:, 0, 0].asnumpy(), wanted, rtol=1e-5)


def test_all_options_give_images_of_the_shape() -> None:
    options = {"brightness": 0.1, "contrast": 0.1, "saturation": 0.1, "hue": 0.1, "rand_gray": 0.5}
    augment = create_image_augment(
        (3, 24, 20), 30, True, True, True, True, True, pca_noise=0.1, dtype="float16", **options
    )
    found = augment(nd.full((40, 50, 3), 100, dtype="uint8"))
    assert (found.shape, found.dtype) == ((3, 24, 20), np.float16)
    with pytest.raises(ArgumentError, match="rand_crop=True with rand_resize"):
        create_image_augment((3, 24, 20), rand_resize=True)
    with pytest.raises(ArgumentError, match=r"data_shape \(channels, height, width\)"):
        create_image_augment((24, 20))


def test_batches_of_a_list(folder: Path) -> None:
    loader = ImageDataLoader(2, (3, 24, 24), imglist=pairs(), path_root=folder)
    batches = list(loader)
    assert len(loader) == len(batches) == 3
    assert [images.shape for images, _ in batches] == [(2, 3, 24, 24)] * 2 + [(1, 3, 24, 24)]
    assert [labels.tolist() for _, labels in batches] == [[[0], [1]], [[2], [3]], [[4]]]
    assert batches[1][0][1, 0, 0, 0].asscalar() == pytest.approx(30 / 255)


@pytest.mark.parametrize(("index", "labels"), [(0, [[0], [1], [2]]), (1, [[3], [4]])])
def test_parts_of_a_list_file(folder: Path, index: int, labels: list[Any]) -> None:
    file = folder / "images.lst"
    file.write_text("".join(f"{i}\t{i}.0\t{i}.png\n" for i in range(5)))
    files = {"path_imglist": file, "path_root": folder}
    loader = ImageDataLoader(8, (3, 24, 24), part_index=index, num_parts=2, **files)
    assert [batch[1].tolist() for batch in loader] == [labels]


def test_missing_images_and_wrong_options_are_refused() -> None:
    with pytest.raises(ArgumentError, match="path_imgrec, path_imglist or imglist, got none"):
        ImageDataLoader(2, (3, 24, 24))
    with pytest.raises(TypeError, match="foo"):
        ImageDataLoader(2, (3, 24, 24), imglist=pairs(), foo=3)


def test_boxes_are_in_pixels_and_padded(folder: Path) -> None:
    one, two = [1, 0.1, 0.2, 0.5, 0.6], [2, 0.3, 0.3, 0.8, 0.9]
    listed = [[[4, 5, 640, 480, *one], "0.png"], [[4, 5, 640, 480, *one, *two], "1.png"]]
    loader = ImageBboxDataLoader(2, (3, 24, 24), imglist=listed, path_root=folder)
    ((images, boxes),) = loader
    assert images.shape == (2, 3, 24, 24)
    first, second = [2.4, 4.8, 12, 14.4, 1], [7.2, 7.2, 19.2, 21.6, 2]
    wanted = [[first, [-1] * 5], [first, second]]
    np.testing.assert_allclose(boxes.asnumpy(), wanted, rtol=1e-5)


def test_augmented_boxes_stay_with_their_images(folder: Path) -> None:
    listed = [[[2, 5, 1, 0.1, 0.2, 0.5, 0.6], f"{i}.png"] for i in range(4)]
    options = {"rand_crop": 0.5, "rand_pad": 0.5, "rand_mirror": True, "hue": 0.1, "mean": True}
    loader = ImageBboxDataLoader(4, (3, 24, 24), imglist=listed, path_root=folder, **options)
    for images, boxes in loader:
        assert images.shape == (4, 3, 24, 24)
        found = boxes.asnumpy()
        assert (found[..., :4] >= -1).all()
        assert (found[..., :4] <= 24).all()
    with pytest.raises(ArgumentError, match="expected a label of the number of leading numbers"):
        dataloader.BboxLabelTransform()(nd.zeros((4, 4, 3)), nd.array([2, 5, 1, 0]))
