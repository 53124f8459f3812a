"""The list of operators, and their arguments."""

import ctypes
from typing import NamedTuple

from gluonish.core.schema import REQUIRED, Attribute, format_attribute
from gluonish.ops.custom import CUSTOM, NATIVE, NDARRAY_OP
from gluonish.ops.registry import all_names, all_operators, find_operator

c_int_p = ctypes.POINTER(ctypes.c_int)


class OperatorArguments(NamedTuple):
    """The arguments of an operator.

    Attributes:
        narg: Number of arguments.
        names: Names of the inputs, then of the parameters.
        types: Type of each argument, as text.
    """

    narg: int
    names: list[str]
    types: list[str]


def get_all_registered_operators_grouped() -> dict[str, list[str]]:
    """Return all names of each operator, itself and its aliases, by its name."""
    return {op.name: [op.name, *op.aliases] for op in all_operators()}


def get_all_registered_operators() -> list[str]:
    """Return all names of all operators, sorted."""
    return sorted(all_names())


# MXNet's names for the types of attributes.
_MXNET_TYPES = {
    "a bool": "boolean",
    "a number": "float",
    "a str": "string",
    "a tuple of ints": "Shape(tuple)",
    "a tuple of ints or None": "Shape or None",
    "a tuple of numbers": "tuple of <float>",
    "an int": "int",
}


def _described(attribute: Attribute) -> str:
    """Return the type and default of an attribute in MXNet's notation."""
    expected, default = attribute.expected, attribute.default
    is_choice = expected.startswith("one of ")
    if is_choice:
        choices = sorted(
            expected.removeprefix("one of ").split(", "), key=lambda w: (w != "None", w)
        )
        kind = f"{{{', '.join(choices)}}}"
    elif expected in _MXNET_TYPES:
        kind = _MXNET_TYPES[expected]
    else:
        base = expected.removesuffix(" or None").partition(" of at least ")[0]
        kind = _MXNET_TYPES.get(base, base) + (" or None" if expected.endswith(" or None") else "")
    if default is REQUIRED:
        return f"{kind}, required"
    if default == ():
        text = "[]"
    elif isinstance(default, bool):
        text = str(int(default))
    elif isinstance(default, str) or is_choice:
        text = repr(format_attribute(default))
    elif isinstance(default, float):
        text = f"{default:.9g}"
    else:
        text = format_attribute(default)
    return f"{kind},{'' if is_choice else ' '}optional, default={text}"


def get_operator_arguments(op_name: str) -> OperatorArguments:
    """Return the arguments of an operator.

    Args:
        op_name: Name or alias of the operator.

    Raises:
        OperatorError: There is no such operator.
    """
    op = find_operator(op_name)
    is_variadic = op.variadic is not None or op in (CUSTOM, NATIVE, NDARRAY_OP)
    names = ["data"] if is_variadic else list(op.inputs)
    types = ["NDArray-or-Symbol[]" if is_variadic else "NDArray-or-Symbol"] * len(names)
    for name, attribute in op.schema.attributes.items():
        names.append(name)
        types.append(_described(attribute))
    return OperatorArguments(len(names), names, types)
