"""Make log_mel.npz: features of speech by transformers' WhisperFeatureExtractor.

Run it with a virtual environment that has torch 2.13 and transformers 5.24, from anywhere:

    torch/bin/python tests/golden/make_log_mel.py

``mels 80`` and ``mels 128`` are some frames of 70,000 samples; ``small`` are the features by
the settings `SMALL`. They are those of its way by NumPy, in float64.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import transformers as hf

sys.path.insert(0, str(Path(__file__).parent))
from log_mel_cases import SMALL, STEP, speech


def features(samples: np.ndarray, **settings: Any) -> np.ndarray:
    """Return the features of one speech."""
    maker = hf.WhisperFeatureExtractor(**settings)
    padded = np.pad(samples, (0, maker.n_samples - len(samples)))
    return maker._np_extract_fbank_features(padded[None], "cpu")[0]


if __name__ == "__main__":
    found: dict[str, Any] = {
        f"mels {mels}": features(speech(70_000), feature_size=mels)[:, ::STEP] for mels in (80, 128)
    }
    found["small"] = features(speech(6000), **SMALL)
    np.savez_compressed(Path(__file__).with_name("log_mel.npz"), **found)
