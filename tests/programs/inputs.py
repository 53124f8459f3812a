"""Weights and batches drawn by NumPy from a seed, the same under MXNet and gluonish."""

from types import ModuleType
from typing import Any

import numpy as np

_POSITIVE = ("gamma", "running_var")


def normal(seed: int, *shape: int) -> Any:
    """Return float32 normal numbers of ``shape``."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def classes(seed: int, count: int, *shape: int) -> Any:
    """Return class numbers in [0, count) as float32, the way MXNet programs keep labels."""
    return np.random.default_rng(seed).integers(0, count, shape).astype(np.float32)


def fill(mx: ModuleType, params: Any, seed: int, scale: float = 0.3) -> None:
    """Give every parameter of a ParameterDict, in its order, fixed numbers on all its devices."""
    for position, (name, parameter) in enumerate(params.items()):
        values = scale * normal(seed * 1000 + position, *parameter.shape)
        if name.endswith(_POSITIVE):
            values = 1 + np.abs(values)
        parameter.set_data(mx.nd.array(values))


def values_of(params: Any) -> dict[str, Any]:
    """Return name to NumPy values of a ParameterDict (its first device)."""
    return {name: p.list_data()[0].asnumpy() for name, p in params.items()}
