"""Symbol and the ``sym`` namespace: variables, groups, files, and a function for every operator."""

from gluonish.symbol import contrib, image, linalg, random
from gluonish.symbol import methods as _methods  # noqa: F401  # completes the class
from gluonish.symbol import recorded as _recorded  # noqa: F401  # completes autograd
from gluonish.symbol.composition import Group
from gluonish.symbol.creation import (
    arange,
    full,
    hypot,
    maximum,
    minimum,
    ones,
    pow,  # noqa: A004  # MXNet's name
    power,
    zeros,
)
from gluonish.symbol.files import load, load_json
from gluonish.symbol.name import AttrScope, NameManager, Prefix
from gluonish.symbol.namespace import Variable, var
from gluonish.symbol.namespace import operator_function as __getattr__  # noqa: F401
from gluonish.symbol.symbol import Symbol

__all__ = [
    "AttrScope",
    "Group",
    "NameManager",
    "Prefix",
    "Symbol",
    "Variable",
    "arange",
    "contrib",
    "full",
    "hypot",
    "image",
    "linalg",
    "load",
    "load_json",
    "maximum",
    "minimum",
    "ones",
    "pow",
    "power",
    "random",
    "var",
    "zeros",
]
