"""Batches of record files: every augmentation of the command line acts, and can be repeated."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, MissingFileError
from gluonish.recordio import IRHeader, MXIndexedRecordIO, pack_img
from gluonish.tools.train import add_parser
from gluonish.tools.train.batches import Batches
from gluonish.tools.train.command import make_source
from gluonish.tools.train.options import complete
from gluonish.tools.train.pixels import count_records
from gluonish.tools.train.ranks import Ranks

COUNT = 18
RATIOS = "--random-resized-crop 1 --max-random-aspect-ratio 1.3"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "x.rec"
    generator = np.random.default_rng(0)
    writer = MXIndexedRecordIO(str(path.with_suffix(".idx")), str(path), "w")
    for i in range(COUNT):
        image = generator.integers(0, 256, (24, 24, 3), dtype=np.uint8)
        writer.write_idx(i, pack_img(IRHeader(0, i, i, 0), image, quality=95))
    writer.close()
    return path


def source(records: Path, *options: str) -> Batches:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    given = ["train", "--data-train", str(records), "--image-shape", "3,16,16"]
    arguments = parser.parse_args([*given, "--batch-size", "8", *options])
    complete(arguments)
    return make_source(arguments, Ranks())


def pixels(records: Path, *options: str) -> Any:
    return np.concatenate([b.data.asnumpy() for b in source(records, *options).training(0)])


@pytest.mark.parametrize(
    ("others", "option"),
    [
        ("", "--random-crop 1"),
        ("", "--random-mirror 1"),
        ("", "--random-resized-crop 1 --min-random-area 0.3"),
        ("--random-resized-crop 1 --min-random-area 0.1", "--max-random-area 0.3"),
        (f"{RATIOS} --min-random-aspect-ratio 0.8", "--min-random-aspect-ratio 0.5"),
        ("", "--max-random-h 90"),
        ("", "--max-random-s 90"),
        ("", "--max-random-l 90"),
        ("", "--max-random-aspect-ratio 0.5"),
        ("", "--max-random-rotate-angle 40"),
        ("", "--max-random-shear-ratio 0.4"),
        ("", "--max-random-scale 2"),
        ("--max-random-scale 2", "--min-random-scale 1.5"),
        ("", "--min-crop-size 12 --max-crop-size 20"),
        ("", "--brightness 0.5"),
        ("", "--contrast 0.5"),
        ("", "--saturation 0.5"),
        ("", "--pca-noise 0.5"),
        ("--random-crop 1", "--pad-size 4"),
        ("--random-crop 1 --pad-size 4", "--fill-value 3"),
        ("", "--rgb-mean 1,2,3"),
        ("", "--rgb-std 1,2,3"),
        ("", "--seed 1"),
    ],
)
def test_option_acts_and_can_be_repeated(records: Path, others: str, option: str) -> None:
    found = pixels(records, *others.split(), *option.split())
    assert not np.array_equal(found, pixels(records, *others.split()))
    np.testing.assert_array_equal(found, pixels(records, *others.split(), *option.split()))


def test_every_record_comes_in_an_epoch_in_another_order_each(records: Path) -> None:
    batches = source(records)
    assert batches.batches_per_epoch == 3
    epochs = [[b.label.asnumpy() for b in batches.training(epoch)] for epoch in (0, 1, 0)]
    labels = [np.concatenate(epoch) for epoch in epochs]
    # The last batch is filled with records of the beginning.
    assert all(set(found) == set(range(COUNT)) for found in labels)
    assert all(len(found) == 24 for found in labels)
    assert not np.array_equal(labels[0], labels[1])
    np.testing.assert_array_equal(labels[0], labels[2])


def test_what_fills_the_last_batch_of_an_evaluation_is_told(records: Path) -> None:
    batches = source(records, "--data-val", str(records)).validation()
    assert batches is not None
    found = [(b.label.asnumpy().tolist(), b.padding) for b in batches]
    assert [padding for _, padding in found] == [0, 0, 6]
    assert [x for labels, _ in found for x in labels][:COUNT] == list(range(COUNT))


def test_without_a_file_to_evaluate_with_there_is_nothing(records: Path) -> None:
    assert source(records).validation() is None


def test_records_are_counted(records: Path, tmp_path: Path) -> None:
    assert count_records(str(records)) == COUNT
    with pytest.raises(MissingFileError, match=r"none\.rec"):
        count_records(str(tmp_path / "none.rec"))


def test_larger_batches_than_there_are_records_are_refused(records: Path) -> None:
    with pytest.raises(ArgumentError, match=r"--batch-size: expected up to the 18 images of .*19"):
        source(records, "--batch-size", "19")
