"""Make schedules.npz: learning rates of PyTorch's schedules after 0 to 299 steps.

Run it with a virtual environment that has torch 2.13: ``torch/bin/python make.py``.
"""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.optim import lr_scheduler as schedules

STEPS = 300
RATE = 0.3
METRICS = np.round(1 / (1 + np.arange(STEPS) / 20) + np.random.RandomState(0).rand(STEPS) * 0.05, 4)


def one_cycle(**kwargs: Any) -> Callable[[Any], Any]:
    """Return a maker of OneCycleLR."""
    return lambda o: schedules.OneCycleLR(o, RATE, **{"total_steps": STEPS, **kwargs})


CASES: dict[str, Callable[[Any], Any]] = {
    "one_cycle": one_cycle(),
    "one_cycle_linear": one_cycle(anneal_strategy="linear", pct_start=0.25, div_factor=10),
    "one_cycle_three": one_cycle(three_phase=True, final_div_factor=100),
    "one_cycle_three_linear": one_cycle(three_phase=True, anneal_strategy="linear", pct_start=0.4),
    "restarts": lambda o: schedules.CosineAnnealingWarmRestarts(o, 37, eta_min=0.01),
    "restarts_longer": lambda o: schedules.CosineAnnealingWarmRestarts(o, 15, 2),
    "restarts_tripled": lambda o: schedules.CosineAnnealingWarmRestarts(o, 7, 3, 0.02),
    "exponential": lambda o: schedules.ExponentialLR(o, 0.98),
    "sequential": lambda o: schedules.SequentialLR(
        o,
        [
            schedules.ExponentialLR(o, 0.9),
            schedules.CosineAnnealingWarmRestarts(o, 50),
            schedules.ExponentialLR(o, 0.97),
        ],
        [20, 130],
    ),
    "chained": lambda o: schedules.ChainedScheduler(
        [schedules.PolynomialLR(o, 400, 2), schedules.ExponentialLR(o, 0.99)]
    ),
}
PLATEAUS: dict[str, dict[str, Any]] = {
    "plateau": {},
    "plateau_fast": {"factor": 0.5, "patience": 2, "cooldown": 3, "min_lr": 0.001},
    "plateau_max": {"mode": "max", "factor": 0.7, "patience": 5},
    "plateau_abs": {"threshold": 0.01, "threshold_mode": "abs", "factor": 0.9, "patience": 3},
}


def main() -> None:
    """Write the rates of all cases."""
    warnings.simplefilter("ignore")
    found = {"metrics": METRICS}
    for name in (*CASES, *PLATEAUS):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], RATE)
        plateau = name in PLATEAUS
        schedule = (
            schedules.ReduceLROnPlateau(optimizer, **PLATEAUS[name])
            if plateau
            else CASES[name](optimizer)
        )
        rates = []
        for step in range(STEPS):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            if plateau:
                schedule.step(METRICS[step])
            elif step < STEPS - 1:
                schedule.step()
        found[name] = np.array(rates)
    np.savez_compressed(Path(__file__).with_name("schedules.npz"), **found)


if __name__ == "__main__":
    main()
