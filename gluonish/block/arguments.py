"""Arguments of a call by keyword, put where the block's own signature has them."""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from gluonish.core.errors import ArgumentTypeError

if TYPE_CHECKING:
    from gluonish.hybrid_block import HybridBlock

__all__ = ["by_position", "refuse_keywords"]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def by_position(
    block: "HybridBlock", args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a call's arguments with as many as possible by position, and the others by keyword.

    Those that are left out between two that are given get their defaults.

    Args:
        block: The block that is called.
        args: Arguments by position.
        keywords: Arguments by keyword.

    Raises:
        ArgumentTypeError: if the block takes no such arguments.
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
    return (tuple(placed) if len(placed) > len(args) else args), left


def refuse_keywords(block: "HybridBlock", keywords: Mapping[str, Any]) -> NoReturn:
    """Refuse arguments that a graph cannot have, as they cannot be given by position.

    Raises:
        ArgumentTypeError: always.
    """
    raise ArgumentTypeError(
        f"{block.name}: expected arguments that {type(block).__name__} takes by position, got "
        f"{', '.join(sorted(keywords))} by keyword only; do not hybridize this block"
    )
