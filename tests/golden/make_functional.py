"""Make functional.npz: derivatives of functions by torch.autograd.functional, in float64.

Run it with a virtual environment that has torch 2.13, from anywhere:

    torch/bin/python tests/golden/make_functional.py
"""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.autograd import functional

sys.path.insert(0, str(Path(__file__).parent))
from functional_cases import A, B, U, V, energy, network, pair  # type: ignore[import-not-found]


def flat(name: str, value: Any, found: dict[str, Any]) -> None:
    """Add the arrays of nested tuples to ``found``, with their positions in the names."""
    if isinstance(value, tuple):
        for number, item in enumerate(value):
            flat(f"{name} {number}", item, found)
    else:
        found[name] = value.numpy()


if __name__ == "__main__":
    inputs = torch.tensor(A), torch.tensor(B)
    u = tuple(map(torch.tensor, U))
    results: dict[str, Any] = {}
    flat("vjp", functional.vjp(partial(network, torch), inputs, torch.tensor(V)), results)
    flat("jvp", functional.jvp(partial(network, torch), inputs, u), results)
    flat("jvp pair", functional.jvp(partial(pair, torch), inputs, u), results)
    flat("jacobian", functional.jacobian(partial(pair, torch), inputs), results)
    flat("hessian", functional.hessian(partial(energy, torch), inputs), results)
    np.savez_compressed(Path(__file__).with_name("functional.npz"), **results)
