"""Messages about calls of constructors with wrong arguments.

Python names the base class that a keyword reached; these messages name the class that the user
called, its arguments, and the right one.
"""

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from gluonish.core.errors import ArgumentTypeError
from gluonish.core.habits import keyword_advice
from gluonish.core.tracebacks import shorten

_VARIABLE = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)

P = ParamSpec("P")
T = TypeVar("T")


def accepted_parameters(kind: type) -> list[tuple[type, inspect.Parameter]]:
    """Return the parameters of a class, each with the class whose constructor has it.

    Those of a base count if all constructors before it have ``**kwargs``.
    """
    known: dict[str, tuple[type, inspect.Parameter]] = {}
    for base in kind.__mro__:
        constructor = vars(base).get("__init__")
        if constructor is None or base is object:
            continue
        parameters = list(inspect.signature(constructor).parameters.values())[1:]
        for parameter in parameters:
            if parameter.kind not in _VARIABLE:
                known.setdefault(parameter.name, (base, parameter))
        if not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
            break
    return list(known.values())


def accepted_arguments(kind: type) -> list[str]:
    """Return the names of a class's parameters; see `accepted_parameters`."""
    return [parameter.name for _, parameter in accepted_parameters(kind)]


def unknown_argument(kind: type, name: str) -> str:
    """Return the message for a keyword argument that a class does not have."""
    known = accepted_arguments(kind)
    advice = keyword_advice(name, known)
    expected = "the name of an argument" if advice else f"arguments among {', '.join(known)}"
    return f"{kind.__name__}: expected {expected if known else 'none'}, got {name!r}{advice}"


def explained(
    constructor: Callable[Concatenate[Any, P], None],
) -> Callable[Concatenate[Any, P], None]:
    """Decorate ``__init__`` so that a call with wrong arguments raises an error that says which."""

    @functools.wraps(constructor)
    def run(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            constructor(self, *args, **kwargs)
        except Exception as error:
            trace = error.__traceback__
            if isinstance(error, TypeError) and trace is not None and trace.tb_next is None:
                raise _binding_error(type(self), constructor, error, args, kwargs) from None
            shorten(error, sys._getframe(1))
            raise

    return run


def _binding_error(
    kind: type,
    constructor: Callable[..., None],
    error: TypeError,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> TypeError:
    """Return the error for arguments that a constructor does not accept."""
    known = accepted_arguments(kind)
    unknown = [name for name in kwargs if name not in known]
    if unknown:
        return ArgumentTypeError(unknown_argument(kind, unknown[0]))
    parameters = list(inspect.signature(constructor).parameters.values())[1:]
    missing = [
        p.name
        for i, p in enumerate(parameters)
        if p.default is p.empty
        and p.kind not in _VARIABLE
        and p.name not in kwargs
        and (i >= len(args) or p.kind is p.KEYWORD_ONLY)
    ]
    required = [p.name for p in parameters if p.default is p.empty and p.kind not in _VARIABLE]
    called = f"{kind.__name__}({', '.join([*required, '...'])})"
    if missing:
        return ArgumentTypeError(
            f"{kind.__name__}: expected a value for {' and '.join(missing)}, got none, in the call "
            f"{called}"
        )
    places = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_position = not any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if by_position and len(args) > len(places):
        return ArgumentTypeError(
            f"{kind.__name__}: expected at most {len(places)} arguments by position "
            f"({', '.join(places) or 'none'}), got {len(args)}"
        )
    return ArgumentTypeError(f"{kind.__name__}: expected a call {called}, got one where {error}")
