"""Images of records in other sizes."""

import random

import numpy as np
import pytest

from gluonish.core.errors import FileFormatError
from gluonish.io import ImageRecordIter
from gluonish.io.image_record.geometry import resized
from gluonish.recordio import MXIndexedRecordIO, pack_img


def test_an_image_of_the_wanted_size_is_itself() -> None:
    image = np.zeros((3, 4, 1), np.uint8)
    assert resized(image, 3, 4, 2, random.Random(0)) is image


def test_one_channel_stays_an_axis() -> None:
    image = np.full((3, 4, 1), 7, np.uint8)
    made = resized(image, 6, 5, 10, random.Random(0))
    np.testing.assert_array_equal(made, np.full((6, 5, 1), 7, np.uint8))


def test_chance_is_that_of_the_given_generator() -> None:
    image = np.random.default_rng(0).integers(0, 256, (5, 5, 3), np.uint8)
    draws = [resized(image, 7, 9, 10, random.Random(seed)) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).any()


def test_a_line_that_would_become_too_large_is_refused_with_its_record(tmp_path) -> None:
    writer = MXIndexedRecordIO(tmp_path / "line.idx", tmp_path / "line.rec", "w")
    line = np.zeros((1, 20_000, 3), np.uint8)
    writer.write_idx(0, pack_img((0, 0.0, 0, 0), line, 9, ".png"))
    writer.close()
    iterator = ImageRecordIter(
        path_imgrec=tmp_path / "line.rec", data_shape=(3, 224, 224), batch_size=1
    )
    with pytest.raises(
        FileFormatError, match=r"got 224 x 4480000 from 1 x 20000, in the record at"
    ):
        iterator.next()
