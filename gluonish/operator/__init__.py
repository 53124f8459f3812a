"""`mx.operator`: custom operators in Python, and the list of operators."""

from gluonish.operator.custom_op import CustomOp, CustomOpProp, register
from gluonish.operator.listing import (
    OperatorArguments,
    c_int_p,
    get_all_registered_operators,
    get_all_registered_operators_grouped,
    get_operator_arguments,
)
from gluonish.operator.python_op import NDArrayOp, NumpyOp, PythonOp

__all__ = [
    "CustomOp",
    "CustomOpProp",
    "NDArrayOp",
    "NumpyOp",
    "OperatorArguments",
    "PythonOp",
    "c_int_p",
    "get_all_registered_operators",
    "get_all_registered_operators_grouped",
    "get_operator_arguments",
    "register",
]
