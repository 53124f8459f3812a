"""Convolution, its gradients and Deconvolution by cuDNN.

Plans follow the memory of the arrays, whose channels may be first or last there in each layout of
the operator. Arrays in one memory layout are used without copies; otherwise some are copied. Calls
for which cuDNN has no plan are rejected before anything is written, and fall back to
`gluonish.kernels.cupy.convolution`. Sums are float32; products of float32 are exact, unless
``MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION`` allows TensorFloat-32.
"""

import math
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import (
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_CUDNN_ENABLED,
)
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy.cudnn import Handle, Plan, opened
from gluonish.kernels.cupy.cudnn_graph import BIAS, DATA, DTYPES, OUT, WEIGHT, Problem
from gluonish.kernels.cupy.memory_layout import empty_like, in_memory, is_dense
from gluonish.kernels.cupy.source import contiguous
from gluonish.ops.kernel import RefusedError
from gluonish.ops.nn.deconvolution import convolution_attributes
from gluonish.ops.support.precision import accumulator
from gluonish.ops.support.windows import channels_first, is_channels_last

_ALIGNED = 16  # bytes


def supports(*specs: Spec, cudnn_off: bool, **_: Any) -> bool:
    """Whether to try cuDNN for these inputs."""
    return (
        not cudnn_off
        and specs[0].dtype in DTYPES
        and all(spec.dtype == specs[0].dtype and spec.size for spec in specs)
    )


class _Window(NamedTuple):
    """The operator's attributes that a plan depends on."""

    stride: Shape
    dilate: Shape
    pad: Shape
    limit: int | None


def _window(attrs: dict[str, Any]) -> _Window:
    unlimited = attrs["cudnn_tune"] == "fastest"
    limit = None if unlimited else attrs["workspace"] << 20
    return _Window(attrs["stride"], attrs["dilate"], attrs["pad"], limit)


def may_use_tensor_cores(dtype: np.dtype[Any]) -> bool:
    """Whether products of a dtype may use tensor cores, which round float32."""
    allowed = MXNET_CUDA_ALLOW_TENSOR_CORE.value
    if dtype == FLOAT32:
        return allowed and MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.value
    return allowed


def _layouts(arrays: dict[int, Any]) -> tuple[bool, bool]:
    """Return the memory layouts to try, whether channels are last, the better one first.

    Tensor cores read channels last: if they are allowed, and data or output have no other layout,
    the rest is copied. Otherwise the layout with the fewest copied bytes comes first.
    """
    if may_use_tensor_cores(arrays[DATA].dtype):
        given = (arrays[DATA], arrays[OUT])
        if any(is_dense(x, last=True) and not is_dense(x, last=False) for x in given):
            return True, False
    copied = [
        sum(0 if is_dense(array, last) else array.nbytes for array in arrays.values())
        for last in (False, True)
    ]
    return (True, False) if copied[1] < copied[0] else (False, True)


class _Call(NamedTuple):
    """A call of cuDNN: a plan, the current stream's handle, and the problem that they solve."""

    plan: Plan
    handle: Handle
    problem: Problem


def _find(
    xp: Any, kind: str, arrays: dict[int, Any], window: _Window, bias: Any | None
) -> _Call | None:
    """Return a plan for some arrays, with channels first; None if cuDNN has none.

    A plan that needs the fewest copies comes first, and one that adds the bias before one that does
    not.

    Args:
        kind: As in `Problem`.
        arrays: Data, weight and output by tensor id.

    Raises:
        RefusedError: cuDNN is switched off or missing.
    """
    found = opened(xp) if MXNET_CUDNN_ENABLED.value else None
    if found is None:
        raise RefusedError("cuDNN: expected the library and its frontend, got none")
    for last in _layouts(arrays):
        in_place = [array for array in arrays.values() if is_dense(array, last)]
        for has_bias in (True, False) if bias is not None else (False,):
            read = (*in_place, bias) if has_bias else in_place
            problem = Problem(
                kind,
                arrays[DATA].dtype,
                arrays[DATA].shape,
                arrays[WEIGHT].shape,
                arrays[OUT].shape,
                window.stride,
                window.dilate,
                window.pad,
                last,
                has_bias,
                not any(array.data.ptr % _ALIGNED for array in read),
                may_use_tensor_cores(arrays[DATA].dtype),
                window.limit,
            )
            ready = found.find(xp, problem)
            if ready is not None:
                return _Call(*ready, problem)
    return None


