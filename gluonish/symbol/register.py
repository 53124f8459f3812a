"""Creation of the functions of ``mx.sym`` from operators: `mx.symbol.register`."""

from typing import Any

from gluonish.core.errors import ArgumentTypeError
from gluonish.symbol.namespace import operator_function
from gluonish.symbol.numpy_symbol import NumpySymbol
from gluonish.symbol.symbol import Symbol

__all__: list[str] = []


def _make_symbol_function(handle: object, name: str, func_name: str) -> Any:
    """Return the function of an operator.

    Args:
        handle: Not used; in MXNet a handle of the operator in the C library.
        name: The operator's name.
        func_name: Not used; the function is named after the operator.

    Raises:
        AttributeError: There is no such operator.
    """
    return operator_function(name)


def _verify_np_symbol(op_name: str, func_name: str, sym: Any) -> None:
    """Check that a Symbol has NumPy semantics (``mx.sym.np``).

    Raises:
        ArgumentTypeError: The Symbol is a classic one.
    """
    if isinstance(sym, Symbol) and not isinstance(sym, NumpySymbol):
        raise ArgumentTypeError(
            f"{func_name}: expected Symbols of mx.sym.np for the operator {op_name}, got a classic "
            "one; call as_np_ndarray()"
        )


def _verify_legacy_symbol(op_name: str, func_name: str, sym: Any) -> None:
    """Check that a Symbol is a classic one.

    Raises:
        ArgumentTypeError: The Symbol has NumPy semantics (``mx.sym.np``).
    """
    if isinstance(sym, NumpySymbol):
        raise ArgumentTypeError(
            f"{func_name}: expected classic Symbols for the operator {op_name}, got one of "
            "mx.sym.np; call as_nd_ndarray()"
        )
