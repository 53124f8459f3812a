"""What NumPy's samplers share: parameters that are numbers or arrays, sizes, ranges.

A parameter that is None stands for the next input. The result has the shape ``size``, to which the
parameters broadcast, or that of the parameters without a size.
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

# By what follows _npi_ in the operator's name.
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
    """Return the rule that says which inputs there are: one for each parameter that is None."""

    def names(attrs: Attrs) -> tuple[str, ...]:
        count = sum(attrs[name] is None for name in parameters)
        return tuple(f"input{i + 1}" for i in range(count))

    return names


def placed(parameters: Sequence[str], arrays: Sequence[Any], attrs: Attrs) -> list[Any]:
    """Return all parameters: numbers from the attributes, arrays where those are None."""
    given = iter(arrays)
    return [next(given) if attrs[name] is None else attrs[name] for name in parameters]


def check_count(operator: str, parameters: Sequence[str], count: int, attrs: Attrs) -> None:
    """Check the number of arrays.

    Raises:
        OperatorError: One is missing, or there are too many.
    """
    wanted = sum(attrs[name] is None for name in parameters)
    if count != wanted:
        raise OperatorError(
            f"{operator}: expected an array for each of {', '.join(parameters)} that is None, "
            f"{wanted}, got {count}"
        )


def check_numbers(operator: str, arrays: Sequence[Spec]) -> None:
    """Check that parameters that are arrays hold numbers, whole ones or not.

    Raises:
        OperatorError: One holds truth values.
    """
    for spec in arrays:
        if spec.dtype == BOOL:
            raise OperatorError(f"{operator}: expected parameters that are numbers, got {spec}")


def as_floating(parameter: Any) -> Any:
    """Return an array of parameters for kernels: float32 where it holds whole numbers."""
    return parameter if is_floating(parameter.dtype) else parameter.astype(FLOAT32)


def check_values(
    xp: ModuleType, operator: str, parameters: Sequence[str], values: Sequence[Any]
) -> None:
    """Check parameters, numbers or arrays; for kernels.

    Raises:
        OperatorError: One, or an element of one, is out of its range.
    """
    limits = LIMITS.get(operator.removeprefix("_npi_"), {})
    for name, value in zip(parameters, values, strict=True):
        if name in limits and (isinstance(value, float) or value.size):
            text, allowed = limits[name]
            least = value if isinstance(value, float) else float(xp.min(value))  # NaN if one is
            if not allowed(least):
                raise OperatorError(f"{operator}: expected {name} {text}, got {least}")


def result_shape(
    operator: str, arrays: Sequence[Spec], size: Shape | None, *, in_front: bool = False
) -> Shape:
    """Return the shape of a result.

    Args:
        operator: For errors.
        arrays: Parameters that are arrays.
        size: As it was asked for.
        in_front: Whether ``size`` stands in front of the parameters' shape.

    Raises:
        OperatorError: The parameters do not broadcast.
    """
    shape: Shape = ()
    for spec in arrays:
        shape = broadcast_shapes(operator, shape, spec.shape)
    if size is None:
        return shape
    asked = check_extents(operator, size)
    if in_front:
        return check_extents(operator, asked + shape)
    if broadcast_shapes(operator, shape, asked) != asked:
        raise OperatorError(
            f"{operator}: expected a size that parameters of shape {shape} broadcast to, got {size}"
        )
    return asked
