"""Chi2: the chi-squared distribution."""

from typing import Any

from gluonish.gluon.probability.distributions.constraint import Positive
from gluonish.gluon.probability.distributions.gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """Chi-squared distribution: of the sum of the squares of df standard normal variables.

    Args:
        df: Degrees of freedom: number or array, above 0.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: ``validate_args`` is set, and ``df`` is not positive.
        ArgumentTypeError: ``df`` is neither a number nor an array.
    """

    arg_constraints = {"df": Positive()}  # noqa: RUF012
    df: Any

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        self._set(df=df)
        super().__init__(self.df / 2, 2.0, validate_args)
