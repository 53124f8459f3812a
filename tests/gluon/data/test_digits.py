from pathlib import Path

import numpy as np
import pytest

from gluonish.gluon.data import digits
from gluonish.gluon.data.digits import load_digits


@pytest.mark.parametrize(("train", "count"), [(True, 1438), (False, 359)])
def test_shapes_dtypes_and_ranges(train: bool, count: int) -> None:
    images, labels = load_digits(train)
    assert images.shape == (count, 1, 8, 8)
    assert labels.shape == (count,)
    assert images.dtype == np.float32
    assert labels.dtype == np.int32
    assert (images.min(), images.max()) == (0.0, 1.0)
    assert set(labels.tolist()) == set(range(10))


def test_parts_together_are_the_whole_file() -> None:
    with np.load(Path(digits.__file__).with_name("digits.npz"), allow_pickle=False) as archive:
        whole = sorted(
            (int(label), image.tobytes())
            for label, image in zip(archive["labels"], archive["images"], strict=True)
        )
    parts = [
        (int(label), (image * 16).astype(np.uint8).tobytes())
        for train in (True, False)
        for image, label in zip(*load_digits(train), strict=True)
    ]
    assert sorted(parts) == whole


def test_no_image_is_in_both_parts() -> None:
    seen = {image.tobytes() for image in load_digits(True)[0]}
    assert not any(image.tobytes() in seen for image in load_digits(False)[0])


def test_every_class_gives_a_fifth_to_the_held_out_part() -> None:
    train = np.bincount(load_digits(True)[1])
    held_out = np.bincount(load_digits(False)[1])
    assert np.all(np.abs(held_out - (train + held_out) / 5) < 1)


def test_split_is_the_same_each_time_and_arrays_are_new() -> None:
    images, labels = load_digits(True)
    kept_images, kept_labels = images.copy(), labels.copy()
    images[:] = -1
    labels[:] = -1
    again_images, again_labels = load_digits(True)
    np.testing.assert_array_equal(again_images, kept_images)
    np.testing.assert_array_equal(again_labels, kept_labels)


def test_first_held_out_image_is_the_third_of_its_class() -> None:
    images, labels = load_digits(False)
    with np.load(Path(digits.__file__).with_name("digits.npz"), allow_pickle=False) as archive:
        third = np.nonzero(archive["labels"] == labels[0])[0][2]
        expected = archive["images"][third] / 16
    np.testing.assert_array_equal(images[0, 0], expected)


def test_nearest_neighbour_finds_nearly_all_held_out_digits() -> None:
    images, labels = (part.reshape(len(part), -1) for part in load_digits(True))
    queries, expected = load_digits(False)
    flat = queries.reshape(len(queries), -1)
    distances = (images**2).sum(axis=1) - 2 * flat @ images.T
    predicted = labels[distances.argmin(axis=1), 0]
    assert (predicted == expected).mean() > 0.97


def test_file_tells_its_licence() -> None:
    with np.load(Path(digits.__file__).with_name("digits.npz"), allow_pickle=False) as archive:
        notice = archive["licence"].tobytes().decode()
    assert notice == Path(digits.__file__).with_name("digits.LICENSE.txt").read_text("utf-8")
    assert "CC BY 4.0" in notice
