"""Typed attributes of operators: parsed from Python values or a Symbol file's text, printed back.

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
from gluonish.core.errors import DtypeError, OperatorError, nearest


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()


class NullType:
    """Type of `NULL`."""

    def __repr__(self) -> str:
        return "_Null"


# An attribute of this value was not given: MXNet's `_Null`, the default in its functions.
NULL = NullType()

# The last two are what Python's parser says of brackets that nest too deep, and what it says of
# numbers too large for a float is an ArithmeticError.
UNPARSABLE = (ValueError, TypeError, SyntaxError, ArithmeticError, MemoryError, RecursionError)

_EXACT = 2.0**53  # below it float64 holds every whole number

# int, float, bool, str, tuple, np.dtype or None: whatever the attribute's parser gives.
AttrValue = Any


class Attribute:
    """One attribute: how it is parsed, what it is when left out, and how it reads in a signature.

    Args:
        parse: Turns a Python value or a string into the hashable value; raises ValueError or
            TypeError.
        expected: What the parser takes, for messages: ``"an int"``.
        default: The parsed value when left out, or `REQUIRED`.
    """

    __slots__ = ("default", "expected", "parse")

    def __init__(
        self, parse: Callable[[object], AttrValue], expected: str, default: AttrValue = REQUIRED
    ) -> None:
        self.parse = parse
        self.expected = expected
        self.default = default


def _item(value: Any) -> object:
    """Return the element of an array without axes, as MXNet takes it for a number.

    Raises:
        ValueError: It is no such array.
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
    """A whole number, at least ``low`` where given."""

    def parse(value: object) -> int:
        parsed = _parse_int(value)
        if low is not None and parsed < low:
            raise ValueError
        return parsed

    return Attribute(parse, "an int" if low is None else f"an int of at least {low}", default)


def as_number(value: Any) -> float:
    """Return a real number as a float, or as an int where it is whole and no float equals it.

    Args:
        value: A Python or NumPy number, or the text of one.

    Raises:
        ValueError: It is the text of something else.
        OverflowError: It is larger than every float.
    """
    found = float(value)
    if -_EXACT < found < _EXACT or not isinstance(value, int | np.integer | str):
        return found
    try:
        whole = int(value)
    except ValueError:  # the text of a fraction, of infinity or of NaN
        return found
    return found if found == whole else whole


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
    word = str(value)
    if word in ("True", "true", "1"):
        return True
    if word in ("False", "false", "0"):
        return False
    raise ValueError


def boolean(default: object = REQUIRED) -> Attribute:
    """True or False, also as the words and digits that files hold."""
    return Attribute(_parse_bool, "a bool", default)


def _sequence(value: Any) -> tuple[object, ...]:
    if isinstance(value, str):
        value = ast.literal_eval(value.strip().replace("L", ""))
    if hasattr(value, "tolist"):  # an array
        value = value.tolist()
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def shape(default: object = REQUIRED) -> Attribute:
    """A tuple of ints; a single int stands for a tuple of one."""
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
    """What ``inner`` takes, or None."""

    def parse(value: object) -> AttrValue:
        none = value is None or (isinstance(value, str) and value == "None")
        return None if none else inner.parse(value)

    return Attribute(parse, f"{inner.expected} or None", default)


def choice(*values: str | None, default: object = REQUIRED) -> Attribute:
    """One of the given words; for the name of a dtype also its type, or the dtype itself."""

    def parse(value: object) -> str | None:
        if isinstance(value, type | np.dtype):  # a dtype where words name dtypes
            value = np.dtype(value).name
        word = None if value == "None" and None in values else value
        if word not in values:
            raise ValueError
        return word if word is None else str(word)

    return Attribute(parse, f"one of {', '.join(map(repr, values))}", default)


def dtype_attr(default: object = REQUIRED) -> Attribute:
    """An element type by name, type or dtype."""
    return Attribute(normalize_dtype, "a dtype", default)


def text(default: object = REQUIRED) -> Attribute:
    """Any string; of a path its text."""
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

    def parse(self, operator: str, given: Mapping[str, object]) -> dict[str, AttrValue]:
        """Return all attributes, parsed and with defaults filled in.

        Where there are none, any name is taken and ignored, as MXNet does; names like
        ``__layout__``, which are for those who read a graph, are everywhere.

        Raises:
            OperatorError: for an unknown name among others, a missing required one, or a value
                that does not parse.
        """
        parsed = dict(self.defaults)
        if not self.attributes:
            return parsed
        for name, value in given.items():
            attribute = self.attributes.get(name)
            if attribute is None:
                if name.startswith("__") and name.endswith("__"):
                    continue
                known = ", ".join(self.attributes) or "none"
                raise OperatorError(
                    f"{operator}: expected arguments among {known}, got {name!r:.200}"
                    f"{nearest(name, self.attributes)}"
                )
            if value is NULL:
                continue
            try:
                parsed[name] = attribute.parse(value)
            except UNPARSABLE as error:
                kind = DtypeError if name == "dtype" else OperatorError
                raise kind(
                    f"{operator}: expected {name} to be {attribute.expected}, got {value!r:.200}"
                ) from error
        if len(parsed) != len(self.attributes):
            missing = [name for name in self.attributes if name not in parsed]
            raise OperatorError(f"{operator}: expected a value for {', '.join(missing)}, got none")
        return parsed

    def takes(self, name: str) -> bool:
        """Whether there is an attribute of this name."""
        return name in self.attributes

    def to_strings(self, attrs: Mapping[str, AttrValue]) -> dict[str, str]:
        """Return attributes as a Symbol file holds them: those that differ from the default."""
        return {
            name: format_attribute(attrs[name])
            for name in self.attributes
            if name in attrs
            and (name not in self.defaults or _differ(attrs[name], self.defaults[name]))
        }


def _differ(value: AttrValue, default: AttrValue) -> bool:
    """Whether two values differ; for NumPy, float64 == None."""
    return value is not default if default is None else bool(value != default)


def format_attribute(value: AttrValue) -> str:
    """Return a parsed value as the text that MXNet's files hold: ``(3, 3)``, ``float32``."""
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    return str(value)
