"""Where a parameter goes, in which storage and dtype: checks of its arguments."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.context import Context, current_context
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError, ParameterError

__all__ = ["ContextList", "as_contexts", "check_stype", "loaded_dtype"]

ContextList = Context | Sequence[Context]
_STYPES = ("default", "row_sparse", "csr")


def check_stype(argument: str, stype: str, name: str) -> None:
    """Refuse what is no storage type.

    Raises:
        ArgumentError: if there is no such storage type.
    """
    if stype not in _STYPES:
        raise ArgumentError(f"Parameter {name}: expected {argument} in {_STYPES}, got {stype!r}")


def as_contexts(ctx: ContextList | None, what: str) -> list[Context]:
    """Return devices as a list without repetitions; None means the current context.

    Raises:
        ArgumentTypeError: if ``ctx`` holds something else than contexts.
        ArgumentError: if it is empty.
    """
    given = [current_context()] if ctx is None else [ctx] if isinstance(ctx, Context) else ctx
    if not isinstance(given, list | tuple) or not all(isinstance(c, Context) for c in given):
        raise ArgumentTypeError(f"{what}: expected ctx as a Context or a list of them, got {ctx!r}")
    if not given:
        raise ArgumentError(f"{what}: expected at least one context in ctx, got none")
    return list(dict.fromkeys(given))


def loaded_dtype(current: Any, saved: Any, what: str, cast_dtype: bool, dtype_source: str) -> Any:
    """Return the dtype of a parameter after loading values of dtype ``saved``.

    Raises:
        ArgumentError: if ``dtype_source`` is neither ``"current"`` nor ``"saved"``.
        ParameterError: if the dtypes differ and ``cast_dtype`` is not set.
    """
    if dtype_source not in ("current", "saved"):
        raise ArgumentError(
            f"{what} expected dtype_source 'current' or 'saved', got {dtype_source!r}"
        )
    own, other = normalize_dtype(current), normalize_dtype(saved)
    if own == other:
        return current
    if not cast_dtype:
        raise ParameterError(
            f"{what} expected dtype {own}, got {other}; set cast_dtype=True to convert"
        )
    return current if dtype_source == "current" else saved
