"""Advice about names that come from PyTorch or Keras, or are misspelt, for error messages.

A habit wins over spelling: ``sum(dim=1)`` is answered with ``axis``, though ``keepdims`` is spelt
more alike. The tables are in `gluonish.core.habit_tables`.

Classes get an attribute for each habit, which raises the AttributeError that a missing one raises,
with advice: ``__getattr__`` would make every access to the others slower.
"""

import sys
from collections.abc import Collection, Iterable, Mapping
from opcode import opmap
from types import FrameType
from typing import Any, NoReturn

from gluonish.core.errors import nearest
from gluonish.core.habit_tables import KEYWORD_ADVICE, KEYWORDS, LEAVE_OUT, NAMES

_IMPORT_FROM = opmap["IMPORT_FROM"]


def unknown_attribute(message: str, name: str) -> AttributeError:
    """Return the error for a missing attribute, to which Python appends no guess of its own."""
    error = AttributeError(message, name=name, obj=None)
    error.is_deliberate = True  # type: ignore[attr-defined]  # read by `is_deliberate`
    return error


def _clause(advice: str) -> str:
    return f"; {advice}" if advice.startswith(LEAVE_OUT) else f"; use {advice}"


def keyword_advice(name: object, accepted: Iterable[str]) -> str:
    """Return the end of a message about an unknown argument: its name here, or the nearest ones.

    Args:
        accepted: The names that the function accepts.
    """
    known = list(accepted)
    if isinstance(name, str):
        for here in KEYWORDS.get(name, ()):
            if here == "optimizer_params" and here in known:
                return f"; pass it in {here}, a dict"
            if here in known:
                return f"; its name here is {here}"
        if name in KEYWORD_ADVICE:
            return f"; {KEYWORD_ADVICE[name]}"
    return nearest(name, known)


def name_advice(name: str, known: Iterable[str], first: Mapping[str, str] = NAMES) -> str:
    """Return the end of a message about a name that a module lacks.

    Args:
        known: The names that the module has.
        first: A table that wins over that of all modules.
    """
    if name in first or name in NAMES:
        return _clause(first.get(name) or NAMES[name])
    return nearest(name, [text for text in known if not text.startswith("_")])


def unknown_name(module: str, name: str, known: Iterable[str]) -> NoReturn:
    """Raise the error for a name that a module lacks; called by the module's ``__getattr__``.

    Args:
        module: The module's dotted name.
        known: The names that the module has.

    Raises:
        AttributeError: The name was an attribute.
        ImportError: The name was imported by ``from module import name``.
    """
    start = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):
        raise AttributeError(start)
    advice = name_advice(name, known)
    if advice and f"{module}.{name}" not in sys.modules and _is_import(sys._getframe(1)):
        raise ImportError(f"cannot import name {name!r} from {module!r}{advice}", name=module)
    raise unknown_attribute(start + advice, name)


def _is_import(frame: FrameType | None) -> bool:
    """Whether the innermost frame outside this package executes ``from module import name``."""
    while frame is not None and frame.f_globals.get("__name__", "").startswith("gluonish."):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_code[frame.f_lasti] == _IMPORT_FROM


class Habit:
    """Class attribute that raises the error of a missing one, with advice."""

    __slots__ = ("_clause", "_name")

    def __init__(self, name: str, advice: str) -> None:
        self._name, self._clause = name, _clause(advice)

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        what = f"type object {owner.__name__!r}"
        if instance is not None:
            what = f"{type(instance).__name__!r} object"
        raise unknown_attribute(f"{what} has no attribute {self._name!r}{self._clause}", self._name)

    def __repr__(self) -> str:
        return f"<no attribute {self._name!r}{self._clause}>"


def add_habits(kind: type, table: Mapping[str, str]) -> None:
    """Let a class answer to attributes of PyTorch and Keras that it lacks, by an error with advice.

    Instances list them in no ``dir``, and may set attributes of these names.
    """
    for name, advice in table.items():
        if not any(name in vars(base) for base in kind.__mro__):
            setattr(kind, name, Habit(name, advice))
    if "__dir__" not in vars(kind):
        kind.__dir__ = _listed  # type: ignore[assignment, method-assign]  # a bound one


def _listed(self: object) -> Collection[str]:
    found: dict[str, object] = dict(getattr(self, "__dict__", {}))
    for base in type(self).__mro__:
        for name, value in vars(base).items():
            found.setdefault(name, value)
    return [name for name in object.__dir__(self) if not isinstance(found.get(name), Habit)]


# How to convert a value, by the first part of the name of its module.
_CONVERSIONS = {
    "numpy": "mx.nd.array(x), or mx.np.array(x) in a program of mx.np, converts it; in "
    "hybrid_forward it is a constant: self.params.get_constant(name, x)",
    "torch": "mx.nd.array(x.detach().numpy()) converts it",
    "PIL": "mx.nd.array(image) converts it",
    "gluonish": "",
}


def described_value(value: object) -> str:
    """Return the type of a value that is no array, and how to convert it, for messages."""
    kind = type(value)
    if value is None:
        return "None; did the function before it return its result?"
    if hasattr(value, "list_ctx"):
        return (
            f"{kind.__name__}; parameter.data() is its array, and hybrid_forward gets it as the "
            "argument of its name"
        )
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    advice = _CONVERSIONS.get(kind.__module__.partition(".")[0], "mx.nd.array converts numbers")
    return f"{name}; {advice}" if advice else kind.__name__
