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
    """Return how the gradient of each argument is stored: ``"write"``, ``"add"`` or ``"null"``.

    Args:
        given: ``grad_req`` of `Module.bind`: one for all arguments with a gradient, a list in the
            order of the arguments, or a dict by name.
        arguments: Names of the network's arguments.
        params: Names of weights with gradients.
        data: Names of inputs with gradients.
        for_training: Whether there are gradients at all.

    Raises:
        ArgumentError: A list has another length than ``arguments``.
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
