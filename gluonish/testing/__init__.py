"""What tests of operators and layers are written with."""

from gluonish.testing.check_operator import check_operator
from gluonish.testing.values import ArrayValue

__all__ = ["ArrayValue", "check_operator"]
