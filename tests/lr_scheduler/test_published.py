"""Schedules against PyTorch's rates, see tests/golden/schedules/make.py."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.lr_scheduler import (
    ChainedScheduler,
    CosineRestartScheduler,
    ExponentialScheduler,
    LRScheduler,
    OneCycleScheduler,
    PolyScheduler,
    ReduceLROnPlateau,
    SequentialScheduler,
)

GOLDEN = np.load(Path(__file__).parents[1] / "golden/schedules/schedules.npz")
RATE = 0.3


def one_cycle(**kwargs: Any) -> Callable[[], LRScheduler]:
    return lambda: OneCycleScheduler(300, RATE, **kwargs)


CASES: dict[str, Callable[[], LRScheduler]] = {
    "one_cycle": one_cycle(),
    "one_cycle_linear": one_cycle(anneal_strategy="linear", pct_start=0.25, div_factor=10),
    "one_cycle_three": one_cycle(three_phase=True, final_div_factor=100),
    "one_cycle_three_linear": one_cycle(three_phase=True, anneal_strategy="linear", pct_start=0.4),
    "restarts": lambda: CosineRestartScheduler(37, RATE, 0.01),
    "restarts_longer": lambda: CosineRestartScheduler(15, RATE, cycle_mult=2),
    "restarts_tripled": lambda: CosineRestartScheduler(7, RATE, 0.02, 3),
    "exponential": lambda: ExponentialScheduler(0.98, RATE),
    "sequential": lambda: SequentialScheduler(
        [
            ExponentialScheduler(0.9, RATE),
            CosineRestartScheduler(50, RATE),
            ExponentialScheduler(0.97, RATE),
        ],
        [20, 130],
    ),
    "chained": lambda: ChainedScheduler(
        [PolyScheduler(400, RATE, 2), ExponentialScheduler(0.99, 0.5)]
    ),
}
PLATEAUS: dict[str, dict[str, Any]] = {
    "plateau": {},
    "plateau_fast": {"factor": 0.5, "patience": 2, "cooldown": 3, "min_lr": 0.001},
    "plateau_max": {"mode": "max", "factor": 0.7, "patience": 5},
    "plateau_abs": {"threshold": 0.01, "threshold_mode": "abs", "factor": 0.9, "patience": 3},
}


def test_all_golden_schedules_are_compared() -> None:
    assert set(GOLDEN) == {"metrics", *CASES, *PLATEAUS}


@pytest.mark.parametrize("name", CASES)
def test_rates_are_those_of_torch(name: str) -> None:
    schedule = CASES[name]()
    found = [schedule(step) for step in range(300)]
    np.testing.assert_allclose(found, GOLDEN[name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", PLATEAUS)
def test_plateaus_are_those_of_torch_also_after_pickling(name: str) -> None:
    schedule = ReduceLROnPlateau(**PLATEAUS[name], base_lr=RATE)
    found = []
    for step, metric in enumerate(GOLDEN["metrics"]):
        found.append(schedule(step))
        schedule.step(metric)
        if step % 50 == 3:
            schedule = pickle.loads(pickle.dumps(schedule))
    assert len(set(found)) > 3
    np.testing.assert_allclose(found, GOLDEN[name], rtol=1e-9)


@pytest.mark.parametrize(
    "schedule",
    [
        CosineRestartScheduler(5, 1.0, warmup_steps=10, warmup_begin_lr=0.5),
        ExponentialScheduler(0.9, 1.0, 0.6, 10, 0.5),
        ReduceLROnPlateau(base_lr=1.0, warmup_steps=10, warmup_begin_lr=0.5),
    ],
    ids=lambda s: type(s).__name__,
)
def test_warm_up_comes_first(schedule: LRScheduler) -> None:
    assert [schedule(0), schedule(5), schedule(10)] == [0.5, 0.75, 1.0]


def test_exponential_decay_has_a_lower_limit() -> None:
    assert ExponentialScheduler(0.5, 1.0, final_lr=0.3)(9) == 0.3


def test_one_cycle_stays_at_its_final_rate_and_takes_short_rises() -> None:
    schedule = OneCycleScheduler(10, 1.0, div_factor=4, final_div_factor=2)
    assert schedule(9) == schedule(1000) == pytest.approx(0.125)
    assert OneCycleScheduler(10, 1.0, pct_start=0)(-0) <= 1.0
    assert OneCycleScheduler(1, 1.0)(0) == pytest.approx(4e-6)


def test_learning_rate_of_the_optimizer_replaces_base_lr(capsys: Any) -> None:
    schedule = OneCycleScheduler(300, anneal_strategy="linear", pct_start=0.25, div_factor=10)
    optimizer = mx.optimizer.SGD(learning_rate=RATE, lr_scheduler=schedule)
    assert optimizer.learning_rate == pytest.approx(RATE / 10)
    assert "learning_rate" in capsys.readouterr().out


def test_plateau_of_a_trainer_lowers_its_rate() -> None:
    net = mx.gluon.nn.Dense(1, in_units=2)
    net.initialize()
    schedule = ReduceLROnPlateau(patience=0, factor=0.5, base_lr=0.1)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"lr_scheduler": schedule})
    for loss in (1.0, 1.0):
        with mx.autograd.record():
            value = net(mx.nd.ones((1, 2)))
        value.backward()
        trainer.step(1)
        schedule.step(mx.nd.array([loss]))
    assert trainer.learning_rate == 0.05


def test_states_of_a_trainer_keep_the_plateau(tmp_path: Path) -> None:
    found = []
    for metrics in ((1.0, 1.0), ()):
        net = mx.gluon.nn.Dense(1, in_units=2)
        net.initialize()
        schedule = ReduceLROnPlateau(patience=0, factor=0.5, base_lr=0.1)
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"lr_scheduler": schedule})
        for metric in metrics:
            schedule.step(metric)
        if metrics:
            trainer.save_states(str(tmp_path / "t.states"))
        else:
            trainer.load_states(str(tmp_path / "t.states"))
        found.append(trainer.learning_rate)
    assert found == [0.05, 0.05]


def test_nan_is_no_improvement() -> None:
    schedule = ReduceLROnPlateau(patience=0, factor=0.5, base_lr=1.0)
    schedule.step(float("nan"))
    assert schedule(1) == 0.5


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: OneCycleScheduler(0), ArgumentError, "max_update of 1 or more, got 0"),
    (lambda: OneCycleScheduler(9, pct_start=1.5), ArgumentError, r"pct_start in \[0, 1\], got 1.5"),
    (
        lambda: OneCycleScheduler(9, pct_start=0.6, three_phase=True),
        ArgumentError,
        r"pct_start in \[0, 0.5\]",
    ),
    (lambda: OneCycleScheduler(9, div_factor=0), ArgumentError, "div_factor above 0, got 0"),
    (lambda: OneCycleScheduler(9, anneal_strategy="x"), ArgumentError, "'cos' or 'linear'"),
    (lambda: CosineRestartScheduler(0), ArgumentError, "cycle_length of 1 or more"),
    (lambda: CosineRestartScheduler(2.5), ArgumentTypeError, "cycle_length to be an int"),  # type: ignore[arg-type]
    (lambda: CosineRestartScheduler(5, cycle_mult=0), ArgumentError, "cycle_mult of 1 or more"),
    (lambda: ExponentialScheduler(0), ArgumentError, "gamma above 0, got 0"),
    (lambda: ExponentialScheduler("0.9"), ArgumentTypeError, "gamma to be a number"),  # type: ignore[arg-type]
    (lambda: ReduceLROnPlateau(factor=1), ArgumentError, "factor below 1, got 1"),
    (lambda: ReduceLROnPlateau("low"), ArgumentError, "mode 'min' or 'max', got 'low'"),
    (lambda: ReduceLROnPlateau(threshold_mode="x"), ArgumentError, "'rel' or 'abs', got 'x'"),
    (lambda: ReduceLROnPlateau(patience=-1), ArgumentError, "patience of 0 or more"),
    (lambda: ReduceLROnPlateau().step("x"), ArgumentTypeError, "metric to be a number"),  # type: ignore[arg-type]
    (lambda: SequentialScheduler([], []), ArgumentError, "one LRScheduler or more"),
    (lambda: SequentialScheduler([abs, abs], [1, 2]), ArgumentError, "1 increasing milestones"),
    (lambda: SequentialScheduler([abs] * 3, [2, 2]), ArgumentError, "2 increasing milestones"),
    (lambda: SequentialScheduler([0.1], []), ArgumentTypeError, "list of LRSchedulers"),  # type: ignore[list-item]
    (lambda: ChainedScheduler([abs]), ArgumentTypeError, "expected LRSchedulers"),  # type: ignore[list-item]
    (lambda: ChainedScheduler([PolyScheduler(5, 0)]), ArgumentError, "base_lr other than 0"),
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_wrong_arguments_are_refused(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
