"""Typed attributes of operators: parse Python values or the text of Symbol files, and print them.

A `Schema` maps attribute names to `Attribute`s. Every parsed value is hashable, because it is part
of cache keys.
"""

import ast
import math
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import DtypeError, OperatorError
from gluonish.core.habits import keyword_advice


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()


class NullType:
    """Type of `NULL`."""

    def __repr__(self) -> str:
        return "_Null"


# An omitted attribute: MXNet's `_Null`, the default in its functions.
NULL = NullType()

# Python's parser raises the last two for deeply nested brackets, and ArithmeticError for numbers
# too large for a float.
UNPARSABLE = (ValueError, TypeError, SyntaxError, ArithmeticError, MemoryError, RecursionError)

_EXACT = 2.0**53  # float64 is exact for all integers below it

# Result of the attribute's parser: int, float, bool, str, tuple, np.dtype or None.
AttrValue = Any


class Attribute:
    """One attribute: its parser and its default.

    Args:
        parse: Converts a Python value or a string to the hashable value; raises ValueError or
            TypeError.
        expected: Description of valid values, for messages: ``"an int"``.
        default: The parsed default value, or `REQUIRED`.
    """

    __slots__ = ("default", "expected", "parse")

    def __init__(
        self, parse: Callable[[object], AttrValue], expected: str, default: AttrValue = REQUIRED
    ) -> None:
        self.parse = parse
        self.expected = expected
        self.default = default


def _item(value: Any) -> object:
    """Return the element of an array of shape (), which MXNet accepts as a number.

    Raises:
        ValueError: The value is not such an array.
    """
    if getattr(value, "shape", None) != ():
        raise ValueError
    return value.item()


def _parse_int(value: object) -> int:
    if isinstance(value, str):
        return int(value.strip().rstrip("L"))
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return int(value)
    return _parse_int(_item(value))


def integer(default: object = REQUIRED, low: int | None = None) -> Attribute:
    """An integer, optionally at least ``low``."""

    def parse(value: object) -> int:
        parsed = _parse_int(value)
        if low is not None and parsed < low:
            raise ValueError
        return parsed

    return Attribute(parse, "an int" if low is None else f"an int of at least {low}", default)


def as_number(value: Any) -> float:
    """Return a real number as a float, or as an int if it is an integer that no float equals.

    Args:
        value: A Python or NumPy number, or the text of one.

    Raises:
        ValueError: The text is not a number.
        OverflowError: The number is larger than every float.
    """
    found = float(value)
    if -_EXACT < found < _EXACT or not isinstance(value, int | np.integer | str):
        return found
    try:
        exact = int(value)
    except ValueError:  # the text of a fraction, of infinity or of NaN
        return found
    return found if found == exact else exact


def _parse_number(value: object) -> float:
    if isinstance(value, str | int | float | np.integer | np.floating | np.bool_):
        return as_number(value)
    return _parse_number(_item(value))


def number(default: object = REQUIRED) -> Attribute:
    """A real number; see `as_number`."""
    return Attribute(_parse_number, "a number", default)


def _parse_bool(value: object) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    literal = str(value)
    if literal in ("True", "true", "1"):
        return True
    if literal in ("False", "false", "0"):
        return False
    raise ValueError


def boolean(default: object = REQUIRED) -> Attribute:
    """True or False, also as text or digits, as in files."""
    return Attribute(_parse_bool, "a bool", default)


def _sequence(value: Any) -> tuple[object, ...]:
    if isinstance(value, str):
        value = ast.literal_eval(value.strip().replace("L", ""))
    if hasattr(value, "tolist"):  # an array
        value = value.tolist()
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def shape(default: object = REQUIRED) -> Attribute:
    """A tuple of ints; a single int means a tuple of one."""
    return Attribute(
        lambda value: tuple(_parse_int(v) for v in _sequence(value)), "a tuple of ints", default
    )


