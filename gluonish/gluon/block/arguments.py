"""Keyword arguments of a block's call: converted to positional ones, or packed with the others."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from gluonish.core.errors import ArgumentTypeError
from gluonish.gluon.block.block_errors import input_error
from gluonish.gluon.block.protocols import Named, Traceable
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class WithKeywords(NamedTuple):
    """The positional and the keyword arguments of a call."""

    args: tuple[Any, ...]
    keywords: dict[str, Any]


def pack_arguments(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
    """Pack a call's arguments into one pytree, which keeps keyword arguments apart."""
    return WithKeywords(args, dict(sorted(keywords.items()))) if keywords else args


def call_packed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a function with arguments from `pack_arguments`."""
    if isinstance(arguments, WithKeywords):
        return function(*arguments.args, **arguments.keywords)
    return function(*arguments)


def by_position(
    block: Traceable, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Convert keyword arguments of a call to positional ones where possible, and return both.

    Omitted arguments before a supplied one get their defaults.

    Raises:
        ArgumentTypeError: The block does not accept the arguments, or `hybrid_forward` has
            keyword-only parameters.
    """
    skip = int(block.has_hybrid_forward)  # F
    function = block.hybrid_forward if skip else block.forward
    signature = inspect.signature(function)
    clash = sorted(block._reg_params.keys() & keywords.keys()) if skip else []
    if clash:
        raise ArgumentTypeError(
            f"{block.name}: expected no argument with the name of a parameter, got {clash[0]!r}"
        )
    try:
        bound = signature.bind_partial(*(None,) * skip, *args, **keywords).arguments
    except TypeError as error:
        raise ArgumentTypeError(
            f"{block.name}: expected arguments {signature}, got a call with {error}"
        ) from None
    positional: list[Any] = []
    remaining = dict(keywords)
    for parameter in list(signature.parameters.values())[skip:]:
        name, default = parameter.name, parameter.default
        has_value = name in bound or default is not parameter.empty
        if parameter.kind not in _POSITIONAL or not remaining or not has_value:
            break
        positional.append(bound.get(name, default))
        remaining.pop(name, None)
    if remaining and skip:
        raise ArgumentTypeError(
            f"{block.name}: expected hybrid_forward to have positional arguments only, got the "
            f"keyword-only {', '.join(sorted(remaining))}; define forward(self, x, ...) instead"
        )
    return (tuple(positional) if len(positional) > len(args) else args), remaining


def check_one_kind(block: Named, first: object, args: Iterable[object]) -> None:
    """Raise an error if a call mixes NDArrays and Symbols, also inside lists.

    Raises:
        ArgumentTypeError: The call has both.
    """
    other: type[NDArray | Symbol] = NDArray if isinstance(first, Symbol) else Symbol
    for value in args:
        if isinstance(value, other):
            raise ArgumentTypeError(
                f"{block.name}: expected NDArrays or Symbols, got both among the inputs"
            )
        if isinstance(value, list | tuple):
            check_one_kind(block, first, value)


def no_arrays_error(
    block: Named, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> ArgumentTypeError:
    """Return the error for a call without arrays."""
    given = (*args, *keywords.values())
    if given:
        return input_error(block, given[0])
    return ArgumentTypeError(f"{block.name}: expected an NDArray among the inputs, got none")


def unhashable_error(
    block: Named, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> ArgumentTypeError:
    """Return the error for a call with unhashable arguments."""
    return ArgumentTypeError(
        f"{block.name}: expected arguments that are arrays or hashable, got "
        f"{pack_arguments(args, keywords)!r}"
    )
