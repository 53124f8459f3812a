"""softmax, log_softmax and softmin along one axis, and their gradients in one pass."""

from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT16, FLOAT32, FLOAT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean, dtype_attr, integer, number, optional
from gluonish.core.spec import PartialSpec, Spec, merge_shapes
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.unary import EXP
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, apply, register
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, widen
from gluonish.ops.support.shape_rules import normalize_axis


def _result_dtype() -> Attribute:
    inner = optional(dtype_attr())

    def parse(value: object) -> np.dtype[Any] | None:
        dtype: np.dtype[Any] | None = inner.parse(value)
        if dtype is not None and dtype not in (FLOAT16, FLOAT32, FLOAT64):
            raise ValueError
        return dtype

    return Attribute(parse, "'float16', 'float32', 'float64' or None", None)


_SCHEMA = Schema(
    axis=integer(-1),
    temperature=optional(number()),
    dtype=_result_dtype(),
    use_length=optional(boolean(), False),
)


def _exponents(
    xp: ModuleType, data: Any, dtype: np.dtype[Any], axis: int, factor: float, hidden: Any = None
) -> Any:
    """Return ``factor * data`` minus its maximum along the axis, and -inf where masked."""
    wide = accumulator(max(dtype, widen(data).dtype, key=lambda d: d.itemsize))
    x = data.astype(wide)
    if factor != 1:
        x *= wide.type(factor)
    if hidden is not None:
        xp.copyto(x, -xp.inf, where=hidden)
    if x.size:
        top = x.max(axis=axis, keepdims=True)
        x -= top if hidden is None else xp.where(xp.isinf(top), wide.type(0), top)
    return x


def _hidden(xp: ModuleType, data: Any, length: Any, axis: int) -> Any:
    """Return the mask of elements at or beyond the length of their row."""
    axis %= data.ndim
    index = xp.arange(data.shape[axis]).reshape(-1, *(1,) * (data.ndim - axis - 1))
    return index >= xp.expand_dims(length, axis)


def _infer(
    name: str,
    data: Spec,
    lengths: Spec | None = None,
    *,
    axis: int,
    dtype: np.dtype[Any] | None,
    use_length: bool | None,
    **_: object,
) -> tuple[Spec]:
    along = normalize_axis(name, axis, len(data.shape) or 1)  # a scalar is a row of one element
    if not is_floating(data.dtype):
        raise OperatorError(f"{name}: expected floating data, got {data.dtype.name}")
    if use_length and lengths is None:
        raise OperatorError(f"{name}: expected use_length=False, got True; use softmax")
    if lengths is not None:
        expected = data.shape[:along] + data.shape[along + 1 :]
        # A Symbol bound without dtypes has float32 lengths.
        numbers = lengths.dtype.kind in "iu" or is_floating(lengths.dtype)
        if lengths.shape != expected or not numbers:
            raise OperatorError(f"{name}: expected length {expected} of numbers, got {lengths}")
    return (Spec(data.shape, dtype or data.dtype),)


def _kernel(
    sign: float,
    log: bool,
    xp: ModuleType,
    out: Any,
    data: Any,
    lengths: Any = None,
    *,
    axis: int,
    temperature: float | None,
    **_: object,
) -> None:
    hidden = None if lengths is None else _hidden(xp, data, lengths, axis)
    x = _exponents(xp, data, out.dtype, axis, sign / (temperature or 1), hidden)
    if log:
        x -= xp.log(xp.exp(x).sum(axis=axis, keepdims=True))
    else:
        xp.exp(x, out=x)
        total = x.sum(axis=axis, keepdims=True)
        if hidden is not None:
            total[total == 0] = 1
        x /= total
    out[...] = x


def _gradient(
    sign: float,
    log: bool,
    g: Any,
    *values: Any,
    axis: int,
    temperature: float | None,
    **_: object,
) -> tuple[Any, ...]:
    attrs = {
        "axis": axis,
        "factor": sign / (temperature or 1),
        "log": log,
        "dtype": np.dtype(values[0].dtype),
    }
    found = apply(SOFTMAX_BACKWARD, (g, values[-1]), attrs)
    return (found,) if len(values) == 2 else (found, None)


