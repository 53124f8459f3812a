"""Kinds: types of environment variables, with their parsers."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

_BOOLEANS = {"0": False, "1": True, "false": False, "true": True}


@dataclass(frozen=True)
class Kind(Generic[T]):
    """Type of an environment variable, with its parser.

    Args:
        name: Name for the table of ``gluonish env``, such as ``int``.
        expected: Description of the allowed values, for messages: ``an integer in 1..60``.
        parse: Converts a non-empty text to the value, or raises ValueError.
        show: Converts a value to text that `parse` accepts.
    """

    name: str
    expected: str
    parse: Callable[[str], T]
    show: Callable[[T], str]


def boolean() -> Kind[bool]:
    """Return the kind of a boolean variable."""

    def parse(text: str) -> bool:
        if text.lower() not in _BOOLEANS:
            raise ValueError(text)
        return _BOOLEANS[text.lower()]

    return Kind("bool", "one of 0, 1, false, true", parse, lambda value: str(int(value)))


def integer(low: int, high: int | None = None) -> Kind[int]:
    """Return the kind of integers from ``low`` to ``high``, both included."""

    def parse(text: str) -> int:
        if not re.fullmatch("[+-]?[0-9]{1,18}", text):
            raise ValueError(text)
        number = int(text)
        if number < low or (high is not None and number > high):
            raise ValueError(text)
        return number

    limits = f"an integer >= {low}" if high is None else f"an integer in {low}..{high}"
    return Kind("int", limits, parse, str)


def real(low: float, high: float) -> Kind[float]:
    """Return the kind of numbers from ``low`` to ``high``, both included."""

    def parse(text: str) -> float:
        number = float(text)
        if not low <= number <= high:
            raise ValueError(text)
        return number

    return Kind("float", f"a number in {low:g}..{high:g}", parse, lambda value: f"{value:g}")


def choice(*names: str) -> Kind[str]:
    """Return the kind of one of several names."""

    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(text)
        return text

    return Kind("choice", f"one of {', '.join(names)}", parse, str)


def some_of(*names: str) -> Kind[tuple[str, ...]]:
    """Return the kind of a comma-separated list of names."""

    def parse(text: str) -> tuple[str, ...]:
        chosen = tuple(item.strip() for item in text.split(",") if item.strip())
        if not set(chosen) <= set(names):
            raise ValueError(text)
        return chosen

    return Kind("list", f"some of {', '.join(names)}, with commas between", parse, ",".join)


def all_or_some(*names: str) -> Kind[tuple[str, ...]]:
    """Return the kind of 1 for all names, 0 for none, or a comma-separated list."""
    some = some_of(*names)

    def parse(text: str) -> tuple[str, ...]:
        if text in ("0", "1"):
            return names if text == "1" else ()
        return some.parse(text)

    def show(chosen: tuple[str, ...]) -> str:
        return "1" if set(chosen) == set(names) else ",".join(chosen) or "0"

    return Kind("list", f"0, 1, or {some.expected}", parse, show)


def _expand(text: str) -> str:
    return os.path.abspath(os.path.expanduser(text))


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][\w.-]{0,99}", text):
        raise ValueError(text)
    return text


NAME: Kind[str] = Kind("name", "a name of letters, digits, _, . and -", _name, str)
SECRET: Kind[str] = Kind("secret", "any text", str, str)  # not shown by `gluonish env`
TEXT: Kind[str] = Kind("text", "any text", str, str)
PATH: Kind[str] = Kind("path", "a path", _expand, str)
