"""Properties of a class, read and assigned on the class itself."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from gluonish.core.object_repr import brief, object_repr

T = TypeVar("T")


class classproperty(Generic[T]):  # MXNet's name, and read as a decorator
    """A property of a class: ``Context.default_ctx``; assignable if the class has the metaclass
    `ClassPropertyMeta`.

    Args:
        getter: Takes the class; returns the value.
        setter: Takes the class and a value.
    """

    def __init__(
        self, getter: Callable[[Any], T], setter: Callable[[Any, T], None] | None = None
    ) -> None:
        self._getter = getter.__func__ if isinstance(getter, classmethod) else getter
        self._setter = setter
        self.__doc__ = getter.__doc__

    def __repr__(self) -> str:
        return object_repr(self, brief(self._getter))

    def __get__(self, instance: object, owner: type | None = None) -> T:
        return self._getter(type(instance) if owner is None else owner)

    def __set__(self, instance: object, value: T) -> None:
        if self._setter is None:
            raise AttributeError("can't set attribute")
        self._setter(instance if isinstance(instance, type) else type(instance), value)

    def setter(self, setter: Callable[[Any, T], None]) -> "classproperty[T]":
        """Return the same property with a setter."""
        return type(self)(self._getter, setter)


class ClassPropertyMeta(type):
    """Metaclass that makes a `classproperty` assignable."""

    def __setattr__(cls, name: str, value: Any) -> None:
        found = cls.__dict__.get(name)
        if isinstance(found, classproperty) and not isinstance(value, classproperty):
            found.__set__(cls, value)
        else:
            super().__setattr__(name, value)


class CurrentValue(Generic[T]):
    """A thread-local value under MXNet's name, such as ``NameManager._current.value``.

    Args:
        get: Returns the value.
        put: Sets the value.
        reset: Restores the value that a new thread starts with.
    """

    def __init__(
        self, get: Callable[[], T], put: Callable[[T], object], reset: Callable[[], object]
    ) -> None:
        self._get = get
        self._put = put
        self._reset = reset

    @property
    def value(self) -> T:
        """The value of this thread."""
        return self._get()

    @value.setter
    def value(self, value: T) -> None:
        self._put(value)

    @value.deleter
    def value(self) -> None:
        self._reset()
