"""Weights that follow from names, so that MXNet's networks and ours can be given the same ones."""

import math
import zlib
from typing import Any

import numpy as np

KEPT = 50  # logits of the 1000, and elements of the first gradient, that are kept as golden data


def input_shape(name: str) -> tuple[int, ...]:
    """Return the shape of an image that a network takes, small where it may be."""
    if name.startswith("inceptionv3"):
        return (1, 3, 299, 299)
    # These end with pooling over a window of a fixed size.
    size = 224 if name.startswith(("densenet", "squeezenet")) else 64
    return (1, 3, size, size)


def training_shape(name: str) -> tuple[int, ...]:
    """Return the shape of the images that gradients are taken at, after `freeze`."""
    if name.startswith("inceptionv3"):
        return (2, 3, 107, 107)
    size = 32 if name.startswith(("mobilenetv2", "resnet", "vgg")) else 64
    return (2, 3, size, size)


def simplify(block: Any) -> None:
    """Make a layer, MXNet's or ours, fit for training that can be compared, at any size.

    What Dropout leaves is random: it leaves all. Last, pooling over a window as large as what the
    image should have left takes what it left.
    """
    options = getattr(block, "_kwargs", {})
    if options.get("pool_type") == "avg" and options["kernel"][0] > 5:
        options["global_pool"] = True
    if type(block).__name__ == "Dropout":
        block._rate = 0


def freeze(block: Any) -> None:
    """`simplify`, and have normalization use the moving statistics.

    Batches of few small images, normalized by their own statistics, have gradients that round-off
    decides.
    """
    simplify(block)
    options = getattr(block, "_kwargs", {})
    if "use_global_stats" in options:
        options["use_global_stats"] = True


def images(shape: tuple[int, ...]) -> Any:
    """Return seeded images, float32."""
    return (
        np.random.RandomState(5).standard_normal(shape).astype(np.float32)
    )  # what NumPy 1.23 draws, too


def values(name: str, path: str, shape: tuple[int, ...]) -> Any:
    """Return a parameter's values, float32.

    Args:
        name: Model name.
        path: The attributes that lead to the parameter, such as ``features.0.gamma``.
        shape: Its shape.
    """
    drawn = (
        np.random.RandomState(zlib.crc32(path.encode())).random_sample(shape) * 2 - 1
    )  # as above
    if len(shape) > 1:
        # Variance 1 / fan-in: a residual branch is weaker than its input, so sums do not explode.
        # Twice that elsewhere: what a layer gets from the image outlives the activations.
        gain = 1 if name.startswith("resnet") else 2
        drawn *= math.sqrt(3 * gain / math.prod(shape[1:]))
    elif path.endswith(("gamma", "running_var")):
        drawn = 1 + 0.2 * drawn
    else:
        drawn *= 0.1
    return drawn.astype(np.float32)
