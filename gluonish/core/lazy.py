"""Attributes that are there at their first use, so that the import pays for nothing unused.

`attach` gives a module a ``__getattr__`` (PEP 562) that loads what is asked for and puts it into
the module, so that the next look finds it there. `extend` does the same to a module from outside:
for names that stand above it, or that only MXNet's programs look for there.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from gluonish.core.loading import is_partial, load, when_whole

_LOADS_FOR_PACKAGES = True  # `loading` passes over the frames of this module


def attach(
    module: str,
    names: Iterable[str] = (),
    elsewhere: Mapping[str, str] | None = None,
    otherwise: Callable[[str], Any] | None = None,
) -> Callable[[str], Any]:
    """Return a module's ``__getattr__`` that loads what it is asked for at the first time.

    Args:
        module: The module's dotted name.
        names: Modules of the package that it is, each the last part of its name.
        elsewhere: What other attributes are, by their names: the whole name of a module, or
            ``module:name`` for what stands there.
        otherwise: Called with all other names.
    """
    targets = {**{name: f"{module}.{name}" for name in names}, **(elsewhere or {})}

    def find(name: str) -> Any:
        if name not in targets:
            if otherwise is not None:
                return otherwise(name)
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        found = resolve(targets[name])
        if not is_partial(found):  # else it is only for the module's own code, which asked
            vars(sys.modules[module])[name] = found
        return found

    return find


def resolve(target: str) -> Any:
    """Return a module, or for ``module:name`` what stands there.

    Args:
        target: The whole name.

    Raises:
        AttributeError: There is no such module.
        ImportError: There is, and it cannot be imported.
    """
    module, _, inside = target.partition(":")
    try:
        found = load(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise AttributeError(str(error)) from error
    return getattr(found, inside) if inside else found


def lists(names: Iterable[str]) -> Callable[[], list[str]]:
    """Return a package's ``__dir__``: its public names, loaded yet or not."""
    public = sorted(names)
    return lambda: list(public)


def extend(module: str, attributes: Mapping[str, str], *, starred: bool = False) -> None:
    """Give a module further attributes, now or when it is loaded.

    Args:
        module: The module's dotted name.
        attributes: What they are, as for `attach`; one of another project's may be missing.
        starred: Whether ``import *`` gives them, too.
    """

    def complete(whole: ModuleType) -> None:
        own = vars(whole)
        own["__getattr__"] = attach(module, (), attributes, own.get("__getattr__"))
        if starred:
            own["__all__"] = [*dict.fromkeys((*whole.__all__, *attributes))]

    when_whole(module, complete)


class _Method:
    """Stands for a method in its class, and puts the method into its own place when looked up."""

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
    """Give a class methods, each of which is made when it is first looked up.

    Args:
        names: The methods' names.
        make: Returns the method of a name.
    """
    for name in names:
        setattr(kind, name, _Method(kind, name, make))
