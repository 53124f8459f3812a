"""Modules and methods that are there at their first use: what a program may never need costs its
start nothing."""

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from gluonish.core.loading import load

__all__ = ["add_methods_later", "later"]


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


class _LaterMethod:
    """Stands for a method in its class, and puts the method into its own place when looked up."""

    __slots__ = ("_kind", "_make", "_name")

    def __init__(self, kind: type, name: str, make: Callable[[str], Any]) -> None:
        self._kind, self._name, self._make = kind, name, make

    def __get__(self, instance: Any, owner: type) -> Any:
        made = self._make(self._name)
        setattr(self._kind, self._name, made)
        return made.__get__(instance, owner)


def add_methods_later(
    kind: type, names: Iterable[str], make: Callable[[str], Callable[..., Any]]
) -> None:
    """Give a class methods, each of which is made when it is first looked up.

    Args:
        kind: The class.
        names: The methods' names.
        make: Returns the method of a name.
    """
    for name in names:
        setattr(kind, name, _LaterMethod(kind, name, make))
