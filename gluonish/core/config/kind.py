"""Kinds: what environment variables may hold, and how their texts are read."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

_BOOLEANS = {"0": False, "1": True, "false": False, "true": True}


@dataclass(frozen=True)
class Kind(Generic[T]):
    """What a variable may hold.

    Args:
        name: One word for the table of ``gluonish env``, such as ``int``.
        expected: What an allowed text is, as it stands in error messages: ``an integer in 1..60``.
        parse: Turns a non-empty text into the value, or raises ValueError.
        show: Turns a value into text that `parse` reads back.
    """

    name: str
    expected: str
    parse: Callable[[str], T]
    show: Callable[[T], str]


def boolean() -> Kind[bool]:
    """Return the kind of a switch."""

    def parse(text: str) -> bool:
        if text.lower() not in _BOOLEANS:
            raise ValueError(text)
        return _BOOLEANS[text.lower()]

    return Kind("bool", "one of 0, 1, false, true", parse, lambda value: str(int(value)))


def integer(low: int, high: int | None = None) -> Kind[int]:
    """Return the kind of whole numbers from ``low`` on, or up to ``high``, which belongs to it."""

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
    """Return the kind of numbers from ``low`` to ``high``, which belong to it."""

    def parse(text: str) -> float:
        number = float(text)
        if not low <= number <= high:
            raise ValueError(text)
        return number

    return Kind("float", f"a number in {low:g}..{high:g}", parse, lambda value: f"{value:g}")


def choice(*names: str) -> Kind[str]:
    """Return the kind of one word among some."""

    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(text)
        return text

    return Kind("choice", f"one of {', '.join(names)}", parse, str)


def some_of(*names: str) -> Kind[tuple[str, ...]]:
    """Return the kind of any of some words, with commas between."""

    def parse(text: str) -> tuple[str, ...]:
        words = tuple(word.strip() for word in text.split(",") if word.strip())
        if not set(words) <= set(names):
            raise ValueError(text)
        return words

    return Kind("list", f"some of {', '.join(names)}, with commas between", parse, ",".join)


def all_or_some(*names: str) -> Kind[tuple[str, ...]]:
    """Return the kind of 1 for all of some words, 0 for none, or some of them."""
    some = some_of(*names)

    def parse(text: str) -> tuple[str, ...]:
        if text in ("0", "1"):
            return names if text == "1" else ()
        return some.parse(text)

    def show(words: tuple[str, ...]) -> str:
        return "1" if set(words) == set(names) else ",".join(words) or "0"

    return Kind("list", f"0, 1, or {some.expected}", parse, show)


def _expand(text: str) -> str:
    return os.path.abspath(os.path.expanduser(text))


def _word(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][\w.-]{0,99}", text):
        raise ValueError(text)
    return text


NAME: Kind[str] = Kind("name", "a name of letters, digits, _, . and -", _word, str)
TEXT: Kind[str] = Kind("text", "any text", str, str)
PATH: Kind[str] = Kind("path", "a path", _expand, str)
