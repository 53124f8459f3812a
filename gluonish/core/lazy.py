"""Lazy attributes: loaded at the first access, so that the import does not pay for unused ones.

`attach` returns a ``__getattr__`` for a module (PEP 562) that loads an attribute and stores it in
the module. `extend` adds lazy attributes to a module from outside: names of higher layers, or names
that only MXNet programs use.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from gluonish.core.habits import unknown_name
from gluonish.core.loading import is_partial, load, when_complete

_LOADS_FOR_PACKAGES = True  # `loading` skips the stack frames of this module


def attach(
    module: str,
    names: Iterable[str] = (),
    elsewhere: Mapping[str, str] | None = None,
    otherwise: Callable[[str], Any] | None = None,
) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a module that loads attributes at their first access.

    Args:
        module: The module's dotted name.
        names: Names of submodules.
        elsewhere: Targets of other attributes: a dotted module name, or ``module:name`` for an
            attribute of that module.
        otherwise: Called with all other names.
    """
    targets = {**{name: f"{module}.{name}" for name in names}, **(elsewhere or {})}

    def find(name: str) -> Any:
        if name not in targets:
            if otherwise is not None:
                return otherwise(name)
            unknown_name(module, name, dir(sys.modules[module]))
        found = resolve(targets[name])
        if not is_partial(found):  # a partial one is only for the module's own code
            vars(sys.modules[module])[name] = found
        return found

    return find


def resolve(target: str) -> Any:
    """Return a module by its dotted name, or for ``module:name`` an attribute of it.

    Raises:
        AttributeError: There is no such module.
        ImportError: The module cannot be imported.
    """
    module, _, attribute = target.partition(":")
    try:
        found = load(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise AttributeError(str(error)) from error
    return getattr(found, attribute) if attribute else found


def lists(names: Iterable[str]) -> Callable[[], list[str]]:
    """Return a ``__dir__`` for a package: its public names, loaded or not."""
    public = sorted(names)
    return lambda: list(public)


def extend(module: str, attributes: Mapping[str, str], *, starred: bool = False) -> None:
    """Add lazy attributes to a module, now or when it is loaded.

    Args:
        module: The module's dotted name.
        attributes: Their targets, as for `attach`; a target in another project may be missing.
        starred: Whether ``import *`` includes them.
    """

    def complete(loaded: ModuleType) -> None:
        namespace = vars(loaded)
        namespace["__getattr__"] = attach(module, (), attributes, namespace.get("__getattr__"))
        if starred:
            namespace["__all__"] = [*dict.fromkeys((*loaded.__all__, *attributes))]

    when_complete(module, complete)


class _Method:
    """Placeholder for a method, which replaces itself with the method when accessed."""

    __slots__ = ("_kind", "_make", "_name")

    def __init__(self, kind: type, name: str, make: Callable[[str], Any]) -> None:
        self._kind, self._name, self._make = kind, name, make

    def __get__(self, instance: Any, owner: type) -> Any:
        made = self._make(self._name)
        setattr(self._kind, self._name, made)
        return made.__get__(instance, owner)


def attach_methods(
    kind: type, names: Iterable[str], make: Callable[[str], Callable[..., Any]]
) -> None:
    """Add methods to a class that ``make(name)`` makes at their first access."""
    for name in names:
        setattr(kind, name, _Method(kind, name, make))
