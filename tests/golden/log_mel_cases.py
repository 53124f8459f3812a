"""Speech, of formulas, for the script that asks transformers for its features and for the tests."""

import numpy as np

SMALL = {
    "feature_size": 5,
    "chunk_length": 1,
    "hop_length": 80,
    "n_fft": 200,
    "sampling_rate": 8000,
}
STEP = 60  # of the frames that are kept


def speech(count: int) -> np.ndarray:
    """Return samples: a tone that rises, quiet in the middle, and steps."""
    places = np.arange(count)
    tone = np.sin(places * (0.02 + places / (8.0 * count))) * np.abs(np.cos(places * 9 / count))
    return (0.5 * tone + ((places * 37) % 101 - 50) / 5000).astype(np.float32)
