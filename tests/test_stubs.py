"""What editors and type checkers are told: see `tests/stubs.py` and `tests/typed_program.py`."""

import ast
import importlib
import inspect
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from gluonish import gluon
from gluonish.ops.fluent import method_names
from gluonish.ops.registry import all_names
from tests.stubs import NAMESPACES, ROOT, texts

try:
    inspect.signature(np.bool_)
except ValueError:
    pytest.skip("NumPy 2.0 does not tell the arguments of its types", allow_module_level=True)

TEXTS = texts()

# Written by hand: the package imports nothing of `gluonish.model_zoo`, which stands above it.
GLUON = ROOT / "gluon" / "__init__.pyi"


def names_in(text: str) -> set[str]:
    """The names that a stub shows."""
    found = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


@pytest.mark.parametrize("path", sorted(TEXTS), ids=lambda path: str(path.relative_to(ROOT)))
def test_stubs_say_what_the_registry_says(path: Path) -> None:
    assert path.read_text("utf-8") == TEXTS[path], "run `python -m tests.stubs`"


def test_no_stub_is_left_over() -> None:
    assert set(ROOT.rglob("*.pyi")) == {*TEXTS, GLUON}


def test_the_stub_of_gluon_shows_its_names() -> None:
    names = {name for name in names_in(GLUON.read_text("utf-8")) if not name.startswith("_")}
    assert names == set(gluon.__all__)


@pytest.mark.parametrize("name", sorted(NAMESPACES))
def test_stubs_show_every_name_of_a_namespace(name: str) -> None:
    module = importlib.import_module(name)
    shown = names_in(TEXTS[Path(str(module.__file__)).with_suffix(".pyi")])
    private = name.endswith("_internal")
    wanted = {
        found
        for found in dir(module)
        if (private or not found.startswith("_")) and not found.startswith("__")
    }
    missing = {
        found
        for found in wanted - shown
        if hasattr(module, found) and not isinstance(getattr(module, found), ModuleType)
    }
    assert {found for found in missing if not found.startswith("_gluonish")} <= {
        "TYPE_CHECKING",
        "NUMPY_NAMESPACES",
    }


def test_every_operator_is_a_function_of_nd_and_sym() -> None:
    public = {name for name in all_names() if not name.startswith("_")}
    names = {name for name in all_names() if name.isidentifier()} - public
    private = {name for name in names if not name.startswith("_gluonish")}
    for face in ("ndarray", "symbol"):
        shown = names_in(TEXTS[ROOT / face / "__init__.pyi"])
        assert public - shown == set()
        assert private - names_in(TEXTS[ROOT / face / "_internal.pyi"]) == set()


def test_every_method_has_its_line() -> None:
    body = ast.parse(TEXTS[ROOT / "ops/operator_methods.pyi"]).body[-1]
    assert isinstance(body, ast.ClassDef)
    assert {node.name for node in body.body if isinstance(node, ast.FunctionDef)} == set(
        method_names()
    )
