"""Weights that follow from names, so that PyTorch's networks and ours can be given the same."""

import math
import zlib
from typing import Any

import numpy as np

KEPT = 10  # logits of each network


def image(side: int) -> Any:
    """Return one seeded image, float32 (1, 3, side, side)."""
    generator = np.random.Generator(np.random.PCG64(5))
    return generator.standard_normal((1, 3, side, side), np.float32)


def is_kept_as_made(name: str) -> bool:
    """Whether an entry of a state dict is no weight."""
    return name.endswith("num_batches_tracked")


def values(name: str, shape: tuple[int, ...]) -> Any:
    """Return the values of a weight in PyTorch's memory order, float32.

    Args:
        name: Of the entry, such as ``layer1.0.conv1.weight``.
        shape: Its shape.
    """
    generator = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    drawn = generator.random(shape, np.float32)
    drawn *= 2
    drawn -= 1
    if len(shape) > 1:
        # Variance 2 / fan-in: what a layer gets from the image outlives the activations.
        drawn *= np.float32(math.sqrt(6 / math.prod(shape[1:])))
    elif name.endswith("running_var"):
        drawn *= np.float32(0.3)
        drawn += 1
    elif name.endswith("weight"):
        drawn *= np.float32(0.3)
        drawn += np.float32(0.8)
    else:
        drawn *= np.float32(0.1)
    return drawn


def legacy_densenet_name(name: str) -> str:
    """Return what PyTorch before 0.4 called an entry of a DenseNet."""
    if "denselayer" not in name:
        return name
    for part in ("norm1", "norm2", "conv1", "conv2"):
        name = name.replace(part, f"{part[:-1]}.{part[-1]}")
    return name
