"""Classes by name: register them, and make instances from names or JSON.

One table for each base class; names are case-insensitive. `mx.registry` is this module.
"""

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from gluonish.core.errors import ArgumentError, ArgumentTypeError, nearest
from gluonish.core.loading import importing_frame, is_partial, is_superseded

T = TypeVar("T")

# Each change is atomic.
_tables: dict[type, dict[str, type]] = {}


def get_registry(base_class: type) -> dict[str, type]:
    """Return a copy of the table of a base class: lower-case name to class."""
    return dict(_tables.get(base_class, {}))


def get_register_func(base_class: type[T], nickname: str) -> Callable[..., Any]:
    """Return ``register(klass, name=None)``, a decorator that puts a subclass into the table.

    Args:
        base_class: Base of the classes; selects the table.
        nickname: Name of such a class in messages: ``"optimizer"``.
    """

    def register(klass: type[T], name: str | None = None) -> type[T]:
        if not (isinstance(klass, type) and issubclass(klass, base_class)):
            raise ArgumentTypeError(
                f"{nickname}.register: expected a subclass of {base_class.__name__}, got {klass!r}"
            )
        key = (klass.__name__ if name is None else name).lower()
        table = _tables.setdefault(base_class, {})
        replaced = table.get(key)
        if replaced is not None and is_superseded(importing_frame(sys._getframe(1)).f_globals):
            return klass  # the table has the class of the module's newer import
        table[key] = klass
        if replaced is not None and replaced is not klass and not _is_left_behind(replaced, klass):
            warnings.warn(
                f"{nickname}.register: {key!r} now means {klass.__module__}.{klass.__qualname__}, "
                f"not {replaced.__module__}.{replaced.__qualname__}",
                UserWarning,
                stacklevel=2,
            )
        return klass

    register.__doc__ = f"Put a subclass of {base_class.__name__} into the table of {nickname}s."
    return register


def _is_left_behind(replaced: type, klass: type) -> bool:
    """Return whether the replaced class is left over from a failed import of the same module."""
    module = sys.modules.get(klass.__module__)
    same = (replaced.__module__, replaced.__qualname__) == (klass.__module__, klass.__qualname__)
    return same and is_partial(module) and getattr(module, klass.__name__, None) is not replaced


def get_alias_func(base_class: type[T], nickname: str) -> Callable[..., Any]:
    """Return ``alias(*names)``, a decorator that registers a class under further names."""
    register = get_register_func(base_class, nickname)

    def alias(*aliases: str) -> Callable[[type[T]], type[T]]:
        def under_all(klass: type[T]) -> type[T]:
            for name in aliases:
                register(klass, name)
            return klass

        return under_all

    alias.__doc__ = f"Register a subclass of {base_class.__name__} under further names."
    return alias


def get_create_func(base_class: type[T], nickname: str) -> Callable[..., T]:
    """Return ``create``, which makes an instance from a name or JSON.

    It accepts an instance (returned unchanged), a registered name with arguments of its class, JSON
    ``["name", {arguments}]`` or ``{"<nickname>": "name", arguments}``, a dict of the latter form,
    or the name as keyword argument ``nickname``.
    """

    def create(*args: Any, **kwargs: Any) -> T:
        if args:
            named, args = args[0], args[1:]
        elif nickname in kwargs:
            named = kwargs.pop(nickname)
        else:
            raise ArgumentTypeError(f"{nickname}.create: expected a name or an instance, got none")
        if isinstance(named, base_class):
            if args or kwargs:
                raise ArgumentError(
                    f"{nickname}.create: expected no arguments besides an instance, "
                    f"got {args} and {kwargs}"
                )
            return named
        if isinstance(named, dict):
            return create(**named)
        if not isinstance(named, str):
            raise ArgumentTypeError(f"{nickname}.create: expected a name, got {named!r}")
        if named[:1] in ("[", "{"):
            if args or kwargs:
                raise ArgumentError(
                    f"{nickname}.create: expected no arguments besides a JSON text, "
                    f"got {args} and {kwargs}"
                )
            return _from_json(create, nickname, named)
        klass = _tables.get(base_class, {}).get(named.lower())
        if klass is None:
            known = ", ".join(sorted(get_registry(base_class)))
            raise ArgumentError(
                f"{nickname}.create: expected one of {known}, got {named!r}"
                f"{nearest(named, known.split(', '))}; {nickname}.register adds classes"
            )
        return klass(*args, **kwargs)  # type: ignore[no-any-return]  # the table holds subclasses

    create.__doc__ = f"Return a {nickname} from an instance, a name with arguments, or JSON."
    return create


def _from_json(create: Callable[..., T], nickname: str, text: str) -> T:
    problem = ArgumentError(
        f"{nickname}.create: expected JSON of a name and a dict of arguments, got {text!r}"
    )
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise problem from error
    if isinstance(content, dict) and nickname in content:
        return create(**content)
    match content:
        case [str(name), dict(arguments)] if name[:1] not in ("[", "{"):
            return create(name, **arguments)
    raise problem
