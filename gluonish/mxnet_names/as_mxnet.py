"""gluonish under the name ``mxnet``, for programs as they are.

``import gluonish.as_mxnet`` as a program's first line makes every later ``import mxnet...`` one of
gluonish's modules, with the rules of MXNet 1.9.1 (`gluonish.core.mxnet_rules`), in this process and
in those that it starts. ``python -m gluonish.as_mxnet train.py`` runs a program so without an edit.
"""

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
from gluonish.core.mxnet_rules import VERSION, follow_mxnet
from gluonish.mxnet_names.imported_modules import (
    further_modules,
    imported_modules,
    starred_modules,
)
from gluonish.mxnet_names.table import MODULES

__all__ = ["take_name"]

# A folder for the module path of child processes: `import mxnet` there comes here.
_FOLDER = Path(__file__).parent / "mxnet_path"


def take_name() -> None:
    """Make ``mxnet``, and all below it, names of gluonish's modules, and follow MXNet's rules.

    Raises:
        NameTakenError: Another package of that name is installed or was imported.
    """
    root = sys.modules["gluonish"]
    if sys.modules.get("mxnet") is not root:
        found = PathFinder.find_spec("mxnet")
        origin = None if found is None else found.origin
        if origin is not None and not _is_ours(origin):
            raise NameTakenError(
                f"as_mxnet: expected no other package called mxnet, got {_described(origin)}; use "
                "an environment without it"
            )
        if origin is None:
            sys.path.append(str(_FOLDER))
            extend_python_path(str(_FOLDER))
    alias_modules({"mxnet": "gluonish", **further_modules()})
    sys.modules["mxnet"] = root
    root.__version__ = VERSION  # type: ignore[attr-defined]  # of a module
    for face in ("ndarray", "symbol"):  # what `F` is; programs tell them apart by name
        sys.modules[f"gluonish.{face}"].__name__ = f"mxnet.{face}"
    for name, module in tuple(sys.modules.items()):  # programs look whether some are loaded
        if name.startswith("gluonish."):
            sys.modules.setdefault(f"mxnet.{name.removeprefix('gluonish.')}", module)
    for name, real in MODULES.items():
        if f"gluonish.{real}" in sys.modules:
            sys.modules.setdefault(f"mxnet.{name}", sys.modules[f"gluonish.{real}"])
    follow_mxnet()
    starred = starred_modules()
    for name, attributes in imported_modules().items():
        extend(name, attributes, starred=name in starred)
    load("multiprocessing.pool")  # programs use it without importing it


def _is_ours(origin: str) -> bool:
    """Whether a file is the ``mxnet/__init__.py`` that belongs to gluonish."""
    try:
        return (
            re.search(rb"^import gluonish\.[.\w]*as_mxnet", Path(origin).read_bytes(), re.M)
            is not None
        )
    except OSError:
        return False


def _described(origin: str) -> str:
    folder = Path(origin).parent
    installed = packages_distributions().get("mxnet", ())
    named = ", ".join(f"{name} {version(name)} (pip uninstall {name})" for name in installed)
    return f"{named} in {folder}" if named else f"the one in {folder}"


take_name()

if __name__ == "__main__":
    sys.exit(load("gluonish.mxnet_names.program").main(sys.argv[1:]))
