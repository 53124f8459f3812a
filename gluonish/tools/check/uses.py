"""Finds the names that a Python source uses from given packages, without running it."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class Use(NamedTuple):
    """One use of a name.

    Attributes:
        line: The line number.
        name: The full dotted name, ``mxnet.gluon.nn.Dense``.
    """

    line: int
    name: str


def uses_of(tree: ast.AST, packages: Sequence[str]) -> list[Use]:
    """Return the uses of names from packages in a source, in order, once for each line.

    Imports under any name are followed, and so are ``x = package.module`` and chains of
    attributes; ``F`` of a ``hybrid_forward`` counts as ``mxnet.nd``.

    Args:
        tree: Syntax tree of the source.
        packages: Top-level names, such as ``mxnet``.
    """
    finder = _Finder(packages)
    finder.visit(tree)
    return sorted(set(finder.uses))


class _Finder(ast.NodeVisitor):
    def __init__(self, packages: Sequence[str]) -> None:
        self.packages = packages
        self.uses: list[Use] = []
        self.scopes: list[dict[str, str | None]] = [{}]

    def bind(self, name: str, dotted: str | None) -> None:
        """Bind a name to a dotted one in this scope, or to something unrelated (None)."""
        self.scopes[-1][name] = dotted

    def dotted(self, node: ast.expr) -> str | None:
        """Return the dotted name of a chain of attributes; None if it is not from `packages`."""
        if isinstance(node, ast.Attribute):
            value = self.dotted(node.value)
            return None if value is None else f"{value}.{node.attr}"
        if not isinstance(node, ast.Name):
            return None
        for scope in reversed(self.scopes):
            if node.id in scope:
                return scope[node.id]
        return None

    def is_ours(self, module: str) -> bool:
        return module.partition(".")[0] in self.packages

    def visit_Import(self, node: ast.Import) -> None:
        """Record imported modules and their local names."""
        for alias in node.names:
            ours = self.is_ours(alias.name)
            if ours:
                self.uses.append(Use(node.lineno, alias.name))
            top = alias.name.partition(".")[0]
            if alias.asname:
                self.bind(alias.asname, alias.name if ours else None)
            else:
                self.bind(top, top if ours else None)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Record names imported from a module, and their local names."""
        module = node.module or ""
        ours = not node.level and self.is_ours(module)
        for alias in node.names:
            if ours:
                name = module if alias.name == "*" else f"{module}.{alias.name}"
                self.uses.append(Use(alias.lineno, name))
            self.bind(alias.asname or alias.name, f"{module}.{alias.name}" if ours else None)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Bind names as in ``nd = mx.nd``."""
        self.visit(node.value)
        dotted = self.dotted(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.bind(target.id, dotted)
            else:
                self.visit(target)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Visit the body, in which arguments shadow names of the module."""
        for part in (*node.decorator_list, *_defaults(node.args), node.returns):
            if part is not None:
                self.visit(part)
        self.bind(node.name, None)
        names: Mapping[str, str | None] = dict.fromkeys(_argument_names(node.args))
        self.scopes.append(dict(names))
        if node.name == "hybrid_forward" and "F" in names and "mxnet" in self.packages:
            self.bind("F", "mxnet.nd")
        for statement in node.body:
            self.visit(statement)
        self.scopes.pop()

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Visit the body, in which arguments shadow names of the module."""
        self.scopes.append(dict.fromkeys(_argument_names(node.args)))
        self.visit(node.body)
        self.scopes.pop()

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Record a chain of attributes; visit other expressions."""
        dotted = self.dotted(node)
        if dotted is None:
            self.generic_visit(node)
        else:
            self.uses.append(Use(node.end_lineno or node.lineno, dotted))


def _argument_names(arguments: ast.arguments) -> Iterator[str]:
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        yield argument.arg
    for more in (arguments.vararg, arguments.kwarg):
        if more is not None:
            yield more.arg


def _defaults(arguments: ast.arguments) -> list[ast.expr | None]:
    return [*arguments.defaults, *arguments.kw_defaults]