def _run(xp: Any, call: _Call, arrays: dict[int, Any], result: int) -> None:
    """Run a call; arrays that are not in its memory layout are copied."""
    last, used = call.problem.last, dict(arrays)
    for number, array in arrays.items():
        if number != BIAS and not is_dense(array, last):
            used[number] = empty_like(xp, array, last)
            if number != result:
                used[number][...] = array
    call.plan.run(xp, call.handle, {number: x.data.ptr for number, x in used.items()})
    if used[result] is not arrays[result]:
        arrays[result][...] = used[result]


def _compute(
    xp: Any,
    kind: str,
    arrays: dict[int, Any],
    result: int,
    attrs: dict[str, Any],
    bias: Any | None = None,
) -> None:
    """Fill the array with the id ``result``.

    Args:
        kind: As in `Problem`.
        arrays: Data, weight and output by tensor id, in the operator's layout.
        bias: Added to the output, if it is not None.

    Raises:
        RefusedError: cuDNN has no plan.
    """
    first = {number: channels_first(xp, x, attrs["layout"]) for number, x in arrays.items()}
    bias = None if bias is None else contiguous(bias)
    call = _find(xp, kind, first, _window(attrs), bias)
    if call is None:
        raise RefusedError("cuDNN: expected an engine for this convolution, got none")
    if call.problem.has_bias:
        first[BIAS] = bias
    _run(xp, call, first, result)
    if bias is not None and not call.problem.has_bias:
        _add_bias(xp, arrays[OUT], bias, attrs["layout"])


def _add_bias(xp: Any, out: Any, bias: Any, layout: str | None) -> None:
    trailing = 0 if is_channels_last(layout) else out.ndim - 2
    xp.add(out, bias.reshape(-1, *(1,) * trailing), out=out)


def forward(
    xp: ModuleType, out: Any, data: Any, weight: Any, bias: Any = None, **attrs: Any
) -> None:
    """Compute Convolution."""
    _compute(xp, "forward", {DATA: data, WEIGHT: weight, OUT: out}, OUT, attrs, bias)


def backward_data(xp: ModuleType, out: Any, grad: Any, weight: Any, **attrs: Any) -> None:
    """Compute the gradient of the data."""
    _compute(xp, "data", {DATA: out, WEIGHT: weight, OUT: grad}, DATA, attrs)


def backward_weight(xp: ModuleType, out: Any, grad: Any, data: Any, **attrs: Any) -> None:
    """Compute the gradient of the weight."""
    _compute(xp, "weight", {DATA: data, WEIGHT: out, OUT: grad}, WEIGHT, attrs)


def backward_weight_bias(
    xp: ModuleType, outputs: tuple[Any, Any], grad: Any, data: Any, **attrs: Any
) -> None:
    """Compute the gradients of the weight and the bias."""
    backward_weight(xp, outputs[0], grad, data, **attrs)
    sums = accumulator(grad.dtype)
    grad = channels_first(xp, grad, attrs["layout"])
    if is_dense(grad, last=True):
        rows = in_memory(grad, last=True).reshape(-1, grad.shape[1])
        outputs[1][...] = rows.sum(axis=0, dtype=sums)
        return
    # First along rows, which are contiguous, then over the samples.
    rows = contiguous(grad).reshape(*grad.shape[:2], math.prod(grad.shape[2:]))
    outputs[1][...] = rows.sum(axis=2, dtype=sums).sum(axis=0)


def deconvolution(
    xp: ModuleType, out: Any, data: Any, weight: Any, bias: Any = None, **attrs: Any
) -> None:
    """Compute Deconvolution."""
    backward_data(xp, out, data, weight, **convolution_attributes(data.shape, attrs))
    if bias is not None:
        _add_bias(xp, out, bias, attrs["layout"])
