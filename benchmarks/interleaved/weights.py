"""Parameters and batches that every peer makes for itself, alike in all of them.

NumPy only: this module runs in the environment of every peer.
"""

import math
import zlib
from typing import Any

import numpy as np

# What the values of a parameter lie between, by the end of its name; weights go by their shape.
_RANGES = {
    "gamma": (0.8, 1.2),
    "beta": (-0.1, 0.1),
    "bias": (-0.1, 0.1),
    "running_mean": (-0.1, 0.1),
    "moving_mean": (-0.1, 0.1),
    "running_var": (0.8, 1.2),
    "moving_var": (0.8, 1.2),
}


def parameter(name: str, shape: tuple[int, ...]) -> Any:
    """The values of a parameter: float32, uniform, the same wherever the name is the same.

    Args:
        name: Its name in the graph; the end tells gamma from weight.
        shape: Its shape; a weight is (outputs, inputs, *kernel).
    """
    low, high = _range(name, shape)
    values = np.random.default_rng(zlib.crc32(name.encode())).random(shape, dtype=np.float32)
    values *= np.float32(high - low)
    values += np.float32(low)
    return values


def _range(name: str, shape: tuple[int, ...]) -> tuple[float, float]:
    for ending, limits in _RANGES.items():
        if name.endswith(ending):
            return limits
    bound = math.sqrt(6.0 / math.prod(shape[1:]))  # keeps the variance through a rectifier
    return -bound, bound


def is_statistic(name: str) -> bool:
    """Whether this is a moving mean or variance, which no gradient changes."""
    return name.endswith(("_mean", "_var"))


def batch(batch_size: int, shape: tuple[int, ...]) -> Any:
    """Images: float32 (batch_size, *shape), uniform between -1 and 1."""
    values = np.random.default_rng(1).random((batch_size, *shape), dtype=np.float32)
    values *= 2
    values -= 1
    return values


def labels(batch_size: int, classes: int) -> Any:
    """A class for each image: int64 (batch_size,)."""
    return np.random.default_rng(2).integers(0, classes, batch_size)
