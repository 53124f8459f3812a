"""The rules that an import statement can break, read from the sources without running them.

The floors are those of ARCHITECTURE.md: a package imports from the floors below its own and from
the packages to its left on its own floor, also under TYPE_CHECKING, in functions and by name.
"""

import ast
import graphlib
import re
import sys
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# The lowest first. `gluonish` itself and `gluonish.__main__` stand above them all.
FLOORS = (
    ("gluonish_engine", "core"),
    ("ops",),
    ("kernels",),
    ("engine", "recordio", "ndarray", "numpy", "numpy_extension"),
    ("graph",),
    ("autograd", "symbol", "operator"),
    ("initializer", "lr_scheduler", "metric", "optimizer", "kvstore", "io", "image"),
    ("gluon", "profiler"),
    ("model_zoo", "module", "rnn", "onnx", "contrib", "runtime", "test_utils"),
    ("mxnet_names", "tools"),
)
MOST_FLOORS = 10
MOST_ENTRIES = 32  # of the folder gluonish: packages and modules
RANK = {name: rank for rank, name in enumerate(name for floor in FLOORS for name in floor)}
PACKAGES = ("gluonish", "gluonish_engine")

# Third-party packages that a module may import at its top.
EAGER = {"ml_dtypes", "numpy"}
# Optional or slow to import: inside the function that needs them, and nowhere else.
LAZY = {
    "PIL",
    "cloudpickle",
    "pandas",
    "cuda",
    "cudnn",
    "cupy",
    "cupy_backends",
    "cupyx",
    "cv2",
    "filelock",
    "graphviz",
    "jinja2",
    "llvmlite",
    "matplotlib",
    "mlflow",
    "mpi4py",
    "onnx",
    "requests",
    "scipy",
    "tensorboardX",
    "tokenizers",
    "tqdm",
    "wandb",
}
MAX_LINES = 600
# Where the name of a module comes from a user or a file; all else that loads late is `load`'s.
NAMES_OF_MODULES = {
    "gluonish.core.loading",
    "gluonish.core.module_names",
    "gluonish.gluon.data.by_value",
    "gluonish.mxnet_names.numpy1",
    "gluonish.test_utils.rank_process",
}
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def sources() -> Iterator[tuple[str, Path]]:
    """Every module of both packages as (dotted name, file); a package by its own name."""
    for folder in (ROOT / "gluonish", ROOT / "engine" / "gluonish_engine"):
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder.parent).with_suffix("").parts
            yield ".".join(part for part in parts if part != "__init__"), path


def package_of(module: str) -> str:
    """The package or module below ``gluonish`` that a module belongs to; the root's own name."""
    first, _, rest = module.partition(".")
    return first if first == "gluonish_engine" or not rest else rest.partition(".")[0]


def rank_of(module: str) -> int | None:
    """The place of a module's package in `FLOORS`; None for the root and for other projects."""
    return RANK.get(package_of(module)) if own(module) else None


@lru_cache(maxsize=1)  # every rule reads a module before the next one is parsed
def nodes(tree: ast.AST) -> list[ast.AST]:
    """Each node of a module."""
    return list(ast.walk(tree))


