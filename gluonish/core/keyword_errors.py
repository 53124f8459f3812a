"""Advice in Python's own errors about keyword arguments that a function of gluonish lacks.

The functions of ``mx.np`` are plain Python functions, whose calls Python itself refuses: a check of
its own would make every call slower. The advice is added where the error leaves a Block, or where
the interpreter shows it.
"""

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from types import FrameType, ModuleType
from typing import Any

from gluonish.core.habits import keyword_advice
from gluonish.core.tracebacks import is_ours

# Python 3.13 appends the name that is spelt most alike.
_UNKNOWN_KEYWORD = re.compile(
    r"(?:(?P<kind>\w+)\.)?(?P<name>\w+)\(\) got an unexpected keyword argument '(?P<keyword>\w+)'"
    r"(?:\. Did you mean '\w+'\?)?$"
)


def explain_keyword(error: BaseException) -> None:
    """Append the right name to the error of a function of this package with an unknown keyword.

    Args:
        error: An error that leaves this package or the program; its message changes.
    """
    if type(error) is not TypeError or not error.args:
        return
    found = _UNKNOWN_KEYWORD.match(str(error.args[0]))
    entry = error.__traceback__
    if found is None or entry is None:
        return
    while entry.tb_next is not None:
        entry = entry.tb_next
    if is_ours(entry.tb_frame.f_code):
        return
    kind, name, keyword = found["kind"], found["name"], found["keyword"]
    function = _method(kind, name) if kind else _function(entry.tb_frame, name, keyword)
    advice = "" if function is None else keyword_advice(keyword, _arguments(function))
    if advice:
        name = kind if name == "__init__" else name
        error.args = (f"{name}() got an unexpected keyword argument {keyword!r}{advice}",)


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] == "gluonish"


def _method(kind: str, name: str) -> Any:
    """Return the method of a class of this package by both names, or None."""
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and _is_ours(module.__name__):
            found = vars(module).get(kind)
            if isinstance(found, type) and _is_ours(found.__module__):
                return vars(found).get(name)
    return None


def _function(frame: FrameType, name: str, keyword: str) -> Any:
    """Return the function of this package that a line of a program calls by its name, or None."""
    names = {**frame.f_globals, **frame.f_locals}
    if name in names:
        value = names[name]
        return value if _is_ours(getattr(value, "__module__", None) or "") else None
    modules = _modules(names)
    for module in (*modules, *(inner for outer in modules for inner in _modules(vars(outer)))):
        function = vars(module).get(name)
        if inspect.isfunction(function) and keyword not in _arguments(function):
            return function
    return None


def _modules(names: Mapping[str, Any]) -> list[ModuleType]:
    found = [value for value in names.values() if isinstance(value, ModuleType)]
    return [module for module in found if _is_ours(module.__name__)]


def _arguments(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
