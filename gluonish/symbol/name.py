"""NameManager, Prefix and AttrScope: names and attributes from the scope a Symbol is made in."""

from collections.abc import Mapping
from contextvars import ContextVar, Token
from typing import ClassVar, Self

from gluonish.core.class_property import ClassPropertyMeta, CurrentValue, classproperty
from gluonish.core.errors import ArgumentTypeError

__all__ = [
    "HIDDEN_ATTRIBUTES",
    "AttrScope",
    "NameManager",
    "Prefix",
    "current_attributes",
    "stored_attributes",
]

# Attributes that any node may have; kept, and written, as ``__lr_mult__``, and read by both names.
HIDDEN_ATTRIBUTES = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")


def stored_attributes(attrs: Mapping[str, str] | None) -> dict[str, str]:
    """Return attributes by the names that nodes keep them under."""
    return {
        f"__{name}__" if name in HIDDEN_ATTRIBUTES else name: value
        for name, value in (attrs or {}).items()
    }


def _current_names(cls: "type[NameManager]") -> "NameManager":
    """The innermost name manager; outside any scope, one for the thread. May be assigned."""
    found = _names.get()
    if found is None:
        found = NameManager()
        _names.set(found)
    return found


def _set_names(cls: "type[NameManager]", manager: "NameManager") -> None:
    _names.set(manager)


class NameManager(metaclass=ClassPropertyMeta):
    """Names unnamed Symbols by a hint and a number: ``fullyconnected0``; a scope restarts at 0.

    Attributes:
        _counter: Next number of each word.
    """

    def __init__(self) -> None:
        self._counter: dict[str, int] = {}
        self._tokens: list[Token[NameManager | None]] = []

    def get(self, name: str | None, hint: str) -> str:
        """Return ``name`` unless it is None, else ``hint`` with the next number."""
        if name:
            return name
        number = self._counter.get(hint, 0)
        self._counter[hint] = number + 1
        return f"{hint}{number}"

    current: ClassVar[classproperty["NameManager"]] = classproperty(_current_names, _set_names)
    _current: ClassVar[CurrentValue["NameManager"]] = CurrentValue(
        lambda: NameManager.current,
        lambda manager: _names.set(manager),
        lambda: _names.set(None),
    )

    def __enter__(self) -> Self:
        self._tokens.append(_names.set(self))
        return self

    def __exit__(self, *exc_info: object) -> None:
        _names.reset(self._tokens.pop())


class Prefix(NameManager):
    """A NameManager that puts a prefix before every name.

    Args:
        prefix: The prefix.
    """

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        """Return the prefix and the name that a `NameManager` would give."""
        return self._prefix + super().get(name, hint)


_names: ContextVar[NameManager | None] = ContextVar("gluonish_names", default=None)


def _current_scope(cls: "type[AttrScope]") -> "AttrScope":
    """The innermost scope, with the attributes of those around it; may be assigned."""
    found = _scope.get()
    if found is None:
        found = AttrScope()
        _scope.set(found)
    return found


def _set_scope(cls: "type[AttrScope]", scope: "AttrScope") -> None:
    _scope.set(scope)


class AttrScope(metaclass=ClassPropertyMeta):
    """Scope that sets attributes of all Symbols created inside: ``AttrScope(ctx_group="dev1")``.

    Args:
        **kwargs: Attribute names and string values.

    Raises:
        ArgumentTypeError: A value is not a string.
    """

    def __init__(self, **kwargs: str) -> None:
        for name, value in kwargs.items():
            if not isinstance(value, str):
                raise ArgumentTypeError(f"AttrScope: expected {name} to be a str, got {value!r}")
        self._attr = dict(kwargs)
        self._entered: list[tuple[Token[AttrScope | None], dict[str, str]]] = []

    current: ClassVar[classproperty["AttrScope"]] = classproperty(_current_scope, _set_scope)
    _current: ClassVar[CurrentValue["AttrScope"]] = CurrentValue(
        lambda: AttrScope.current,
        lambda scope: _scope.set(scope),
        lambda: _scope.set(None),
    )

    def get(self, attr: Mapping[str, str] | None) -> dict[str, str]:
        """Return the scope's attributes, overridden by those passed."""
        return {**self._attr, **(attr or {})}

    def __enter__(self) -> Self:
        own = self._attr
        around = _scope.get()
        self._attr = own if around is None else {**around._attr, **own}
        self._entered.append((_scope.set(self), own))
        return self

    def __exit__(self, *exc_info: object) -> None:
        token, self._attr = self._entered.pop()
        _scope.reset(token)


_scope: ContextVar[AttrScope | None] = ContextVar("gluonish_attributes", default=None)


_NO_ATTRIBUTES: Mapping[str, str] = {}


def current_attributes() -> Mapping[str, str]:
    """Return the attributes of all scopes around as nodes keep them, inner ones winning."""
    found = _scope.get()
    return _NO_ATTRIBUTES if found is None else stored_attributes(found._attr)
