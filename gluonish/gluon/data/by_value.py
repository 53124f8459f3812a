"""Pickling what another process cannot import: lambdas, inner functions, and all of ``__main__``.

Workers of a DataLoader start as new interpreters that do not run the main program. A dataset may
hold functions and classes that only exist in it, or inside a function; they are sent as code, with
the globals that their code names. Everything else is pickled as always, by name.
"""

import abc
import builtins
import enum
import functools
import importlib
import io
import marshal
import pickle
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["ByValuePickler", "class_of", "dumps", "dumps_reply"]

Buffers = list[pickle.PickleBuffer]

# What a class body or type() sets anew, or what belongs to this process only.
_CLASS_OWN = {"__dict__", "__weakref__", "_abc_impl", "__abstractmethods__", "__slots__"}


def dumps(value: Any, pickler: "type[ByValuePickler] | None" = None) -> tuple[bytes, Buffers]:
    """Return a pickle, and separately the memory of large arrays in it.

    Args:
        value: Any value.
        pickler: Class of the pickler; `ByValuePickler` by default.

    Returns:
        The arguments of ``pickle.loads(data, buffers=...)``.

    Raises:
        pickle.PicklingError, TypeError, AttributeError, ValueError: Something cannot be pickled.
    """
    file = io.BytesIO()
    buffers: Buffers = []
    (pickler or ByValuePickler)(file, protocol=5, buffer_callback=buffers.append).dump(value)
    return file.getvalue(), buffers


def dumps_reply(value: Any) -> bytes:
    """Return a pickle for the process that sent classes by `dumps`, and so already has them.

    Args:
        value: Any value.

    Raises:
        Exception: Something cannot be pickled.
    """
    try:
        return pickle.dumps(value, protocol=5)
    except Exception:  # classes that were sent by value have no name here; the rest fails again
        file = io.BytesIO()
        _ReplyPickler(file, protocol=5).dump(value)
        return file.getvalue()


class _ReplyPickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        origin = _origins.get(obj) if isinstance(obj, type) else None
        return NotImplemented if origin is None else (class_of, (origin,))


# Classes that were sent, and received, by value; each process has its own, and the same numbers.
_sent: "weakref.WeakValueDictionary[int, type]" = weakref.WeakValueDictionary()
_received: dict[int, type] = {}
_origins: dict[type, int] = {}


def class_of(origin: int) -> type:
    """Return the class that was sent or received under a number.

    Args:
        origin: The number.

    Raises:
        KeyError: The class no longer exists.
    """
    return _sent.get(origin) or _received[origin]


class ByValuePickler(pickle.Pickler):
    """A pickler that sends functions and classes as code if they cannot be imported by name."""

    def reducer_override(self, obj: Any) -> Any:
        """Return how to rebuild a function, class or module; NotImplemented for other objects.

        Args:
            obj: The object.
        """
        if isinstance(obj, types.FunctionType):
            return NotImplemented if _importable(obj) else _reduce_function(obj)
        if isinstance(obj, type):
            return NotImplemented if _importable(obj) else _reduce_class(obj)
        if isinstance(obj, types.ModuleType):
            if obj.__name__ == "__main__":
                raise pickle.PicklingError("expected an importable module, got __main__ itself")
            return importlib.import_module, (obj.__name__,)
        if isinstance(obj, staticmethod | classmethod):
            return type(obj), (obj.__func__,)
        if isinstance(obj, property):
            return property, (obj.fget, obj.fset, obj.fdel, obj.__doc__)
        return NotImplemented


def _importable(obj: Any) -> bool:
    """Whether a new interpreter finds the object by its name."""
    if isinstance(obj, type) and obj.__module__ == "builtins":
        return True  # pickle knows those without a name there, such as type(None)
    if not _findable(obj.__module__):
        return False
    found: Any = sys.modules.get(obj.__module__)
    for name in obj.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is obj


@functools.cache
def _findable(module: str | None) -> bool:
    """Whether a new interpreter can import the module; not so what only this program made."""
    if module in (None, "__main__", "__mp_main__") or module not in sys.modules:
        return False
    path: Any = None
    name = ""
    for part in module.split("."):
        name = f"{name}.{part}".lstrip(".")
        specs = (finder.find_spec(name, path, None) for finder in sys.meta_path)
        spec = next((found for found in specs if found is not None), None)
        if spec is None:
            return False
        path = spec.submodule_search_locations
    return True


