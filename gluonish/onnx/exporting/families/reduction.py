"""Reductions: sums, means, extremes and their positions, norms, moments."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, is_floating
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.families.elementwise import truncated
from gluonish.onnx.exporting.steps import (
    axis_of,
    filled,
    reduced,
    reshaped,
    select,
    squeezed,
    unsqueezed,
)
from gluonish.onnx.exporting.tensors import Tensor


def wide(x: Tensor) -> Tensor:
    """Convert to the accumulation type."""
    return x.to(FLOAT32) if x.dtype in (FLOAT16, BFLOAT16) else x


def _axes(call: Call, name: str = "axis") -> list[int] | None:
    """Return the axes counted from the front; None for all."""
    axis, rank = call[name], call.x.rank
    if axis is None or (axis == () and not call.op.startswith("_np")):
        given = list(range(rank))
    else:
        given = [axis_of(a, rank) for a in (axis if isinstance(axis, tuple) else (axis,))]
    if call.attrs.get("exclude") and axis not in (None, ()):
        given = [a for a in range(rank) if a not in given]
    return given


def _shaped(call: Call, y: Tensor, axes: Sequence[int] | None, keepdims: bool = False) -> Tensor:
    """Reshape a result of shape () to (1,) where the operator returns that, as in mx.nd."""
    count = call.x.rank if axes is None else len(axes)
    if count == call.x.rank and not keepdims and call.out.rank == 1:
        return reshaped(y, [1])
    return y


def _reduction(kind: str) -> Callable[[Call], Tensor]:
    def translate(call: Call) -> Tensor:
        axes, keepdims = _axes(call), bool(call["keepdims"])
        x = _prepared(call, kind)
        if not axes:
            return x
        if kind == "ReduceMean" and 0 in [call.x.known_shape[axis] for axis in axes]:
            return filled(call.emitter, call.out.shape, _mean_of_nothing(call), call.out.dtype)
        return _shaped(call, reduced(kind, x, axes, keepdims), axes, keepdims)

    return translate


def _mean_of_nothing(call: Call) -> float:
    by_mxnet = call.op == "_npi_mean" and follows_mxnet()
    return np.nan if is_floating(call.out.dtype) and not by_mxnet else 0


def _prepared(call: Call, kind: str) -> Tensor:
    x = call.x
    if call.op in ("nansum", "nanprod") and is_floating(x.dtype):
        x = select(call("IsNaN", x), 0.0 if call.op == "nansum" else 1.0, x)
    if kind in ("ReduceMax", "ReduceMin"):
        return x.to(INT32) if x.dtype == BOOL else x
    out = call.out.dtype
    if kind == "ReduceMean" and not is_floating(x.dtype):
        return x.to(out if is_floating(out) else FLOAT64)
    if not is_floating(x.dtype) and is_floating(out):
        return x.to(out)
    return wide(x) if is_floating(x.dtype) else x.to(INT64 if out != INT32 else INT32)


def _norm(call: Call) -> Tensor:
    axes, keepdims = _axes(call), bool(call["keepdims"])
    x = wide(call.x) if is_floating(call.x.dtype) else call.x.to(FLOAT64)
    kind = "ReduceL1" if call["ord"] == 1 else "ReduceL2"
    return _shaped(call, reduced(kind, x, axes, keepdims), axes, keepdims)


def _square_sum(call: Call) -> Tensor:
    axes, keepdims = _axes(call), bool(call["keepdims"])
    return _shaped(call, reduced("ReduceSumSquare", call.x, axes, keepdims), axes, keepdims)


def _position(kind: str) -> Callable[[Call], Tensor]:
    def translate(call: Call) -> Tensor:
        x, axis, keepdims = call.x, call.attrs.get("axis"), bool(call.attrs.get("keepdims"))
        x = x.to(INT32) if x.dtype == BOOL else x
        if call.op == "argmax_channel":
            axis = 1
        if axis is None:
            flat = reshaped(x, [-1])
            made = call(kind, flat, axis=0, keepdims=1)
            return reshaped(made, [1] * call.out.rank) if call.out.rank != 1 else made
        made = call(kind, x, axis=int(axis), keepdims=int(keepdims))
        return _shaped(call, made, [axis], keepdims)

    return translate


def _truth(kind: str) -> Callable[[Call], Tensor]:
    def translate(call: Call) -> Tensor:
        x = (~call.x.equals(0) if call.x.dtype != BOOL else call.x).to(INT32)
        axes, keepdims = _axes(call), bool(call["keepdims"])
        if not axes:
            return x
        if 0 in [call.x.known_shape[axis] for axis in axes]:
            return filled(call.emitter, call.out.shape, kind == "ReduceMin", BOOL)
        return _shaped(call, reduced(kind, x, axes, keepdims), axes, keepdims)

    return translate


def _moments(call: Call) -> list[Tensor]:
    """Return the mean and the variance."""
    axes, keepdims = _axes(call, "axes"), bool(call["keepdims"])
    x = wide(call.x) if is_floating(call.x.dtype) else call.x.to(FLOAT64)
    mean = reduced("ReduceMean", x, axes, keepdims=True)
    mean = mean if is_floating(call.x.dtype) else truncated(mean)
    centred = x - mean
    variance = reduced("ReduceMean", centred * centred, axes, keepdims)
    if not keepdims:
        mean = squeezed(mean, *axes) if axes else mean
    return [_shaped(call, y, axes, keepdims) for y in (mean, variance)]


def _spread(root: bool) -> Callable[[Call], list[Tensor | None]]:
    """Return a translator of the standard deviation or variance; its hidden mean is omitted."""

    def translate(call: Call) -> list[Tensor | None]:
        axes, keepdims = _axes(call), bool(call["keepdims"])
        x, ddof = call.x, call["ddof"]
        x = wide(x) if is_floating(x.dtype) else x.to(FLOAT64)
        if not axes:
            return [x * 0.0, None]
        mean = reduced("ReduceMean", x, axes, keepdims=True)
        centred = x - (mean if is_floating(call.out.dtype) else truncated(mean))
        made = reduced("ReduceMean", centred * centred, axes, keepdims)
        if ddof:
            count = int(np.prod([call.x.size(axis) for axis in axes or []], dtype=np.int64))
            made = made * (count / (count - ddof) if count > ddof else np.inf)
        made = call("Sqrt", made) if root else made
        if not is_floating(call.out.dtype):
            made = made + 1e-9  # else integral results may be truncated to the number below
        return [made, None]

    return translate


def _cumsum(call: Call) -> Tensor:
    x, axis = call.x.to(call.out.dtype), call["axis"]
    if axis is None:
        x, axis = reshaped(x, [-1]), 0
    elif not call.x.rank:
        return x
    return call("CumSum", x, call.constant(np.array(axis, np.int64)))


def _average(call: Call) -> Sequence[Tensor]:
    axes = _axes(call)
    x = call.x.to(call.out.dtype)
    if not call["weighted"]:
        mean = reduced("ReduceMean", x, axes)
        if not call["returned"]:
            return [mean]
        count = float(np.prod([call.x.size(axis) for axis in axes or []]))
        return [mean, filled(call.emitter, call.outputs[1].shape, count, x.dtype)]
    weights = call.inputs[1].to(x.dtype)
    if weights.rank < x.rank or call.inputs[1].rank < call.x.rank:
        (axis,) = axes or [0]
        weights = (
            unsqueezed(weights, *range(1, call.x.rank - axis))
            if axis < call.x.rank - 1
            else weights
        )
    total = reduced("ReduceSum", x * weights, axes)
    weight = reduced("ReduceSum", weights + x * 0.0, axes)
    if not call["returned"]:
        return [total / weight]
    if call.outputs[1].rank < call.out.rank:
        return [total / weight, reduced("ReduceSum", weights)]
    return [total / weight, weight]


def _vector_norm(x: Tensor, power: float, axis: int, keepdims: bool) -> Tensor:
    if power == 2:
        return reduced("ReduceL2", x, [axis], keepdims)
    if power == 1:
        return reduced("ReduceL1", x, [axis], keepdims)
    size = x.emitter("Abs", x)
    if abs(power) == np.inf:
        return reduced("ReduceMax" if power > 0 else "ReduceMin", size, [axis], keepdims)
    if power == 0:
        return reduced("ReduceSum", (~x.equals(0)).to(x.dtype), [axis], keepdims)
    return reduced("ReduceSum", size**power, [axis], keepdims) ** (1 / power)


def _np_norm(call: Call) -> Tensor:
    x, power, keepdims, flag = call.x, call["ord"], bool(call["keepdims"]), call["flag"]
    x = wide(x) if is_floating(x.dtype) else x.to(call.out.dtype)
    axis = call["axis"]
    axes = list(axis) if isinstance(axis, tuple) else ([] if axis is None else [axis])
    axes = [axis_of(a, call.x.rank) for a in axes]
    if 0 in call.x.known_shape:
        return filled(call.emitter, call.out.shape, 0, call.out.dtype)
    if flag == -2:
        return reduced("ReduceL2", x, None, keepdims)
    if not axes and flag != 0 and call.x.rank > 1:
        axes = [call.x.rank - 2, call.x.rank - 1]
    if flag == 1 and call.x.rank > 1:
        return reduced("ReduceL2", x, axes, keepdims)
    if call.x.rank == 1:
        axes = [0]
    if len(axes) == 1:
        return _vector_norm(x, power, axes[0], keepdims)
    if not axes:
        axes = list(range(call.x.rank))
    if len(axes) != 2 or flag == 2 or abs(power) == 2:
        raise call.refuse("ONNX has no singular values")
    rows, columns = axes
    first, second = (rows, columns) if abs(power) == 1 else (columns, rows)
    sums = reduced("ReduceL1", x, [first], keepdims=True)
    made = reduced("ReduceMax" if power > 0 else "ReduceMin", sums, [second], keepdims=True)
    return made if keepdims else squeezed(made, *axes)


def _all_finite(call: Call) -> Tensor:
    found = [
        reduced("ReduceMin", (~(call("IsNaN", x) | call("IsInf", x))).to(INT32))
        for x in call.inputs
    ]
    return reshaped(call("Min", *found), [1])


def _multi_sum_sq(call: Call) -> Tensor:
    sums = [reshaped(reduced("ReduceSumSquare", x.to(FLOAT32)), [1]) for x in call.inputs]
    return call("Concat", *sums, axis=0)


def _allclose(call: Call) -> Tensor:
    a, b = call.inputs
    if not is_floating(a.dtype):
        a, b = a.to(FLOAT64), b.to(FLOAT64)
    near = call("Abs", a - b) <= call("Abs", b) * call["rtol"] + call["atol"]
    near = (near & ~(call("IsInf", a) | call("IsInf", b))) | call("Equal", a, b)
    if call["equal_nan"]:
        near = near | (call("IsNaN", a) & call("IsNaN", b))
    return reduced("ReduceMin", near.to(INT32))


def _constraint_check(call: Call) -> Tensor:
    return reduced("ReduceMin", call.x.to(INT32)).to(BOOL)


TABLE: dict[str, Any] = {
    **dict.fromkeys(("sum", "nansum", "_np_sum"), _reduction("ReduceSum")),
    **dict.fromkeys(("prod", "nanprod", "_np_prod"), _reduction("ReduceProd")),
    **dict.fromkeys(("mean", "_npi_mean"), _reduction("ReduceMean")),
    **dict.fromkeys(("max", "_np_max"), _reduction("ReduceMax")),
    **dict.fromkeys(("min", "_np_min"), _reduction("ReduceMin")),
    **dict.fromkeys(("argmax", "_npi_argmax", "argmax_channel"), _position("ArgMax")),
    **dict.fromkeys(("argmin", "_npi_argmin"), _position("ArgMin")),
    "_np_any": _truth("ReduceMax"),
    "_np_all": _truth("ReduceMin"),
    "_np_cumsum": _cumsum,
    "norm": _norm,
    "_square_sum": _square_sum,
    "_npi_norm": _np_norm,
    "moments": _moments,
    "_npi_std": _spread(root=True),
    "_npi_var": _spread(root=False),
    "_npi_average": _average,
    "all_finite": _all_finite,
    "multi_all_finite": _all_finite,
    "multi_sum_sq": _multi_sum_sq,
    "_contrib_allclose": _allclose,
    "_npx_constraint_check": _constraint_check,
}
