"""Texts of objects: the class with the arguments of its constructor: ``SGD(momentum=0.9)``.

A class whose attributes are named like its constructor's arguments, perhaps after an underscore,
has ``__repr__ = default_repr``. Others call `object_repr`. Neither waits for values of arrays,
nor do they raise: an object whose constructor failed has a text, too.
"""

import functools
import inspect
from collections.abc import Collection, Mapping
from threading import get_ident
from typing import Any

from gluonish.core.call_errors import accepted_parameters

__all__ = ["arguments_repr", "brief", "counted", "default_repr", "object_repr"]

_LONGEST = 100  # characters of a value
_MOST = 8  # elements of a list
_ABSENT = object()
_running: set[tuple[int, int]] = set()  # objects whose text is being made, with the thread


def object_repr(value: object, /, *facts: str, **arguments: object) -> str:
    """Return ``Name(fact, argument=value)``.

    Args:
        value: The object.
        *facts: Texts that come first.
        **arguments: Further values by name, shortened by `brief`.
    """
    shown = [*facts, *(f"{name}={brief(argument)}" for name, argument in arguments.items())]
    return f"{type(value).__name__}({', '.join(shown)})"


def arguments_repr(self: object, /, *facts: str, leave_out: Collection[str] = ()) -> str:
    """Return the class with the arguments of its constructor, as the attributes have them now.

    An argument is left out if no attribute has its name, if it is empty, or if it has its default
    and this is None, zero or a bool, or belongs to a base class.

    Args:
        self: The object.
        *facts: Texts that come first.
        leave_out: Names of further arguments that are left out.
    """
    key = id(self), get_ident()
    if key in _running:  # an object that refers to itself
        return f"{type(self).__name__}(...)"
    _running.add(key)
    try:
        arguments = {}
        parameters = accepted_parameters(type(self))
        for owner, parameter in parameters:
            name = parameter.name
            found = _ABSENT if name in leave_out else _attribute(self, name)
            is_own = owner is parameters[0][0]
            if found is not _ABSENT and not _is_usual(found, parameter, is_own):
                arguments[name] = found
        return object_repr(self, *facts, **arguments)
    finally:
        _running.discard(key)


def counted(value: Any, unit: str) -> tuple[str, ...]:
    """Return the length of an object as a fact, such as ``("60 samples",)``; none if unknown."""
    try:
        return (f"{len(value)} {unit}",)
    except Exception:  # whatever the __len__ of a program's class raises
        return ()


def _attribute(value: object, name: str) -> Any:
    for attribute in (name, f"_{name}"):
        try:
            found = getattr(value, attribute)
        except Exception:  # a property may need what is not set up yet
            continue
        if not inspect.ismethod(found):
            return found
    given = getattr(value, "__dict__", {}).get("_kwargs")
    return given.get(name, _ABSENT) if isinstance(given, dict) else _ABSENT


def _is_usual(found: Any, parameter: inspect.Parameter, is_own: bool) -> bool:
    """Whether a value tells nothing: empty, or a default that is unimportant or of a base class."""
    if isinstance(found, str | list | tuple | dict) and not found:
        return True
    default = parameter.default
    if default is parameter.empty:
        return False
    is_number = isinstance(default, int | float | str)
    same = found is default or (is_number and type(found) is type(default) and found == default)
    return same and (not default or default is True or isinstance(default, type) or not is_own)


def brief(value: object) -> str:
    """Return a short text of a value in one line: arrays by shape, long lists by length."""
    try:
        text = _brief(value)
    except Exception:  # whatever a class of the program does in its __repr__
        text = f"{type(value).__name__}(...)"
    return text


def _brief(value: object) -> str:
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, functools.partial):
        return _brief(value.func)
    if inspect.isroutine(value):
        return value.__qualname__.replace("<locals>.", "")
    if isinstance(value, str):
        return _cut(repr(value))
    if isinstance(value, list | tuple | set | frozenset | Mapping) and not hasattr(
        value, "_fields"
    ):
        return _brief_collection(value)
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(shape, tuple) and dtype is not None:
        if shape == () and type(value).__module__ == "numpy":
            return str(value)
        return f"{type(value).__name__} {shape} {getattr(dtype, '__name__', dtype)}"
    text = repr(value)
    name = type(value).__name__
    if text.startswith("<") and " object at 0x" in text:
        return name
    return text if len(text) <= _LONGEST and "\n" not in text else f"{name}(...)"


def _brief_collection(value: Any) -> str:
    if len(value) <= _MOST:
        if isinstance(value, Mapping):
            inside = ", ".join(f"{brief(key)}: {brief(item)}" for key, item in value.items())
            text = f"{{{inside}}}"
        else:
            inside = ", ".join(map(brief, value))
            is_list, is_tuple = isinstance(value, list), isinstance(value, tuple)
            ends = "[]" if is_list else "()" if is_tuple else "{}"
            comma = "," if is_tuple and len(value) == 1 else ""
            text = f"{ends[0]}{inside}{comma}{ends[1]}"
        if len(text) <= _LONGEST:
            return text
    return f"{type(value).__name__} of {len(value)}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]}...{text[-1]}"


def default_repr(self: Any) -> str:
    """Return `arguments_repr` without options: what a class has as its ``__repr__``."""
    return arguments_repr(self)