def _reduce_function(function: types.FunctionType) -> Any:
    code = function.__code__
    module = function.__module__
    shared = _findable(module) and vars(sys.modules[module]) is function.__globals__
    home = module if shared else id(function.__globals__)
    names = () if shared else _global_names(code)
    state = {
        "globals": {
            name: function.__globals__[name] for name in names if name in function.__globals__
        },
        "cells": [_content(cell) for cell in function.__closure__ or ()],
        "attributes": {
            "__defaults__": function.__defaults__,
            "__kwdefaults__": function.__kwdefaults__,
            "__qualname__": function.__qualname__,
            "__module__": module,
            "__doc__": function.__doc__,
        },
        "dict": function.__dict__,
    }
    arguments = (marshal.dumps(code), function.__name__, home, len(code.co_freevars))
    return make_function, arguments, state, None, None, fill_function


def _global_names(code: types.CodeType) -> Iterator[str]:
    """Yield every name that the code, or code inside it, may look up among the globals."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)


def _content(cell: types.CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


# Globals of rebuilt functions: those of one module of the sender share one dict here, too.
_namespaces: dict[int, dict[str, Any]] = {}


def make_function(code: bytes, name: str, home: str | int, cell_count: int) -> types.FunctionType:
    """Create a function without the objects it refers to, which may include itself.

    Args:
        code: Marshalled code of the function.
        name: Name of the function.
        home: Module whose globals it uses, or the key of a namespace.
        cell_count: Number of variables in its closure.
    """
    if isinstance(home, str):
        namespace = vars(importlib.import_module(home))
    else:
        empty = {"__builtins__": builtins, "__name__": "__main__"}
        namespace = _namespaces.setdefault(home, empty)
    cells = tuple(types.CellType() for _ in range(cell_count))
    return types.FunctionType(marshal.loads(code), namespace, name, None, cells)


def fill_function(function: types.FunctionType, state: dict[str, Any]) -> None:
    """Set the objects that a function from `make_function` refers to.

    Args:
        function: The function.
        state: Its globals, closure cells and attributes.
    """
    function.__globals__.update(state["globals"])
    for cell, content in zip(function.__closure__ or (), state["cells"], strict=True):
        if content:
            cell.cell_contents = content[0]
    for name, value in state["attributes"].items():
        setattr(function, name, value)
    function.__dict__.update(state["dict"])


def _reduce_class(cls: type) -> Any:
    if isinstance(cls, enum.EnumMeta):
        raise pickle.PicklingError(
            f"expected enum {cls.__qualname__} in a module that can be imported, "
            f"got one of {cls.__module__}"
        )
    members = vars(cls)
    slots = members.get("__slots__", ())
    slots = (slots,) if isinstance(slots, str) else tuple(slots)
    skipped = _CLASS_OWN.union(slots)
    state = {name: value for name, value in members.items() if name not in skipped}
    _sent[id(cls)] = cls
    kept_slots = slots if "__slots__" in members else None
    arguments = (type(cls), cls.__name__, cls.__bases__, kept_slots, id(cls))
    return make_class, arguments, state, None, None, fill_class


def make_class(
    metaclass: Callable[..., type],
    name: str,
    bases: tuple[type, ...],
    slots: tuple[str, ...] | None,
    origin: int,
) -> type:
    """Create a class without its members, which may refer to it.

    Args:
        metaclass: Type of the class.
        name: Name of the class.
        bases: Its base classes.
        slots: Its slots; None if instances have a dict.
        origin: Number under which the sender knows it.
    """
    made = metaclass(name, bases, {} if slots is None else {"__slots__": slots})
    _received[origin] = made
    _origins[made] = origin
    return made


def fill_class(cls: type, state: dict[str, Any]) -> None:
    """Give a class that `make_class` built its members."""
    for name, value in state.items():
        setattr(cls, name, value)
    abc.update_abstractmethods(cls)
