"""Dtype rules: which inputs and outputs share a dtype, for inference with unknown shapes.

By default all inputs and outputs share one dtype: `complete_same_dtype`. Operators whose indices or
lengths may have any dtype, or whose output dtype is an attribute, have a rule from `dtype_rule`.

Gradient formulas of integers are zero, or computed in float64 and truncated.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT64, is_floating, normalize_dtype
from gluonish.core.spec import PartialSpec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.registry import Attrs

Complete = Callable[[list[PartialSpec], list[PartialSpec], Attrs], None]


def complete_same_dtype(
    inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs
) -> None:
    """Fill in the common dtype of all known inputs and outputs, if they agree."""
    _join(inputs, range(len(inputs)), outputs)


def dtype_rule(*alike: int) -> Complete:
    """Return the rule that the inputs at these indices share the outputs' dtype."""

    def complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
        _join(inputs, alike, outputs)

    return complete


def named_dtype(_inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    """Set the first output's dtype to the attribute ``dtype``."""
    outputs[0] = PartialSpec(outputs[0].shape, normalize_dtype(attrs["dtype"]))


def _join(inputs: list[PartialSpec], positions: Sequence[int], outputs: list[PartialSpec]) -> None:
    known = {
        spec.dtype for spec in (*(inputs[i] for i in positions), *outputs) if spec.dtype is not None
    }
    if len(known) != 1:
        return
    (dtype,) = known
    for i in positions:
        inputs[i] = PartialSpec(inputs[i].shape, dtype)
    outputs[:] = [PartialSpec(spec.shape, dtype) for spec in outputs]


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
    """Cast a value to float64, or truncate a number, as in integer arithmetic."""
    return cast(x, FLOAT64) if hasattr(x, "__apply__") else float(int(x))


def zero_of_integers(partial: Partial) -> Partial:
    """Return a formula that is zero for integers."""

    def computed(g: Any, a: Any, b: Any) -> Any:
        return partial(g, a, b) if is_floating(np.dtype(g.dtype)) else zeros_like(g)

    return computed
