"""Signatures and docstrings of generated functions."""

import ast
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["name_function", "parse_signature"]

_Parameter = inspect.Parameter


def _default(node: ast.expr | None) -> Any:
    return _Parameter.empty if node is None else ast.literal_eval(node)


def parse_signature(text: str) -> inspect.Signature:
    """Parse a parameter list such as ``"a, axis=None, *, keepdims=False"`` to a signature."""
    definition = ast.parse(f"def f({text}): pass").body[0]
    assert isinstance(definition, ast.FunctionDef)
    found = definition.args
    without = len(found.args) - len(found.defaults)
    parameters = [
        _Parameter(
            arg.arg,
            _Parameter.POSITIONAL_OR_KEYWORD,
            default=_default(found.defaults[i - without] if i >= without else None),
        )
        for i, arg in enumerate(found.args)
    ]
    if found.vararg:
        parameters.append(_Parameter(found.vararg.arg, _Parameter.VAR_POSITIONAL))
    parameters += [
        _Parameter(arg.arg, _Parameter.KEYWORD_ONLY, default=_default(node))
        for arg, node in zip(found.kwonlyargs, found.kw_defaults, strict=True)
    ]
    if found.kwarg:
        parameters.append(_Parameter(found.kwarg.arg, _Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def name_function(
    function: Callable[..., Any],
    name: str,
    doc: str,
    signature: inspect.Signature | None = None,
    module: str = "gluonish.numpy",
) -> Callable[..., Any]:
    """Set name, docstring and signature of a generated function, and return it."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.__module__ = module
    if signature is not None:
        function.__signature__ = signature  # type: ignore[attr-defined]
    return function
