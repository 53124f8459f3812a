"""Batches of images in memory: which there are, how they are moved, who makes them."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError
from gluonish.tools.train.pixels import (
    Changes,
    DatasetBatches,
    PixelBatches,
    changed,
    load_images,
)

PLAIN = Changes(0, False, False, 0, (0.0,) * 3, (1.0,) * 3)
MOVED = Changes(2, True, True, 7, (10.0, 20.0, 30.0), (2.0, 4.0, 8.0))


def images(count: int = 10) -> tuple[Any, Any]:
    """Images whose every pixel differs, and their numbers as labels."""
    pixels = np.random.default_rng(0).integers(0, 256, (count, 6, 5, 3), dtype=np.uint8)
    return pixels, np.arange(count, dtype=np.int32)


def test_every_image_comes_once_in_an_epoch_in_another_order_each() -> None:
    batches = PixelBatches(*images(), 5, PLAIN, 3)
    epochs = [np.concatenate([batches[2 * e + i][1] for i in (0, 1)]) for e in (0, 1, 2)]
    for labels in epochs:
        assert sorted(labels) == list(range(10))
    assert len({tuple(labels) for labels in epochs}) == 3


def test_an_epoch_of_fewer_images_draws_them_from_all() -> None:
    batches = PixelBatches(*images(), 2, PLAIN, 3, samples=5)
    assert len(batches) == 2
    drawn = [np.concatenate([batches[2 * e + i][1] for i in (0, 1)]) for e in range(12)]
    assert all(len(set(labels)) == 4 for labels in drawn)
    assert set(np.concatenate(drawn)) == set(range(10))


def test_the_rest_is_left_out_in_training_and_kept_in_evaluation() -> None:
    assert len(PixelBatches(*images(), 4, PLAIN, 3)) == 2
    evaluation = PixelBatches(*images(), 4, PLAIN, None)
    labels = [evaluation[i][1].tolist() for i in range(len(evaluation))]
    assert labels == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_pixels_are_normalized_and_channels_first() -> None:
    pixels, labels = images()
    mean, std = np.array(MOVED.mean), np.array(MOVED.std)
    found, _ = PixelBatches(pixels, labels, 10, MOVED, None)[0]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ((pixels - mean) / std).transpose(0, 3, 1, 2), rtol=1e-6)


def test_changes_are_crops_of_the_padded_image_and_mirrored_ones() -> None:
    pixels, _ = images(64)
    found = changed(pixels, MOVED, np.random.default_rng(1))
    seen = set()
    for before, after in zip(pixels, found, strict=True):
        padded = np.pad(before, ((2, 2), (2, 2), (0, 0)), constant_values=7)
        windows = {
            (down, right, mirrored): padded[down : down + 6, right : right + 5][
                :, :: -1 if mirrored else 1
            ]
            for down in range(5)
            for right in range(5)
            for mirrored in (False, True)
        }
        places = [place for place, window in windows.items() if np.array_equal(window, after)]
        assert len(places) == 1
        seen.add(places[0])
    assert {place[0] for place in seen} == {place[1] for place in seen} == set(range(5))
    assert {place[2] for place in seen} == {False, True}


def test_a_batch_follows_from_seed_and_number_alone() -> None:
    first, second = (PixelBatches(*images(), 5, MOVED, 3) for _ in range(2))
    later = second[3]
    _ = first[0], first[1], first[2]
    for found, expected in zip(first[3], later, strict=True):
        np.testing.assert_array_equal(found, expected)
    other = PixelBatches(*images(), 5, MOVED, 4)[3]
    assert not np.array_equal(other[0], later[0])


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_make_the_same_batches(workers: int) -> None:
    source = DatasetBatches(images(), images(3), 5, MOVED, 3, workers)
    expected = PixelBatches(*images(), 5, MOVED, 3)
    assert (source.image_shape, source.batches_per_epoch) == ((3, 6, 5), 2)
    for epoch in (1, 0):
        batches = list(source.training(epoch))
        assert len(batches) == 2
        for number, batch in enumerate(batches):
            data, label = expected[2 * epoch + number]
            np.testing.assert_array_equal(batch.data.asnumpy(), data)
            np.testing.assert_array_equal(batch.label.asnumpy(), label)
    assert [batch.data.shape[0] for batch in source.validation()] == [3]


def test_digits_are_the_ones_that_ship() -> None:
    pixels, labels = load_images("digits", train=True)
    assert (pixels.shape, pixels.dtype, pixels.max()) == ((1438, 8, 8, 1), np.uint8, 16)
    assert labels.shape == (1438,)


def test_a_batch_of_more_images_than_there_are_is_refused() -> None:
    with pytest.raises(ArgumentError, match="up to the 10 images of an epoch, got 11"):
        PixelBatches(*images(), 11, PLAIN, 3)
