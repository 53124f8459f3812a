"""Private helpers of MXNet's Block that programs import: nested arguments, and printing."""

from collections.abc import Iterable, Sequence
from typing import Any

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import NDArray
from gluonish.numpy import ndarray
from gluonish.symbol import Symbol
from gluonish.symbol.numpy_symbol import NumpySymbol

# The formats of an array and of None; a format n > 0 is a Symbol with n outputs.
_ARRAY = 0
_NOTHING = -1


def flattened(args: Any, inout_str: str) -> tuple[list[Any], Any]:
    """Return the arrays in nested lists, and their format: 0 for an array, -1 for None, or a list.

    Args:
        args: An array, a Symbol, None, or a list or tuple of such arguments.
        inout_str: ``"input"`` or ``"output"``, for the message.

    Raises:
        ArgumentError: An element has another type.
    """
    if isinstance(args, NDArray):
        return [args], _ARRAY
    if isinstance(args, Symbol):
        count = len(args.list_outputs())
        return [args], count if count > 1 else _ARRAY
    if args is None:
        return [None], _NOTHING
    if not isinstance(args, list | tuple):
        raise ArgumentError(
            f"HybridBlock: expected as {inout_str} a (nested) list of Symbol or NDArray, got "
            f"{args!r:.200} of type {type(args)}"
        )
    flat: list[Any] = []
    formats = []
    for arg in args:
        inner, inner_format = flattened(arg, inout_str)
        flat.extend(inner)
        formats.append(inner_format)
    return flat, formats


def regrouped(args: Sequence[Any], fmt: Any) -> tuple[Any, Sequence[Any]]:
    """Return arrays nested as a format of `flattened`, and the remaining arrays."""
    if isinstance(fmt, int):
        if fmt in (_ARRAY, _NOTHING):
            return args[0], args[1:]
        return args[:fmt], args[fmt:]
    grouped = []
    for inner in fmt:
        group, args = regrouped(args, inner)
        grouped.append(group)
    return grouped, args


def regroup(args: list[Any], fmt: Any) -> Any:
    """Return arrays nested as a format of `flattened`."""
    return regrouped(args, fmt)[0]


def context_facts(args: Any) -> tuple[bool, bool, set[Context], Context | None]:
    """Return whether ``args`` has Symbols, whether it has arrays, all devices, and the first one.

    Args:
        args: An array, a Symbol, or a list or tuple of such arguments; anything else is ignored.
    """
    if isinstance(args, NDArray):
        return False, True, {args.context}, args.context
    if isinstance(args, Symbol):
        return True, False, set(), None
    symbols = arrays = False
    contexts: set[Context] = set()
    first = None
    for arg in args if isinstance(args, list | tuple) else ():
        inner = context_facts(arg)
        symbols |= inner[0]
        arrays |= inner[1]
        contexts |= inner[2]
        first = inner[3] if first is None else first
    return symbols, arrays, contexts, first


def check_one_symbol_type(symbols: Iterable[Symbol]) -> type[Symbol]:
    """Return the common class of Symbols: classic, or of ``mx.sym.np``.

    Raises:
        ArgumentTypeError: The Symbols are of both kinds.
    """
    kinds = {isinstance(symbol, NumpySymbol) for symbol in symbols}
    if len(kinds) > 1:
        raise ArgumentTypeError(
            "outputs: expected Symbols of one kind, got both classic symbol (mx.sym.Symbol) and "
            "numpy symbol (mx.sym.np._Symbol); call as_np_ndarray() or as_nd_ndarray() on some"
        )
    return NumpySymbol if kinds == {True} else Symbol


def check_all_numpy(out: Any) -> None:
    """Check that all arrays and Symbols, also in nested lists, are of ``mx.np``.

    Raises:
        ArgumentTypeError: An array or Symbol is classic.
    """
    if isinstance(out, list | tuple):
        for inner in out:
            check_all_numpy(inner)
    elif isinstance(out, NDArray | Symbol) and not isinstance(out, ndarray | NumpySymbol):
        raise ArgumentTypeError(
            "Block: expected outputs of type mxnet.numpy.ndarray or mxnet.symbol.numpy._Symbol, "
            f"got {type(out)}"
        )


def indented(s_: str, num_spaces: int) -> str:
    """Return text with each line but the first indented by ``num_spaces``."""
    return s_.replace("\n", "\n" + " " * num_spaces)


def brief_list(lst: Sequence[object], limit: int = 7) -> str:
    """Return names in quotes; a list longer than ``limit`` is elided in the middle."""
    names = [f"'{name}'" for name in lst]
    if len(names) > limit:
        names = [*names[: limit // 2], "...", *names[-limit // 2 :]]
    return ", ".join(names)
