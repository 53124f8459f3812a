"""Functions of two arrays, and of an array and a number."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT32, FLOAT64, INT64, is_floating
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.families.elementwise import truncated
from gluonish.onnx.exporting.steps import select
from gluonish.onnx.exporting.tensors import Tensor

Function = Callable[[Tensor, Tensor], Tensor]


def _divide(a: Tensor, b: Tensor) -> Tensor:
    if is_floating(a.dtype):
        return a / b
    # ONNX does not say how integer division rounds. As in MXNet: toward zero, and x / 0 is 0.
    real = a.to(FLOAT64) / select(b.equals(0), 1, b).to(FLOAT64)
    return select(b.equals(0), 0, truncated(real).to(a.dtype))


def _modulo(a: Tensor, b: Tensor) -> Tensor:
    """Return the remainder with the sign of the divisor; x % 0 is 0."""
    if a.dtype == BOOL:
        return a & ~(a | ~a)
    zero = b.equals(0)
    divisor = select(zero, 1, b)
    if is_floating(a.dtype):
        rest = a.emitter("Mod", a, divisor, fmod=1)
        wrong = (rest * divisor) < 0.0
        rest = select(wrong, rest + divisor, rest)
        return select(zero, 0.0, rest)
    return select(zero, 0, a.emitter("Mod", a, divisor))


def _fmod(a: Tensor, b: Tensor) -> Tensor:
    """Return the remainder with the sign of the dividend; of integers, 0 for a divisor of 0."""
    if is_floating(a.dtype):
        return a.emitter("Mod", a, b, fmod=1)
    zero = b.equals(0)
    return select(zero, 0, a.emitter("Mod", a, select(zero, 1, b), fmod=1))


def _floor_divide(a: Tensor, b: Tensor) -> Tensor:
    if not is_floating(a.dtype):
        dtype, a, b = a.dtype, a.to(INT64), b.to(INT64)
        zero = b.equals(0)
        divisor = select(zero, 1, b)
        multiple = a - a.emitter("Mod", a, divisor)
        return select(zero, 0, multiple / divisor).to(dtype)
    rest = a.emitter("Mod", a, b, fmod=1)
    opposite = ((rest < 0.0) & (b > 0.0)) | ((rest > 0.0) & (b < 0.0))
    whole = (a - rest) / b
    whole = a.emitter("Round", select(opposite, whole - 1.0, whole))
    return select(b.equals(0.0), a / b, whole)


def _extreme_but_nan(kind: str) -> Function:
    def function(a: Tensor, b: Tensor) -> Tensor:
        larger = _extreme(kind)(a, b)
        if not is_floating(a.dtype):
            return larger
        return select(a.emitter("IsNaN", a), b, select(a.emitter("IsNaN", b), a, larger))

    return function


def _logaddexp(a: Tensor, b: Tensor) -> Tensor:
    dtype = a.dtype
    a, b = (x if is_floating(dtype) else x.to(FLOAT64) for x in (a, b))
    distance = select(a.equals(b), 0.0, a.emitter("Abs", a - b))  # of infinities too
    made = a.emitter("Max", a, b) + a.emitter("Log", a.emitter("Exp", -distance) + 1.0)
    return made if is_floating(dtype) else _to_integer(made, dtype)


def _power(a: Tensor, b: Tensor) -> Tensor:
    if is_floating(a.dtype):
        return a**b
    real = a.to(FLOAT64) ** b.to(FLOAT64)
    return _to_integer(real, a.dtype)


def _to_integer(real: Tensor, dtype: np.dtype[Any]) -> Tensor:
    return real.to(INT64).to(dtype)


def _extreme(kind: str) -> Function:
    def function(a: Tensor, b: Tensor) -> Tensor:
        if a.dtype == BOOL:
            return a | b if kind == "Max" else a & b
        return a.emitter(kind, a, b)

    return function


def _hypot(a: Tensor, b: Tensor) -> Tensor:
    dtype, a, b = a.dtype, a.to(FLOAT64), b.to(FLOAT64)  # where squares do not overflow
    made = a.emitter("Sqrt", a * a + b * b)
    if not is_floating(dtype):
        return _to_integer(made, dtype)
    infinite = a.emitter("IsInf", a.to(FLOAT32)) | a.emitter("IsInf", b.to(FLOAT32))
    return select(infinite, np.inf, made).to(dtype)


def _arctan2(y: Tensor, x: Tensor) -> Tensor:
    angle = y.emitter("Atan", y / x)
    half = y * 0.0 + np.pi
    turned = select(x < 0.0, angle + select(y < 0.0, -half, half), angle)
    upright = y.emitter("Sign", y) * (np.pi / 2)
    return select(x.equals(0.0), upright, turned)


def _copysign(a: Tensor, b: Tensor) -> Tensor:
    size = a.emitter("Abs", a)
    # The reciprocal shows the sign of a zero.
    negative = select(b.equals(0.0), 1.0 / b, b) < 0.0
    return select(negative, -size, size)


def _ldexp(a: Tensor, b: Tensor) -> Tensor:
    return a * a.emitter("Pow", a.emitter.constant(2.0, a.dtype), b)


def _truth(x: Tensor) -> Tensor:
    return x if x.dtype == BOOL else ~x.equals(0)


def _logical(kind: str) -> Function:
    return lambda a, b: a.emitter(kind, _truth(a), _truth(b))


def _comparison(kind: str) -> Function:
    def function(a: Tensor, b: Tensor) -> Tensor:
        if kind == "NotEqual":
            return ~a.emitter("Equal", a, b)
        return a.emitter(kind, a, b)

    return function


def _arithmetic(kind: str) -> Function:
    def function(a: Tensor, b: Tensor) -> Tensor:
        if a.dtype == BOOL:
            return {"Add": a.__or__, "Mul": a.__and__}[kind](b)
        return a.emitter(kind, a, b)

    return function


def _bitwise(kind: str) -> Function:
    def function(a: Tensor, b: Tensor) -> Tensor:
        if a.dtype == BOOL:
            return a.emitter(kind, a, b)
        return a.emitter(f"Bitwise{kind}", a, b)

    return function


_FUNCTIONS: dict[str, Function] = {
    "add": _arithmetic("Add"),
    "sub": _arithmetic("Sub"),
    "mul": _arithmetic("Mul"),
    "div": _divide,
    "true_divide": lambda a, b: a / b,
    "mod": _modulo,
    "power": _power,
    "maximum": _extreme("Max"),
    "minimum": _extreme("Min"),
    "hypot": _hypot,
    "arctan2": _arctan2,
    "copysign": _copysign,
    "ldexp": _ldexp,
    "fmod": _fmod,
    "floor_divide": _floor_divide,
    "fmax": _extreme_but_nan("Max"),
    "fmin": _extreme_but_nan("Min"),
    "logaddexp": _logaddexp,
    "equal": _comparison("Equal"),
    "not_equal": _comparison("NotEqual"),
    "greater": _comparison("Greater"),
    "greater_equal": _comparison("GreaterOrEqual"),
    "lesser": _comparison("Less"),
    "lesser_equal": _comparison("LessOrEqual"),
    "logical_and": _logical("And"),
    "logical_or": _logical("Or"),
    "logical_xor": _logical("Xor"),
    "bitwise_and": _bitwise("And"),
    "bitwise_or": _bitwise("Or"),
    "bitwise_xor": _bitwise("Xor"),
}
_REAL = frozenset(("true_divide", "arctan2", "copysign", "ldexp"))
_TRUTHS = frozenset(name for name in _FUNCTIONS if name[:3] in ("equ", "not", "gre", "les", "log"))


def _common(call: Call, name: str, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Convert both operands to their common type."""
    out = call.out.dtype
    if name in _REAL and not is_floating(out):
        out = FLOAT32
    if name in _TRUTHS:
        if a.dtype == b.dtype:
            return a, b
        floats = [x.dtype for x in (a, b) if is_floating(x.dtype)]
        kinds = floats or [a.dtype, b.dtype]
        out = max(kinds, key=lambda dtype: dtype.itemsize)
        out = INT64 if not floats and a.dtype != b.dtype else out
    return a.to(out), b.to(out)


