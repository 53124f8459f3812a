"""Module namespaces derived from other modules: ``nd.np``, ``sym.np`` and others."""

import inspect
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from gluonish.core.habits import name_advice, unknown_attribute
from gluonish.numpy.calls import name_function
from gluonish.ops.frontend import Make
from gluonish.ops.registry import Operator, find_operator

__all__ = ["OPERATORS", "module_view", "named_as_in_numpy", "operator_view"]

Function = Callable[..., Any]

# NumPy's names of the first argument of those operators.
_FIRST_NAMES = {
    **dict.fromkeys(("all", "any", "diagonal", "roll", "trace", "sum"), "a"),
    **dict.fromkeys(("diag", "diagflat"), "v"),
    "squeeze": "x",
}
View = tuple[Callable[[str], Function], Callable[[], list[str]]]

# In ``nd.np`` and ``sym.np``, these names are operators.
OPERATORS: Mapping[str, str] = {
    **{
        name: f"_np_{name}"
        for name in (
            *("all", "any", "atleast_1d", "atleast_2d", "atleast_3d", "copy", "cumsum", "diag"),
            *("diagflat", "diagonal", "dot", "max", "min", "moveaxis", "prod", "reshape", "roll"),
            *("squeeze", "sum", "trace", "transpose"),
        )
    },
    "amax": "_np_max",
    "amin": "_np_min",
    "product": "_np_prod",
    "sometrue": "_np_any",
}


def named_as_in_numpy(make: Make, functions: ModuleType) -> Make:
    """Return a factory of operators' functions that accept NumPy's name of the first argument.

    The function ``sum`` accepts ``where``, too.

    Args:
        make: Creates a function from an operator and its name.
        functions: `gluonish.numpy`.
    """

    def make_named(op: Operator, name: str) -> Function:
        function = make(op, name)
        other = _FIRST_NAMES.get(name)
        if other is None or (other == op.inputs[0] and name != "sum"):
            return function
        first = op.inputs[0]

        def run(*args: Any, **kwargs: Any) -> Any:
            if other in kwargs:
                kwargs[first] = kwargs.pop(other)
            if kwargs.get("where") is not None:
                return functions.sum(*args, **kwargs)
            kwargs.pop("where", None)
            return function(*args, **kwargs)

        shown = inspect.signature(function)
        added = [n for n in (other, *(["where"] * (name == "sum"))) if n not in shown.parameters]
        keywords = [
            inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None) for n in added
        ]
        signature = shown.replace(parameters=[*shown.parameters.values(), *keywords])
        lines = {
            other: f"``{first}`` under its name in NumPy.",
            "where": "Array of bool that broadcasts: the elements to add; None for all.",
        }
        doc = "".join(f"\n    {n}: {lines[n]}" for n in added)
        before, heading, errors = (function.__doc__ or "").partition("\n\nRaises:")
        return name_function(run, name, f"{before}{doc}{heading}{errors}", signature)

    return make_named


def operator_view(operators: Mapping[str, str], make: Make, module: str) -> View:
    """Return ``__getattr__`` and ``__dir__`` of a module of operators.

    Args:
        operators: Registry name of each operator, by its name in the module.
        make: Creates a function from an operator and its name.
        module: The module's name.
    """
    made: dict[str, Function] = {}

    def find(name: str) -> Function:
        found = made.get(name)
        if found is None:
            if name not in operators:
                raise unknown_attribute(
                    f"{module}: expected the name of a function, got {name!r}"
                    f"{name_advice(name, {*operators, *vars(sys.modules[module])})}",
                    name,
                )
            op = find_operator(operators[name])
            found = made[name] = make(op, name)
            found.__module__ = module
            found.operator = op  # type: ignore[attr-defined]  # read by `gluonish where`
        return found

    return find, lambda: sorted(operators)


def module_view(
    source: ModuleType,
    module: str,
    wrap: Callable[[Function], Function] | None = None,
    operators: View | None = None,
) -> View:
    """Return ``__getattr__`` and ``__dir__`` of a module with another module's functions.

    Args:
        source: The module that defines the functions.
        module: The module's name.
        wrap: Applied to each function of ``source``.
        operators: A view whose names take precedence over those of ``source``.
    """
    made: dict[str, Function] = {}
    names = [name for name in source.__all__ if callable(getattr(source, name))]

    def find(name: str) -> Function:
        if operators is not None and name in operators[1]():
            return operators[0](name)
        if name not in names:
            raise unknown_attribute(
                f"{module}: expected the name of a function, got {name!r}"
                f"{name_advice(name, names)}",
                name,
            )
        found = made.get(name)
        if found is None:
            function = getattr(source, name)
            found = made[name] = function if wrap is None else wrap(function)
        return found

    return find, lambda: sorted(names)
