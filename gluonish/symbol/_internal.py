"""``sym._internal``: the functions of all operators, including names that begin with ``_``."""

from gluonish.symbol.namespace import names as __dir__  # noqa: F401  # PEP 562
from gluonish.symbol.namespace import operator_function as __getattr__  # noqa: F401

__all__: list[str] = []
