"""Arguments of a call by keyword: put where the block's own signature has them, or kept as such."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from gluonish.core.errors import ArgumentTypeError
from gluonish.gluon.block.protocols import Named, Traceable
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class WithKeywords(NamedTuple):
    """Arguments of a call some of which can only be given by keyword."""

    args: tuple[Any, ...]
    keywords: dict[str, Any]


def listed(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a call's arguments as one value, whose structure tells calls apart."""
    return WithKeywords(args, dict(sorted(keywords.items()))) if keywords else args


def call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a function with what `listed` made of arguments."""
    if isinstance(arguments, WithKeywords):
        return function(*arguments.args, **arguments.keywords)
    return function(*arguments)


def by_position(
    block: Traceable, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a call's arguments with as many as possible by position, and the others by keyword.

    Those that are left out between two that are given get their defaults.

    Args:
        block: The block that is called.
        args: Arguments by position.
        keywords: Arguments by keyword.

    Raises:
        ArgumentTypeError: The block takes no such arguments, or a `hybrid_forward` takes them by
            keyword only.
    """
    skip = int(block.has_hybrid_forward)  # F
    function = block.hybrid_forward if skip else block.forward
    signature = inspect.signature(function)
    clash = sorted(block._reg_params.keys() & keywords.keys()) if skip else []
    if clash:
        raise ArgumentTypeError(
            f"{block.name}: expected no argument for its own parameter, got {clash[0]!r}"
        )
    try:
        bound = signature.bind_partial(*(None,) * skip, *args, **keywords).arguments
    except TypeError as error:
        raise ArgumentTypeError(
            f"{block.name}: expected arguments {signature}, got a call with {error}"
        ) from None
    placed: list[Any] = []
    left = dict(keywords)
    for parameter in list(signature.parameters.values())[skip:]:
        name, default = parameter.name, parameter.default
        known = name in bound or default is not parameter.empty
        if parameter.kind not in _POSITIONAL or not left or not known:
            break
        placed.append(bound.get(name, default))
        left.pop(name, None)
    if left and skip:
        raise ArgumentTypeError(
            f"{block.name}: expected arguments that hybrid_forward takes by position, got "
            f"{', '.join(sorted(left))} by keyword only; write forward(self, x, ...) for these"
        )
    return (tuple(placed) if len(placed) > len(args) else args), left


def check_one_kind(block: Named, first: object, given: Iterable[object]) -> None:
    """Refuse a call with NDArrays and Symbols, also in lists.

    Args:
        block: The block that is called.
        first: The first of them.
        given: The arguments of the call.

    Raises:
        ArgumentTypeError: There are both.
    """
    other: type[NDArray | Symbol] = NDArray if isinstance(first, Symbol) else Symbol
    for value in given:
        if isinstance(value, other):
            raise ArgumentTypeError(
                f"{block.name}: expected NDArrays or Symbols, got both among the inputs"
            )
        if isinstance(value, list | tuple):
            check_one_kind(block, first, value)


def no_arrays_error(
    block: Named, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> ArgumentTypeError:
    """Return the error of a call without arrays."""
    kinds = ", ".join(type(arg).__name__ for arg in (*args, *keywords.values()))
    return ArgumentTypeError(
        f"{block.name}: expected an NDArray among the inputs, got {kinds or 'none'}"
    )


def unhashable_error(
    block: Named, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> ArgumentTypeError:
    """Return the error of a call with arguments that no graph can be known by."""
    return ArgumentTypeError(
        f"{block.name}: expected arguments that are arrays or hashable, got "
        f"{listed(args, keywords)!r}"
    )
