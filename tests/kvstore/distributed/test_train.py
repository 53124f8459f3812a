"""`gluonish train` in several processes: what one with the whole batch comes to."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.recordio import IRHeader, MXIndexedRecordIO, pack_img
from tests.kvstore.distributed.jobs import environment

pytestmark = pytest.mark.dist


def train(ranks: int, *options: str) -> str:
    """Run ``gluonish train`` on so many ranks, and return what it printed."""
    launch = [sys.executable, "-m", "gluonish", "launch", "--no-prefix", "-n", str(ranks)]
    command = ["gluonish", "train", "--kv-store", "dist_sync", "--disp-batches", "0", *options]
    done = subprocess.run(
        [*launch, *command],
        env=environment({}),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def values(prefix: Path, epoch: int) -> dict[str, Any]:
    return {name: x.asnumpy() for name, x in mx.nd.load(f"{prefix}-{epoch:04d}.params").items()}


def scores(prefix: Path) -> list[float]:
    history = json.loads(Path(f"{prefix}-history.json").read_text())["history"]
    return [
        entry[part][name]
        for entry in history
        for part in ("training", "validation")
        for name in sorted(entry[part])
    ]


def check(found: Path, expected: Path, epoch: int, tolerance: float = 1e-5) -> None:
    for name, value in values(expected, epoch).items():
        other = values(found, epoch)[name]
        np.testing.assert_allclose(other, value, tolerance, tolerance, err_msg=name)
    np.testing.assert_allclose(scores(found), scores(expected), 1e-4)


def test_ranks_train_as_one_process_and_resume_in_any_number(tmp_path: Path) -> None:
    one, two, parts = tmp_path / "one", tmp_path / "two", tmp_path / "parts"
    digits = ("--dataset", "digits", "--batch-size", "60", "--num-epochs")
    train(1, *digits, "3", "--model-prefix", str(one))
    said = train(2, *digits, "3", "--model-prefix", str(two))
    assert said.count("Epoch[2] Validation-accuracy") == 1, "the first rank alone writes lines"
    check(two, one, 3)
    train(2, *digits, "1", "--model-prefix", str(parts))
    train(1, *digits, "2", "--model-prefix", str(parts), "--resume")
    said = train(3, *digits, "3", "--model-prefix", str(parts), "--resume")
    assert "goes on after epoch 2" in said
    check(parts, one, 3)


def test_running_statistics_are_those_of_all_ranks(tmp_path: Path) -> None:
    options: tuple[str, ...] = (
        "--dataset",
        "digits",
        "--network",
        "resnet20",
        "--num-examples",
        "512",
    )
    options += ("--optimizer", "adam", "--lr", "0.001", "--num-epochs")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(2, *options, "2", "--model-prefix", str(whole))
    train(2, *options, "1", "--model-prefix", str(parts))
    train(2, *options, "2", "--model-prefix", str(parts), "--resume")
    assert scores(parts) == scores(whole)
    found, expected = values(parts, 2), values(whole, 2)
    assert any("running_var" in name for name in expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def test_ranks_read_parts_of_record_files_and_run_equally_many_steps(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    writer = MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w")
    for i in range(45):  # parts of 23 and 22
        image = rng.integers(0, 6, (8, 8, 3), np.uint8) + np.uint8(250 * (i % 2))
        header = IRHeader(0, float(i % 2), i, 0)
        writer.write_idx(i, pack_img(header, image, quality=9, img_fmt=".png"))
    writer.close()
    data = ("--data-train", str(tmp_path / "a.rec"), "--data-val", str(tmp_path / "a.rec"))
    network = ("--network", "mlp", "--image-shape", "3,8,8", "--num-classes", "2")
    pixels = ("--rgb-mean", "128,128,128", "--rgb-std", "128,128,128", "--data-nthreads", "1")
    prefix = tmp_path / "net"
    options = (*data, *network, "--batch-size", "22", "--num-epochs", "4", "--lr", "0.05")
    said = train(2, *options, *pixels, "--model-prefix", str(prefix))
    assert "Epoch[3] Validation-accuracy=1.0" in said


def test_a_batch_that_cannot_be_shared_is_refused() -> None:
    launch = [sys.executable, "-m", "gluonish", "launch", "--no-prefix", "-n", "2", "gluonish"]
    words = ["train", "--dataset", "digits", "--batch-size", "63", "--kv-store", "dist_sync"]
    done = subprocess.run(
        [*launch, *words],
        env=environment({}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "--batch-size: expected a multiple of 2, the number of processes" in done.stderr


MODERN = (
    *("--network", "resnet20", "--ema", "0.9", "--accumulate", "3", "--mixup", "0.3"),
    *("--cutmix", "1", "--augment", "trivialaugment", "--drop-path", "0.2", "--amp", "bfloat16"),
    *("--lr-schedule", "plateau", "--num-examples", "256", "--batch-size", "32"),
)


def test_ranks_with_averages_and_mixed_images_resume_to_the_same_bits(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    digits = ("--dataset", "digits", *MODERN)
    train(2, *digits, "--num-epochs", "3", "--model-prefix", str(whole))
    train(2, *digits, "--num-epochs", "1", "--model-prefix", str(parts))
    train(2, *digits, "--num-epochs", "3", "--model-prefix", str(parts), "--resume")
    for ending in ("-0003.params", "-0003.states", "-0003.average", "-best.params"):
        assert Path(f"{whole}{ending}").read_bytes() == Path(f"{parts}{ending}").read_bytes()
