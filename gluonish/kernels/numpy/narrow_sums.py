"""Softmax and Euclidean norm of 16-bit floats with 16-bit accumulation.

``MXNET_SAFE_ACCUMULATION=0``, MXNet's default, enables them. Such a sum stops growing when a term
is less than half a unit in its last place: in float16 at 2048 for terms below 1. Other sums always
accumulate in float32.
"""

from functools import partial
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_SAFE_ACCUMULATION
from gluonish.core.spec import Spec
from gluonish.ops.kernel import BackEnd, FastKernel, Kernel
from gluonish.ops.nn.softmax import LOG_SOFTMAX, SOFTMAX, SOFTMAX_BACKWARD, SOFTMIN
from gluonish.ops.reductions.reduction import NORM, reduced_axes
from gluonish.ops.registry import Operator
from gluonish.ops.support.precision import in_dtype, is_narrow


def _enabled() -> bool:
    return not MXNET_SAFE_ACCUMULATION.value


def _supports(data: Spec, *rest: Spec, **attrs: Any) -> bool:
    """Whether all specs share one 16-bit dtype, and no axis is empty."""
    return (
        is_narrow(data.dtype)
        and all(spec.dtype == data.dtype for spec in rest)
        and attrs.get("ord", 2) == 2
        and 0 not in data.shape
        and bool(data.shape)
    )


def _total(x: Any, axis: int) -> Any:
    """Return the sums along an axis, which is kept, rounding after every term."""
    sums = np.add.accumulate(x, axis=axis, dtype=x.dtype)
    return np.take(sums, [-1], axis=axis)


def _softmax(xp: Any, out: Any, data: Any, *, sign: float, log: bool, **attrs: Any) -> None:
    axis, factor = attrs["axis"], sign / (attrs["temperature"] or 1)
    x = data if factor == 1 else data * in_dtype(data.dtype, factor)
    x = x - x.max(axis=axis, keepdims=True)
    exponents = np.exp(x)
    total = _total(exponents, axis)
    out[...] = x - np.log(total) if log else exponents / total


def _backward(xp: Any, result: Any, grad: Any, out: Any, **attrs: Any) -> None:
    axis = attrs["axis"]
    if attrs["log"]:
        x = grad - np.exp(out) * _total(grad, axis)
    else:
        x = out * (grad - _total(grad * out, axis))
    result[...] = x * in_dtype(x.dtype, attrs["factor"])


def _norm(xp: Any, out: Any, data: Any, **attrs: Any) -> None:
    axes = reduced_axes("norm", data.ndim, attrs["axis"])
    rest = [i for i in range(data.ndim) if i not in axes]
    rows = data.transpose([*rest, *axes]).reshape(*(data.shape[i] for i in rest), -1)
    largest = np.abs(rows).max(axis=-1, keepdims=True)
    largest[~(np.isfinite(largest) & (largest > 0))] = 1
    scaled = rows / largest  # scaled, so that no square overflows
    out[...] = (largest * np.sqrt(_total(scaled * scaled, -1))).reshape(out.shape)


def _fast(op: Operator, run: Kernel) -> tuple[Operator, FastKernel]:
    name = f"narrow_{op.name.strip('_')}"
    return op, FastKernel(BackEnd.NUMPY, name, _supports, run=run, enabled=_enabled)


KERNELS = (
    _fast(SOFTMAX, partial(_softmax, sign=1.0, log=False)),
    _fast(LOG_SOFTMAX, partial(_softmax, sign=1.0, log=True)),
    _fast(SOFTMIN, partial(_softmax, sign=-1.0, log=False)),
    _fast(SOFTMAX_BACKWARD, _backward),
    _fast(NORM, _norm),
)