def names_in_texts(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Each text that is a dotted name of ours, or begins as one, and the line that it is on."""
    for node in nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = re.fullmatch(r"(gluonish(?:\.\w+)+)\.?(?::\w+)?", node.value)
            if found:
                yield found[1], node.lineno


@lru_cache(maxsize=1)
def imports(tree: ast.AST) -> list[tuple[str, ast.stmt, bool]]:
    """Each import as (dotted name, statement, whether inside a function)."""
    return list(_imports(tree, False))


def _imports(tree: ast.AST, inside: bool) -> Iterator[tuple[str, ast.stmt, bool]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node, inside
        elif not isinstance(node, ast.expr):
            yield from _imports(node, inside or isinstance(node, FUNCTION))


def modules_read(module: str, tree: ast.AST, known: set[str]) -> set[str]:
    """The modules that one imports, also for types only, in functions, and by name.

    ``from a.b import c`` imports ``a.b.c`` where that is a module, else ``a.b``. A text that names
    a package around the module imports nothing: Python has begun that import already.
    """
    named = set()
    for name, node, _ in imports(tree):
        objects = node.names if isinstance(node, ast.ImportFrom) else []
        modules = {f"{name}.{alias.name}" for alias in objects}
        named |= modules & known
        if not modules or modules - known:
            named.add(name)
    texts = {name for name, _ in names_in_texts(tree)}
    texts |= {name.rpartition(".")[0] for name in texts - known}  # an object in a module
    named |= {name for name in texts if not f"{module}.".startswith(f"{name}.")}
    return (named & known) - {module}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """A circle of modules that import each other; empty if there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def own(name: str) -> bool:
    return name.split(".")[0] in PACKAGES


def unplaced(module: str, tree: ast.AST) -> Iterator[str]:
    if module not in ("gluonish", "gluonish.__main__") and rank_of(module) is None:
        yield f"{module}: stands on no floor of FLOORS"


def upward(module: str, tree: ast.AST) -> Iterator[str]:
    rank = rank_of(module)
    named = ((name, node.lineno) for name, node, _ in imports(tree))
    for name, line in (*named, *names_in_texts(tree)):
        target = rank_of(name)
        if rank is not None and target is not None and target > rank:
            yield f"{module}:{line}: {name} stands above {package_of(module)}"


def root(module: str, tree: ast.AST) -> Iterator[str]:
    if module == "gluonish":
        return
    for node in nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "gluonish" and not node.level:
            yield f"{module}:{node.lineno}: imports from the root"
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "gluonish" and not (
                    alias.asname and "." in alias.name
                ):
                    yield f"{module}:{node.lineno}: `import {alias.name}` binds the root"


def misplaced(module: str, tree: ast.AST) -> Iterator[str]:
    for name, node, inside in imports(tree):
        top = name.split(".")[0]
        if inside and top not in LAZY:
            yield f"{module}:{node.lineno}: imports {name} inside a function"
        if not inside and top in LAZY:
            yield f"{module}:{node.lineno}: imports {name} outside a function"


def strange(module: str, tree: ast.AST) -> Iterator[str]:
    allowed = set() if module.split(".")[0] == "gluonish_engine" else EAGER | LAZY
    for name, node, _ in imports(tree):
        top = name.split(".")[0]
        if name.startswith("."):
            yield f"{module}:{node.lineno}: relative import {name}"
        elif top == "engine":
            yield f"{module}:{node.lineno}: imports the folder `engine`, not gluonish_engine"
        elif not own(name) and top not in sys.stdlib_module_names and top not in allowed:
            yield f"{module}:{node.lineno}: imports {name}, which is no dependency"


def environment(module: str, tree: ast.AST) -> Iterator[str]:
    if module.startswith("gluonish.core.config."):
        return
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used = {node.attr} if node.value.id == "os" else set()
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            used = {alias.name for alias in node.names}
        else:
            continue
        if used & ENVIRONMENT:
            yield f"{module}:{node.lineno}: reads the environment; declare a Flag"


def loaded(module: str, tree: ast.AST) -> Iterator[str]:
    for node in nodes(tree):
        name = getattr(node, "attr", getattr(node, "id", None))
        if name == "import_module" and module not in NAMES_OF_MODULES:
            line = getattr(node, "lineno", 0)
            yield f"{module}:{line}: use core.loading.load, not import_module"


def names_platform(module: str, tree: ast.AST) -> Iterator[str]:
    """A device says by `is_host` what it is, and its back ends what they offer: by no name."""
    if module.startswith("gluonish.kernels."):
        return
    for node in nodes(tree):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        asked = any(map(is_library_name, sides))
        if asked and any(isinstance(side, ast.Constant | ast.Tuple) for side in sides):
            yield f"{module}:{node.lineno}: asks for a platform by name, see kernels.back_ends"


def is_library_name(node: ast.expr) -> bool:
    """Whether an expression is the platform of a device, or the name of an array library."""
    if isinstance(node, ast.Name):
        return node.id in ("platform", "xp_name")
    if not isinstance(node, ast.Attribute):
        return False
    if node.attr == "__name__":
        return "xp" in (getattr(node.value, "id", ""), getattr(node.value, "attr", ""))
    of_system = isinstance(node.value, ast.Name) and node.value.id == "sys"
    return node.attr in ("platform", "xp_name") and not of_system


def is_reexport(node: ast.stmt) -> bool:
    """Whether an ``__init__.py`` may hold it: docstring, import, or assignment to a dunder name.

    Imports for the type checker alone are those of modules that load at their first use.
    """
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.If):
        by_types = ast.unparse(node.test) in ("TYPE_CHECKING", "not TYPE_CHECKING")
        return by_types and all(map(is_reexport, [*node.body, *node.orelse]))
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    else:
        return False
    return all(isinstance(target, ast.Name) and target.id.startswith("__") for target in targets)


