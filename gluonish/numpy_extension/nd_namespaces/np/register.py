"""`mx.ndarray.register`: creates the functions of ``mx.nd`` from operators."""

from collections.abc import Iterable
from typing import Any

from gluonish.core.errors import ArgumentTypeError
from gluonish.ndarray.namespace import operator_function
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.array import ndarray

__all__: list[str] = []


def _make_ndarray_function(handle: object, name: str, func_name: str) -> Any:
    """Return the function of an operator.

    Args:
        handle: Ignored; in MXNet a handle of the operator in the C library.
        name: The operator's name.
        func_name: The function's name; ignored, as the function is named after the operator.

    Raises:
        AttributeError: There is no such operator.
    """
    return operator_function(name)


def _verify_all_np_ndarrays(op_name: str, func_name: str, args: Iterable[Any], out: Any) -> None:
    """Check that all arrays among the arguments and ``out`` are arrays of ``mx.np``.

    Raises:
        ArgumentTypeError: An array is a classic one.
    """
    for array in _arrays(args, out):
        if not isinstance(array, ndarray):
            raise ArgumentTypeError(
                f"{func_name}: expected arrays of mx.np for the operator {op_name}, got a classic "
                "NDArray; call as_np_ndarray()"
            )


def _verify_all_legacy_ndarrays(
    op_name: str, func_name: str, args: Iterable[Any], out: Any
) -> None:
    """Check that all arrays among the arguments and ``out`` are classic arrays.

    Raises:
        ArgumentTypeError: An array is one of ``mx.np``.
    """
    for array in _arrays(args, out):
        if isinstance(array, ndarray):
            raise ArgumentTypeError(
                f"{func_name}: expected classic arrays for the operator {op_name}, got one of "
                "mx.np; call as_nd_ndarray()"
            )


def _arrays(args: Iterable[Any], out: Any) -> list[NDArray]:
    given = [*args, *(out if isinstance(out, list | tuple) else [out])]
    return [value for value in given if isinstance(value, NDArray)]
