"""Recipes: files of options, what is wrong in them, and the published trainings."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, FileFormatError, GluonishError, MissingFileError
from gluonish.recordio import IRHeader, MXIndexedRecordIO, pack_img
from gluonish.tools.train import add_parser
from gluonish.tools.train.options import complete, settings
from gluonish.tools.train.recipe import apply_recipe, published_recipes, read_recipe, write_recipe
from gluonish.tools.train.regimen import effective_rate

DIGITS = ("--dataset", "digits", "--disp-batches", "0")
SMALL = ("--num-examples", "128", "--batch-size", "32")


def parsed(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    return parser.parse_args(["train", *options])


def completed(*options: str) -> argparse.Namespace:
    arguments = parsed(*options)
    complete(arguments)
    return arguments


def train(*options: str) -> None:
    arguments = parsed(*options)
    assert arguments.run(arguments) == 0


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "x.rec"
    generator = np.random.default_rng(0)
    writer = MXIndexedRecordIO(str(path.with_suffix(".idx")), str(path), "w")
    for i in range(24):
        shape = (int(generator.integers(30, 50)), int(generator.integers(30, 50)), 3)
        image = generator.integers(0, 256, shape, dtype=np.uint8)
        writer.write_idx(i, pack_img(IRHeader(0, i % 4, i, 0), image, quality=95))
    writer.close()
    return path


def recipe(tmp_path: Path, text: str) -> str:
    path = tmp_path / "recipe.yaml"
    path.write_text(text)
    return str(path)


def test_options_come_from_the_file_unless_the_command_line_has_them(tmp_path: Path) -> None:
    text = "dataset: digits\nlr: 5e-3\nnum_epochs: 7\nbatch-size: 32\nwd-matrices-only: true\n"
    text += "opt-set: {beta2: 0.95, bias_correction: false}\noptimizer: lamb\nrgb-mean: [4]\n"
    path = recipe(tmp_path, text)
    found = completed("--recipe", path, "--batch-size", "64")
    assert (found.lr, found.num_epochs, found.batch_size) == (0.005, 7, 64)
    assert found.opt_set == ["beta2=0.95", "bias_correction=False"]
    assert (found.wd_matrices_only, found.rgb_mean) == (True, (4.0,))
    other = completed("--recipe", path, "--optimizer", "sgd")  # whose arguments are others
    assert (other.optimizer, other.opt_set, other.lr) == ("sgd", None, 0.005)
    data = completed("--recipe", path, "--data-train", "x.rec", "--rgb-mean", "1,2,3")
    assert (data.dataset, data.data_train) == (None, "x.rec")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lr: 1\nmixupp: 2\n", r"recipe.yaml:2: expected an option of .*'mixupp' .*'mixup'"),
        ("resume: true\n", "expected an option of `gluonish train`, got 'resume'"),
        ("# c\n\nlr: fast\n", r"recipe.yaml:3: lr: expected a number, got 'fast'"),
        ("lr: [1]\n", r"lr: expected a number, got \[1\]"),
        ("lr: true\n", "lr: expected a number, got True"),
        ("num-epochs: 2.5\n", "num-epochs: expected a whole number, got 2.5"),
        ("optimizer: 3\n", "optimizer: expected a text, got 3"),
        ("wd-matrices-only: 1\n", "wd-matrices-only: expected true or false, got 1"),
        ("lr-schedule: cosin\n", r"expected one of step, cosine.* got 'cosin' \(nearest: 'cosine'"),
        ("opt-set: [1]\n", "expected arguments of the optimizer by name"),
        ("lr: 1\nlr: 2\n", "recipe.yaml:2: expected each option once, got 'lr' again, which line"),
        ("notes: hello\n", "notes: expected a list of texts"),
        ("3: 4\n", "expected an option of `gluonish train`, got 3"),
        ("[a, b]: 1\n", r"recipe.yaml:1: expected an option of `gluonish train`, got \['a', 'b'\]"),
        ("rgb-mean: [true]\n", "expected a list of numbers or texts"),
    ],
)
def test_wrong_options_are_refused_with_their_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=message):
        read_recipe(recipe(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        "- lr\n- wd\n",
        "lr: [1\n",
        "lr: !!python/object/apply:os.system ['true']\n",
        "lr: 1\n---\nlr: 2\n",
        "just text",
        "\x00",
        "[" * 4000,
    ],
)
def test_what_is_no_recipe_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"recipe\.yaml: expected"):
        read_recipe(recipe(tmp_path, text))


def test_aliases_are_refused_for_some_lines_of_them_mean_gigabytes(tmp_path: Path) -> None:
    lines = ["opt-set:", "  a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"  a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9)]
    for text, found in (("\n".join(lines), r"yaml:3: .* got '\*a0'"), ("lr: *b\n", r"yaml:1: .*b")):
        with pytest.raises(FileFormatError, match=f"{found}.*; write the value itself"):
            read_recipe(recipe(tmp_path, text))


def test_a_file_of_a_megabyte_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="at most 1048576 bytes"):
        read_recipe(recipe(tmp_path, "#" * (1 << 20) + "\n"))


def test_an_empty_file_has_no_options(tmp_path: Path) -> None:
    assert read_recipe(recipe(tmp_path, "# nothing\n")) == {}


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(MissingFileError, match=r"got 'timm-b1' \(nearest: 'timm-a1'"):
        apply_recipe(parsed("--recipe", "timm-b1"))


WRITTEN = [
    "--dataset digits",
    "--dataset digits --optimizer lamb --opt-set beta2=0.9 --lr-schedule cosine --warmup-epochs 1",
    "--dataset digits --lr-schedule plateau --ema 0.9 --amp bfloat16 --imperative",
    "--dataset digits --asam 0.5 --lookahead 6 --lookahead-alpha 0.8 --optimizer adamw",
    "--dataset digits --augment augmix --mixup 0.2 --repeated-aug 2 --image-shape 1,9,9",
    "--dataset cifar10 --network resnet20 --top-k 3,5 --loss ce --ctx cpu:0,cpu:1",
    "--benchmark 1 --image-shape 3,32,32 --gc-type 2bit --gc-threshold 0.3",
    "--data-train x.rec --random-resized-crop 1 --max-random-h 20",
    "--data-train x.rec --random-resized-crop 1 --augment trivialaugment --test-crop 0.9",
]


@pytest.mark.parametrize("options", WRITTEN)
def test_a_written_recipe_has_the_same_options(options: str, tmp_path: Path) -> None:
    first = completed(*options.split())
    path = tmp_path / "recipe.yaml"
    write_recipe(path, settings(first), "a test")
    second = completed("--recipe", str(path))
    left_out = {"recipe"}
    assert {k: v for k, v in vars(second).items() if k not in left_out} == {
        k: v for k, v in vars(first).items() if k not in left_out
    }
    assert settings(second) == settings(first)


def test_a_training_writes_the_recipe_that_repeats_it(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    options = ["--augment", "randaugment", "--cutmix", "1", "--lr-schedule", "cosine"]
    options += ["--num-epochs", "2", "--optimizer", "adamw", "--seed", "5"]
    train(*DIGITS, *SMALL, *options, "--model-prefix", str(first))
    train("--recipe", f"{first}-recipe.yaml", "--model-prefix", str(second))
    for ending in ("-0002.params", "-0002.states", "-symbol.json"):
        assert Path(f"{first}{ending}").read_bytes() == Path(f"{second}{ending}").read_bytes()


def test_a_recipe_can_be_written_without_a_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "all.yaml"
    train(*DIGITS, "--lr", "0.25", "--write-recipe", str(path))
    assert read_recipe(str(path))["lr"].value == 0.25
    assert "Epoch[" not in capsys.readouterr().out


# Table 2 of "ResNet Strikes Back", and table 9 of DeiT's paper.
PUBLISHED: dict[str, dict[str, Any]] = {
    "timm-a1": {
        "num_epochs": 600,
        "lr": 0.005,
        "wd": 0.01,
        "mixup": 0.2,
        "label_smoothing": 0.1,
        "drop_path": 0.05,
        "repeated_aug": 3,
        "augment_magnitude": 7,
        "side": (224, 224),
    },
    "timm-a2": {
        "num_epochs": 300,
        "lr": 0.005,
        "wd": 0.02,
        "mixup": 0.1,
        "label_smoothing": 0.0,
        "drop_path": 0.05,
        "repeated_aug": 3,
        "augment_magnitude": 7,
        "side": (224, 224),
    },
    "timm-a3": {
        "num_epochs": 100,
        "lr": 0.008,
        "wd": 0.02,
        "mixup": 0.1,
        "label_smoothing": 0.0,
        "drop_path": None,
        "repeated_aug": None,
        "augment_magnitude": 6,
        "side": (160, 224),
    },
    "deit": {
        "num_epochs": 300,
        "lr": 0.001,
        "wd": 0.05,
        "mixup": 0.8,
        "label_smoothing": 0.1,
        "drop_path": 0.1,
        "repeated_aug": 3,
        "augment_magnitude": 9,
        "side": (224, 224),
    },
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_trainings_are_those_of_the_papers(name: str, records: Path) -> None:
    found = completed("--recipe", name, "--data-train", str(records), "--data-val", str(records))
    wanted = dict(PUBLISHED[name])
    sides = wanted.pop("side")
    assert effective_rate(found) == pytest.approx(wanted.pop("lr"))
    assert {key: getattr(found, key) for key in wanted} == wanted
    test_shape = found.test_image_shape or found.image_shape
    assert (found.image_shape[2], test_shape[2]) == sides
    is_deit = name == "deit"
    assert found.optimizer == ("adamw" if is_deit else "lamb")
    assert found.batch_size == (1024 if is_deit else 2048)
    assert found.train_loss == ("softmax" if is_deit else "bce")
    assert (found.cutmix, found.warmup_epochs, found.lr_schedule) == (1.0, 5, "cosine")
    assert (found.random_erasing, found.augment_std) == (0.25 if is_deit else None, 0.5)


def test_all_published_trainings_are_tested() -> None:
    assert published_recipes() == sorted(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_trainings_run_on_few_images(
    name: str, records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = tmp_path / "net"
    network = "vit_tiny_patch16_224" if name == "deit" else "cifar_resnet20_v1"
    options = ["--network", network, "--image-shape", "3,32,32", "--num-classes", "4"]
    options += ["--num-epochs", "2", "--warmup-epochs", "1", "--batch-size", "12"]
    if name == "timm-a3":
        options += ["--test-image-shape", "3,40,40"]
    data = ("--data-train", str(records), "--data-val", str(records))
    train("--recipe", name, *data, *options, "--model-prefix", str(prefix))
    assert f"recipe {name}: " in capsys.readouterr().out
    history = json.loads(Path(f"{prefix}-history.json").read_text())["history"]
    assert all(np.isfinite(entry["validation"]["loss"]) for entry in history)
    with pytest.raises(GluonishError, match="--resume"):
        train("--recipe", f"{prefix}-recipe.yaml", "--model-prefix", str(prefix))
