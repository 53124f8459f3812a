"""Angles of rotary embeddings: frequencies, their scaling for longer sequences, cosines and sines.

Everything is computed in float64. Scaling ``dynamic`` depends on the longest position of a call,
the other kinds only on attributes.

References:
    J. Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021.
    S. Chen et al., Extending Context Window of Large Language Models via Positional Interpolation,
    2023 (linear).
    B. Peng et al., YaRN: Efficient Context Window Extension of Large Language Models, 2023.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, boolean, choice, integer, number, optional
from gluonish.ops.registry import Attrs

# Names of the parameters are those of the models' configurations.
ATTRIBUTES: dict[str, Attribute] = {
    "base": number(10000.0),
    "scaling": choice("none", "linear", "dynamic", "llama3", "yarn", default="none"),
    "factor": number(1.0),
    "original_max_position_embeddings": optional(integer(low=1)),
    "low_freq_factor": number(1.0),
    "high_freq_factor": number(4.0),
    "beta_fast": number(32.0),
    "beta_slow": number(1.0),
    "truncate": boolean(True),
    "attention_factor": optional(number()),
}


def check_scaling(name: str, dim: int, attrs: Attrs) -> None:
    """Refuse parameters without a meaning.

    Raises:
        OperatorError: The message says what was expected.
    """
    kind, original = attrs["scaling"], attrs["original_max_position_embeddings"]
    for key in ("base", "factor"):
        if not attrs[key] > 0:
            raise OperatorError(f"{name}: expected {key} above 0, got {attrs[key]}")
    if kind in ("dynamic", "llama3", "yarn") and original is None:
        raise OperatorError(
            f"{name}: expected original_max_position_embeddings, which scaling {kind!r} needs"
        )
    if kind == "llama3" and not 0 < attrs["low_freq_factor"] < attrs["high_freq_factor"]:
        raise OperatorError(
            f"{name}: expected low_freq_factor below high_freq_factor, got "
            f"{attrs['low_freq_factor']} and {attrs['high_freq_factor']}"
        )
    if kind == "dynamic" and dim <= 2:
        raise OperatorError(f"{name}: expected dim above 2 with scaling 'dynamic', got {dim}")
    if kind == "yarn" and not (attrs["base"] > 1 and 0 < attrs["beta_slow"] < attrs["beta_fast"]):
        raise OperatorError(
            f"{name}: expected base above 1 and beta_slow below beta_fast, got {attrs['base']}, "
            f"{attrs['beta_slow']} and {attrs['beta_fast']}"
        )


def factor_of_tables(attrs: Attrs) -> float:
    """Return the factor of cosines and sines."""
    if attrs["attention_factor"] is not None:
        return float(attrs["attention_factor"])
    if attrs["scaling"] != "yarn" or attrs["factor"] <= 1:
        return 1.0
    return 0.1 * math.log(attrs["factor"]) + 1.0


def _ramp(xp: ModuleType, dim: int, attrs: Attrs) -> Any:
    """Return, for each frequency, how far YaRN interpolates it: from 0 to 1."""
    ends = []
    for rotations in (attrs["beta_fast"], attrs["beta_slow"]):
        ratio = attrs["original_max_position_embeddings"] / (rotations * 2 * math.pi)
        ends.append(dim * math.log(ratio) / (2 * math.log(attrs["base"])))
    low, high = ends
    if attrs["truncate"]:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    if low == high:
        high += 0.001
    return xp.clip((xp.arange(dim // 2, dtype=np.float64) - low) / (high - low), 0, 1)


def frequencies(xp: ModuleType, dim: int, attrs: Attrs, length: Any) -> Any:
    """Return the angle per position of each pair, float64 (dim / 2,).

    Args:
        length: The longest position of the call plus 1, for scaling ``dynamic``: an int, or an
            array of shape ().
    """
    base, kind, factor = attrs["base"], attrs["scaling"], attrs["factor"]
    original = attrs["original_max_position_embeddings"]
    if kind == "dynamic":
        longest = max(length, original) if type(length) is int else xp.maximum(length, original)
        base = base * (factor * longest / original - (factor - 1)) ** (dim / (dim - 2))
    found = 1 / base ** (xp.arange(0, dim, 2, dtype=np.float64) / dim)
    if kind == "linear":
        found = found / factor
    elif kind == "llama3":
        low, high = attrs["low_freq_factor"], attrs["high_freq_factor"]
        share = xp.clip((original * found / (2 * math.pi) - low) / (high - low), 0, 1)
        found = (1 - share) * found / factor + share * found
    elif kind == "yarn":
        ramp = _ramp(xp, dim, attrs)
        found = found / factor * ramp + found * (1 - ramp)
    return found


def tables(xp: ModuleType, positions: Any, dim: int, attrs: Attrs, length: Any) -> tuple[Any, Any]:
    """Return cosines and sines of positions (...,), float64 (..., dim / 2)."""
    angles = positions.astype(np.float64)[..., None] * frequencies(xp, dim, attrs, length)
    factor = factor_of_tables(attrs)
    return xp.cos(angles) * factor, xp.sin(angles) * factor