def _pair(name: str) -> Callable[[Call], Tensor]:
    function = _FUNCTIONS[name]

    def translate(call: Call) -> Tensor:
        return function(*_common(call, name, *call.inputs))

    return translate


def _number(call: Call, name: str, dtype: np.dtype[Any]) -> Any:
    """Return the scalar, truncated for integers, as the operator does."""
    scalar = call["scalar"]
    if is_floating(dtype):
        return scalar
    if dtype == BOOL:
        return bool(scalar)
    if name in _TRUTHS:
        return int(np.clip(np.trunc(scalar), -(2.0**62), 2.0**62))
    return np.array(float(scalar)).astype(np.int64).astype(dtype).item()


def _scalar(name: str, swapped: bool = False) -> Callable[[Call], Tensor]:
    function = _FUNCTIONS[name]

    def translate(call: Call) -> Tensor:
        x = call.x
        if name in _TRUTHS:
            if call.op.startswith("_npi_"):
                if x.dtype == BOOL:
                    number = call.constant(int(bool(call["scalar"])), INT64)
                    return function(x.to(INT64), number)
                wide = FLOAT64 if x.dtype.itemsize > 2 else FLOAT32
                x = x if is_floating(x.dtype) else x.to(wide)
            elif not is_floating(x.dtype) and x.dtype != BOOL:
                x = x.to(INT64)
        else:
            x = x.to(call.out.dtype)
            if name in _REAL and not is_floating(x.dtype):
                x = x.to(FLOAT32)
        number = call.constant(_number(call, name, x.dtype), x.dtype)
        return function(number, x) if swapped else function(x, number)

    return translate


