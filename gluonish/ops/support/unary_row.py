"""Elementwise operators from rows of a table."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.ops.facts import Execution, Gradient, ShapeFacts, zero_gradient
from gluonish.ops.registry import Operator, apply, register
from gluonish.ops.support.broadcasting import complete_same, infer_numbers
from gluonish.ops.support.precision import as_real
from gluonish.ops.support.special import apply_special

Fill = Callable[[ModuleType, Any, Any], None]  # (xp, out, data)


class Unary:
    """A registered elementwise function, callable on values."""

    __slots__ = ("operator",)

    def __init__(self, operator: Operator) -> None:
        self.operator = operator

    def __call__(self, x: Any) -> Any:
        """Apply to a value."""
        return apply(self.operator, (x,), {})


def ufunc(name: str) -> Fill:
    """Return the kernel of a NumPy function that supports all dtypes."""

    def kernel(xp: ModuleType, out: Any, data: Any) -> None:
        getattr(xp, name)(data, out)

    return kernel


def real(name: str) -> Fill:
    """Return the kernel of a NumPy function of real numbers."""

    def kernel(xp: ModuleType, out: Any, data: Any) -> None:
        if is_floating(out.dtype):
            getattr(xp, name)(data, out)
        else:
            out[...] = getattr(xp, name)(as_real(xp, data)).astype(out.dtype)

    return kernel


def rounding(name: str) -> Fill:
    """Return the kernel of a NumPy rounding function; integers are unchanged."""

    def kernel(xp: ModuleType, out: Any, data: Any) -> None:
        if is_floating(out.dtype):
            getattr(xp, name)(data, out)
        else:
            out[...] = data

    return kernel


def wide(function: Callable[[ModuleType, Any], Any]) -> Fill:
    """Return the kernel of a formula, computed in float32 or float64 and rounded once."""

    def kernel(xp: ModuleType, out: Any, data: Any) -> None:
        out[...] = function(xp, as_real(xp, data)).astype(out.dtype)

    return kernel


def special(name: str) -> Fill:
    """Return the kernel of a function of `apply_special`."""

    def kernel(xp: ModuleType, out: Any, data: Any) -> None:
        apply_special(xp, name, out, data)

    return kernel


def row(
    names: str,
    word: str,
    kernel: Fill,
    gradient: Callable[[Any, Any], Any] | None = None,
    gradient_of_output: Callable[[Any, Any, Any], Any] | None = None,
    *,
    heavy: bool = False,
    several_passes: bool = False,
) -> Unary:
    """Register a row; without a gradient, the function is constant almost everywhere."""
    name, *aliases = names.split()
    rule: Callable[..., tuple[Any, ...]] = zero_gradient
    if gradient is not None:
        rule = lambda g, x: (gradient(g, x),)  # noqa: E731
    elif gradient_of_output is not None:
        rule = lambda g, x, y: (gradient_of_output(g, x, y),)  # noqa: E731
    return Unary(
        register(
            Operator(
                name,
                infer_numbers(name),
                kernel,
                Gradient(rule, uses_output=gradient_of_output is not None),
                doc=f"Elementwise {word}.",
                aliases=tuple(aliases),
                shapes=ShapeFacts(complete=complete_same),
                execution=Execution(elementwise=True, heavy=heavy, several_passes=several_passes),
            )
        )
    )


def whole(function: Callable[[ModuleType, Any], Any]) -> Fill:
    """Return the kernel of a rounding formula; integers are unchanged."""
    fill = wide(function)

    def kernel(xp: ModuleType, out: Any, data: Any) -> None:
        if is_floating(out.dtype):
            fill(xp, out, data)
        else:
            out[...] = data

    return kernel
