"""Settled: attributes of an optimizer that a step changes, with their values on the device.

On a GPU a step with a loss scale may be skipped without the host knowing yet
(`gluonish.optimizer.skipped_steps`). A program that reads such an attribute waits for the device.
"""

from typing import Any, Generic, Protocol, TypeVar, overload

T = TypeVar("T")


class Steps(Protocol):
    """The steps of an optimizer whose outcome the host may not know."""

    active: bool

    def settle(self) -> None:
        """Wait for the outcomes of all steps, and correct the optimizer's attributes."""

    def push(self, update: Any, columns: Any, scalars: Any) -> None:
        """Push an update, which is skipped on the device if the step is."""

    def note(self, columns: Any) -> None:
        """Store the rates of an update of the current step."""


class Settled(Generic[T]):
    """An attribute whose accesses wait for the outcomes of all steps.

    The value is in the instance's dict under the attribute's name, where states files have it.
    """

    _name: str

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "Settled[T]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        values = instance.__dict__
        if "_steps" in values:
            values["_steps"].settle()
        try:
            return values[self._name]
        except KeyError:
            raise AttributeError(self._name) from None

    def __set__(self, instance: Any, value: T) -> None:
        values = instance.__dict__
        if "_steps" in values:
            values["_steps"].settle()
        values[self._name] = value
