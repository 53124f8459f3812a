"""np.linalg.norm: norms of vectors and of matrices.

Two attributes of `_npi_norm` select the norm: ``flag`` -2 is the square root of the sum of all
squares, 1 the Frobenius norm of every matrix, 2 the nuclear norm (sum of singular values); other
values select it by ``ord``.
"""

import math
from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.binary import over_root
from gluonish.ops.elementwise.kinks import flat_power
from gluonish.ops.elementwise.unary import ABS, SIGN
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.linalg.matrices import iterative
from gluonish.ops.linalg.svd import svd
from gluonish.ops.reductions.reduction import MAX, MIN, root_of_squares, sum_
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.shape.transpose import swap_axes, transpose
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import as_real
from gluonish.ops.support.shape_rules import normalize_axis

_NAME = "_npi_norm"
_ALL, _FROBENIUS, _NUCLEAR = -2, 1, 2
_SINGULAR = (2.0, -2.0)
_MATRIX_ORDERS = (1.0, -1.0, 2.0, -2.0, math.inf, -math.inf)


def _axes(rank: int, axis: Shape | None, flag: int) -> Shape:
    """Return the axes of the vectors or matrices, rows before columns."""
    if flag == _ALL:
        return tuple(range(rank))
    if axis is None:
        axis = (-1,) if rank == 1 else (-2, -1)
    axes = tuple(normalize_axis(_NAME, i, rank) for i in axis)
    if len(set(axes)) != len(axes) or not 1 <= len(axes) <= 2:
        raise OperatorError(f"{_NAME}: expected axis to be one or two different axes, got {axis}")
    return axes


def _kind(axes: Shape, ord: float, flag: int) -> str:  # noqa: A002  # MXNet's name
    """Return the kind of norm: root, power, extreme, singular or sums."""
    if flag == _ALL:
        return "root"
    if len(axes) == 1:
        return "root" if ord == 2 else "power" if math.isfinite(ord) else "extreme"
    if flag == _FROBENIUS:
        return "root"
    if flag == _NUCLEAR or ord in _SINGULAR:
        return "singular"
    return "sums"


def _check(data: Spec, axes: Shape, ord: float, flag: int) -> None:  # noqa: A002
    if data.dtype.kind == "b":
        raise OperatorError(f"{_NAME}: expected numbers, got bool; cast with astype")
    if flag == _NUCLEAR and len(axes) != 2:
        raise OperatorError(f"{_NAME}: expected two axes for the nuclear norm, got {axes}")
    kind = _kind(axes, ord, flag)
    if math.isnan(ord) or (kind == "sums" and ord not in _MATRIX_ORDERS):
        raise OperatorError(f"{_NAME}: expected ord to be 1, -1, 2, -2, inf or -inf, got {ord}")
    if kind == "singular" and data.dtype not in (FLOAT32, FLOAT64):
        raise OperatorError(
            f"{_NAME}: expected float32 or float64 for singular values, got {data.dtype.name}; "
            "cast with astype"
        )


def _result_shape(shape: Shape, axes: Shape, keepdims: bool) -> Shape:
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def _infer(
    data: Spec,
    *,
    ord: float,  # noqa: A002  # MXNet's name
    axis: Shape | None,
    keepdims: bool,
    flag: int,
) -> tuple[Spec, ...]:
    axes = _axes(len(data.shape), axis, flag)
    _check(data, axes, ord, flag)
    # In MXNet singular vectors and values are outputs, too; here they are empty.
    empty = Spec((0,), data.dtype)
    return Spec(_result_shape(data.shape, axes, keepdims), data.dtype), empty, empty, empty


def _of_singular(xp: ModuleType, values: Any, ord: float, flag: int) -> Any:  # noqa: A002
    if flag == _NUCLEAR:
        return xp.add.reduce(values, axis=-1)
    return values[..., 0] if ord > 0 else values[..., -1]


def _norm(xp: ModuleType, x: Any, axes: Shape, ord: float, flag: int) -> Any:  # noqa: A002
    kind = _kind(axes, ord, flag)
    if kind == "root":
        return root_of_squares(xp, x, axes)
    size = xp.abs(x)
    if kind == "power":
        if ord == 0:
            return xp.add.reduce(size != 0, axis=axes, dtype=x.dtype)
        return xp.add.reduce(size**ord, axis=axes) ** (1 / ord)
    if kind == "extreme":
        return (size.max if ord > 0 else size.min)(axis=axes)
    matrices = xp.moveaxis(x, axes, (-2, -1))
    if kind == "singular":
        values = iterative(xp, _NAME, xp.linalg.svd, matrices, compute_uv=False)
        return _of_singular(xp, values, ord, flag)
    totals = xp.add.reduce(xp.abs(matrices), axis=-2 if abs(ord) == 1 else -1)
    return (totals.max if ord > 0 else totals.min)(axis=-1)