_ELEMWISE = {
    "add": ("elemwise_add", "broadcast_add", "_npi_add", "_grad_add"),
    "sub": ("elemwise_sub", "broadcast_sub", "_npi_subtract"),
    "mul": ("elemwise_mul", "broadcast_mul", "_npi_multiply"),
    "div": ("elemwise_div", "broadcast_div", "_scatter_elemwise_div"),
    "true_divide": ("_npi_true_divide",),
    "mod": ("_mod", "broadcast_mod", "_npi_mod"),
    "power": ("_power", "broadcast_power", "_npi_power"),
    "maximum": ("_maximum", "broadcast_maximum"),
    "minimum": ("_minimum", "broadcast_minimum"),
    "hypot": ("_hypot", "broadcast_hypot", "_npi_hypot"),
    "arctan2": ("_npi_arctan2",),
    "copysign": ("_npi_copysign",),
    "ldexp": ("_npi_ldexp",),
    "fmod": ("_npi_fmod",),
    "floor_divide": ("_npi_floor_divide",),
    "fmax": ("_npi_fmax",),
    "fmin": ("_npi_fmin",),
    "logaddexp": ("_npi_logaddexp",),
    "equal": ("_equal", "broadcast_equal", "_npi_equal"),
    "not_equal": ("_not_equal", "broadcast_not_equal", "_npi_not_equal"),
    "greater": ("_greater", "broadcast_greater", "_npi_greater"),
    "greater_equal": ("_greater_equal", "broadcast_greater_equal", "_npi_greater_equal"),
    "lesser": ("_lesser", "broadcast_lesser", "_npi_less"),
    "lesser_equal": ("_lesser_equal", "broadcast_lesser_equal", "_npi_less_equal"),
    "logical_and": ("_logical_and", "broadcast_logical_and", "_npi_logical_and"),
    "logical_or": ("_logical_or", "broadcast_logical_or", "_npi_logical_or"),
    "logical_xor": ("_logical_xor", "broadcast_logical_xor", "_npi_logical_xor"),
    "bitwise_and": ("_npi_bitwise_and",),
    "bitwise_or": ("_npi_bitwise_or",),
    "bitwise_xor": ("_npi_bitwise_xor",),
}
_SCALARS = {
    "add": ("_plus_scalar", "_npi_add_scalar", "_scatter_plus_scalar"),
    "sub": ("_minus_scalar", "_npi_subtract_scalar", "_scatter_minus_scalar"),
    "mul": ("_mul_scalar", "_npi_multiply_scalar"),
    "div": ("_div_scalar",),
    "true_divide": ("_npi_true_divide_scalar",),
    "mod": ("_mod_scalar", "_npi_mod_scalar"),
    "power": ("_power_scalar", "_npi_power_scalar"),
    "maximum": ("_maximum_scalar", "_npi_maximum_scalar"),
    "minimum": ("_minimum_scalar", "_npi_minimum_scalar"),
    "hypot": ("_hypot_scalar", "_npi_hypot_scalar"),
    "arctan2": ("_npi_arctan2_scalar",),
    "copysign": ("_npi_copysign_scalar",),
    "ldexp": ("_npi_ldexp_scalar",),
    "fmod": ("_npi_fmod_scalar",),
    "floor_divide": ("_npi_floor_divide_scalar",),
    "fmax": ("_npi_fmax_scalar",),
    "fmin": ("_npi_fmin_scalar",),
    "logaddexp": ("_npi_logaddexp_scalar",),
    "equal": ("_equal_scalar", "_npi_equal_scalar"),
    "not_equal": ("_not_equal_scalar", "_npi_not_equal_scalar"),
    "greater": ("_greater_scalar", "_npi_greater_scalar"),
    "greater_equal": ("_greater_equal_scalar", "_npi_greater_equal_scalar"),
    "lesser": ("_lesser_scalar", "_npi_less_scalar"),
    "lesser_equal": ("_lesser_equal_scalar", "_npi_less_equal_scalar"),
    "logical_and": ("_logical_and_scalar", "_npi_logical_and_scalar"),
    "logical_or": ("_logical_or_scalar", "_npi_logical_or_scalar"),
    "logical_xor": ("_logical_xor_scalar", "_npi_logical_xor_scalar"),
    "bitwise_and": ("_npi_bitwise_and_scalar",),
    "bitwise_or": ("_npi_bitwise_or_scalar",),
    "bitwise_xor": ("_npi_bitwise_xor_scalar",),
}
_SWAPPED = {
    "sub": ("_rminus_scalar", "_npi_rsubtract_scalar"),
    "div": ("_rdiv_scalar",),
    "true_divide": ("_npi_rtrue_divide_scalar",),
    "mod": ("_rmod_scalar", "_npi_rmod_scalar"),
    "power": ("_rpower_scalar", "_npi_rpower_scalar"),
    "arctan2": ("_npi_rarctan2_scalar",),
    "copysign": ("_npi_rcopysign_scalar",),
    "ldexp": ("_npi_rldexp_scalar",),
    "fmod": ("_npi_rfmod_scalar",),
    "floor_divide": ("_npi_rfloor_divide_scalar",),
}


def _sum(call: Call) -> Tensor:
    total = call.x
    for x in call.inputs[1:]:
        total = total + x
    return total


def _multicast(call: Call) -> list[Tensor]:
    return [x.to(spec.dtype) for x, spec in zip(call.inputs, call.outputs, strict=True)]


TABLE: dict[str, Any] = {
    **{op: _pair(name) for name, ops in _ELEMWISE.items() for op in ops},
    **{op: _scalar(name) for name, ops in _SCALARS.items() for op in ops},
    **{op: _scalar(name, swapped=True) for name, ops in _SWAPPED.items() for op in ops},
    "add_n": _sum,
    "amp_multicast": _multicast,
}
