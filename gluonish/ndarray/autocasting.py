"""Operators on arrays while mixed precision is on: their inputs are cast first.

`install` puts `invoke` here before that of `gluonish.ndarray.eager`. It is called when mixed
precision is first asked for, so that programs without it pay nothing.
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
    """Whether calls of operators come here."""
    return getattr(NDArray.__apply__, "casts", False)


def install() -> None:
    """Have all operators on arrays ask the policy of their thread."""
    if installed():
        return
    plain: Any = NDArray.__apply__

    def invoke(op: Operator, inputs: Sequence[Any], attrs: Attrs, out: Any = None) -> Any:
        policy = current()
        if policy is None:
            return plain(op, inputs, attrs, out)
        cast = _cast_inputs(policy, op, inputs, attrs)
        if out is None or cast is inputs:
            return plain(op, cast, attrs, out)
        return _into(out, plain(op, cast, attrs, None))

    invoke.casts = True  # type: ignore[attr-defined]
    NDArray.__apply__ = staticmethod(invoke)


def _cast_inputs(
    policy: Policy, op: Operator, inputs: Sequence[Any], attrs: Attrs
) -> Sequence[Any]:
    """Return inputs in the dtypes that the policy says; sparse arrays stay as they are."""
    if any(not isinstance(x, NDArray) or x.stype != "default" or x.is_traced for x in inputs):
        return inputs
    return policy.cast(op, inputs, attrs, [x._spec.dtype for x in inputs], _cast)


def _cast(x: NDArray, dtype: np.dtype[Any]) -> Any:
    return eager.invoke(AMP_CAST, (x,), {"dtype": dtype})


def _into(out: Any, results: Any) -> Any:
    """Write results to the arrays that a program gave for them, in the dtypes of those."""
    given = out if isinstance(out, list | tuple) else [out]
    made = results if isinstance(results, list) else [results]
    for target, result in zip(given, made, strict=False):
        eager.invoke(AMP_CAST, (result,), {"dtype": target._spec.dtype}, target)
    return out
