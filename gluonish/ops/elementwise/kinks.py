"""Gradients that are 0 where their formula is 0 / 0 or 0 times infinity.

Each is a single operator: on small arrays, separate operators would dominate the run time. In NumPy
the kernels evaluate the formula, and correct the singular points only if there are any; on a GPU
that test would synchronize. Gradient rules of other modules find the operators by name.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, number
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.binary import EQUAL, GREATER_EQUAL, HYPOT, POWER, over_root
from gluonish.ops.elementwise.unary import FLOOR, LOG, SQRT
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.reductions.reduction import SAFE
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.broadcasting import complete_same, infer_broadcast, infer_numbers
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import widen


def _operator(
    name: str,
    kernel: Callable[..., None],
    formula: Callable[..., Any],
    inputs: tuple[str, ...],
    doc: str,
) -> Operator:
    """Register an elementwise operator on floats that broadcast.

    Args:
        kernel: ``kernel(xp, out, *inputs)``.
        formula: The same function composed of operators whose gradients are right at the kinks.
        inputs: Input names.
        doc: Public documentation.
    """

    def infer(first: Spec, *rest: Spec) -> tuple[Spec]:
        if not is_floating(first.dtype):
            raise OperatorError(f"{name}: expected floats, got {first.dtype.name}")
        for spec in rest:
            first = infer_broadcast(name, first, spec)
        return (first,)

    def in_wide(xp: ModuleType, out: Any, *inputs: Any) -> None:
        if out.dtype.itemsize > 2:
            kernel(xp, out, *inputs)
            return
        wide = xp.empty(out.shape, FLOAT32)
        kernel(xp, wide, *[widen(x) for x in inputs])
        out[...] = wide.astype(out.dtype)

    return register(
        Operator(
            name,
            infer,
            in_wide,
            composite_gradient(formula),
            doc=f"{doc}; all arrays have the same dtype, and shapes broadcast.",
            inputs=inputs,
            execution=Execution(elementwise=True, several_passes=True),
        )
    )


def _with_ones(x: Any, mask: Any) -> Any:
    """Replace ``x``, which is 0 where ``mask`` is 1, by 1 there; -0 remains -0 elsewhere."""
    return x - (0.0 - mask)


def _divided(x: Any, root: Any) -> Any:
    zero = EQUAL(root, 0.0)
    return x / _with_ones(root, zero) * (1.0 - zero)


def _divided_twice(x: Any, a: Any, b: Any) -> Any:
    root = HYPOT(a, b)
    return over_root(over_root(x, root), root)


def _floored(g: Any, a: Any, b: Any) -> Any:
    both = EQUAL(a, 0.0) * EQUAL(b, 0.0)
    return -g * FLOOR(a / _with_ones(b, both)) * (1.0 - both)


def _based(g: Any, a: Any, b: Any, _power: Any) -> Any:
    both = EQUAL(a, 0.0) * EQUAL(b, 0.0)
    return g * b * POWER(_with_ones(a, both), b - 1) * (1.0 - both)


def _raised(g: Any, a: Any, b: Any, _y: Any) -> Any:
    flat = EQUAL(a, 0.0) * GREATER_EQUAL(b, 0.0)
    base = _with_ones(a, flat)
    return g * POWER(base, b) * LOG(base) * (1.0 - flat)


_SMALL = 1 << 10  # elements up to which NumPy counts zeros faster than it compares


def _has_none(xp: ModuleType, x: Any) -> bool:
    """Whether an array is known to have no zeros; always False for arrays other than NumPy's."""
    if xp is not np:
        return False
    if x.size == 1:
        return bool(x.item() != 0)
    return np.count_nonzero(x) == x.size if x.size <= _SMALL else bool(x.all())


def _ordinary(xp: ModuleType, squares: Any) -> bool:
    """Return whether NumPy's sums of squares neither overflowed nor underflowed."""
    if xp is not np or not squares.size:
        return xp is np
    least, most = squares.item(squares.argmin()), squares.item(squares.argmax())
    return bool(SAFE[squares.dtype] < least and most < math.inf)


def _over_root(xp: ModuleType, out: Any, x: Any, root: Any) -> None:
    """Fill with ``x / root``, and 0 where the root is 0."""
    if _has_none(xp, root):
        np.divide(x, root, out=out)
        return
    zero = root == 0
    out[...] = xp.where(zero, x * 0, x / (root + zero))


