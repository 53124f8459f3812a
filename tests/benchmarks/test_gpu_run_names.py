"""Every name of CuPy that the rows of benchmarks.gpu_run spell out is in the real CuPy."""

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "gpu_run"


def dotted(node: ast.expr) -> list[str]:
    """Return the names of ``a.b.c``, as far as they are names."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [*([node.id] if isinstance(node, ast.Name) else [""]), *reversed(names)]


def chains() -> Iterator[tuple[str, ...]]:
    """Yield what follows ``cupy`` in the modules."""
    for path in sorted(FOLDER.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = dotted(node) if isinstance(node, ast.Attribute) else []
            for root in ("cupy", "_cupy"):
                if root in names[:-1]:
                    yield tuple(names[names.index(root) + 1 :])


def test_names_are_found() -> None:
    assert ("cuda", "Stream") in set(chains())


def test_names_are_in_cupy() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries that are not there
        cupy: Any = pytest.importorskip("cupy", reason="CuPy is not installed")
        for names in sorted(set(chains())):
            owner = cupy
            for name in names:
                assert hasattr(owner, name), f"cupy.{'.'.join(names)}"
                owner = getattr(owner, name)
