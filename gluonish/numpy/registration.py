"""Register the functions of this package for dispatch by NumPy's protocols."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.numpy import (
    binary,
    composed,
    creation,
    elements,
    fallback,
    joining,
    linalg,
    nan_reductions,
    numerics,
    products,
    reductions,
    set_functions,
    shapes,
    triangles,
    unary,
)
from gluonish.numpy.protocol import register_functions

__all__ = ["functions_of"]


def functions_of(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return the public functions of a module by name."""
    found = {name: getattr(module, name) for name in module.__all__}
    return {name: f for name, f in found.items() if callable(f) and not isinstance(f, type)}


for _module in (
    *(creation, elements, fallback, joining, nan_reductions, numerics, products, reductions),
    *(binary, composed, set_functions, shapes, triangles, unary),
):
    register_functions(functions_of(_module))
register_functions(functions_of(linalg), "linalg.")
# Functions that NumPy has renamed.
register_functions(
    {
        "conjugate": composed.positive,
        "trapezoid": composed.trapz,
        "left_shift": binary.bitwise_left_shift,
        "right_shift": binary.bitwise_right_shift,
    }
)
