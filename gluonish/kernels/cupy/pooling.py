"""Pooling in one launch, and its gradient in one launch, or in two for max pooling."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy.gemm import supports_floats
from gluonish.kernels.cupy.source import Macros, contiguous, launch
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.nn.pooling import POOLING, POOLING_BACKWARD, pooling_plan
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.windows import is_channels_last

_POOLS = {"max": 0, "avg": 1, "sum": 2}
_MAX_WINDOW = 1024  # elements per window, which one thread reads sequentially


def _three(along: Shape, fill: int) -> Shape:
    return (fill,) * (3 - len(along)) + tuple(along)


@lru_cache(maxsize=1024)
def _int32(*numbers: int) -> tuple[Any, ...]:
    return tuple(map(np.int32, numbers))


def _numbers(spatial: Shape, attrs: Attrs) -> tuple[Any, ...]:
    geometry, counts = pooling_plan(spatial, **attrs)
    window = (geometry.kernel, geometry.stride, geometry.pad)
    filled = [_three(along, fill) for along, fill in zip(window, (1, 1, 0), strict=True)]
    return _int32(*(n for along in filled for n in along), *_three(spatial, 1), *_three(counts, 1))


def _macros(attrs: Attrs) -> Macros:
    with_pad = int(attrs["count_include_pad"] is not False)
    return (("POOL", _POOLS[attrs["pool_type"]]), ("WITH_PAD", with_pad))


def _run(xp: Any, function: str, arrays: Any, out: Any, numbers: Any, macros: Macros) -> None:
    target = out if out.flags.c_contiguous else xp.empty(out.shape, out.dtype)
    args = (*map(contiguous, arrays), target)
    launch(xp, "pooling", function, arrays[0].dtype, args, out.size, numbers, macros)
    if target is not out:
        out[...] = target


def _forward(xp: Any, out: Any, data: Any, **attrs: Any) -> None:
    _run(xp, "pool", (data,), out, _numbers(data.shape[2:], attrs), _macros(attrs))


def _backward(xp: Any, result: Any, grad: Any, data: Any, out: Any, **attrs: Any) -> None:
    numbers, macros = _numbers(data.shape[2:], attrs), _macros(attrs)
    first = grad  # read for max pooling only
    if attrs["pool_type"] == "max":
        first = xp.empty(out.shape, np.uint16)
        _run(xp, "first_maximum", (data, out), first, numbers, macros)
    _run(xp, "pool_backward", (grad, first), result, numbers, macros)


def _window(data: Spec, attrs: Attrs) -> int:
    """Return the number of elements per window; 0 if the kernels do not support the call."""
    if attrs["pool_type"] not in _POOLS or is_channels_last(attrs["layout"]) or not data.size:
        return 0
    return math.prod(pooling_plan(data.shape[2:], **attrs)[0].kernel)


def _supports(data: Spec, **attrs: Any) -> bool:
    return supports_floats(data) and 0 < _window(data, attrs) <= _MAX_WINDOW


def _supports_backward(grad: Spec, data: Spec, out: Spec, **attrs: Any) -> bool:
    return supports_floats(grad, data, out) and 0 < _window(data, attrs) <= _MAX_WINDOW


KERNELS: tuple[tuple[Operator, FastKernel], ...] = (
    (POOLING, FastKernel(BackEnd.CUPY, "pooling", _supports, run=_forward)),
    (
        POOLING_BACKWARD,
        FastKernel(BackEnd.CUPY, "pooling_backward", _supports_backward, run=_backward),
    ),
)
