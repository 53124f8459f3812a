"""NameManager, Prefix and AttrScope: scopes that set names and attributes of new Symbols."""

from collections import defaultdict
from collections.abc import Mapping
from contextvars import ContextVar, Token
from typing import ClassVar, Self

from gluonish.core.class_property import ClassPropertyMeta, CurrentValue, classproperty
from gluonish.core.errors import ArgumentTypeError
from gluonish.core.object_repr import default_repr, object_repr

# Attributes of any node; stored and written as ``__lr_mult__``, and read by either name.
HIDDEN_ATTRIBUTES = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")


def stored_attributes(attrs: Mapping[str, str] | None) -> dict[str, str]:
    """Return attributes under the names with which nodes store them.

    Args:
        attrs: Attributes as users name them, such as ``ctx_group``.
    """
    return {
        f"__{name}__" if name in HIDDEN_ATTRIBUTES else name: value
        for name, value in (attrs or {}).items()
    }


def _current_names(cls: "type[NameManager]") -> "NameManager":
    """The innermost name manager; outside all scopes, that of the thread. May be assigned."""
    found = _names.get()
    if found is None:
        found = NameManager()
        _names.set(found)
    return found


def _set_names(cls: "type[NameManager]", manager: "NameManager") -> None:
    _names.set(manager)


def current() -> "NameManager":
    """Return the innermost name manager."""
    return _current_names(NameManager)


class NameManager(metaclass=ClassPropertyMeta):
    """Names unnamed Symbols by a hint and a counter, such as ``fullyconnected0``.

    In a ``with NameManager():`` block the counters start at 0 again.

    Attributes:
        _counter: Next number of each hint.
    """

    __repr__ = default_repr

    def __init__(self) -> None:
        self._counter: dict[str, int] = {}
        self._tokens: list[Token[NameManager | None]] = []

    def get(self, name: str | None, hint: str) -> str:
        """Return ``name``, or if it is None ``hint`` followed by its next number.

        Args:
            name: Name chosen by the user, or None.
            hint: Start of an automatic name, such as ``"convolution"``.
        """
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
    """A NameManager that prefixes every name: ``with Prefix("mlp_"):``.

    Args:
        prefix: The prefix.
    """

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        """Return the prefix followed by the name that a `NameManager` would return.

        Args:
            name: Name chosen by the user, or None.
            hint: Start of an automatic name.
        """
        return self._prefix + super().get(name, hint)


_names: ContextVar[NameManager | None] = ContextVar("gluonish_names", default=None)


def _current_scope(cls: "type[AttrScope]") -> "AttrScope":
    """The innermost scope, including attributes of outer scopes; may be assigned."""
    found = _scope.get()
    if found is None:
        found = AttrScope()
        _scope.set(found)
    return found


def _set_scope(cls: "type[AttrScope]", scope: "AttrScope") -> None:
    _scope.set(scope)


class AttrScope(metaclass=ClassPropertyMeta):
    """Context manager that sets attributes on all Symbols created inside.

    Args:
        **kwargs: Values of the attributes, strings, by name.

    Raises:
        ArgumentTypeError: A value is not a string.

    Example:
        >>> import gluonish as mx
        >>> with mx.AttrScope(ctx_group="dev1"):
        ...     x = mx.sym.var("x")
        >>> x.attr("ctx_group")
        'dev1'
    """

    # Number of control-flow bodies of each name; files contain the names.
    _subgraph_names: ClassVar[defaultdict[str, int]] = defaultdict(int)

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

    def __repr__(self) -> str:
        return object_repr(self, **self._attr)

    def get(self, attr: Mapping[str, str] | None) -> dict[str, str]:
        """Return the scope's attributes, overridden by those passed.

        Args:
            attr: Attributes of one Symbol, or None.
        """
        return {**self._attr, **(attr or {})}

    def __enter__(self) -> Self:
        attrs = self._attr
        outer = _scope.get()
        self._attr = attrs if outer is None else {**outer._attr, **attrs}
        self._entered.append((_scope.set(self), attrs))
        return self

    def __exit__(self, *exc_info: object) -> None:
        token, self._attr = self._entered.pop()
        _scope.reset(token)


_scope: ContextVar[AttrScope | None] = ContextVar("gluonish_attributes", default=None)


_NO_ATTRIBUTES: Mapping[str, str] = {}


def current_attributes() -> Mapping[str, str]:
    """Return the attributes of all enclosing scopes as nodes store them; inner scopes win."""
    found = _scope.get()
    return _NO_ATTRIBUTES if found is None else stored_attributes(found._attr)
