"""Modules that are there at their first use."""

from types import ModuleType
from typing import Any

from gluonish.core.loading import load

__all__ = ["later"]


class _Later:
    """Stands for a module, and loads it when something of it is asked for."""

    __slots__ = ("_module", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, attribute: str) -> Any:
        if self._module is None:
            self._module = load(self._name)
        return getattr(self._module, attribute)

    def __repr__(self) -> str:
        return f"<module {self._name!r}, loaded at its first use>"


def later(name: str) -> Any:
    """Return what stands for a module until it is first used, and for its attributes from then on.

    Write the import for type checkers beside it::

        if TYPE_CHECKING:
            from gluonish.graph import cached_graph
        else:
            cached_graph = later("gluonish.graph.cached_graph")

    Args:
        name: The module's dotted name.
    """
    return _Later(name)
