"""The cases of SciPy's results, and distributions of their parameters."""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.gluon import probability as mgp

_FOLDER = Path(__file__).parents[2] / "golden"
sys.path.insert(0, str(_FOLDER))
from probability_cases import (  # noqa: E402
    CASES,
    KEYWORDS,
    PAIRS,
    PROBABILITIES,
    parameters,
)

sys.path.remove(str(_FOLDER))

__all__ = ["CASES", "GOLDEN", "KEYWORDS", "NAMES", "PAIRS", "PROBABILITIES", "arrays", "made"]

with np.load(_FOLDER / "probability.npz") as _file:
    GOLDEN = dict(_file)
NAMES = list(CASES)


def arrays(name: str, dtype: str = "float64") -> dict[str, Any]:
    """Return the parameters of a distribution."""
    return {key: mnp.array(value) for key, value in parameters(name, dtype).items()}


def made(name: str, params: dict[str, Any]) -> Any:
    """Return a distribution."""
    return getattr(mgp, name)(**KEYWORDS.get(name, {}), **params)


def values(name: str, dtype: str = "float64") -> Any:
    """Return the values of a distribution's cases."""
    return mnp.array(np.array(CASES[name][1], dtype))
