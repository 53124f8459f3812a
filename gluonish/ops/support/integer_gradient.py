"""Gradient formulas on integers: zero, or computed in float64 and truncated."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT64, is_floating
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.constant_like import zeros_like

Partial = Callable[[Any, Any, Any], Any]  # (g, a, b); a or b may be a number


def cut_from_reals(partial: Partial) -> Partial:
    """Return a formula that computes integer gradients in float64, then truncates."""

    def computed(g: Any, a: Any, b: Any) -> Any:
        dtype: np.dtype[Any] = np.dtype(g.dtype)
        if is_floating(dtype):
            return partial(g, a, b)
        return cast(partial(cast(g, FLOAT64), _real(a), _real(b)), dtype)

    return computed


def _real(x: Any) -> Any:
    """Return a value in float64, and a number truncated, as in integer arithmetic."""
    return cast(x, FLOAT64) if hasattr(x, "__apply__") else float(int(x))


def zero_of_integers(partial: Partial) -> Partial:
    """Return a formula that is zero for integers."""

    def computed(g: Any, a: Any, b: Any) -> Any:
        return partial(g, a, b) if is_floating(np.dtype(g.dtype)) else zeros_like(g)

    return computed
