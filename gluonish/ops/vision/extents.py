"""Input checks of vision and detection operators: rank, floating dtype, pairs."""

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Shape, Spec


def check_rank(operator: str, name: str, spec: Spec, axes: str) -> None:
    """Raise OperatorError for an array whose axes are not ``axes``, such as ``"N C H W"``."""
    if len(spec.shape) != len(axes.split()):
        raise OperatorError(
            f"{operator}: expected {name} ({', '.join(axes.split())}), got {spec.shape}"
        )


def check_floating(operator: str, *specs: Spec) -> None:
    """Raise OperatorError for arrays that do not all have the same floating dtype."""
    first = specs[0].dtype
    if not is_floating(first) or any(spec.dtype != first for spec in specs):
        names = ", ".join(spec.dtype.name for spec in specs)
        raise OperatorError(f"{operator}: expected arrays of equal floating dtype, got {names}")


def check_pair(operator: str, name: str, values: Shape, low: int = 1) -> None:
    """Raise OperatorError for a tuple that is not two numbers of at least ``low``."""
    if len(values) != 2 or min(values) < low:
        raise OperatorError(
            f"{operator}: expected {name} to be 2 ints of at least {low}, got {values}"
        )
