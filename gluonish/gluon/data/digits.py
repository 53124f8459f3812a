"""The handwritten digits that ship with the package: data for a first model, offline.

1,797 images of 8x8 pixels by 13 people, from the UCI Machine Learning Repository under CC BY 4.0;
``digits.LICENSE.txt`` next to this file, and the data file itself, name authors, source and
licence.
"""

from pathlib import Path

import numpy as np

_FILE = Path(__file__).with_name("digits.npz")
# Every fifth image of each class is held out, starting with the third: 359 images.
_HOLD_OUT_EVERY = 5
_HOLD_OUT_FIRST = 2


def load_digits(train: bool) -> tuple[np.ndarray, np.ndarray]:
    """Load the handwritten digits; the split is fixed and stratified by class.

    Args:
        train: True for the 1,438 training images, False for the 359 held-out ones.

    Returns:
        Images (N, 1, 8, 8), float32 in [0, 1] where 1 is ink, and labels (N,), int32 from 0 to 9.
        Both are new arrays.
    """
    with np.load(_FILE, allow_pickle=False) as archive:
        pixels, labels = archive["images"], archive["labels"].astype(np.int32)
    chosen = _held_out(labels) != train
    images = pixels[chosen, np.newaxis].astype(np.float32) / np.float32(16)
    return images, labels[chosen]


def _held_out(labels: np.ndarray) -> np.ndarray:
    held_out = np.zeros(labels.shape, dtype=bool)
    for digit in range(10):
        (positions,) = np.nonzero(labels == digit)
        held_out[positions[_HOLD_OUT_FIRST::_HOLD_OUT_EVERY]] = True
    return held_out