def _times_over_root(xp: ModuleType, out: Any, g: Any, x: Any, root: Any) -> None:
    """Fill with ``g x / root``, and 0 where the root is 0."""
    _over_root(xp, out, g * x, root)


def _over_square(xp: ModuleType, out: Any, x: Any, a: Any, b: Any) -> None:
    """Fill with ``x / (a a + b b)``, and 0 where both are 0."""
    squares = a * a + b * b
    if _ordinary(xp, squares):
        np.divide(x, squares, out=out)
        return
    size = xp.maximum(abs(a), abs(b))
    finite = size + size > size  # not 0, infinite or NaN
    unit = xp.where(finite, size, size.dtype.type(1))
    a, b = a / unit, b / unit
    scaled = xp.where(finite, x / unit / (a * a + b * b) / unit, x / (size + (size == 0)))
    out[...] = xp.where(size == 0, x * 0, scaled)


def _by_divisor(xp: ModuleType, out: Any, g: Any, a: Any, b: Any) -> None:
    """Fill with ``-g floor(a / b)``, and 0 where both are 0."""
    quotient = a / b
    if not _has_none(xp, b):
        quotient = xp.where((b == 0) & (a == 0), a * 0, quotient)
    xp.negative(xp.floor(quotient) * g, out=out)


def _by_base(xp: ModuleType, out: Any, g: Any, a: Any, b: Any, power: Any) -> None:
    """Fill with ``g b power``, and 0 at 0^0."""
    slope = b * power
    if _has_none(xp, b):
        np.multiply(slope, g, out=out)
    else:
        out[...] = xp.where((b == 0) & (a == 0), g * 0, slope * g)


def _by_exponent(xp: ModuleType, out: Any, g: Any, a: Any, b: Any, y: Any) -> None:
    """Fill with ``g y log(a)``, and 0 at 0^b for b >= 0."""
    found = g * y
    if _has_none(xp, a):
        np.multiply(found, np.log(a), out=out)
    else:
        out[...] = xp.where((a == 0) & (b >= 0), g * 0, found * xp.log(a))


_operator(
    "_over_root", _over_root, _divided, ("x", "root"), "Compute x / root, and 0 where root is 0"
)
_operator(
    "_times_over_root",
    _times_over_root,
    lambda g, x, root: _divided(g * x, root),
    ("g", "x", "root"),
    "Compute g x / root, and 0 where root is 0",
)
_operator(
    "_over_square",
    _over_square,
    _divided_twice,
    ("x", "a", "b"),
    "Compute x / (a a + b b), and 0 where a and b are 0",
)
_operator(
    "_mod_backward_rhs",
    _by_divisor,
    _floored,
    ("g", "lhs", "rhs"),
    "Compute the gradient of the divisor, -g floor(lhs / rhs), and 0 where both are 0",
)
_operator(
    "_power_backward_lhs",
    _by_base,
    _based,
    ("g", "lhs", "rhs", "power"),
    "Compute the gradient of a power's base, g rhs power with power lhs^(rhs - 1), and 0 at 0^0",
)
_operator(
    "_power_backward_rhs",
    _by_exponent,
    _raised,
    ("g", "lhs", "rhs", "y"),
    "Compute the gradient of a power's exponent, g y log(lhs), and 0 where lhs is 0 and rhs >= 0",
)


def flat_power(x: Any, exponent: float) -> Any:
    """Return a power of nonnegative values; the power and all its derivatives are 0 at 0."""
    return apply(_FLAT_POWER, (x,), {"scalar": exponent})


def _flat_power(xp: ModuleType, out: Any, x: Any, *, scalar: float) -> None:
    if scalar == _HALF:
        SQRT.operator.kernel(xp, out, x)
        return
    if scalar > 0 or _has_none(xp, x):
        POWER.scalar.kernel(xp, out, x, scalar=scalar)
        return
    zero = x == 0
    POWER.scalar.kernel(xp, out, x, scalar=scalar)
    out[zero] = 0


def _flat_power_gradient(g: V, x: V, y: V, *, scalar: float) -> tuple[Any]:
    if scalar == _HALF:
        return (over_root(g * _HALF, y),)
    return (flat_power(x, scalar - 1) * g * scalar,)


_HALF = 0.5
_FLAT_POWER = register(
    Operator(
        "_flat_power",
        infer_numbers("_flat_power"),
        _flat_power,
        Gradient(_flat_power_gradient, uses_output=True),
        doc="Raise nonnegative data to a power elementwise; it and all derivatives are 0 at 0.",
        schema=Schema(scalar=number()),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True, several_passes=True),
    )
)