def _family(
    name: str, summary: str, *aliases: str, sign: float = 1.0, log: bool = False
) -> Operator:
    """Register softmax, log_softmax or softmin; only softmax supports lengths.

    Args:
        summary: First words of the docstring.
        *aliases: Other registry names.
        sign: 1, or -1 for softmin.
        log: Whether the result is the logarithm.
    """
    doc = (
        f"{summary} along axis, of data / temperature.\n\n"
        "The result has data's dtype unless dtype is given."
    )
    lengths: dict[str, Any] = {}
    shapes = "data any, output the same"
    if name == "softmax":
        doc += (
            " With use_length,\nelements from position length on along axis are left out, and "
            "are 0 in the result."
        )
        shapes = "data and output any, length data's without axis"
        lengths = {
            "inputs": ("data", "length"),
            "active_inputs": lambda attrs: ("data", "length")[: 1 + bool(attrs["use_length"])],
        }
    return register(
        Operator(
            name,
            partial(_infer, name),
            partial(_kernel, sign, log),
            Gradient(partial(_gradient, sign, log), uses_output=True),
            doc=f"{doc}\n\nShapes: {shapes}.",
            schema=_SCHEMA,
            aliases=aliases,
            shapes=ShapeFacts(complete=_complete),
            execution=Execution(heavy=True),
            **lengths,
        )
    )


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    shape = merge_shapes(inputs[0].shape, outputs[0].shape, "softmax")
    dtype = inputs[0].dtype or (None if attrs["dtype"] else outputs[0].dtype)
    inputs[0] = PartialSpec(shape, dtype)
    outputs[0] = PartialSpec(shape, attrs["dtype"] or dtype)
    if len(inputs) > 1 and shape is not None:
        axis = normalize_axis("softmax", attrs["axis"], len(shape))
        rows = merge_shapes(shape[:axis] + shape[axis + 1 :], inputs[1].shape, "softmax length")
        inputs[1] = PartialSpec(rows, inputs[1].dtype)


def _backward_kernel(
    xp: ModuleType,
    result: Any,
    grad: Any,
    out: Any,
    *,
    axis: int,
    factor: float,
    log: bool,
    dtype: np.dtype[Any],
) -> None:
    grad, out = widen(grad), widen(out)
    if log:
        x = xp.exp(out)
        x *= -grad.sum(axis=axis, keepdims=True)
        x += grad
    else:
        x = grad * out
        x -= out * x.sum(axis=axis, keepdims=True)
    if factor != 1:
        x *= x.dtype.type(factor)
    result[...] = x


def _backward(
    grad: Any, out: Any, *, axis: int, factor: float, log: bool, dtype: np.dtype[Any]
) -> Any:
    """Compute `_backward_kernel`'s result with operators."""
    along = (axis % len(out.shape),)
    if log:
        found = grad - EXP(out) * sum_(grad, axis=along, keepdims=True)
    else:
        found = out * (grad - sum_(grad * out, axis=along, keepdims=True))
    return cast(found * factor, dtype)


SOFTMAX_BACKWARD = register(
    Operator(
        "_softmax_backward",
        lambda grad, out, *, dtype, **_: (Spec(out.shape, dtype),),
        _backward_kernel,
        composite_gradient(_backward),
        doc=(
            "Gradient of the data of softmax, or with log of log_softmax, from the output and\n"
            "its gradient; factor is the factor of the data, dtype its dtype."
        ),
        inputs=("grad", "out"),
        schema=Schema(
            axis=integer(-1), factor=number(1.0), log=boolean(False), dtype=dtype_attr(FLOAT32)
        ),
        execution=Execution(heavy=True),
    )
)

SOFTMAX = _family("softmax", "e^x / sum of e^x", "_npx_softmax")
LOG_SOFTMAX = _family("log_softmax", "Logarithm of softmax", "_npx_log_softmax", log=True)
SOFTMIN = _family("softmin", "e^-x / sum of e^-x", sign=-1.0)


def softmax(x: Any, axis: int = -1) -> Any:
    """Return e^x / sum of e^x along an axis."""
    return apply(SOFTMAX, (x,), {**_SCHEMA.defaults, "axis": axis})


def log_softmax(x: Any, axis: int = -1) -> Any:
    """Return the logarithm of `softmax`, accurate for small probabilities."""
    return apply(LOG_SOFTMAX, (x,), {**_SCHEMA.defaults, "axis": axis})
