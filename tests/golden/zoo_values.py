"""Weights that follow from names, so that MXNet's networks and ours can be given the same ones."""

import math
import zlib
from typing import Any

import numpy as np

__all__ = ["INPUT_SHAPE", "KEPT", "images", "values"]

INPUT_SHAPE = (1, 3, 64, 64)
KEPT = 50  # logits of the 1000 that are kept as golden data


def images(shape: tuple[int, ...] = INPUT_SHAPE) -> Any:
    """Return seeded images, float32."""
    return (
        np.random.RandomState(5).standard_normal(shape).astype(np.float32)
    )  # what NumPy 1.23 draws, too


def values(path: str, shape: tuple[int, ...]) -> Any:
    """Return a parameter's values, float32.

    Args:
        path: The attributes that lead to the parameter, such as ``features.0.gamma``.
        shape: Its shape.
    """
    drawn = (
        np.random.RandomState(zlib.crc32(path.encode())).random_sample(shape) * 2 - 1
    )  # as above
    if len(shape) > 1:
        # Variance 1 / fan-in: a residual branch is weaker than its input, so sums do not explode.
        drawn *= math.sqrt(3 / math.prod(shape[1:]))
    elif path.endswith(("gamma", "running_var")):
        drawn = 1 + 0.2 * drawn
    else:
        drawn *= 0.1
    return drawn.astype(np.float32)
