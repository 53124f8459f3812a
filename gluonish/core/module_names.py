"""Module aliases.

Gluon programs import one module under several dotted names (``gluonish.context`` is also
``gluonish.core.devices``, and ``mxnet.context`` after an import of `gluonish.as_mxnet`).
`alias_modules` makes each a name of the same module object, so that no module is loaded twice.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from types import CodeType, ModuleType
from typing import Any


class _RealModule:
    """Loader that returns the module of another name unchanged."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's spec, which the import system has replaced."""
        module.__spec__ = self.spec

    def get_code(self, name: str) -> CodeType | None:
        """Return the module's code, for ``python -m``."""
        spec: Any = find_spec(self.name)
        code: CodeType | None = spec.loader.get_code(self.name)
        return code


class _Aliases:
    """Finds an alias, and modules below it, under the real name."""

    def __init__(self) -> None:
        self.real: dict[str, str] = {}
        self.tops: set[str] = set()  # checked first: the finder sees every import of the process

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        parts = fullname.split(".")
        if parts[0] not in self.tops:
            return None
        for length in range(len(parts), 0, -1):
            real = self.real.get(".".join(parts[:length]))
            if real is not None:
                name = ".".join([real, *parts[length:]])
                # For a missing module Python raises the error, with the name in use.
                found = find_spec(name)
                loader: Any = _RealModule(name)
                if found is None:
                    return None
                return spec_from_loader(fullname, loader, origin=found.origin)
        return None


_ALIASES = _Aliases()
# Before the path finder, which would find the real module's files below an alias and load them a
# second time.
sys.meta_path.insert(0, _ALIASES)


def alias_modules(names: dict[str, str]) -> None:
    """Make modules, and all modules below them, importable under further names.

    Args:
        names: Dotted name of the real module by alias; nothing is imported yet.
    """
    _ALIASES.real.update(names)
    _ALIASES.tops.update(name.partition(".")[0] for name in names)