def more_than_reexports(module: str, tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if not is_reexport(node):
            yield f"{module}:{node.lineno}: a package's __init__.py only re-exports"
    reexports = any(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body)
    names = {node.id for node in nodes(tree) if isinstance(node, ast.Name)}
    if reexports and "__all__" not in names:
        yield f"{module}: re-exports without __all__"


def problems_of(rule: object, source: str, module: str) -> list[str]:
    """What one rule finds in one source text."""
    assert callable(rule)
    return list(rule(module, ast.parse(source)))


RULES = (unplaced, upward, root, misplaced, strange, environment, loaded, names_platform)


@cache
def read() -> tuple[dict[object, list[str]], dict[str, set[str]]]:
    """The problems by rule, and the modules that each module imports: each is parsed once."""
    paths = dict(sources())
    known = set(paths)
    problems: dict[object, list[str]] = {rule: [] for rule in (*RULES, more_than_reexports)}
    graph = {}
    for module, path in paths.items():
        tree = ast.parse(path.read_text("utf-8"))
        graph[module] = modules_read(module, tree, known)
        for rule in RULES:
            problems[rule] += rule(module, tree)
        if path.name == "__init__.py":
            problems[more_than_reexports] += more_than_reexports(module, tree)
    return problems, graph


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.__name__))
def test_sources_keep_the_rule(rule: object) -> None:
    found = read()[0][rule]
    assert not found, "\n".join(found)


def test_packages_only_re_export_and_say_what() -> None:
    found = read()[0][more_than_reexports]
    assert not found, "\n".join(found)


def test_every_folder_of_modules_is_a_package() -> None:
    folders = {path.parent for _, path in sources()}
    missing = sorted(str(folder) for folder in folders if not (folder / "__init__.py").exists())
    assert not missing, "\n".join(missing)


def test_no_modules_import_each_other() -> None:
    assert circle(read()[1]) == []


@pytest.mark.parametrize(
    "source",
    [
        "from gluonish.ops import b",
        "from gluonish.ops.b import f",
        "if TYPE_CHECKING:\n    from gluonish.ops import b",
        "def f():\n    import gluonish.ops.b",
        "b = load('gluonish.ops.b')",
        "HOMES = {'f': 'gluonish.ops.b:f'}",
        "HOMES = {'f': 'gluonish.ops.b.f'}",
    ],
)
def test_circle_is_found(source: str) -> None:
    known = {"gluonish.ops", "gluonish.ops.a", "gluonish.ops.b"}
    sources = {"gluonish.ops.a": source, "gluonish.ops.b": "from gluonish.ops.a import g"}
    graph = {name: modules_read(name, ast.parse(text), known) for name, text in sources.items()}
    assert set(circle(graph)) == {"gluonish.ops.a", "gluonish.ops.b"}


def test_packages_around_a_module_are_no_circle() -> None:
    known = {"gluonish", "gluonish.ops", "gluonish.ops.a"}
    text = "from gluonish.ops.a import f\nNAME = 'gluonish.ops'\nKEY = 'gluonish.key'"
    assert modules_read("gluonish.ops.a", ast.parse(text), known) == set()


def test_no_module_is_too_long() -> None:
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in sources()}
    assert not {name: lines for name, lines in lengths.items() if lines > MAX_LINES}


def test_the_front_door_is_small() -> None:
    entries = {path for path in (ROOT / "gluonish").iterdir() if path.suffix == ".py"}
    entries |= {path.parent for path in (ROOT / "gluonish").glob("*/__init__.py")}
    assert len(entries) <= MOST_ENTRIES, sorted(path.name for path in entries)
    assert len(FLOORS) <= MOST_FLOORS
    assert len(RANK) == sum(map(len, FLOORS))


def test_both_packages_are_read() -> None:
    assert {name.split(".")[0] for name, _ in sources()} == set(PACKAGES)


def test_packages_say_that_they_are_typed() -> None:
    assert (ROOT / "gluonish" / "py.typed").exists()
    assert (ROOT / "engine" / "gluonish_engine" / "py.typed").exists()


