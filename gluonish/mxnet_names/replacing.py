"""Putting gluonish in the place of the package ``mxnet``; see `gluonish.as_mxnet`."""

import re
import sys
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions, version
from pathlib import Path

from gluonish.core.config.environment import extend_python_path
from gluonish.core.errors import NameTakenError
from gluonish.core.lazy import extend
from gluonish.core.loading import load
from gluonish.core.module_names import alias_modules
from gluonish.core.mxnet_rules import VERSION, VERSION2, Rules, follow_mxnet
from gluonish.mxnet_names.imported_modules import (
    further_modules,
    imported_modules,
    starred_modules,
)
from gluonish.mxnet_names.table import MODULES

__all__ = ["install", "starts_with_mxnet2"]

# Folders for the module path of child processes, with a package `mxnet`.
_FOLDERS = {Rules.MXNET1: "mxnet_path", Rules.MXNET2: "mxnet2_path"}
_VERSIONS = {Rules.MXNET1: VERSION, Rules.MXNET2: VERSION2}


def install(rules: Rules) -> None:
    """Alias ``mxnet`` and its submodules to gluonish's modules, and follow MXNet's rules.

    Args:
        rules: Those of MXNet 1.9 or of 2.0.

    Raises:
        NameTakenError: Another package of that name is installed or was imported.
    """
    root = sys.modules["gluonish"]
    if sys.modules.get("mxnet") is not root:
        found = PathFinder.find_spec("mxnet")
        origin = None if found is None else found.origin
        if origin is not None and not _is_gluonish(origin):
            raise NameTakenError(
                f"as_mxnet: expected no other package named mxnet, got {_describe(origin)}; use "
                "an environment without it"
            )
        if origin is None or rules == Rules.MXNET2:  # a package of gluonish's follows 1.9
            folder = _folder(rules)
            sys.path.append(folder)
            extend_python_path(folder)
    alias_modules({"mxnet": "gluonish", **further_modules()})
    sys.modules["mxnet"] = root
    root.__version__ = _VERSIONS[rules]  # type: ignore[attr-defined]  # of a module
    for frontend in ("ndarray", "symbol"):  # the modules `F`; programs compare their names
        sys.modules[f"gluonish.{frontend}"].__name__ = f"mxnet.{frontend}"
    for name, module in tuple(sys.modules.items()):  # programs check for loaded modules
        if name.startswith("gluonish."):
            sys.modules.setdefault(f"mxnet.{name.removeprefix('gluonish.')}", module)
    for name, real in MODULES.items():
        if f"gluonish.{real}" in sys.modules:
            sys.modules.setdefault(f"mxnet.{name}", sys.modules[f"gluonish.{real}"])
    follow_mxnet(rules)
    starred = starred_modules()
    for name, attributes in imported_modules().items():
        extend(name, attributes, starred=name in starred)
    load("multiprocessing.pool")  # programs use it without importing it


def starts_with_mxnet2() -> bool:
    """Return whether this is a child process of a program for MXNet 2.0.

    The parent may have imported gluonish from another folder, such as the current one.
    """
    ending = Path(_folder(Rules.MXNET2)).parts[-3:]
    return any(Path(folder).parts[-3:] == ending for folder in sys.path)


def _folder(rules: Rules) -> str:
    return str(Path(__file__).with_name(_FOLDERS[rules]))


def _is_gluonish(origin: str) -> bool:
    """Whether a file is gluonish's ``mxnet/__init__.py``."""
    try:
        return (
            re.search(rb"^import gluonish\.[.\w]*as_mxnet", Path(origin).read_bytes(), re.M)
            is not None
        )
    except OSError:
        return False


def _describe(origin: str) -> str:
    folder = Path(origin).parent
    installed = packages_distributions().get("mxnet", ())
    named = ", ".join(f"{name} {version(name)} (pip uninstall {name})" for name in installed)
    return f"{named} in {folder}" if named else f"the package in {folder}"
