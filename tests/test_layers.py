"""The house rules that an import statement can break, read from the sources without running them.

The layers are those of the style guide: a module imports from its own line and the lines above it.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Lowest first. A dotted name covers all below it, and the longest name that fits decides. The root
# `gluonish`, `gluonish.start` and `gluonish.__main__` stand above everything.
LAYERS = (
    ("gluonish_engine",),
    ("gluonish.core",),
    ("gluonish.ops",),
    ("gluonish.kernels",),
    ("gluonish.engine",),
    (
        *(
            "gluonish.mxnet_names.context",
            "gluonish.mxnet_names.error",
            "gluonish.mxnet_names.util",
        ),
        *("gluonish.mxnet_names.table", "gluonish.download", "gluonish.recordio"),
    ),
    ("gluonish.ndarray", "gluonish.numpy", "gluonish.numpy_extension"),
    ("gluonish.graph",),
    ("gluonish.autograd",),
    ("gluonish.symbol",),
    ("gluonish.custom", "gluonish.initializer", "gluonish.lr_scheduler", "gluonish.metric"),
    ("gluonish.optimizer", "gluonish.distributed"),
    ("gluonish.kvstore",),
    ("gluonish.parameter",),
    ("gluonish.block", "gluonish.trainer"),
    ("gluonish.nn", "gluonish.profiler"),
    ("gluonish.loss", "gluonish.recurrent"),
    ("gluonish.data", "gluonish.image", "gluonish.io"),
    ("gluonish.model_zoo", "gluonish.module", "gluonish.runtime"),
    ("gluonish.rnn",),
    ("gluonish.contrib", "gluonish.onnx"),
    ("gluonish.gluon", "gluonish.mxnet_names"),
    ("gluonish.test_utils", "gluonish.testing", "gluonish.tools"),
    ("gluonish.as_mxnet", "gluonish.start", "gluonish.__main__"),
    ("gluonish.mxnet_names.as_mxnet_numpy1", "gluonish.mxnet_names.mxnet_path"),
    ("gluonish.mxnet_names.numpy1_path",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
PACKAGES = ("gluonish", "gluonish_engine")

# Third-party packages that a module may import at its top.
EAGER = {"ml_dtypes", "numpy"}
# Optional or slow to import: inside the function that needs them, and nowhere else.
LAZY = {
    "PIL",
    "pandas",
    "cuda",
    "cudnn",
    "cupy",
    "cupy_backends",
    "cupyx",
    "cv2",
    "filelock",
    "graphviz",
    "llvmlite",
    "matplotlib",
    "mpi4py",
    "numba",
    "onnx",
    "requests",
    "scipy",
    "tensorboardX",
    "tqdm",
}
MAX_LINES = 400
# Longer ones, each with its limit, that would read worse in parts.
LONGER = {
    "gluonish_engine.scheduler": 530,  # one algorithm: what runs when
    "gluonish_engine.threaded": 510,  # one class: the workers and what they share
    "gluonish_engine.base": 420,  # one class: what every engine does
    "gluonish.ops.registry": 545,  # Operator, a quarter of it documentation, and the table of all
    "gluonish.block.hybrid_block": 480,  # one class that users subclass
    "gluonish.parameter.parameter_dict": 420,  # one class that users call
    "gluonish.trainer.trainer": 450,  # one class that users call
    "gluonish.symbol.executor": 480,  # one class that users call
    "gluonish.ndarray.eager": 450,  # the eager call: the hot path on one page
    "gluonish.numpy": 440,  # a list of names
    "gluonish.kernels.numba.expressions": 420,  # one table: each operator's expression
}
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def sources() -> Iterator[tuple[str, Path]]:
    """Every module of both packages as (dotted name, file); a package by its own name."""
    for folder in (ROOT / "gluonish", ROOT / "engine" / "gluonish_engine"):
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder.parent).with_suffix("").parts
            yield ".".join(part for part in parts if part != "__init__"), path


def rank_of(module: str) -> int | None:
    """The layer of a module; None for the root, which is above all, and for strangers."""
    names = module.split(".")
    for length in range(len(names), 0, -1):
        rank = RANK.get(".".join(names[:length]))
        if rank is not None:
            return rank
    return None


def loads_by_name(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Each ``import_module`` or ``later`` as (dotted name as far as it is written out, call)."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
        if getattr(called, "id", called) not in ("import_module", "later"):
            continue
        text = node.args[0]
        if isinstance(text, ast.JoinedStr):
            text = text.values[0]
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            yield text.value.rstrip("."), node


def imports(tree: ast.AST, inside: bool = False) -> Iterator[tuple[str, ast.stmt, bool]]:
    """Each import as (dotted name, statement, whether inside a function)."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node, inside
        else:
            yield from imports(node, inside or isinstance(node, FUNCTION))


def own(name: str) -> bool:
    return name.split(".")[0] in PACKAGES


def unplaced(module: str, tree: ast.AST) -> Iterator[str]:
    if module != "gluonish" and rank_of(module) is None:
        yield f"{module}: stands on no line of LAYERS"


def upward(module: str, tree: ast.AST) -> Iterator[str]:
    rank = rank_of(module)
    named = ((name, node.lineno) for name, node, _ in imports(tree))
    loaded = ((name, node.lineno) for name, node in loads_by_name(tree))
    for name, line in (*named, *loaded):
        target = rank_of(name)
        if rank is not None and target is not None and target > rank:
            yield f"{module}:{line}: imports {name}, from a higher layer"


def root(module: str, tree: ast.AST) -> Iterator[str]:
    if module == "gluonish":
        return
    for node in ast.walk(tree):
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
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used = {node.attr} if node.value.id == "os" else set()
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            used = {alias.name for alias in node.names}
        else:
            continue
        if used & ENVIRONMENT:
            yield f"{module}:{node.lineno}: reads the environment; declare a Flag"


