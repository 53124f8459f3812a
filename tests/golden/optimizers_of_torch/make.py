"""Make optimizers.npz: weights after 1 to 200 steps of PyTorch's optimizers, in float64.

Run it with a virtual environment that has torch 2.13: ``torch/bin/python make.py``. Lion, which
PyTorch has not, is written here from Algorithm 2 of its paper. PyTorch's Muon multiplies matrices
in bfloat16; here it does so in float64.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

STEPS = 200
SAVED = [0, 1, 4, 5, 6, 19, 99, 199]
RATE = 0.01


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al., Symbolic Discovery of Optimization Algorithms, 2023."""

    def __init__(self, params: Any, **defaults: Any) -> None:
        super().__init__(params, defaults)

    def step(self) -> None:  # type: ignore[override]
        """Take one step."""
        with torch.no_grad():
            for group in self.param_groups:
                first, second = group["betas"]
                for p in group["params"]:
                    self._update(p, first, second, group["lr"], group["weight_decay"])

    def _update(self, p: Tensor, first: float, second: float, lr: float, decay: float) -> None:
        assert p.grad is not None
        m = self.state[p].setdefault("m", torch.zeros_like(p))
        c = first * m + (1 - first) * p.grad
        p -= lr * (c.sign() + decay * p)
        m.copy_(second * m + (1 - second) * p.grad)


CASES: dict[str, tuple[Callable[..., Any], dict[str, Any], dict[str, float]]] = {
    "lion": (Lion, {"betas": (0.9, 0.99), "weight_decay": 0.0}, {}),
    "lion_all": (
        Lion,
        {"betas": (0.8, 0.95), "weight_decay": 0.3},
        {"rescale": 0.5, "clip": 0.4},
    ),
    "radam": (torch.optim.RAdam, {}, {}),
    "radam_all": (
        torch.optim.RAdam,
        {"betas": (0.8, 0.98), "eps": 1e-3, "weight_decay": 0.2},
        {"rescale": 0.5, "clip": 0.4},
    ),
    "radam_decoupled": (
        torch.optim.RAdam,
        {"betas": (0.9, 0.98), "weight_decay": 0.2, "decoupled_weight_decay": True},
        {},
    ),
    "adafactor": (torch.optim.Adafactor, {}, {}),
    "adafactor_all": (
        torch.optim.Adafactor,
        {"beta2_decay": -0.6, "eps": (1e-5, 0.01), "d": 1.2, "weight_decay": 0.2},
        {"rescale": 0.5, "clip": 0.4},
    ),
    "muon": (torch.optim.Muon, {"weight_decay": 0.0}, {}),
    "muon_all": (
        torch.optim.Muon,
        {
            "weight_decay": 0.2,
            "momentum": 0.8,
            "nesterov": False,
            "ns_coefficients": (3.0, -4.0, 2.0),
            "ns_steps": 3,
            "eps": 1e-4,
        },
        {"rescale": 0.5, "clip": 0.4},
    ),
    "muon_matched": (torch.optim.Muon, {"adjust_lr_fn": "match_rms_adamw"}, {}),
}


def data(name: str) -> tuple[list[Any], list[list[Any]]]:
    """Return initial weights, and the gradients of each step, all of float32's values."""
    shapes = [(4, 3), (3, 6)] if name.startswith("muon") else [(4, 3), (5,), (2, 3, 2)]
    draw = np.random.RandomState(7)
    weights = [draw.randn(*shape).astype("float32") for shape in shapes]
    grads = [[draw.randn(*shape).astype("float32") for shape in shapes] for _ in range(STEPS)]
    return weights, grads


def main() -> None:
    """Write weights of all cases."""
    torch.Tensor.bfloat16 = lambda self, **_: self.clone()  # type: ignore[method-assign, assignment]
    found: dict[str, Any] = {}
    for name, (kind, kwargs, scaling) in CASES.items():
        weights, grads = data(name)
        params: list[Tensor] = [
            torch.tensor(w, dtype=torch.float64, requires_grad=True) for w in weights
        ]
        optimizer = kind(params, lr=RATE, **kwargs)
        limit = scaling.get("clip", np.inf)
        for step, now in enumerate(grads):
            for p, g in zip(params, now, strict=True):
                scaled = np.clip(g.astype("float64") * scaling.get("rescale", 1.0), -limit, limit)
                p.grad = torch.tensor(scaled)
            optimizer.step()
            if step in SAVED:
                for i, p in enumerate(params):
                    found.setdefault(f"{name}-{i}", []).append(p.detach().numpy().copy())
    np.savez_compressed(Path(__file__).with_name("optimizers.npz"), **found)


if __name__ == "__main__":
    main()
