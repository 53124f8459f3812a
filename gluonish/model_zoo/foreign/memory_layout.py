"""Weights in the order of Gluon's memory: (output, input, height, width), or (output, input).

PyTorch has the same order; it may keep a dense layer as a convolution, or the other way round.
Keras has (height, width, input, output) and (input, output).
"""

import math
from typing import Any

import numpy as np

__all__ = ["arranged", "arranged_shape"]


def arranged_shape(
    shape: tuple[int, ...], keras: bool, rank: int, channels: int
) -> tuple[int, ...] | None:
    """Return the shape that `arranged` would give, or None if the weight cannot be rearranged.

    Args:
        shape: Shape of the weight in the checkpoint.
        keras: Whether the checkpoint is from Keras.
        rank: Number of axes of the network's parameter, 2 or 4.
        channels: Channels of the feature maps that were flattened before a dense layer; 0 if none.
    """
    if len(shape) not in (2, 4):
        return None
    if keras:
        if channels and (len(shape) != 2 or _side(shape[0], channels) is None):
            return None
        shape = (shape[1], shape[0]) if len(shape) == 2 else (shape[3], shape[2], *shape[:2])
    if rank == 4:
        return shape if len(shape) == 4 else (*shape, 1, 1)
    return (shape[0], math.prod(shape[1:]))


def arranged(values: Any, keras: bool, rank: int, channels: int) -> Any:
    """Return a weight rearranged to the layout of the network's parameter.

    Args:
        values: The weight in the checkpoint's layout.
        keras: Whether the checkpoint is from Keras.
        rank: Number of axes of the network's parameter, 2 or 4.
        channels: Channels of the feature maps that were flattened before a dense layer; 0 if none.

    Raises:
        AssertionError: `arranged_shape` returns None.
    """
    shape = arranged_shape(values.shape, keras, rank, channels)
    assert shape is not None
    if keras and values.ndim == 4:
        values = np.transpose(values, (3, 2, 0, 1))
    elif keras and channels:
        side = _side(values.shape[0], channels)
        assert side is not None
        maps = values.reshape(side, side, channels, values.shape[1])
        values = np.transpose(maps, (3, 2, 0, 1))
    elif keras:
        values = values.T
    return values.reshape(shape)


def _side(inputs: int, channels: int) -> int | None:
    """Return height and width of square maps that were flattened."""
    side = math.isqrt(inputs // channels)
    return side if side * side * channels == inputs else None