def _kernel(
    xp: ModuleType,
    out: tuple[Any, ...],
    data: Any,
    *,
    ord: float,  # noqa: A002  # MXNet's name
    axis: Shape | None,
    keepdims: bool,
    flag: int,
) -> None:
    axes = _axes(data.ndim, axis, flag)
    if any(data.shape[i] == 0 for i in axes):
        out[0].fill(0)
        return
    norm = _norm(xp, as_real(xp, data), axes, ord, flag)
    out[0][...] = norm.reshape(out[0].shape).astype(out[0].dtype)


def _reduce(op: Operator, x: Any, axis: int) -> Any:
    attrs = {"axis": (axis,), "keepdims": False, "exclude": False}
    return apply(op, (x,), attrs)


def _matrix_norm(x: Any, axes: Shape, ord: float, flag: int, shape: Shape) -> Any:  # noqa: A002
    """Compute norms of matrices and extremes of vectors with operators."""
    others = tuple(i for i in range(len(x.shape)) if i not in axes)
    matrices = transpose(x, others + axes)
    kind = _kind(axes, ord, flag)
    extreme = MAX if ord > 0 else MIN
    if kind == "extreme":
        return reshape(_reduce(extreme, ABS(matrices), -1), shape)
    if kind == "sums":
        totals = sum_(ABS(matrices), axis=(-2 if abs(ord) == 1 else -1,))
        return reshape(_reduce(extreme, totals, -1), shape)
    if matrices.shape[-2] > matrices.shape[-1]:
        matrices = swap_axes(matrices, -1, -2)
    values = ABS(svd(matrices)[1])  # not negative: 0 is a kink
    if flag == _NUCLEAR:
        return reshape(sum_(values, axis=(-1,)), shape)
    return reshape(_reduce(extreme, values, -1), shape)


def _gradient(
    g: tuple[Any, ...],
    x: V,
    norm: V,
    *_hidden: V,
    ord: float,  # noqa: A002  # MXNet's name
    axis: Shape | None,
    keepdims: bool,
    flag: int,
) -> tuple[Any]:
    axes = _axes(len(x.shape), axis, flag)
    kind = _kind(axes, ord, flag)
    if math.prod(x.shape) == 0 or (kind == "power" and ord == 0):
        return (None,)
    reduced = _result_shape(x.shape, axes, keepdims=True)
    if kind in ("root", "power"):
        grad, total = reshape(g[0], reduced), reshape(norm, reduced)
        if kind == "root":
            return (over_root(grad, total) * x,)
        if ord == 1:
            return (broadcast_to(grad, x.shape) * SIGN(x),)
        # Where both one-sided slopes at 0 are infinite, the gradient is 0, as at any kink.
        slope = SIGN(x) * flat_power(ABS(x), ord - 1)
        return (grad * flat_power(total, 1 - ord) * slope,)
    rule = composite_gradient(
        lambda y: _matrix_norm(y, axes, ord, flag, _result_shape(x.shape, axes, keepdims))
    )
    return (rule(g[0], x)[0],)


NPI_NORM = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Compute the norm of vectors along one axis, or of matrices along two axes (rows,\n"
            "then columns).\n\n"
            "ord is the exponent of a vector norm; for matrices it is 1 or -1 (column sums),\n"
            "inf or -inf (row sums), 2 or -2 (singular values). flag -2 selects the square root\n"
            "of the sum of all squares, 1 the Frobenius norm of each matrix, 2 the sum of\n"
            "singular values. Without axis the last two axes are used. Without elements the\n"
            "norm is 0.\n\n"
            "Shapes: data any, output data's without the axes in axis, or with size 1 there\n"
            "(keepdims)."
        ),
        schema=Schema(
            ord=number(2.0), axis=optional(shape_attr()), keepdims=boolean(False), flag=integer(-1)
        ),
        outputs=4,
        visible=1,
        execution=Execution(heavy=True),
    )
)
