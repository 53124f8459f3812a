"""Convolution, its gradients and Deconvolution by cuDNN.

Plans follow the memory of the arrays, whose channels may be first or last there in each layout of
the operator. Arrays in one memory layout are used without copies; otherwise some are copied. Calls
for which cuDNN has no plan are rejected before anything is written, and fall back to
`gluonish.kernels.cupy.convolution`. Few channels are padded for tensor cores
(`gluonish.kernels.cupy.channel_padding`). The engine is the fastest of a few that were measured, or
the first of cuDNN's heuristics (``MXNET_CUDNN_AUTOTUNE_DEFAULT``, ``cudnn_tune``). Sums are
float32; products of float32 are exact, unless ``MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION`` allows
TensorFloat-32.
"""

import math
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import (
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_CUDNN_AUTOTUNE_DEFAULT,
    MXNET_CUDNN_ENABLED,
    MXNET_ENFORCE_DETERMINISM,
)
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy.channel_padding import cut, empty_padded, pad, padded_channels
from gluonish.kernels.cupy.copies import contiguous, copy, duplicate
from gluonish.kernels.cupy.cudnn import Handle, Plan, opened
from gluonish.kernels.cupy.cudnn_graph import (
    ADDEND,
    BIAS,
    DATA,
    DTYPES,
    OUT,
    WEIGHT,
    Problem,
    activation_of,
)
from gluonish.kernels.cupy.epilogues import run_epilogue, split_epilogue
from gluonish.kernels.cupy.memory_layout import empty_like, in_memory, is_dense
from gluonish.ops.kernel import RefusedError
from gluonish.ops.nn.deconvolution import convolution_attributes
from gluonish.ops.support.precision import accumulator
from gluonish.ops.support.windows import channels_first, is_channels_last

_ALIGNED = 16  # bytes


def enabled() -> bool:
    """Whether cuDNN is switched on."""
    return MXNET_CUDNN_ENABLED.value


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
    measured: bool


_TUNES = ("off", "limited_workspace", "fastest")  # by MXNET_CUDNN_AUTOTUNE_DEFAULT


def _window(attrs: dict[str, Any]) -> _Window:
    tune = attrs["cudnn_tune"] or _TUNES[MXNET_CUDNN_AUTOTUNE_DEFAULT.value]
    limit = None if tune == "fastest" else attrs["workspace"] << 20
    measured = tune != "off" and not MXNET_ENFORCE_DETERMINISM.value
    return _Window(attrs["stride"], attrs["dilate"], attrs["pad"], limit, measured)


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
        sum(x.nbytes for n, x in arrays.items() if n != BIAS and not is_dense(x, last))
        for last in (False, True)
    ]
    return (True, False) if copied[1] < copied[0] else (False, True)


class _Call(NamedTuple):
    """A call of cuDNN: a plan, the current stream's handle, and the problem that they solve."""

    plan: Plan
    handle: Handle
    problem: Problem


class _Parts(NamedTuple):
    """What follows a convolution: a sum with a bias, with an addend, and an activation."""

    has_bias: bool = False
    has_addend: bool = False
    activation: tuple[str, float] | None = None

    def choices(self) -> list["_Parts"]:
        """Return the parts that a plan may include: all, the bias only, or none."""
        found = [self, _Parts(self.has_bias), _ALONE]
        return list(dict.fromkeys(found))


_ALONE = _Parts()


def _find(
    xp: Any,
    kind: str,
    arrays: dict[int, Any],
    window: _Window,
    parts: _Parts,
    layouts: tuple[bool, ...],
) -> _Call | None:
    """Return a plan for some arrays, with channels first; None if cuDNN has none.

    A plan that needs the fewest copies comes first, and then one that includes most parts.

    Args:
        kind: As in `Problem`.
        arrays: Data, weight, output, bias and addend by tensor id.
        layouts: Memory layouts to try, whether channels are last, the best one first.

    Raises:
        RefusedError: cuDNN is switched off or missing.
    """
    found = opened(xp) if enabled() else None
    if found is None:
        raise RefusedError("cuDNN: expected the library and its frontend, got none")
    dtype = arrays[DATA].dtype
    for last in layouts:
        for included in parts.choices():
            used = _used(arrays, included)
            in_place = [x for n, x in used.items() if n == BIAS or is_dense(x, last)]
            problem = Problem(
                kind,
                dtype,
                arrays[DATA].shape,
                arrays[WEIGHT].shape,
                arrays[OUT].shape,
                window.stride,
                window.dilate,
                window.pad,
                last,
                *included,
                not any(array.data.ptr % _ALIGNED for array in in_place),
                may_use_tensor_cores(dtype),
                window.limit,
                window.measured,
            )
            ready = found.find(xp, problem)
            if ready is not None:
                return _Call(*ready, problem)
    return None


def _used(arrays: dict[int, Any], parts: Any) -> dict[int, Any]:
    """Return the arrays that a plan uses which includes some parts."""
    without = {BIAS: not parts.has_bias, ADDEND: not parts.has_addend}
    return {number: x for number, x in arrays.items() if not without.get(number)}