def numbers(default: object = REQUIRED) -> Attribute:
    """A tuple of real numbers."""
    return Attribute(
        lambda value: tuple(_parse_number(v) for v in _sequence(value)),
        "a tuple of numbers",
        default,
    )


def optional(inner: Attribute, default: object = None) -> Attribute:
    """A value of ``inner``, or None."""

    def parse(value: object) -> AttrValue:
        none = value is None or (isinstance(value, str) and value == "None")
        return None if none else inner.parse(value)

    return Attribute(parse, f"{inner.expected} or None", default)


def choice(*values: str | None, default: object = REQUIRED) -> Attribute:
    """One of the strings; for the name of a dtype also a type or dtype."""

    def parse(value: object) -> str | None:
        if isinstance(value, type | np.dtype):
            value = np.dtype(value).name
        chosen = None if value == "None" and None in values else value
        if chosen not in values:
            raise ValueError
        return chosen if chosen is None else str(chosen)

    return Attribute(parse, f"one of {', '.join(map(repr, values))}", default)


def dtype_attr(default: object = REQUIRED) -> Attribute:
    """An element type by name, type or dtype."""
    return Attribute(normalize_dtype, "a dtype", default)


def text(default: object = REQUIRED) -> Attribute:
    """Any string, or a path."""
    return Attribute(_text, "a str", default)


def _text(value: object) -> str:
    return os.fsdecode(value) if isinstance(value, bytes | os.PathLike) else str(value)


class Schema:
    """The attributes of one operator by name, in the order of its signature."""

    __slots__ = ("_names", "attributes", "defaults")

    def __init__(self, **attributes: Attribute) -> None:
        self.attributes: Mapping[str, Attribute] = attributes
        self._names = frozenset(attributes)
        self.defaults = {
            name: attribute.default
            for name, attribute in attributes.items()
            if attribute.default is not REQUIRED
        }

    def parse(self, operator: str, supplied: Mapping[str, object]) -> dict[str, AttrValue]:
        """Return all attributes, parsed and with defaults filled in.

        A schema without attributes ignores all names, as MXNet does. Names like ``__layout__``,
        which only annotate a graph, are always ignored.

        Raises:
            OperatorError: An unknown name, a missing required attribute, or an invalid value.
        """
        parsed = dict(self.defaults)
        if not self.attributes:
            return parsed
        for name, value in supplied.items():
            attribute = self.attributes.get(name)
            if attribute is None:
                if name.startswith("__") and name.endswith("__"):
                    continue
                known = ", ".join(self.attributes) or "none"
                raise OperatorError(
                    f"{operator}: expected arguments among {known}, got {name!r:.200}"
                    f"{keyword_advice(name, self.attributes)}"
                )
            if value is NULL:
                continue
            try:
                parsed[name] = attribute.parse(value)
            except UNPARSABLE:
                error_type = DtypeError if name == "dtype" else OperatorError
                raise error_type(
                    f"{operator}: expected {name} to be {attribute.expected}, got {value!r:.200}"
                ) from None
        if len(parsed) != len(self.attributes):
            missing = [name for name in self.attributes if name not in parsed]
            raise OperatorError(f"{operator}: expected a value for {', '.join(missing)}, got none")
        return parsed

    def accepts(self, name: str) -> bool:
        """Whether there is an attribute of this name."""
        return name in self.attributes

    def to_strings(self, attrs: Mapping[str, AttrValue]) -> dict[str, str]:
        """Return the attributes that differ from their defaults as text for a Symbol file."""
        return {
            name: format_attribute(attrs[name])
            for name in self.attributes
            if name in attrs
            and (name not in self.defaults or _differ(attrs[name], self.defaults[name]))
        }


def _differ(value: AttrValue, default: AttrValue) -> bool:
    """Whether two values differ; None is compared by identity, as NumPy's float64 equals it."""
    return value is not default if default is None else bool(value != default)


def format_attribute(value: AttrValue) -> str:
    """Return a parsed value as text in MXNet's format: ``(3, 3)``, ``float32``."""
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    return str(value)
