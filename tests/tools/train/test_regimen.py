"""Optimizers, schedules, losses, averages, stopping: the flags of today's trainings."""

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError
from gluonish.ndarray import array, load
from gluonish.tools.train import add_parser
from gluonish.tools.train.options import complete
from gluonish.tools.train.regimen import (
    Best,
    BinaryTargetsLoss,
    make_loss,
    make_schedule,
    optimizer_arguments,
)
from gluonish.tools.train.session import Session

DIGITS = ("--dataset", "digits", "--disp-batches", "0")
SMALL = (*DIGITS, "--num-examples", "256", "--batch-size", "32")


def parsed(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    return parser.parse_args(["train", *options])


def completed(*options: str) -> argparse.Namespace:
    arguments = parsed(*DIGITS, *options)
    complete(arguments)
    return arguments


def named(path: str) -> dict[str, Any]:
    found: Any = load(path)
    return found


def train(*options: str) -> None:
    arguments = parsed(*options)
    assert arguments.run(arguments) == 0


def rates(*options: str, updates: int = 10, epochs: int = 10) -> list[float]:
    arguments = completed("--num-epochs", str(epochs), "--lr", "1", *options)
    schedule = make_schedule(arguments, updates)
    assert schedule is not None
    return [schedule(n) for n in range(updates * epochs)]


def test_cosine_falls_from_the_warm_up_to_the_least_rate() -> None:
    options = ("--warmup-epochs", "2", "--warmup-lr", "0.1", "--min-lr", "0.2")
    found = rates("--lr-schedule", "cosine", *options)
    np.testing.assert_allclose(found[:20], 0.1 + 0.9 * np.arange(20) / 20)
    falls = 0.2 + 0.4 * (1 + np.cos(np.pi * np.arange(80) / 80))
    np.testing.assert_allclose(found[20:], falls)


def test_line_and_restarts() -> None:
    np.testing.assert_allclose(rates("--lr-schedule", "linear"), 1 - np.arange(100) / 100)
    found = rates("--lr-schedule", "restarts", "--cycle-epochs", "2", "--cycle-mult", "2")
    np.testing.assert_allclose(found[:20], 0.5 * (1 + np.cos(np.pi * np.arange(20) / 20)))
    np.testing.assert_allclose(found[20:60], 0.5 * (1 + np.cos(np.pi * np.arange(40) / 40)))


def test_one_cycle_rises_in_the_warm_up() -> None:
    options = ("--warmup-epochs", "4", "--warmup-lr", "0.05", "--min-lr", "0.001")
    found = rates("--lr-schedule", "one-cycle", *options)
    assert found[0] == pytest.approx(0.05)
    assert int(np.argmax(found)) == 39
    assert found[39] == pytest.approx(1)
    assert found[-1] == pytest.approx(0.001)


def test_the_rate_is_scaled_to_the_images_of_an_update() -> None:
    options = ("--lr", "0.5", "--lr-base-batch", "512", "--batch-size", "64", "--accumulate", "4")
    schedule = make_schedule(completed(*options, "--lr-schedule", "cosine"), 10)
    assert schedule is not None
    assert schedule(0) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--accumulate 0", "--accumulate: expected at least 1"),
        ("--clip-grad-norm -1", "--clip-grad-norm: expected a positive number"),
        ("--label-smoothing 1.5", "--label-smoothing: expected a number from 0 to 1"),
        ("--ema 1", "--ema: expected a number from 0 to below 1"),
        ("--min-lr 0.1", "--min-lr: expected --lr-schedule cosine or linear"),
        ("--lr-schedule cosine --lr-step-epochs 3", "--lr-step-epochs: expected --lr-schedule st"),
        ("--lr-schedule restarts", "expected --cycle-epochs"),
        ("--warmup-lr 0.1", "--warmup-lr: expected --warmup-epochs"),
        ("--amp float16 --dtype bfloat16", "--amp: expected --dtype float32"),
        ("--bce-threshold 0.2", "--bce-threshold: expected --train-loss bce"),
        ("--augment-magnitude 3", "--augment-magnitude: expected data that it acts on"),
        ("--augment augmix --augment-std 1", "--augment-std: expected --augment randaugment"),
        ("--mix-prob 0.5 --augment augmix", "--mix-prob: expected --mixup or --cutmix"),
        ("--opt-set beta1", "--opt-set: expected NAME=VALUE, got 'beta1'"),
        ("--opt-set wd=1", "--opt-set: expected --wd for wd"),
        ("--random-resized-crop 1 --random-crop 1", "got both"),
        ("--test-crop 1.5", "--test-crop: expected a number above 0 and up to 1"),
        ("--best-metric accuracy", "--best-metric: expected training- or validation-"),
        ("--best-metric validation-acc", "expected one of validation-accuracy, validation-loss"),
        ("--best-metric validation-acuracy", r"\(nearest: 'validation-accuracy'"),
        ("--lr inf", "--lr: expected a positive number, got inf"),
        ("--drop-path 0.1", "--drop-path: expected a network that has it, got --network mlp"),
        ("--network vgg11 --drop-path 0.1", "--drop-path: expected a network that has it"),
        ("--lr-schedule cosine --min-lr 9", "--min-lr: expected up to the learning rate 0.05"),
        ("--lr-schedule cosine --num-epochs 3 --warmup-epochs 3", "fewer than the 3 epochs"),
        ("--opt-set momentun=3", "momentun"),
        ("--sam 0.1 --asam 0.5", "--asam: expected one of --sam and --asam, got both"),
        ("--sam 0.1 --accumulate 2", "--sam: expected --accumulate 1 with it.*got 2; use a larger"),
        ("--asam 0.1 --accumulate 3", "--asam: expected --accumulate 1"),
        ("--sam -1", "--sam: expected a positive number, got -1"),
        ("--lookahead -2", "--lookahead: expected at least 1, got -2"),
        ("--lookahead-alpha 0.3", "--lookahead-alpha: expected --lookahead with it"),
        ("--lookahead 3 --lookahead-alpha 1.5", "--lookahead-alpha: expected a number above 0 and"),
    ],
)
def test_what_cannot_be_is_refused(options: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        train(*DIGITS, "--num-epochs", "1", *options.split())


def test_arguments_of_the_optimizer_have_types() -> None:
    found = optimizer_arguments(["beta1=0.5", "bias-correction=false", "lower_bound=None", "x=ab"])
    assert found == {"beta1": 0.5, "bias_correction": False, "lower_bound": None, "x": "ab"}


def test_arguments_reach_the_optimizer(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def ended(self: Session) -> bool:
        optimizer: Any = self.estimator.trainer.optimizer
        seen.append((optimizer.beta2, optimizer.clip_gradient, optimizer.wd))
        decays = ((p.name.rsplit("_", 1)[-1], p.wd_mult) for p in optimizer.param_dict.values())
        seen.append(dict(decays))
        return True

    monkeypatch.setattr(Session, "end_epoch", ended)
    options = ("--optimizer", "lamb", "--opt-set", "beta2=0.9", "--clip-grad-value", "0.25")
    train(*DIGITS, *options, "--wd", "0.5", "--wd-matrices-only")
    assert seen == [(0.9, 0.25, 0.5), {"weight": 1.0, "bias": 0.0}]


def test_binary_targets_are_those_of_the_paper() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(4, 5))
    label = np.array([0, 3, 4, 1])
    part = rng.uniform(size=(4, 1))
    soft = np.eye(5)[label] * part + np.eye(5)[label[::-1]] * (1 - part)
    smooth = soft * 0.9 + 0.1 / 5

    def expected(target: Any) -> Any:
        p = 1 / (1 + np.exp(-scores))
        return -(target * np.log(p) + (1 - target) * np.log(1 - p)).mean(1)

    for loss, given, target in (
        (BinaryTargetsLoss(5), label, np.eye(5)[label]),
        (BinaryTargetsLoss(5, True), soft, soft),
        (BinaryTargetsLoss(5, True, 0.1), soft, smooth),
        (BinaryTargetsLoss(5, True, 0.1, 0.2), soft, (smooth > 0.2).astype(float)),
    ):
        loss.hybridize()
        found = loss(array(scores), array(given)).asnumpy()
        np.testing.assert_allclose(found, expected(target), rtol=1e-5)


def test_smoothing_is_of_training_only() -> None:
    arguments = completed("--label-smoothing", "0.2")
    scores, label = array([[2.0, 0.0, -1.0]]), array([0])
    logs = np.array([2.0, 0.0, -1.0]) - math.log(math.exp(2) + 1 + math.exp(-1))
    assert make_loss(arguments, False)(scores, label).asscalar() == pytest.approx(-logs[0])
    wanted = -(0.8 * logs[0] + 0.2 * logs.mean())
    assert make_loss(arguments, True)(scores, label).asscalar() == pytest.approx(wanted)


def test_best_epoch_and_epochs_since() -> None:
    values = (0.5, 0.6, 0.6, math.nan, 0.7, 0.1)
    best = Best("validation-accuracy")
    found = [
        best.add({"epoch": i, "training": {}, "validation": {"accuracy": value}})
        for i, value in enumerate(values, 1)
    ]
    assert found == [True, True, False, False, True, False]
    assert (best.epoch, best.value, best.waited) == (5, 0.7, 1)
    assert Best("training-loss").mode == "min"
    assert Best("validation-cross-entropy").mode == "min"


def test_accumulated_batches_update_as_one_large_batch(tmp_path: Path) -> None:
    options = (*DIGITS, "--num-examples", "256", "--num-epochs", "1", "--random-crop", "0")
    small, large = tmp_path / "small", tmp_path / "large"
    train(*options, "--batch-size", "16", "--accumulate", "4", "--model-prefix", str(small))
    train(*options, "--batch-size", "64", "--model-prefix", str(large))
    first, second = (named(f"{prefix}-0001.params") for prefix in (small, large))
    for name, values in second.items():
        np.testing.assert_allclose(first[name].asnumpy(), values.asnumpy(), rtol=1e-4, atol=1e-5)


def test_training_ends_early_and_keeps_the_best(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = tmp_path / "net"
    options = ("--lr", "0.5", "--early-stop", "2", "--best-metric", "validation-loss")
    train(*SMALL, *options, "--num-epochs", "40", "--model-prefix", str(prefix))
    said = capsys.readouterr().out
    history = json.loads(Path(f"{prefix}-history.json").read_text())["history"]
    losses = [entry["validation"]["loss"] for entry in history]
    assert len(losses) < 40
    best = int(np.argmin(losses)) + 1
    assert len(losses) == best + 2
    assert "ends early: validation-loss has not improved for 2 epochs" in said
    assert f"after epoch {best}: {prefix}-best.params" in said
    kept, wanted = (named(f"{prefix}-{x}.params") for x in ("best", f"{best:04d}"))
    assert {k: v.asnumpy().tolist() for k, v in kept.items()} == {
        k: v.asnumpy().tolist() for k, v in wanted.items()
    }
    again = tmp_path / "net"
    train(*SMALL, *options, "--num-epochs", "40", "--model-prefix", str(again), "--resume")
    assert "Epoch[" not in capsys.readouterr().out  # nothing is left to train


def test_averages_are_what_is_evaluated(tmp_path: Path) -> None:
    prefix = tmp_path / "net"
    train(*SMALL, "--ema", "0.5", "--num-epochs", "1", "--model-prefix", str(prefix))
    averages = named(f"{prefix}-0001.average")
    best, last = (named(f"{prefix}-{x}.params") for x in ("best", "0001"))
    own = {name.removeprefix("arg:"): x.asnumpy() for name, x in best.items()}
    by_shape = {x.shape: x.asnumpy() for name, x in averages.items() if len(x.shape) == 2}
    for name, x in own.items():
        if x.ndim == 2:
            np.testing.assert_array_equal(x, by_shape[x.shape])
            assert not np.array_equal(x, last[f"arg:{name}"].asnumpy())


RESUMED = {
    "average-cosine": "--ema 0.9 --lr-schedule cosine --warmup-epochs 1",
    "accumulate-clip": "--accumulate 3 --clip-grad-norm 0.5 --optimizer adamw --lr 0.01",
    "plateau": "--lr-schedule plateau --plateau-patience 0 --lr 0.8",
    "float16": "--amp float16",
    "bfloat16": "--amp bfloat16 --network resnet20 --drop-path 0.3",
    "bce-lamb": "--train-loss bce --optimizer lamb --lr 0.02 --opt-set beta2=0.9",
    "mixed": "--mixup 0.4 --cutmix 1 --augment randaugment --random-erasing 0.3 --repeated-aug 2 "
    "--label-smoothing 0.1 --ema 0.8",
    "sharpness": "--sam 0.1 --lookahead 3 --network resnet20",
    "adaptive": "--asam 0.5 --ema 0.9 --lookahead 5 --lookahead-alpha 0.8 --optimizer adamw",
    "workers": "--augment trivialaugment --workers 1 --early-stop 3",
}


@pytest.mark.parametrize("options", RESUMED.values(), ids=RESUMED)
def test_an_interrupted_training_goes_on_to_the_same_bits(
    tmp_path: Path, options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = (*SMALL, *options.split(), "--num-epochs", "4")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(*given, "--model-prefix", str(whole))
    save = Session._save
    saved: list[int] = []

    def interrupted(self: Session) -> None:
        save(self)
        saved.append(self.record.epoch)
        if len(saved) in (1, 3):
            raise KeyboardInterrupt

    monkeypatch.setattr(Session, "_save", interrupted)
    for _ in range(3):
        arguments = parsed(*given, "--model-prefix", str(parts), "--resume")
        arguments.run(arguments)
    assert saved == [1, 2, 3, 4]
    endings = ["-0004.params", "-0004.states", "-symbol.json", "-recipe.yaml"]
    if "--ema" in options:
        endings += ["-0004.average", "-best.params"]
    for ending in endings:
        first, second = (Path(f"{prefix}{ending}").read_bytes() for prefix in (whole, parts))
        assert first.replace(b"whole", b"parts") == second, ending


@pytest.mark.parametrize(
    "options", ["--lookahead 0 --lookahead-alpha 0.8", "--mixup 0 --cutmix 0 --mix-prob 0.5"]
)
def test_what_is_switched_off_by_0_may_keep_its_options(options: str) -> None:
    arguments = completed(*options.split())
    assert arguments.lookahead is arguments.lookahead_alpha is None
    assert arguments.mixup is arguments.cutmix is arguments.mix_prob is None


def test_lookahead_is_that_of_the_training_that_goes_on(tmp_path: Path) -> None:
    given = (*SMALL, "--num-epochs", "2", "--model-prefix", str(tmp_path / "net"))
    train(*given, "--num-epochs", "1", "--lookahead", "3")
    with pytest.raises(ArgumentError, match=r"--lookahead: expected the one of .* 3, got None"):
        train(*given, "--resume")
    train(*given, "--resume", "--lookahead", "4", "--lookahead-alpha", "0.25", "--wd", "0.1")
    recipe = (tmp_path / "net-recipe.yaml").read_text()
    assert "lookahead: 4" in recipe
    assert "lookahead-alpha: 0.25" in recipe


def test_a_rate_of_the_command_line_is_that_of_the_optimizer_within_lookahead(
    tmp_path: Path,
) -> None:
    given = (*SMALL, "--lookahead", "3", "--model-prefix", str(tmp_path / "net"))
    train(*given, "--num-epochs", "1", "--mom", "0.9", "--wd", "0.1")
    arguments = parsed(
        *given, "--num-epochs", "2", "--resume", "--mom", "0.5", "--wd", "0.2", "--lookahead", "7"
    )
    seen = []
    restore = Session.restore

    def noted(self: Session) -> None:
        restore(self)
        seen.append(self.estimator.trainer.optimizer)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "restore", noted)
        arguments.run(arguments)
    (outer,) = seen
    inner: Any = outer.optimizer  # type: ignore[attr-defined]
    assert (outer.k, inner.momentum, inner.wd) == (7, 0.5, 0.2)  # type: ignore[attr-defined]
