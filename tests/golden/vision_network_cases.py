"""Inputs of the networks of vision_networks/."""

import numpy as np

TOKENS = [[5, 1, 7, 2, 9, 3], [4, 4, 8, 30, 3, 1]]
MASKED = [[0, 1, 0, 1], [1, 0, 0, 0]]  # patches of two images
SIZE, OTHER_SIZE = (8, 12), (12, 20)  # pixels; patches have 4


def images(size: tuple[int, int] = SIZE) -> np.ndarray:
    """Return two images, in float64."""
    shape = (2, 3, *size)
    return np.cos(0.7 * np.arange(np.prod(shape), dtype=np.float64)).reshape(shape)
