"""Symbol and the ``sym`` namespace: variables, groups, files, and a function for every operator."""

from gluonish.symbol import _internal as _internal
from gluonish.symbol import contrib, image, linalg, op, random, sparse
from gluonish.symbol import methods as _methods  # noqa: F401  # completes the class
from gluonish.symbol.composition import Group
from gluonish.symbol.creation import (
    arange,
    eye,
    full,
    histogram,
    hypot,
    linspace,
    maximum,
    minimum,
    ones,
    pow,  # noqa: A004  # MXNet's name
    power,
    split_v2,
    zeros,
)
from gluonish.symbol.files import fromjson, load, load_json
from gluonish.symbol.name import AttrScope, NameManager, Prefix
from gluonish.symbol.namespace import Variable, var
from gluonish.symbol.namespace import names as __dir__  # noqa: F401  # PEP 562
from gluonish.symbol.namespace import operator_function as __getattr__  # noqa: F401
from gluonish.symbol.numpy_symbol import NumpySymbol
from gluonish.symbol.subgraph import OperatorNode, Subgraph, SubgraphBackend, register_backend
from gluonish.symbol.symbol import Symbol

__all__ = [
    "AttrScope",
    "Group",
    "NameManager",
    "NumpySymbol",
    "OperatorNode",
    "Prefix",
    "Subgraph",
    "SubgraphBackend",
    "Symbol",
    "Variable",
    "arange",
    "contrib",
    "eye",
    "fromjson",
    "full",
    "histogram",
    "hypot",
    "image",
    "linalg",
    "linspace",
    "load",
    "load_json",
    "maximum",
    "minimum",
    "ones",
    "op",
    "pow",
    "power",
    "random",
    "register_backend",
    "sparse",
    "split_v2",
    "var",
    "zeros",
]