@pytest.mark.parametrize(
    ("rule", "module", "source"),
    [
        (unplaced, "gluonish.shiny", ""),
        (upward, "gluonish.ops.nn.dense", "from gluonish.ndarray.array import NDArray"),
        (upward, "gluonish.core.spec", "import gluonish.gluon.nn as nn"),
        (upward, "gluonish_engine.var", "from gluonish.core.errors import GluonishError"),
        (upward, "gluonish.ops.nn.dense", "if True:\n    from gluonish.graph.ir import Node"),
        (upward, "gluonish.engine", "import_module('gluonish.profiler.autostart')"),
        (upward, "gluonish.ndarray.x", "graph = load('gluonish.graph.ir')"),
        (upward, "gluonish.ndarray.x", "HOMES = {'Symbol': 'gluonish.symbol:Symbol'}"),
        (upward, "gluonish.ops.x", "if TYPE_CHECKING:\n    from gluonish.graph.ir import Node"),
        (upward, "gluonish.ops.x", "def f():\n    from gluonish.graph.ir import Node"),
        (upward, "gluonish.ndarray.x", "importlib.import_module(f'gluonish.symbol.{name}')"),
        (root, "gluonish.gluon.nn.dense", "import gluonish as mx"),
        (root, "gluonish.gluon.nn.dense", "import gluonish.ops"),
        (root, "gluonish.gluon.nn.dense", "def f():\n    from gluonish import ops"),
        (misplaced, "gluonish.ops.nn.dense", "def f():\n    import json"),
        (misplaced, "gluonish.ops.nn.dense", "class A:\n    def f(self):\n        import json"),
        (misplaced, "gluonish.kernels.cupy.dense", "import cupy"),
        (strange, "gluonish.gluon.data.digits", "import sklearn.datasets"),
        (strange, "gluonish_engine.var", "import numpy as np"),
        (strange, "gluonish.engine", "from engine.gluonish_engine import Var"),
        (strange, "gluonish.engine", "from .core import errors"),
        (environment, "gluonish.engine", "import os\nx = os.environ.get('A')"),
        (environment, "gluonish.engine", "from os import getenv"),
        (loaded, "gluonish.engine", "importlib.import_module('json')"),
        (loaded, "gluonish.engine", "import_module('json')"),
        (names_platform, "gluonish.graph.x", "if device.xp_name == 'numpy': ..."),
        (names_platform, "gluonish.graph.x", "on = device.platform != 'cpu'"),
        (names_platform, "gluonish.ops.x", "on = platform in ('cpu', 'gpu')"),
        (names_platform, "gluonish.kvstore.x", "on = x._device.xp.__name__ == 'numpy'"),
        (more_than_reexports, "gluonish.gluon.nn", "__all__ = []\ndef f(): ..."),
        (more_than_reexports, "gluonish.gluon.nn", "from gluonish.gluon.nn.dense import Dense"),
        (more_than_reexports, "gluonish.gluon.nn", "__all__ = []\nx = 1"),
    ],
)
def test_broken_rule_is_found(rule: object, module: str, source: str) -> None:
    assert len(problems_of(rule, source, module)) == 1


@pytest.mark.parametrize(
    ("rule", "module", "source"),
    [
        (unplaced, "gluonish", ""),
        (upward, "gluonish.ndarray.array", "from gluonish.ops.nn.dense import DENSE"),
        (upward, "gluonish.gluon.nn.dense", "from gluonish.gluon.block import HybridBlock"),
        (upward, "gluonish.engine", "from gluonish_engine.var import Var"),
        (upward, "gluonish", "from gluonish.gluon import nn"),
        (root, "gluonish", "from gluonish import nn"),
        (root, "gluonish.gluon", "import gluonish.gluon.nn as nn"),
        (misplaced, "gluonish.kernels.cupy.dense", "def f():\n    import cupy.cuda"),
        (strange, "gluonish.ops.nn.dense", "import json\nimport numpy as np"),
        (environment, "gluonish.core.config.flag", "import os\nx = os.environ"),
        (loaded, "gluonish.core.loading", "importlib.import_module(name)"),
        (names_platform, "gluonish.kernels.x", "on = device.platform == 'cpu'"),
        (names_platform, "gluonish.kvstore.x", "on = sys.platform == 'linux' and device.is_host"),
        (names_platform, "gluonish.ops.x", "on = back_end.platform == platform"),
        (more_than_reexports, "gluonish.gluon.nn", '"""Layers."""\n'),
        (
            more_than_reexports,
            "gluonish.gluon.nn",
            "from gluonish.gluon.nn.dense import D\n__all__ = ['D']",
        ),
    ],
)
def test_kept_rule_is_silent(rule: object, module: str, source: str) -> None:
    assert problems_of(rule, source, module) == []