def _run(xp: Any, call: _Call, arrays: dict[int, Any], result: int) -> None:
    """Run a call; arrays that are not in its memory layout are copied."""
    last, used = call.problem.last, _used(arrays, call.problem)
    for number, array in list(used.items()):
        if number != BIAS and not is_dense(array, last):
            used[number] = empty_like(xp, array, last)
            if number != result:
                copy(xp, used[number], array)
    call.plan.run(xp, call.handle, {number: x.data.ptr for number, x in used.items()})
    if used[result] is not arrays[result]:
        copy(xp, arrays[result], used[result])


def _compute(
    xp: Any,
    kind: str,
    arrays: dict[int, Any],
    result: int,
    attrs: dict[str, Any],
    parts: _Parts = _ALONE,
) -> Problem:
    """Fill the array with the id ``result``, and return the problem that was solved.

    Args:
        kind: As in `Problem`.
        arrays: Arrays by tensor id, in the operator's layout.
        parts: What to add to the plan, if cuDNN can.

    Raises:
        RefusedError: cuDNN has no plan.
    """
    first = {
        n: x if n == BIAS else channels_first(xp, x, attrs["layout"]) for n, x in arrays.items()
    }
    window = _window(attrs)
    layouts = _layouts(first)
    solved = _compute_padded(xp, kind, first, result, window, parts) if layouts[0] else None
    if solved is not None:
        return solved
    call = _find(xp, kind, first, window, parts, layouts)
    if call is None:
        raise RefusedError("cuDNN: expected an engine for this convolution, got none")
    _run(xp, call, first, result)
    return call.problem


def _compute_padded(
    xp: Any, kind: str, arrays: dict[int, Any], result: int, window: _Window, parts: _Parts
) -> Problem | None:
    """Compute with padded channels; return None, with nothing written, if there are enough.

    Args:
        arrays: Arrays by tensor id, with channels first as axes and last in memory.
    """
    data = arrays[DATA]
    shapes = (data.shape, arrays[WEIGHT].shape, arrays[OUT].shape)
    width = padded_channels(*shapes, data.dtype.itemsize)
    if width is None or not may_use_tensor_cores(data.dtype):
        return None
    wide = {n: empty_padded(xp, arrays[n], width) for n in (DATA, WEIGHT)}
    call = _find(xp, kind, arrays | wide, window, parts, (True,))
    if call is None:
        return None
    pad(xp, [(arrays[n], x) for n, x in wide.items() if n != result])
    _run(xp, call, arrays | wide, result)
    if result in wide:
        cut(xp, arrays[result], wide[result])
    return call.problem


def _add_bias(xp: Any, out: Any, bias: Any, layout: str | None) -> None:
    trailing = 0 if is_channels_last(layout) else out.ndim - 2
    xp.add(out, bias.reshape(-1, *(1,) * trailing), out=out)


def forward(
    xp: ModuleType, out: Any, data: Any, weight: Any, bias: Any = None, **attrs: Any
) -> None:
    """Compute Convolution."""
    arrays = {DATA: data, WEIGHT: weight, OUT: out}
    if bias is not None:
        arrays[BIAS] = contiguous(xp, bias)
    solved = _compute(xp, "forward", arrays, OUT, attrs, _Parts(bias is not None))
    if bias is not None and not solved.has_bias:
        _add_bias(xp, out, bias, attrs["layout"])


def fused(xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
    """Compute a convolution, a sum and an activation, in one launch if cuDNN can."""
    (data, weight, bias), addend, plain, epilogue = split_epilogue(inputs, attrs)
    activation = None
    if epilogue.activation is not None:
        activation = activation_of(epilogue.activation, epilogue.alpha, epilogue.beta)
    arrays = {DATA: data, WEIGHT: weight, OUT: out}
    if bias is not None:
        arrays[BIAS] = contiguous(xp, bias)
    if addend is not None:
        if addend.data.ptr == out.data.ptr:  # cuDNN may write elements before it reads them
            addend = duplicate(xp, addend)
        arrays[ADDEND] = addend
    is_whole = epilogue.activation is None or activation is not None
    parts = _Parts(bias is not None, addend is not None and is_whole, activation)
    solved = _compute(xp, "forward", arrays, OUT, plain, parts)
    if bias is not None and not solved.has_bias:
        _add_bias(xp, out, bias, plain["layout"])
    if (solved.has_addend, solved.activation) != (addend is not None, activation) or not is_whole:
        run_epilogue(xp, out, addend, epilogue)


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
    rows = contiguous(xp, grad).reshape(*grad.shape[:2], math.prod(grad.shape[2:]))
    outputs[1][...] = rows.sum(axis=2, dtype=sums).sum(axis=0)


def deconvolution(
    xp: ModuleType, out: Any, data: Any, weight: Any, bias: Any = None, **attrs: Any
) -> None:
    """Compute Deconvolution."""
    backward_data(xp, out, data, weight, **convolution_attributes(data.shape, attrs))
    if bias is not None:
        _add_bias(xp, out, bias, attrs["layout"])
