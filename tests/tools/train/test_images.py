"""Batches of images made one by one, from a data set and from record files."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gluonish.core.errors import ArgumentError, MissingFileError
from gluonish.gluon.data.digits import load_digits
from gluonish.recordio import IRHeader, MXIndexedRecordIO, pack_img
from gluonish.tools.train import add_parser
from gluonish.tools.train.command import make_source
from gluonish.tools.train.images import Mixing, Views
from gluonish.tools.train.options import complete
from gluonish.tools.train.ranks import Ranks

Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "x.rec"
    generator = np.random.default_rng(0)
    writer = MXIndexedRecordIO(str(path.with_suffix(".idx")), str(path), "w")
    for i in range(18):
        image = generator.integers(0, 256, (24, 30, 3), dtype=np.uint8)
        writer.write_idx(i, pack_img(IRHeader(0, i, i, 0), image, img_fmt=".png", quality=1))
    writer.close()
    return path


class Share(Ranks):
    """One of several processes, without the others."""

    def __init__(self, rank: int, size: int) -> None:
        super().__init__()
        self.rank, self.size = rank, size


def source(*options: str, ranks: Ranks | None = None) -> Any:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["train", *options])
    complete(arguments)
    return make_source(arguments, ranks or Ranks())


def parts(batches: Any) -> list[list[Array]]:
    return [
        [x.asnumpy() for x in (batch.data, batch.label, batch.target) if x is not None]
        for batch in batches
    ]


def equal(first: list[list[Array]], second: list[list[Array]]) -> bool:
    return all(
        np.array_equal(x, y)
        for one, other in zip(first, second, strict=True)
        for x, y in zip(one, other, strict=True)
    )


MIXED = "--augment randaugment-timm --random-erasing 0.5 --mixup 0.5 --cutmix 1 --repeated-aug 2"


def digits(*options: str, ranks: Ranks | None = None) -> Any:
    given = ("--dataset", "digits", "--num-examples", "96", "--batch-size", "24")
    return source(*given, *options, ranks=ranks)


def test_batches_depend_on_seed_and_epoch_only() -> None:
    options = MIXED.split()
    found = parts(digits(*options).training(1))
    assert len(found) == 4
    assert found[0][0].shape == (24, 1, 8, 8)
    again = digits(*options)
    parts(again.training(0))
    assert equal(found, parts(again.training(1)))
    assert equal(found, parts(digits(*options, "--workers", "2").training(1)))
    assert not equal(found, parts(again.training(2)))
    assert not equal(found, parts(digits(*options, "--seed", "1").training(1)))


def test_processes_share_the_same_batches() -> None:
    whole = parts(digits(*MIXED.split()).training(0))
    shares = [parts(digits(*MIXED.split(), ranks=Share(i, 3)).training(0)) for i in range(3)]
    for batch, *of_ranks in zip(whole, *shares, strict=True):
        for x, *pieces in zip(batch, *of_ranks, strict=True):
            np.testing.assert_array_equal(np.concatenate(pieces), x)


def test_repeated_augmentation_makes_other_images_of_the_same() -> None:
    options = ("--repeated-aug", "3", "--augment", "trivialaugment", "--random-crop", "0")
    batch = parts(digits(*options).training(0))[0]
    labels = batch[1].reshape(8, 3)
    assert (labels == labels[:, :1]).all()
    images = batch[0].reshape(8, 3, -1)
    assert not (images[:, 0] == images[:, 1]).all()


def test_mixed_labels_have_the_sum_1_and_name_the_larger_part() -> None:
    for data, label, target in parts(digits("--mixup", "1").training(0)):
        assert target.shape == (len(data), 10)
        np.testing.assert_allclose(target.sum(1), 1, rtol=1e-6)
        np.testing.assert_array_equal(target.argmax(1), label)
        assert ((target > 0).sum(1) <= 2).all()


def test_a_part_of_the_batches_is_mixed() -> None:
    rng = np.random.default_rng(1)
    mixing = Mixing(4, 0.5, 0.5, 0.25)
    images = rng.normal(size=(4, 3, 6, 6)).astype(np.float32)
    labels = np.arange(4)
    pure = sum((mixing.mix(images.copy(), labels, rng)[1].max(1) == 1).all() for _ in range(400))
    assert 0.7 < pure / 400 < 0.85  # CutMix may cut nothing


def test_labels_out_of_range_are_refused() -> None:
    images = np.zeros((2, 1, 4, 4), np.float32)
    with pytest.raises(ArgumentError, match="labels from 0 to 3, got 7; pass --num-classes"):
        Mixing(4, 0.5, None, 1.0).mix(images, np.array([0, 7]), np.random.default_rng(0))


def test_evaluation_has_the_images_as_they_are() -> None:
    pixels, labels = load_digits(False)
    found = parts(digits("--mixup", "1").validation())
    images = np.concatenate([batch[0] for batch in found])
    np.testing.assert_allclose(images, pixels, atol=1 / 255)
    np.testing.assert_array_equal(np.concatenate([batch[1] for batch in found]), labels)


def record_source(records: Path, *options: str) -> Any:
    given = ("--data-train", str(records), "--data-val", str(records), "--batch-size", "6")
    return source(*given, "--num-classes", "18", "--rgb-mean", "0,0,0", *options)


def test_centers_of_records_are_those_of_pillow(records: Path) -> None:
    options = ["--image-shape", "3,16,16", "--test-image-shape", "3,18,18", "--test-crop", "0.9"]
    options += ["--interpolation", "bicubic", "--rgb-std", "1,1,1"]
    batches = parts(record_source(records, *options).validation())
    rng = np.random.default_rng(0)
    pixels = [rng.integers(0, 256, (24, 30, 3), dtype=np.uint8) for _ in range(18)]
    for (data, labels), first in zip(batches, range(0, 18, 6), strict=True):
        assert labels.tolist() == list(range(first, first + 6))
        for i, found in enumerate(data, first):
            rgb = np.ascontiguousarray(pixels[i][..., ::-1])  # written as OpenCV's BGR
            resized = Image.fromarray(rgb).resize((25, 20), Image.Resampling.BICUBIC)
            wanted = np.asarray(resized)[1:19, 3:21].transpose(2, 0, 1)
            np.testing.assert_array_equal(found, wanted)


def test_random_resized_crops_have_the_size_and_cover_the_image(records: Path) -> None:
    options = ("--image-shape", "3,16,20", "--random-resized-crop", "1", "--repeated-aug", "1")
    found = parts(record_source(records, *options).training(0))
    assert [batch[0].shape for batch in found] == [(6, 3, 16, 20)] * 3
    assert sorted(np.concatenate([batch[1] for batch in found])) == list(range(18))


def test_a_view_without_random_changes_is_the_normalized_center() -> None:
    image = np.random.default_rng(2).integers(0, 256, (10, 12, 3), np.uint8)
    views = Views((8, 8), Image.Resampling.BILINEAR, (1.0, 2.0, 3.0), (2.0, 4.0, 8.0))
    wanted = (image[1:9, 2:10].astype(np.float32) - [1, 2, 3]) / [2, 4, 8]
    found = views.make(image, np.random.default_rng(0))
    np.testing.assert_allclose(found, wanted.transpose(2, 0, 1), rtol=1e-6)


def test_a_padded_crop_is_a_window_of_the_padded_image() -> None:
    image = np.random.default_rng(2).integers(0, 256, (6, 6, 1), np.uint8)
    views = Views((6, 6), Image.Resampling.BILINEAR, (0.0,), (1.0,), pad=2, fill=7, mirror=True)
    padded = np.pad(image[..., 0], 2, constant_values=7)
    windows = [padded[i : i + 6, j : j + 6] for i in range(5) for j in range(5)]
    windows += [window[:, ::-1] for window in windows]
    seen = set()
    for seed in range(300):
        found = views.make(image, np.random.default_rng(seed))[0]
        seen.add(next(i for i, x in enumerate(windows) if np.array_equal(x, found)))
    assert len(seen) == 50


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--max-random-h 3", "--max-random-h: expected data that it acts on, got --data-train"),
        ("--data-nthreads 3", "--data-nthreads: expected data that it acts on.*with --mixup"),
        ("--random-resized-crop 1 --min-random-area 0.5 --max-random-area 0.1", "in order"),
        ("--batch-size 30", "--batch-size: expected up to the 18 images"),
    ],
)
def test_what_records_cannot_have_is_refused(options: str, message: str, records: Path) -> None:
    with pytest.raises(ArgumentError, match=message):
        record_source(records, "--mixup", "1", "--image-shape", "3,8,8", *options.split())


def test_records_need_an_index(records: Path, tmp_path: Path) -> None:
    copy = tmp_path / "y.rec"
    copy.write_bytes(records.read_bytes())
    with pytest.raises(ArgumentError, match="expected an index next to it"):
        source("--data-train", str(copy), "--mixup", "1")
    with pytest.raises(MissingFileError):
        source("--data-train", str(tmp_path / "none.rec"), "--mixup", "1")


def test_channels_are_those_of_the_data_set() -> None:
    with pytest.raises(ArgumentError, match="expected 1 channels, as the images of digits"):
        digits("--image-shape", "3,8,8", "--rgb-mean", "0,0,0", "--rgb-std", "1,1,1")
