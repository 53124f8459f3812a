"""Twelve networks train as under MXNet 1.9.1: 20 steps with each optimizer, from equal weights.

golden.npz holds MXNet's losses and final parameters; tests/golden/make_training.py wrote it.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish
from tests.training.networks import TASKS
from tests.training.runs import OPTIMIZERS, kept, run

GOLDEN = Path(__file__).resolve().parent / "golden.npz"


def expected_of(task: str, case: str) -> dict[str, Any]:
    with np.load(GOLDEN) as golden:
        prefix = f"{task}/{case}/"
        return {k.removeprefix(prefix): golden[k] for k in golden.files if k.startswith(prefix)}


def check(task: str, case: str, *, hybridize: bool) -> None:
    optimizer, arguments = OPTIMIZERS[case]
    expected = expected_of(task, case)
    assert "refused" not in expected
    result = run(gluonish, task, optimizer, arguments, hybridize)
    np.testing.assert_allclose(result.pop("losses"), expected.pop("losses"), rtol=1e-4)
    assert sorted(result) == sorted(expected)
    for name, wanted in expected.items():
        scale = float(np.abs(wanted).max())
        np.testing.assert_allclose(
            kept(result[name]), wanted, rtol=1e-3, atol=1e-3 * scale, err_msg=name
        )


@pytest.mark.parametrize("case", OPTIMIZERS)
@pytest.mark.parametrize("task", TASKS)
def test_training_gives_the_losses_and_weights_of_mxnet(task: str, case: str) -> None:
    check(task, case, hybridize=False)


@pytest.mark.parametrize("case", ["sgd_momentum", "adam"])
@pytest.mark.parametrize("task", TASKS)
def test_hybridized_training_gives_them_too(task: str, case: str) -> None:
    check(task, case, hybridize=True)


def test_losses_of_every_task_move() -> None:
    for task in TASKS:
        losses = expected_of(task, "sgd")["losses"]
        assert np.isfinite(losses).all()
        assert np.ptp(losses, axis=0).min() > 1e-3
