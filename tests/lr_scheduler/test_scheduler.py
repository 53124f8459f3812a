"""Warm-up, and the golden values of every scheduler."""

import json
from pathlib import Path

import numpy as np
import pytest

import gluonish.lr_scheduler as lr_scheduler
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.lr_scheduler import LRScheduler

GOLDEN = Path(__file__).parents[1] / "golden" / "optimizer"
CASES = json.loads((GOLDEN / "cases.json").read_text(encoding="utf-8"))["schedulers"]


@pytest.mark.parametrize("name", CASES)
def test_learning_rates_are_mxnets(name: str) -> None:
    made = getattr(lr_scheduler, CASES[name]["class"])(**CASES[name]["args"])
    with np.load(GOLDEN / "optimizer.npz") as wanted:
        expected = wanted[f"scheduler/{name}"]
    np.testing.assert_allclose([made(n) for n in range(20)], expected, rtol=1e-12, atol=1e-15)


def test_linear_warmup_rises_evenly() -> None:
    scheduler = LRScheduler(base_lr=0.5, warmup_steps=4, warmup_begin_lr=0.1)
    rates = [scheduler.get_warmup_lr(n) for n in range(5)]
    np.testing.assert_allclose(rates, [0.1, 0.2, 0.3, 0.4, 0.5])


def test_constant_warmup_stays() -> None:
    scheduler = LRScheduler(0.5, 4, 0.1, "constant")
    assert [scheduler.get_warmup_lr(n) for n in range(3)] == [0.1, 0.1, 0.1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.1, -1), "warmup_steps of 0 or more, got -1"),
        ((0.1, 5, 0.2), "up to base_lr 0.1, got 0.2"),
        ((0.1, 5, 0.0, "sine"), "'linear' or 'constant', got 'sine'"),
    ],
)
def test_wrong_warmup_is_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        LRScheduler(*arguments)  # type: ignore[arg-type]


def test_fractional_warmup_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"int warmup_steps, got 2\.5"):
        LRScheduler(0.1, 2.5)  # type: ignore[arg-type]


def test_base_gives_no_rate() -> None:
    with pytest.raises(NotSupportedError, match="__call__"):
        LRScheduler()(1)
