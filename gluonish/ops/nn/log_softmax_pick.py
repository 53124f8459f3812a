"""_log_softmax_pick: one element of log_softmax per row, times a number (-1 in losses), without
computing the others.

Two numbers per row are saved for the gradient: the maximum, and the log-sum-exp after subtracting
it. Their sum alone would lose digits of large scores. The gradient is softmax minus 1 at the
element.
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, number
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.indexing.pick import PICK, along_grid, pick
from gluonish.ops.indexing.take import integer_indices
from gluonish.ops.nn.softmax import log_softmax
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, widen
from gluonish.ops.support.work import remembered

_SCHEMA = Schema(
    axis=integer(-1),
    keepdims=boolean(False),
    mode=choice("clip", "wrap", default="clip"),
    scale=number(1.0),
    wide=boolean(False),
)


def _row_shape(shape: Shape, axis: int) -> Shape:
    axis %= len(shape)
    return (*shape[:axis], 1, *shape[axis + 1 :])


@remembered
def _infer(
    data: Spec, index: Spec, *, scale: float, wide: bool, **attrs: Any
) -> tuple[Spec, Spec, Spec]:
    if not is_floating(data.dtype):
        raise OperatorError(
            f"_log_softmax_pick: expected floating data, got {data.dtype.name}; cast it"
        )
    (found,) = PICK.infer(data, index, **attrs)
    row_spec = Spec(_row_shape(data.shape, attrs["axis"]), accumulator(data.dtype))
    return (Spec(found.shape, row_spec.dtype) if wide else found), row_spec, row_spec


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    data: Any,
    index: Any,
    *,
    axis: int,
    keepdims: bool,
    mode: str,
    scale: float,
    wide: bool,
) -> None:
    out, top, log_total = outputs
    if not top.size:
        return
    x = widen(data)
    top[...] = x.max(axis=axis, keepdims=True)
    log_total[...] = xp.log(xp.exp(x - top).sum(axis=axis, keepdims=True))
    row_shape = top.shape
    positions = integer_indices(xp, "pick", index.reshape(row_shape), data.shape[axis], mode)
    picked = x[along_grid(xp, positions, axis % data.ndim)]
    # The sum makes zeros positive, for a loss that prints as 0.
    out.reshape(row_shape)[...] = (picked - top - log_total) * scale + 0


def _gradient(g: tuple[V | None, ...], data: V, index: V, *outputs: V, **attrs: Any) -> Any:
    if g[0] is None:
        return None, None
    arrays = (g[0], data, index, *outputs[1:])
    return (lambda: apply(LOG_SOFTMAX_PICK_BACKWARD, arrays, attrs)), None


LOG_SOFTMAX_PICK = register(
    Operator(
        "_log_softmax_pick",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "One element of log_softmax along axis for every row, at the position in index,\n"
            "times scale.\n\n"
            "The other attributes are those of pick; with wide the result of 16-bit floats is\n"
            "float32. The hidden outputs are the maximum of each row, and the logarithm of the\n"
            "sum of exponentials after subtracting it."
        ),
        inputs=("data", "index"),
        schema=_SCHEMA,
        outputs=3,
        visible=1,
        output_names=("output", "top", "log_total"),
        execution=Execution(heavy=True),
    )
)


def _backward_kernel(
    xp: ModuleType,
    out: Any,
    grad: Any,
    data: Any,
    index: Any,
    top: Any,
    log_total: Any,
    *,
    axis: int,
    keepdims: bool,
    mode: str,
    scale: float,
    wide: bool,
) -> None:
    row_shape = top.shape
    if not top.size:
        return
    g = widen(grad).reshape(row_shape) * scale
    found = xp.exp(widen(data) - top - log_total)
    found *= -g
    positions = integer_indices(xp, "pick", index.reshape(row_shape), data.shape[axis], mode)
    # One index per row, so that no element is written twice.
    found[along_grid(xp, positions, axis % data.ndim)] += g
    out[...] = found


def _backward(grad: Any, data: Any, index: Any, _top: Any, _log_total: Any, **attrs: Any) -> Any:
    """Compute `_backward_kernel`'s result with operators."""

    def composed(x: Any) -> Any:
        scores = cast(x, accumulator(x.dtype)) if attrs["wide"] else x
        picked = pick(log_softmax(scores, axis=attrs["axis"]), index, axis=attrs["axis"])
        return reshape(picked, grad.shape) * attrs["scale"]

    return composite_gradient(composed)(grad, data)[0]


LOG_SOFTMAX_PICK_BACKWARD = register(
    Operator(
        "_log_softmax_pick_backward",
        lambda grad, data, index, top, log_total, **_: (data,),
        _backward_kernel,
        composite_gradient(_backward),
        doc="Gradient of _log_softmax_pick's data.",
        inputs=("grad", "data", "index", "top", "log_total"),
        schema=_SCHEMA,
        execution=Execution(overwrites=lambda attrs: 1, heavy=True),
    )
)
