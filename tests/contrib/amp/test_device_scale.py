"""Overflow checks that stay on the GPU: the bits of checks on the host, and no wait."""

import copy
import os
import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gluonish as mx
from gluonish.contrib import amp
from gluonish.core.config import GLUONISH_DEVICE_LOSS_SCALE
from gluonish.kernels.cupy.loss_scale import Outcomes
from tests.contrib.amp.device_scale_runs import STEPS, late_outcomes, run
from tests.kernels.cupy import host_compiler
from tests.kernels.cupy.install import gpu_contexts, importable_cupyx
from tests.kernels.cupy.machine import Counts, Machine

RULES: dict[str, dict[str, Any]] = {
    "sgd": {"momentum": 0.9, "wd": 0.01},
    "nag": {"momentum": 0.9},
    "dcasgd": {"momentum": 0.9},
    "signum": {},
    "adagrad": {},
    "adadelta": {},
    "adam": {"wd": 0.01},
    "adamax": {},
    "adamw": {"wd": 0.01},
    "ftml": {},
    "ftrl": {},
    "lamb": {"wd": 0.01},
    "lans": {"wd": 0.01},
    "lars": {"momentum": 0.9, "lr_scheduler": mx.lr_scheduler.FactorScheduler(2, 0.5, 0.1)},
    "nadam": {},
    "rmsprop": {"centered": True},
}
# Some of them, other ones for each seed of CI.
SAMPLE = random.Random(os.environ.get("FAST_SEED", "0")).sample(sorted(RULES), 2)

pytestmark = [
    pytest.mark.skipif(host_compiler.COMPILER is None, reason="no C++ compiler for the sources"),
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:.*updating 16-bit weights:UserWarning"),
]


@pytest.fixture
def machine() -> Iterator[Machine]:
    machine = Machine()
    with importable_cupyx(), gpu_contexts(machine, "ThreadedEngine"):
        yield machine


@pytest.mark.parametrize("name", SAMPLE)
def test_steps_have_the_bits_of_a_check_on_the_host(machine: Machine, name: str) -> None:
    ours, theirs = (
        run(name, {**copy.deepcopy(RULES[name]), "multi_precision": True}, device=device, seed=3)
        for device in (True, False)
    )
    assert (ours.on_device, theirs.on_device) == (True, False)
    for one, other in zip(ours.facts(), theirs.facts(), strict=True):
        assert one == other


@pytest.mark.parametrize(
    ("settings", "rate"),
    [
        ({"lr_scheduler": mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.1)}, False),
        ({"lr_scheduler": lambda number: 0.1 / number}, False),
        ({}, True),
    ],
    ids=["scheduler", "function", "program"],
)
def test_learning_rates_follow_the_steps_that_are_not_skipped(
    machine: Machine, settings: dict[str, Any], rate: bool
) -> None:
    found = []
    for device in (True, False):
        own = {**copy.deepcopy(settings), "momentum": 0.9, "multi_precision": True}
        found.append(run("sgd", own, device=device, seed=5, rate=rate).facts())
    assert found[0] == found[1]
    assert found[0][-2] < STEPS - 2, "no step was skipped"


def test_a_step_waits_for_nothing(machine: Machine) -> None:
    made = run("sgd", {"multi_precision": True}, device=True, seed=1, steps=3)
    made.backward()
    mx.nd.waitall()
    machine.counts = Counts()
    for _ in range(6):
        made.backward()
        made.trainer.step(2)
    counts = machine.counts
    assert (counts.synchronizations, counts.downloads) == (0, 0)
    assert made.scaler.is_on_device


def test_the_host_is_a_bounded_number_of_steps_ahead(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Outcomes, "of", lambda self, step: None)
    steps = 34
    found = [
        run("adam", {}, "float32", device=device, seed=2, steps=steps).facts()
        for device in (True, False)
    ]
    assert found[0] == found[1]


def test_numbers_that_a_program_reads_or_sets_are_those_of_all_steps(machine: Machine) -> None:
    found = []
    for device in (True, False):
        made, seen = run("adam", {}, "float32", device=device, seed=4, steps=3), []
        with GLUONISH_DEVICE_LOSS_SCALE.override(device), late_outcomes(4):
            for step in range(9):
                made.backward()
                seen.append([made.trainer._scale, made.scaler.loss_scale])
                if step == 2:
                    amp.unscale(made.trainer)
                if step == 3:
                    made.scaler._loss_scale = made.scaler._next_loss_scale = 2.0**12
                if step == 4:
                    seen.append(made.scaler.has_overflow(made.parameters))
                if step == 5:
                    made.trainer._amp_loss_scaler = pickle.loads(pickle.dumps(made.scaler))
                    made.scaler = made.trainer._amp_loss_scaler
                if step == 6:
                    made.trainer._optimizer.num_update += 5
                made.trainer.step(2)
                seen.append(made.trainer._optimizer.num_update if step % 2 else None)
        found.append([*seen, *made.facts()])
    assert found[0] == found[1]


def test_saved_states_are_those_of_all_steps(machine: Machine, tmp_path: Path) -> None:
    found = []
    for device in (True, False):
        made = run("adam", {"wd": 0.1}, device=device, seed=6, steps=5)
        path = str(tmp_path / f"{device}.states")
        made.trainer.save_states(path)
        made.trainer.load_states(path)
        with GLUONISH_DEVICE_LOSS_SCALE.override(device), late_outcomes(6):
            for _ in range(4):
                made.backward()
                made.trainer.step(2)
        found.append(made.facts())
    assert found[0] == found[1]


def test_a_step_of_other_weights_waits_for_the_outcomes_before_it(machine: Machine) -> None:
    found = []
    for device in (True, False):
        made = run("adam", {}, "float32", device=device, seed=7, steps=3)
        with GLUONISH_DEVICE_LOSS_SCALE.override(device), late_outcomes(7):
            for step in range(8):
                made.backward()
                made.parameters[0].data()._fresh_grad = step % 3 != 1
                made.trainer.step(2, ignore_stale_grad=True)
        found.append(made.facts())
    assert found[0] == found[1]
