"""Make wrappers.npz: weights after 1 to 200 steps of timm's Lookahead, and of SAM, in float64.

Run it with a virtual environment that has torch 2.14 and timm 1.0.31. timm's slow weights begin at
their first use, after k steps; here they begin as the first weights, as in the paper. SAM and ASAM
are written here from their papers, around PyTorch's SGD and RAdam: Foret et al., 2021, equations 2
and 3; Kwon et al., 2021, algorithm 1 with the elementwise operator ``abs(w) + eta``.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from timm.optim.lookahead import Lookahead
from torch import Tensor

STEPS = 200
SAVED = [0, 1, 4, 5, 6, 19, 99, 199]
RATE = 0.01

LOOKAHEAD: dict[str, tuple[Callable[..., Any], dict[str, Any], dict[str, Any], dict[str, float]]]
LOOKAHEAD = {
    "sgd": (torch.optim.SGD, {"momentum": 0.9, "weight_decay": 0.1}, {"k": 5}, {}),
    "radam": (torch.optim.RAdam, {"weight_decay": 0.1}, {"k": 6, "alpha": 0.8}, {}),
    "adafactor": (torch.optim.Adafactor, {}, {"k": 2, "alpha": 0.3}, {"rescale": 0.5, "clip": 0.4}),
}
SAM: dict[str, tuple[Callable[..., Any], dict[str, Any], dict[str, float], bool]] = {
    "sam": (torch.optim.SGD, {"momentum": 0.9, "weight_decay": 0.01}, {"rho": 0.05}, False),
    "sam_wide": (torch.optim.RAdam, {}, {"rho": 0.5}, False),
    "asam": (torch.optim.SGD, {"momentum": 0.9}, {"rho": 0.5, "eta": 0.01}, True),
    "asam_eta": (torch.optim.RAdam, {"weight_decay": 0.1}, {"rho": 1.0, "eta": 0.2}, True),
}


def data() -> tuple[list[Any], list[list[Any]]]:
    """Return initial weights, and the gradients of each step, of float32's values."""
    shapes = [(4, 3), (5,), (2, 3, 2)]
    draw = np.random.RandomState(8)
    weights = [draw.randn(*shape).astype("float32") for shape in shapes]
    grads = [[draw.randn(*shape).astype("float32") for shape in shapes] for _ in range(STEPS)]
    return weights, grads


def lookahead(name: str) -> list[list[Any]]:
    """Return the weights after the saved steps of an optimizer with Lookahead."""
    kind, kwargs, options, scaling = LOOKAHEAD[name]
    weights, grads = data()
    params = [torch.tensor(w, dtype=torch.float64, requires_grad=True) for w in weights]
    optimizer = Lookahead(kind(params, lr=RATE, **kwargs), **{"alpha": 0.5, **options})
    first = [p.detach().clone() for p in params]
    found: list[list[Any]] = [[] for _ in params]
    limit = scaling.get("clip", np.inf)
    for step, now in enumerate(grads):
        for p, g in zip(params, now, strict=True):
            scaled = np.clip(g.astype("float64") * scaling.get("rescale", 1.0), -limit, limit)
            p.grad = torch.tensor(scaled)
        optimizer.step()
        if not step:  # optimizers take other states in their first step for their own
            for p, w in zip(params, first, strict=True):
                optimizer._base_optimizer.state[p]["lookahead_slow_buff"] = w
        if step in SAVED:
            for values, p in zip(found, params, strict=True):
                values.append(p.detach().numpy().copy())
    return found


def batches() -> tuple[list[Any], list[tuple[Any, Any]]]:
    """Return weights and biases of a network of two layers, and the batch of each step."""
    draw = np.random.RandomState(9)
    weights = [draw.randn(*s).astype("float32") for s in ((6, 4), (6,), (3, 6), (3,))]
    pairs = [(draw.randn(8, 4), draw.randn(8, 3)) for _ in range(STEPS)]
    return weights, [(x.astype("float32"), y.astype("float32")) for x, y in pairs]


def loss(params: list[Tensor], x: Tensor, y: Tensor) -> Tensor:
    """Return the mean loss of the network."""
    hidden = torch.tanh(x @ params[0].T + params[1])
    return ((hidden @ params[2].T + params[3] - y) ** 2).mean() / 2


def sharpness_aware(name: str) -> list[list[Any]]:
    """Return the weights after the saved steps of SAM."""
    kind, kwargs, options, adaptive = SAM[name]
    weights, pairs = batches()
    params = [torch.tensor(w, dtype=torch.float64, requires_grad=True) for w in weights]
    optimizer = kind(params, lr=RATE, **kwargs)
    found: list[list[Any]] = [[] for _ in params]
    for step, (x, y) in enumerate(pairs):
        batch = torch.tensor(x, dtype=torch.float64), torch.tensor(y, dtype=torch.float64)
        first = torch.autograd.grad(loss(params, *batch), params)
        with torch.no_grad():
            before = [p.clone() for p in params]
            t = [p.abs() + options["eta"] if adaptive else torch.ones_like(p) for p in params]
            total = sum(((a * g) ** 2).sum() for a, g in zip(t, first, strict=True))
            assert isinstance(total, Tensor)
            for p, a, g in zip(params, t, first, strict=True):
                p += options["rho"] * a**2 * g / total.sqrt()
        second = torch.autograd.grad(loss(params, *batch), params)
        with torch.no_grad():
            for p, old, g in zip(params, before, second, strict=True):
                p.copy_(old)
                p.grad = g.clone()
        optimizer.step()
        if step in SAVED:
            for values, p in zip(found, params, strict=True):
                values.append(p.detach().numpy().copy())
    return found


def main() -> None:
    """Write the weights of all cases."""
    found = {
        f"lookahead_{name}-{i}": v for name in LOOKAHEAD for i, v in enumerate(lookahead(name))
    }
    found |= {f"{name}-{i}": v for name in SAM for i, v in enumerate(sharpness_aware(name))}
    np.savez_compressed(Path(__file__).with_name("wrappers.npz"), **found)


if __name__ == "__main__":
    main()
