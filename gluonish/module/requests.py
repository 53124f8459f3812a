"""Which arguments of a Module's network get gradients."""

from collections.abc import Mapping, Sequence

from gluonish.core.errors import ArgumentError

__all__ = ["Requests", "requests_of"]

Requests = str | Sequence[str] | Mapping[str, str]


def requests_of(
    given: Requests,
    arguments: Sequence[str],
    *,
    params: Sequence[str],
    data: Sequence[str],
    for_training: bool,
) -> dict[str, str]:
    """Return what is done with the gradient of each argument.

    Args:
        given: As `Module.bind` was given it: for all that get a gradient, for each argument in
            order, or by name for some.
        arguments: The network's arguments.
        params: Weights that get gradients.
        data: Inputs that get gradients.
        for_training: Whether there are any.

    Raises:
        ArgumentError: A list is not as long as the arguments.
    """
    if not for_training:
        return dict.fromkeys(arguments, "null")
    trained = {*params, *data}
    if isinstance(given, str):
        return {name: given if name in trained else "null" for name in arguments}
    if isinstance(given, Mapping):
        return {name: given.get(name, "write" if name in trained else "null") for name in arguments}
    if len(given) != len(arguments):
        raise ArgumentError(
            f"grad_req: expected one for each of {len(arguments)} arguments, got {len(given)}"
        )
    return dict(zip(arguments, given, strict=True))
