"""Modules under a second name, and modules that load at their first use.

Gluon's programs import one module under several dotted names (``gluonish.gluon.nn`` is also
``gluonish.gluon.nn``, and ``mxnet.gluon.nn`` where `gluonish.as_mxnet` was imported).
`alias_modules` makes each a name of the same module object, so that no module is ever loaded
twice. `loads` gives a package attributes that are modules nobody pays for before asking for them.
"""

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from types import CodeType, ModuleType
from typing import Any

from gluonish.core.loading import find_module, is_partial, load

__all__ = ["alias_modules", "lists", "loads", "show_modules"]

_LOADS_FOR_PACKAGES = True  # `load` passes over the frames of this module


class _RealModule:
    """Gives the module of another name to the import statement, as it is."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The import system has entered the alias's spec: the module keeps its own."""
        module.__spec__ = self.spec

    def get_code(self, name: str) -> CodeType | None:
        """Return the module's code, for ``python -m``."""
        spec: Any = find_spec(self.name)
        code: CodeType | None = spec.loader.get_code(self.name)
        return code


class _Aliases:
    """Finds ``alias`` and everything below it as ``real`` and what is below that."""

    def __init__(self) -> None:
        self.real: dict[str, str] = {}
        self.tops: set[str] = set()  # asked first, as every import of the process comes by
        self.shown: dict[str, Mapping[str, str]] = {}
        self.starred: frozenset[str] = frozenset()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        parts = fullname.split(".")
        if parts[0] not in self.tops:
            return None
        if fullname in self.shown:
            return self._completed(fullname, path)
        for length in range(len(parts), 0, -1):
            real = self.real.get(".".join(parts[:length]))
            if real is not None:
                name = ".".join([real, *parts[length:]])
                # Python itself says of a missing module what is missing, by the name in use.
                found = find_spec(name)
                loader: Any = _RealModule(name)
                return None if found is None else spec_from_loader(fullname, loader)
        return None

    def _completed(self, fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """Return the spec of a module of ours that gets further attributes when it is loaded."""
        return find_module(fullname, path, lambda module: _show(module, self.shown[fullname]))


_ALIASES = _Aliases()
# Before the finder of files: below an alias it would find the real module's files, and load them
# a second time.
sys.meta_path.insert(0, _ALIASES)


def alias_modules(names: dict[str, str]) -> None:
    """Make modules, and all below them, importable under further names.

    Args:
        names: The dotted name of the real module by each further name; nothing is imported yet.
    """
    _ALIASES.real.update(names)
    _ALIASES.tops.update(name.partition(".")[0] for name in names)


def show_modules(
    shown: Mapping[str, Mapping[str, str]], starred: frozenset[str] = frozenset()
) -> None:
    """Give modules further attributes that are modules, loaded yet or not, or stand in some.

    Args:
        shown: Of each module of gluonish, by its name: by attribute the name of a module, or
            ``module:name`` for what stands there. What the module has itself comes first.
        starred: The modules whose ``import *`` gives these attributes, too.
    """
    _ALIASES.starred |= starred
    for name, attributes in shown.items():
        if name in sys.modules and name not in _ALIASES.shown:
            _show(sys.modules[name], attributes)
    _ALIASES.shown.update(shown)


def _show(module: ModuleType, attributes: Mapping[str, str]) -> None:
    own: Callable[[str], Any] | None = vars(module).get("__getattr__")

    def find(name: str) -> Any:
        try:
            if own is not None:
                return own(name)
        except AttributeError:
            if name not in attributes:
                raise
        if name not in attributes:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        try:
            return _found(attributes[name])
        except ModuleNotFoundError as error:
            raise AttributeError(str(error)) from error

    vars(module)["__getattr__"] = find
    if module.__name__ in _ALIASES.starred:
        vars(module)["__all__"] = [*module.__all__, *attributes]


def _found(target: str) -> Any:
    """Return a module, or for ``module:name`` what stands there."""
    module, _, inside = target.partition(":")
    found = load(module)
    return getattr(found, inside) if inside else found


def loads(
    package: str, names: Iterable[str], elsewhere: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """A package's ``__getattr__`` (PEP 562) that imports what it is asked for at the first time.

    Args:
        package: The package's dotted name.
        names: Modules of the package, each the last part of its name.
        elsewhere: What other attributes are, by their names: the whole name of a module, or
            ``module:name`` for what stands there.
    """
    homes = {**{name: f"{package}.{name}" for name in names}, **(elsewhere or {})}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = _found(homes[name])
        if not is_partial(found):  # else it is only for the module's own code, which asked
            vars(sys.modules[package])[name] = found
        return found

    return load


def lists(names: Iterable[str]) -> Callable[[], list[str]]:
    """A package's ``__dir__``: its public names, loaded yet or not."""
    public = sorted(names)
    return lambda: list(public)
