"""Convolution, its gradients and Deconvolution by cuDNN.

Arrays are used without copies, in either layout. Calls for which cuDNN has no plan are rejected
before anything is written, and fall back to `gluonish.kernels.cupy.convolution`. Sums are float32;
products of float32 are exact, unless ``MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION`` allows
TensorFloat-32.
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
from gluonish.kernels.cupy.source import contiguous
from gluonish.ops.kernel import RefusedError
from gluonish.ops.nn.deconvolution import convolution_attributes
from gluonish.ops.support.precision import accumulator
from gluonish.ops.support.windows import is_channels_last

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
    layout: str | None
    limit: int | None


def _window(attrs: dict[str, Any]) -> _Window:
    unlimited = attrs["cudnn_tune"] == "fastest"
    return _Window(
        attrs["stride"],
        attrs["dilate"],
        attrs["pad"],
        attrs["layout"],
        None if unlimited else attrs["workspace"] << 20,
    )


def _may_use_tensor_cores(dtype: np.dtype[Any]) -> bool:
    allowed = MXNET_CUDA_ALLOW_TENSOR_CORE.value
    if dtype == FLOAT32:
        return allowed and MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.value
    return allowed


class _Call(NamedTuple):
    """A call of cuDNN: a plan, the current stream's handle, and contiguous arrays by tensor id."""

    plan: Plan
    handle: Handle
    addresses: dict[int, int]
    arrays: dict[int, Any]


def _prepare(xp: Any, kind: str, arrays: dict[int, Any], window: _Window) -> _Call | None:
    """Return a call of cuDNN that is ready to run; None if cuDNN has no plan for it.

    Args:
        kind: As in `Problem`.
        arrays: Arrays by tensor id; arrays with gaps are replaced by contiguous copies.

    Raises:
        RefusedError: cuDNN is switched off or missing.
    """
    found = opened(xp) if MXNET_CUDNN_ENABLED.value else None
    if found is None:
        raise RefusedError("cuDNN: expected the library and its frontend, got none")
    for number, array in arrays.items():
        arrays[number] = contiguous(array)
    addresses = {number: array.data.ptr for number, array in arrays.items()}
    data, weight, out = arrays[DATA], arrays[WEIGHT], arrays[OUT]
    stride, dilate, pad, layout, limit = window
    problem = Problem(
        kind,
        data.dtype,
        data.shape,
        weight.shape,
        out.shape,
        stride,
        dilate,
        pad,
        layout,
        BIAS in arrays,
        not any(address % _ALIGNED for address in addresses.values()),
        _may_use_tensor_cores(data.dtype),
        limit,
    )
    ready = found.find(xp, problem)
    return None if ready is None else _Call(*ready, addresses, arrays)


def _run(xp: Any, call: _Call, result: int, out: Any) -> None:
    """Run a call, and copy its result to ``out`` if needed."""
    call.plan.run(xp, call.handle, call.addresses)
    if call.arrays[result] is not out:
        out[...] = call.arrays[result]


def _compute(xp: Any, kind: str, arrays: dict[int, Any], result: int, window: _Window) -> None:
    """Fill the array with the id ``result``.

    Raises:
        RefusedError: cuDNN has no plan.
    """
    out = arrays[result]
    call = _prepare(xp, kind, arrays, window)
    if call is None:
        raise RefusedError("cuDNN: expected an engine for this convolution, got none")
    _run(xp, call, result, out)


def _add_bias(xp: Any, out: Any, bias: Any, layout: str | None) -> None:
    trailing = 0 if is_channels_last(layout) else out.ndim - 2
    xp.add(out, bias.reshape(-1, *(1,) * trailing), out=out)


def forward(
    xp: ModuleType, out: Any, data: Any, weight: Any, bias: Any = None, **attrs: Any
) -> None:
    """Compute Convolution."""
    window, arrays = _window(attrs), {DATA: data, WEIGHT: weight, OUT: out}
    if bias is not None:
        call = _prepare(xp, "forward", {**arrays, BIAS: bias}, window)
        if call is not None:
            _run(xp, call, OUT, out)
            return
    _compute(xp, "forward", arrays, OUT, window)
    if bias is not None:
        _add_bias(xp, out, bias, window.layout)


def backward_data(xp: ModuleType, out: Any, grad: Any, weight: Any, **attrs: Any) -> None:
    """Compute the gradient of the data."""
    _compute(xp, "data", {DATA: out, WEIGHT: weight, OUT: grad}, DATA, _window(attrs))


def backward_weight(xp: ModuleType, out: Any, grad: Any, data: Any, **attrs: Any) -> None:
    """Compute the gradient of the weight."""
    _compute(xp, "weight", {DATA: data, WEIGHT: out, OUT: grad}, WEIGHT, _window(attrs))


def backward_weight_bias(
    xp: ModuleType, outputs: tuple[Any, Any], grad: Any, data: Any, **attrs: Any
) -> None:
    """Compute the gradients of the weight and the bias."""
    backward_weight(xp, outputs[0], grad, data, **attrs)
    sums = accumulator(grad.dtype)
    if is_channels_last(attrs["layout"]):
        outputs[1][...] = grad.reshape(-1, grad.shape[-1]).sum(axis=0, dtype=sums)
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
