"""Gradients that are 0 where their formula divides 0 by 0, or multiplies it by infinity.

Each is one operator, as single steps would take most of the time of a small array. In NumPy the
kernels compute the plain formula, and look after the places of a kink only where there are some; on
a GPU a look at the values would wait for them. The rules of other modules find them by name.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.schema import Schema, number
from gluonish.core.spec import Spec
from gluonish.ops.binary import EQUAL, GREATER_EQUAL, HYPOT, POWER, over_root
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.reduction import SAFE
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.broadcasting import complete_same, infer_broadcast, infer_numbers
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import widen
from gluonish.ops.unary import FLOOR, LOG, SQRT

__all__ = ["flat_power"]


def _operator(
    name: str,
    kernel: Callable[..., None],
    formula: Callable[..., Any],
    inputs: tuple[str, ...],
    doc: str,
) -> Operator:
    """Register an elementwise operator on floats that broadcast.

    Args:
        name: Registry name.
        kernel: ``kernel(xp, out, *inputs)``.
        formula: What it computes, in operators whose gradients are right at the kinks, too.
        inputs: Their names.
        doc: For users.
    """

    def infer(first: Spec, *rest: Spec) -> tuple[Spec]:
        for spec in rest:
            first = infer_broadcast(name, first, spec)
        return (first,)

    return register(
        Operator(
            name,
            infer,
            kernel,
            composite_gradient(formula),
            doc=f"{doc}; all arrays have the same dtype, and shapes broadcast.",
            inputs=inputs,
            execution=Execution(elementwise=True, several_passes=True),
        )
    )


def _with_ones(x: Any, mask: Any) -> Any:
    """Return ``x``, which is 0 where ``mask`` is 1, with 1 there; -0 stays -0 elsewhere."""
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


def _based(g: Any, a: Any, b: Any) -> Any:
    both = EQUAL(a, 0.0) * EQUAL(b, 0.0)
    return g * b * POWER(_with_ones(a, both), b - 1) * (1.0 - both)


def _raised(g: Any, a: Any, b: Any, _y: Any) -> Any:
    flat = EQUAL(a, 0.0) * GREATER_EQUAL(b, 0.0)
    base = _with_ones(a, flat)
    return g * POWER(base, b) * LOG(base) * (1.0 - flat)


def _none(xp: ModuleType, mask: Any) -> bool:
    """Whether a mask in NumPy is known to mark nothing."""
    return xp is np and not np.count_nonzero(mask)


def _ordinary(xp: ModuleType, x: Any) -> bool:
    """Whether all sums of squares in NumPy are known to be as exact as their type is."""
    if xp is not np:
        return False
    least, most = SAFE[x.dtype], math.inf
    if x.size <= 1:
        return not x.size or bool(least < x.item() < most)
    found = least < np.minimum.reduce(x, axis=None) and np.maximum.reduce(x, axis=None) < most
    return bool(found)


def _over_root(xp: ModuleType, out: Any, x: Any, root: Any) -> None:
    """Fill with ``x / root``, and 0 where the root is 0."""
    x, root = widen(x), widen(root)
    zero = root == 0
    if _none(xp, zero):
        np.divide(x, root, out=out, casting="unsafe")
    else:
        out[...] = xp.where(zero, x * 0, x / (root + zero))


def _over_square(xp: ModuleType, out: Any, x: Any, a: Any, b: Any) -> None:
    """Fill with ``x / (a a + b b)``, and 0 where both are 0."""
    x, a, b = widen(x), widen(a), widen(b)
    squares = a * a + b * b
    if _ordinary(xp, squares):
        np.divide(x, squares, out=out, casting="unsafe")
        return
    size = xp.maximum(abs(a), abs(b))
    plain = size + size > size  # not 0, infinite or NaN
    unit = xp.where(plain, size, size.dtype.type(1))
    a, b = a / unit, b / unit
    scaled = xp.where(plain, x / unit / (a * a + b * b) / unit, x / (size + (size == 0)))
    out[...] = xp.where(size == 0, x * 0, scaled)


def _by_divisor(xp: ModuleType, out: Any, g: Any, a: Any, b: Any) -> None:
    """Fill with ``-g floor(a / b)``, and 0 where both are 0."""
    g, a, b = widen(g), widen(a), widen(b)
    quotient = a / b
    zero = b == 0
    if not _none(xp, zero):
        quotient = xp.where(zero & (a == 0), a * 0, quotient)
    xp.floor(quotient, out=quotient)
    out[...] = quotient * -g


def _by_base(xp: ModuleType, out: Any, g: Any, a: Any, b: Any) -> None:
    """Fill with ``g b a^(b - 1)``, and 0 at 0^0."""
    g, a, b = widen(g), widen(a), widen(b)
    zero = b == 0
    slope = xp.power(a, b - 1)
    if _none(xp, zero):
        slope *= b
        np.multiply(slope, g, out=out, casting="unsafe")
    else:
        out[...] = xp.where(zero & (a == 0), g * 0, slope * b * g)


def _by_exponent(xp: ModuleType, out: Any, g: Any, a: Any, b: Any, y: Any) -> None:
    """Fill with ``g y log(a)``, and 0 at 0^b for b from 0 up."""
    g, a, b, y = widen(g), widen(a), widen(b), widen(y)
    zero = a == 0
    found = g * y
    if _none(xp, zero):
        np.multiply(found, np.log(a), out=out, casting="unsafe")
    else:
        out[...] = xp.where(zero & (b >= 0), g * 0, found * xp.log(a))


_operator("_over_root", _over_root, _divided, ("x", "root"), "x / root, and 0 where root is 0")
_operator(
    "_over_square",
    _over_square,
    _divided_twice,
    ("x", "a", "b"),
    "x / (a a + b b), and 0 where a and b are 0",
)
_operator(
    "_mod_backward_rhs",
    _by_divisor,
    _floored,
    ("g", "lhs", "rhs"),
    "Gradient of the divisor, -g floor(lhs / rhs), and 0 where both are 0",
)
_operator(
    "_power_backward_lhs",
    _by_base,
    _based,
    ("g", "lhs", "rhs"),
    "Gradient of the base of a power, g rhs lhs^(rhs - 1), and 0 at 0^0",
)
_operator(
    "_power_backward_rhs",
    _by_exponent,
    _raised,
    ("g", "lhs", "rhs", "y"),
    "Gradient of the exponent of a power y, g y log(lhs), and 0 at lhs 0 and rhs from 0 up",
)


def flat_power(x: Any, exponent: float) -> Any:
    """Return a power of values from 0 up; it and all its derivatives are 0 at 0."""
    return apply(_FLAT_POWER, (x,), {"scalar": exponent})


def _flat_power(xp: ModuleType, out: Any, x: Any, *, scalar: float) -> None:
    if scalar == _HALF:
        SQRT.operator.kernel(xp, out, x)
        return
    zero = x == 0
    POWER.scalar.kernel(xp, out, x, scalar=scalar)
    if scalar <= 0 and not _none(xp, zero):
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
        doc="Elementwise power of data from 0 up, 0 at 0 with all its derivatives.",
        schema=Schema(scalar=number()),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True, several_passes=True),
    )
)
