"""What CuPy has, as surface.json lists it, and how the double is held to that.

A name that CuPy lacks is not there, with CuPy's own AttributeError. A name that CuPy has and the
double lacks is an AssertionError: nobody has checked what CuPy does with it.
"""

import inspect
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

SURFACE: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parent / "surface.json").read_text(encoding="utf-8")
)
UNKNOWN = "not known to this double; check what CuPy does with it and add it"


@cache
def _parameters(text: str) -> inspect.Signature:
    """Return the signature that surface.json spells."""
    scope: dict[str, Any] = {}
    exec(f"def function({text}): pass", scope)
    return inspect.signature(scope["function"])


def check_call(name: str, text: str | None, args: tuple[Any, ...], kwargs: Any) -> None:
    """Refuse arguments that CuPy's function does not have."""
    assert text is not None, f"{name}: {UNKNOWN}"
    try:
        _parameters(text).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"cupy.{name}({text}): {error}") from None


def listed_signature(function: Callable[..., Any]) -> str:
    """Return a signature as surface.json spells it: without ``self``, types and values."""
    words = []
    star = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            words.append("*")
            star = True
        star = star or parameter.kind is parameter.VAR_POSITIONAL
        sign = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else "=None"
        words.append(sign + parameter.name + default)
    return ", ".join(words)


def _absent(owner: str, names: Any, name: str) -> Exception:
    """Return the error for a name that the double lacks."""
    if name in names:
        return AssertionError(f"cupy: {owner}.{name}: {UNKNOWN}")
    return AttributeError(f"{owner!r} of CuPy has no attribute {name!r}")


class Listed:
    """A base of the double's classes; ``listed`` is the name of CuPy's class in surface.json."""

    _listed = ""

    def __getattr__(self, name: str) -> Any:
        raise _absent(self._listed, SURFACE["cuda"][self._listed], name)


class ListedModule(ModuleType):
    """A module of the double: CuPy's constants, and what is given.

    Args:
        name: As in surface.json, such as ``"cuda.runtime"``.
        known: What the double has of it; every name of it is one of CuPy's.
    """

    def __init__(self, name: str, known: dict[str, Any]) -> None:
        super().__init__(f"cupy.{name}")
        names = SURFACE["cuda"][name]
        invented = known.keys() - names.keys()
        assert not invented, f"cupy.{name} has no {sorted(invented)}"
        self.__dict__["_listed"] = name
        self.__dict__.update({n: value for n, value in names.items() if isinstance(value, int)})
        self.__dict__.update(known)

    def __getattr__(self, name: str) -> Any:
        raise _absent(self._listed, SURFACE["cuda"][self._listed], name)
