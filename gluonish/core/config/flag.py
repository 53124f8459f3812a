"""Flag: one environment variable, typed."""

import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Generic, TypeVar

from gluonish.core.config.kind import PATH, Kind
from gluonish.core.errors import ArgumentTypeError, ConfigError

T = TypeVar("T")

# The dict inside `os.environ`, with encoded names: a lookup takes a tenth of the time.
environment: Mapping[Any, object] = getattr(os.environ, "_data", {})
encoded: Callable[[str], Any] = getattr(os.environ, "encodekey", str)

_IMMUTABLE = (bool, int, float, str, tuple, frozenset)

changes = [0]  # number of overrides begun or ended


class Flag(Generic[T]):
    """One environment variable with its type, default and meaning.

    Args:
        name: The variable, as users know it.
        kind: Type of the value, with its parser.
        default: The value if the variable is unset or empty; another flag stands for its value, and
            a path is expanded at each read.
        doc: One-line description.
        acts: Whether the variable has an effect; if not, as for some variables of MXNet, ``doc``
            gives the reason.
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
        self._cached: tuple[object, T] | None = None  # the text and its value

    @property
    def kind(self) -> str:
        """One word for the type: bool, int, choice, list, text or path."""
        return self._kind.name

    @property
    def expected(self) -> str:
        """Description of the allowed values, for messages."""
        return self._kind.expected

    @property
    def source(self) -> str:
        """Current source of `value`: ``override``, ``environment`` or ``default``."""
        if self._overrides:
            return "override"
        return "environment" if self.text else "default"

    @property
    def text(self) -> str:
        """The variable's text, valid or not, stripped; empty if unset."""
        return os.environ.get(self.name, "").strip()

    @property
    def value(self) -> T:
        """The current value: the innermost override, else the environment's, else the default.

        Raises:
            ConfigError: The variable has an invalid value.
        """
        if self._overrides:
            return self._overrides[-1]
        found = environment.get(self._key)
        cached = self._cached
        if cached is not None and cached[0] == found:
            return cached[1]
        text = self.text
        if text:
            value = self._parse(text)
        elif isinstance(self._default, Flag):
            return self._default.value
        else:
            value = self._kind.parse(self._kind.show(self._default))
        if isinstance(value, _IMMUTABLE) and self._kind is not PATH:  # depends on the cwd
            self._cached = found, value
        return value

    @property
    def value_as_text(self) -> str:
        """`value` as text for the environment."""
        return self._kind.show(self.value)

    @property
    def default_as_text(self) -> str:
        """The default as text, or the name of the flag that provides it."""
        if isinstance(self._default, Flag):
            return self._default.name
        return self._kind.show(self._default)

    @property
    def state(self) -> object:
        """The override, else the environment's entry: a cheap key to detect changes of `value`."""
        return self._overrides[-1] if self._overrides else environment.get(self._key)

    def override(self, value: T) -> "_Override[T]":
        """Return a scope in which the flag has ``value`` in all threads; scopes nest.

        Raises:
            ConfigError: ``value`` is invalid.
        """
        return _Override(self._overrides, self._parse(self._kind.show(value)))

    def _parse(self, text: str) -> T:
        try:
            return self._kind.parse(text)
        except ValueError:
            raise ConfigError(f"{self.name}: expected {self.expected}, got {text!r}") from None

    def __bool__(self) -> bool:
        """Raise ArgumentTypeError: a condition must test `value`, not the flag."""
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
