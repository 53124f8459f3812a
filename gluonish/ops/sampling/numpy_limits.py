"""Parameters, sizes and ranges of NumPy's samplers.

A parameter is a number, or None for the next input array. The result has the shape ``size``, to
which the parameters broadcast, or without a size the broadcast shape of the parameters.
"""

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.dtype import BOOL, FLOAT32, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Shape, Spec
from gluonish.ops.registry import Attrs
from gluonish.ops.sampling.random import Limit, check_extents
from gluonish.ops.support.broadcasting import broadcast_shapes

_NOT_BELOW: Limit = ("of at least 0", lambda value: value >= 0)
_ABOVE: Limit = ("above 0", lambda value: value > 0)

# Limits by operator name without _npi_.
LIMITS: Mapping[str, Mapping[str, Limit]] = {
    "normal": {"scale": _NOT_BELOW},
    "normal_n": {"scale": _NOT_BELOW},
    "gumbel": {"scale": _NOT_BELOW},
    "logistic": {"scale": _NOT_BELOW},
    "gamma": {"shape": _ABOVE, "scale": _ABOVE},
    "exponential": {"scale": _NOT_BELOW},
    "rayleigh": {"scale": _NOT_BELOW},
    "pareto": {"a": _ABOVE},
    "powerd": {"a": _ABOVE},
    "weibull": {"a": _ABOVE},
}


def active(parameters: Sequence[str]) -> Callable[[Attrs], tuple[str, ...]]:
    """Return a function of the attributes that lists the inputs: the parameters that are None."""

    def names(attrs: Attrs) -> tuple[str, ...]:
        count = sum(attrs[name] is None for name in parameters)
        return tuple(f"input{i + 1}" for i in range(count))

    return names


def resolve_parameters(parameters: Sequence[str], arrays: Sequence[Any], attrs: Attrs) -> list[Any]:
    """Return all parameters: numbers from the attributes, arrays where the attributes are None."""
    inputs = iter(arrays)
    return [next(inputs) if attrs[name] is None else attrs[name] for name in parameters]


def check_count(operator: str, parameters: Sequence[str], count: int, attrs: Attrs) -> None:
    """Raise OperatorError for a wrong number of arrays."""
    expected = sum(attrs[name] is None for name in parameters)
    if count != expected:
        raise OperatorError(
            f"{operator}: expected {expected} arrays, one for each of {', '.join(parameters)} that "
            f"is None, got {count}"
        )


def check_numbers(operator: str, arrays: Sequence[Spec]) -> None:
    """Raise OperatorError for parameter arrays of dtype bool."""
    for spec in arrays:
        if spec.dtype == BOOL:
            raise OperatorError(f"{operator}: expected numeric parameters, got {spec}")


def as_floating(parameter: Any) -> Any:
    """Cast an array of integer parameters to float32, for kernels."""
    return parameter if is_floating(parameter.dtype) else parameter.astype(FLOAT32)


def check_values(
    xp: ModuleType, operator: str, parameters: Sequence[str], values: Sequence[Any]
) -> None:
    """Raise OperatorError for a parameter, number or array, out of its range; for kernels."""
    limits = LIMITS.get(operator.removeprefix("_npi_"), {})
    for name, value in zip(parameters, values, strict=True):
        if name in limits and (isinstance(value, float) or value.size):
            text, allowed = limits[name]
            least = value if isinstance(value, float) else float(xp.min(value))  # NaN for any NaN
            if not allowed(least):
                raise OperatorError(f"{operator}: expected {name} {text}, got {least}")


def result_shape(
    operator: str, arrays: Sequence[Spec], size: Shape | None, *, in_front: bool = False
) -> Shape:
    """Return the shape of a result.

    Args:
        operator: Operator name in errors.
        arrays: Parameter arrays.
        size: Requested size.
        in_front: Whether ``size`` is prepended to the parameters' shape.

    Raises:
        OperatorError: The parameters do not broadcast.
    """
    shape: Shape = ()
    for spec in arrays:
        shape = broadcast_shapes(operator, shape, spec.shape)
    if size is None:
        return shape
    requested = check_extents(operator, size)
    if in_front:
        return check_extents(operator, requested + shape)
    if broadcast_shapes(operator, shape, requested) != requested:
        raise OperatorError(
            f"{operator}: expected a size that parameters of shape {shape} broadcast to, got {size}"
        )
    return requested
