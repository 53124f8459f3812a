"""Flag: one environment variable, typed."""

import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Generic, TypeVar

from gluonish.core.config.kind import PATH, Kind
from gluonish.core.errors import ArgumentTypeError, ConfigError

T = TypeVar("T")

# What `os.environ` keeps its texts in, under encoded names: reading it takes a tenth of the time.
environment: Mapping[Any, object] = getattr(os.environ, "_data", {})
encoded: Callable[[str], Any] = getattr(os.environ, "encodekey", str)

_IMMUTABLE = (bool, int, float, str, tuple, frozenset)  # values that nobody can change

changes = [0]  # how often an override began or ended


class Flag(Generic[T]):
    """One environment variable with its type, default and meaning.

    Args:
        name: The variable, as users know it.
        kind: What it may hold.
        default: The value when the variable is unset or empty; another flag lends its value, and
            a path is expanded at each reading.
        doc: One line saying what the variable does.
        acts: Whether it does anything here; a variable of MXNet's that does not is accepted, and
            its line says why.
    """

    __slots__ = ("_cached", "_default", "_key", "_kind", "_overrides", "acts", "doc", "name")

    def __init__(
        self, name: str, kind: Kind[T], default: "T | Flag[T]", doc: str, *, acts: bool = True
    ) -> None:
        self.name = name
        self.doc = doc
        self.acts = acts
        self._kind = kind
        self._default = default
        self._overrides: list[T] = []
        self._key = encoded(name)
        self._cached: tuple[object, T] | None = None  # a text and its value

    @property
    def kind(self) -> str:
        """One word for the type: bool, int, choice, list, text or path."""
        return self._kind.name

    @property
    def expected(self) -> str:
        """The allowed values in words, as in error messages."""
        return self._kind.expected

    @property
    def source(self) -> str:
        """Where `value` comes from now: ``override``, ``environment`` or ``default``."""
        if self._overrides:
            return "override"
        return "environment" if self.text else "default"

    @property
    def text(self) -> str:
        """What the environment holds, allowed or not, without blanks around it; empty if unset."""
        return os.environ.get(self.name, "").strip()

    @property
    def value(self) -> T:
        """The value now: the innermost override, else the environment's, else the default.

        Raises:
            ConfigError: The environment holds a text that the flag does not allow.
        """
        if self._overrides:
            return self._overrides[-1]
        found = environment.get(self._key)
        known = self._cached
        if known is not None and known[0] == found:
            return known[1]
        text = self.text
        if text:
            value = self._parse(text)
        elif isinstance(self._default, Flag):
            return self._default.value
        else:
            value = self._kind.parse(self._kind.show(self._default))
        if isinstance(value, _IMMUTABLE) and self._kind is not PATH:  # a path follows the folder
            self._cached = found, value
        return value

    @property
    def value_as_text(self) -> str:
        """`value` as one would write it in the environment."""
        return self._kind.show(self.value)

    @property
    def default_as_text(self) -> str:
        """The default as one would write it, or the name of the flag that lends its value."""
        if isinstance(self._default, Flag):
            return self._default.name
        return self._kind.show(self._default)

    def override(self, value: T) -> "_Override[T]":
        """A ``with`` scope in which the flag has ``value`` in all threads; scopes nest.

        Raises:
            ConfigError: ``value`` is not one that the flag allows.
        """
        return _Override(self._overrides, self._parse(self._kind.show(value)))

    def _parse(self, text: str) -> T:
        try:
            return self._kind.parse(text)
        except ValueError:
            raise ConfigError(f"{self.name}: expected {self.expected}, got {text!r}") from None

    def __bool__(self) -> bool:
        """Refused: a flag is an object, and its truth would say nothing of its value."""
        raise ArgumentTypeError(
            f"Flag: expected {self.name}.value, got the flag itself as a truth value"
        )

    def __repr__(self) -> str:
        """The name and the kind; never reads the environment."""
        return f"Flag({self.name}, {self.kind})"


class _Override(Generic[T]):
    __slots__ = ("_overrides", "_value")

    def __init__(self, overrides: list[T], value: T) -> None:
        self._overrides = overrides
        self._value = value

    def __enter__(self) -> None:
        self._overrides.append(self._value)
        changes[0] += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._overrides.pop()
        changes[0] += 1