def is_reexport(node: ast.stmt) -> bool:
    """Whether an ``__init__.py`` may hold it: docstring, import, or assignment to a dunder name.

    Imports for the type checker alone are those of modules that load at their first use.
    """
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.If):
        only_types = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return only_types and all(map(is_reexport, [*node.body, *node.orelse]))
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
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if reexports and "__all__" not in names:
        yield f"{module}: re-exports without __all__"


def problems_of(rule: object, source: str, module: str) -> list[str]:
    """What one rule finds in one source text."""
    assert callable(rule)
    return list(rule(module, parsed(source)))


@cache
def parsed(source: str) -> ast.Module:
    """The tree of a source text, which every rule reads."""
    return ast.parse(source)


@pytest.mark.parametrize(
    "rule",
    [unplaced, upward, root, misplaced, strange, environment],
    ids=lambda rule: str(rule.__name__),
)
def test_sources_keep_the_rule(rule: object) -> None:
    found = [
        problem
        for module, path in sources()
        for problem in problems_of(rule, path.read_text("utf-8"), module)
    ]
    assert not found, "\n".join(found)


def test_packages_only_re_export_and_say_what() -> None:
    found = [
        problem
        for module, path in sources()
        if path.name == "__init__.py"
        for problem in problems_of(more_than_reexports, path.read_text("utf-8"), module)
    ]
    assert not found, "\n".join(found)


def test_every_folder_of_modules_is_a_package() -> None:
    folders = {path.parent for _, path in sources()}
    missing = sorted(str(folder) for folder in folders if not (folder / "__init__.py").exists())
    assert not missing, "\n".join(missing)


def test_no_module_is_too_long() -> None:
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in sources()}
    limits = {name: LONGER.get(name, MAX_LINES) for name in lengths}
    assert not {name: lines for name, lines in lengths.items() if lines > limits[name]}
    assert not {name for name in LONGER if lengths[name] <= MAX_LINES}, "an exception no longer"


def test_both_packages_are_read() -> None:
    assert {name.split(".")[0] for name, _ in sources()} == set(PACKAGES)


def test_packages_say_that_they_are_typed() -> None:
    assert (ROOT / "gluonish" / "py.typed").exists()
    assert (ROOT / "engine" / "gluonish_engine" / "py.typed").exists()


@pytest.mark.parametrize(
    ("rule", "module", "source"),
    [
        (unplaced, "gluonish.shiny", ""),
        (upward, "gluonish.ops.dense", "from gluonish.ndarray.array import NDArray"),
        (upward, "gluonish.core.spec", "import gluonish.nn as nn"),
        (upward, "gluonish_engine.var", "from gluonish.core.errors import GluonishError"),
        (upward, "gluonish.ops.dense", "if True:\n    from gluonish.graph.ir import Node"),
        (upward, "gluonish.engine", "import_module('gluonish.profiler.autostart')"),
        (upward, "gluonish.ndarray.x", "graph = later('gluonish.graph.ir')"),
        (upward, "gluonish.ndarray.x", "importlib.import_module(f'gluonish.symbol.{name}')"),
        (root, "gluonish.nn.dense", "import gluonish as mx"),
        (root, "gluonish.nn.dense", "import gluonish.ops"),
        (root, "gluonish.nn.dense", "def f():\n    from gluonish import ops"),
        (misplaced, "gluonish.ops.dense", "def f():\n    import json"),
        (misplaced, "gluonish.ops.dense", "class A:\n    def f(self):\n        import json"),
        (misplaced, "gluonish.kernels.cupy.dense", "import cupy"),
        (strange, "gluonish.data.digits", "import sklearn.datasets"),
        (strange, "gluonish_engine.var", "import numpy as np"),
        (strange, "gluonish.engine", "from engine.gluonish_engine import Var"),
        (strange, "gluonish.engine", "from .core import errors"),
        (environment, "gluonish.engine", "import os\nx = os.environ.get('A')"),
        (environment, "gluonish.engine", "from os import getenv"),
        (more_than_reexports, "gluonish.nn", "__all__ = []\ndef f(): ..."),
        (more_than_reexports, "gluonish.nn", "from gluonish.nn.dense import Dense"),
        (more_than_reexports, "gluonish.nn", "__all__ = []\nx = 1"),
    ],
)
def test_broken_rule_is_found(rule: object, module: str, source: str) -> None:
    assert len(problems_of(rule, source, module)) == 1


@pytest.mark.parametrize(
    ("rule", "module", "source"),
    [
        (unplaced, "gluonish", ""),
        (upward, "gluonish.ndarray.array", "from gluonish.ops.dense import DENSE"),
        (upward, "gluonish.nn.dense", "from gluonish.block import HybridBlock"),
        (upward, "gluonish.engine", "from gluonish_engine.var import Var"),
        (upward, "gluonish", "from gluonish.gluon import nn"),
        (root, "gluonish", "from gluonish import nn"),
        (root, "gluonish.gluon", "import gluonish.nn as nn"),
        (misplaced, "gluonish.kernels.cupy.dense", "def f():\n    import cupy.cuda"),
        (strange, "gluonish.ops.dense", "import json\nimport numpy as np"),
        (environment, "gluonish.core.config.flag", "import os\nx = os.environ"),
        (more_than_reexports, "gluonish.nn", '"""Layers."""\n'),
        (more_than_reexports, "gluonish.nn", "from gluonish.nn.dense import D\n__all__ = ['D']"),
    ],
)
def test_kept_rule_is_silent(rule: object, module: str, source: str) -> None:
    assert problems_of(rule, source, module) == []
