"""A program's results as plain arrays under plain names, the form that golden.npz holds."""

from typing import Any

import numpy as np


def flatten(results: dict[str, Any]) -> dict[str, Any]:
    """Return ``results`` with lists of arrays taken apart and everything else as an array."""
    flat = {}
    for key, value in results.items():
        if isinstance(value, list) and any(isinstance(v, np.ndarray) for v in value):
            flat.update({f"{key}[{number}]": np.asarray(v) for number, v in enumerate(value)})
        else:
            flat[key] = np.asarray(value)
    return flat
