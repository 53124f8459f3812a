"""Functions whose derivatives `make_functional.py` takes with PyTorch, and tests with gluonish."""

from typing import Any

import numpy as np

_RANDOM = np.random.default_rng(7)
A = _RANDOM.normal(size=(2, 3))
B = _RANDOM.normal(size=(3, 2))
C = _RANDOM.normal(size=(2, 2))


def network(xp: Any, a: Any, b: Any) -> Any:
    """One output (2, 2) of two inputs."""
    return xp.tanh(a @ b) * xp.exp(-a[:, :1])


def energy(xp: Any, a: Any, b: Any) -> Any:
    """A sum of terms of third and higher order."""
    return (xp.tanh(a @ b) ** 2).sum() + (a**3 * b.T).sum() / 3 + xp.exp(b).sum()


def pair(xp: Any, a: Any, b: Any) -> Any:
    """Two outputs, of which the second depends on one input only."""
    return xp.sin(a).sum(0) * b[:, 0], xp.exp(b[0])


# Vectors of the products: like the output of `network`, and like the inputs.
V = C
U = (A[::-1].copy() ** 2, B[::-1].copy() - 1)
