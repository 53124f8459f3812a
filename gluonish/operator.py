"""``mx.operator``: operators that users write in Python, and what operators there are."""

import ctypes
from typing import NamedTuple

from gluonish.core.schema import REQUIRED, format_attribute
from gluonish.custom_op import CustomOp, CustomOpProp, register
from gluonish.ops.custom import CUSTOM, NATIVE, NDARRAY_OP
from gluonish.ops.registry import all_names, find_operator
from gluonish.python_op import NDArrayOp, NumpyOp, PythonOp

__all__ = [
    "CustomOp",
    "CustomOpProp",
    "NDArrayOp",
    "NumpyOp",
    "OperatorArguments",
    "PythonOp",
    "c_int_p",
    "get_all_registered_operators",
    "get_operator_arguments",
    "register",
]

c_int_p = ctypes.POINTER(ctypes.c_int)


class OperatorArguments(NamedTuple):
    """Arguments of an operator.

    Attributes:
        narg: How many.
        names: Their names: inputs, then attributes.
        types: What each takes, in words.
    """

    narg: int
    names: list[str]
    types: list[str]


def get_all_registered_operators() -> list[str]:
    """Return every name that an operator is known by, sorted."""
    return sorted(all_names())


def get_operator_arguments(op_name: str) -> OperatorArguments:
    """Return the arguments of an operator.

    Args:
        op_name: A name of it.

    Raises:
        OperatorError: if there is none.
    """
    op = find_operator(op_name)
    many = op.variadic is not None or op in (CUSTOM, NATIVE, NDARRAY_OP)
    names = ["data"] if many else list(op.inputs)
    types = ["NDArray-or-Symbol[]" if many else "NDArray-or-Symbol"] * len(names)
    for name, attribute in op.schema.attributes.items():
        names.append(name)
        default = attribute.default
        types.append(
            f"{attribute.expected}, required"
            if default is REQUIRED
            else f"{attribute.expected}, optional, default={format_attribute(default)!r}"
        )
    return OperatorArguments(len(names), names, types)
