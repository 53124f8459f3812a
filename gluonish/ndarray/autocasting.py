"""Mixed precision of eager operators: cast the inputs before the call.

`install` wraps `gluonish.ndarray.eager.invoke`. It is called when mixed precision is first turned
on, so that programs without it pay nothing.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.ndarray import eager
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.autocast import Policy, current
from gluonish.ops.contrib.mixed_precision import AMP_CAST
from gluonish.ops.registry import Attrs, Operator


def installed() -> bool:
    """Whether operator calls are wrapped."""
    return getattr(NDArray.__apply__, "casts", False)


def install() -> None:
    """Make all operators on arrays follow the policy of the calling thread."""
    if installed():
        return
    uncast: Any = NDArray.__apply__

    def invoke(op: Operator, inputs: Sequence[Any], attrs: Attrs, out: Any = None) -> Any:
        policy = current()
        if policy is None:
            return uncast(op, inputs, attrs, out)
        cast = _cast_inputs(policy, op, inputs, attrs)
        if out is None or cast is inputs:
            return uncast(op, cast, attrs, out)
        return _cast_into(out, uncast(op, cast, attrs, None))

    invoke.casts = True  # type: ignore[attr-defined]
    NDArray.__apply__ = staticmethod(invoke)


def _cast_inputs(
    policy: Policy, op: Operator, inputs: Sequence[Any], attrs: Attrs
) -> Sequence[Any]:
    """Return the inputs cast by the policy; unchanged if any is sparse or traced."""
    if any(not isinstance(x, NDArray) or x.stype != "default" or x.is_traced for x in inputs):
        return inputs
    return policy.cast(op, inputs, attrs, [x._spec.dtype for x in inputs], _cast)


def _cast(x: NDArray, dtype: np.dtype[Any]) -> Any:
    return eager.invoke(AMP_CAST, (x,), {"dtype": dtype})


def _cast_into(out: Any, results: Any) -> Any:
    """Write results to ``out``, cast to its dtypes, and return it."""
    targets = out if isinstance(out, list | tuple) else [out]
    values = results if isinstance(results, list) else [results]
    for target, result in zip(targets, values, strict=False):
        eager.invoke(AMP_CAST, (result,), {"dtype": target._spec.dtype}, target)
    return out
