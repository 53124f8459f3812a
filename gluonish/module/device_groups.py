"""Which device each ``ctx_group`` of a network lies on, for each of a Module's devices."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError

__all__ = ["Groups", "groups_of"]

Groups = Mapping[str, Any] | Sequence[Mapping[str, Context]] | None


def groups_of(given: Groups, count: int) -> list[dict[str, Context]]:
    """Return a dict from each ``ctx_group`` to its device, for each of a module's devices.

    Args:
        given: Dict from the group's name to a device, or to a list with one for each of the
            module's devices; or a list of such dicts; None for none.
        count: Number of the module's devices.

    Raises:
        ArgumentError: A list has another length than ``count``.
    """
    if given is None:
        return [{} for _ in range(count)]
    if not isinstance(given, Mapping):
        groups = [dict(group) for group in given]
        if len(groups) != count:
            raise ArgumentError(
                f"group2ctxs: expected a dict for each of {count} contexts, got {len(groups)}"
            )
        return groups
    columns: dict[str, list[Context]] = {}
    for name, where in given.items():
        column = [where] if isinstance(where, Context) else list(where)
        column *= count if len(column) == 1 else 1
        if len(column) != count:
            raise ArgumentError(
                f"group2ctxs: expected a device of {name!r} for each of {count} contexts, got "
                f"{len(column)}"
            )
        columns[name] = column
    return [{name: column[i] for name, column in columns.items()} for i in range(count)]
