"""``sym.op``: the functions of operators, the same as in ``sym``."""

from gluonish.symbol.namespace import names as __dir__  # noqa: F401  # PEP 562
from gluonish.symbol.namespace import operator_function as __getattr__  # noqa: F401

__all__: list[str] = []
