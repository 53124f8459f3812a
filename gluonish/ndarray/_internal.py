"""``nd._internal``: the functions of operators, those whose names begin with ``_`` too."""

from gluonish.ndarray.namespace import names as __dir__  # noqa: F401  # PEP 562
from gluonish.ndarray.namespace import operator_function as __getattr__  # noqa: F401

__all__: list[str] = []
