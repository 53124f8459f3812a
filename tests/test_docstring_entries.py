"""Every entry of a docstring's ``Args:`` is an argument: a rename takes its entry along."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [*sorted((ROOT / "gluonish").rglob("*.py")), *sorted((ROOT / "engine").rglob("*.py"))]
ENTRY = re.compile(r"    \*{0,2}([A-Za-z_]\w*)(?: \([^)]*\))?: ")


def entries(docstring: str) -> Iterator[str]:
    """Yield the names of the entries under ``Args:``."""
    inside = False
    for line in docstring.splitlines():
        if line and not line.startswith(" "):
            inside = line == "Args:"
        match = ENTRY.match(line)
        if inside and match is not None:
            yield match[1]


def names_of(arguments: ast.arguments) -> set[str] | None:
    """Return the names of arguments; None if any name is allowed, by ``**kwargs``."""
    if arguments.kwarg is not None:
        return None
    named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return {argument.arg for argument in (*named, arguments.vararg) if argument is not None}


def arguments_of(node: ast.AST) -> set[str] | None:
    """Return the arguments of a function, or of a class with an ``__init__``; None if unknown."""
    if isinstance(node, ast.FunctionDef):
        return names_of(node.args)
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
                return names_of(inner.args)
    return None


def without_argument(source: str) -> list[str]:
    """Return the entries without an argument, each with the name of its owner."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        arguments = arguments_of(node)
        if arguments is not None:
            names = entries(ast.get_docstring(node) or "")
            found += [f"{node.name}: {name}" for name in names if name not in arguments]
    return found


def test_every_entry_is_an_argument() -> None:
    wrong = {str(path): without_argument(path.read_text()) for path in SOURCES}
    assert {path: found for path, found in wrong.items() if found} == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('def f(a):\n    """F.\n\n    Args:\n        b: B.\n    """', ["f: b"]),
        (
            'def f(a):\n    """F.\n\n    Args:\n        a: A.\n\n    Raises:\n        B: C."""',
            [],
        ),
        ('def f(**k):\n    """F.\n\n    Args:\n        b: B.\n    """', []),
    ],
)
def test_an_entry_without_an_argument_is_found(source: str, expected: list[str]) -> None:
    assert without_argument(source) == expected
