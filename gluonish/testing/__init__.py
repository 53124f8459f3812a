"""What tests of operators and layers are written with."""

from gluonish.testing.check_operator import check_operator
from gluonish.testing.values import ArrayValue, run_operator

__all__ = ["ArrayValue", "check_operator", "run_operator"]
