"""KVStoreBase: the interface of stores for a Trainer, and their registry by name."""

import contextlib
import os
from typing import Any, ClassVar, TypeVar

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.object_repr import object_repr

__all__ = ["KVStoreBase"]

S = TypeVar("S", bound="type[KVStoreBase]")


class KVStoreBase:
    """Base class of stores, which sum gradients over devices or processes.

    A custom store derives from this class, defines at least `broadcast`, `pushpull`, `is_capable`,
    `type`, `rank` and `num_workers`, and is registered with the decorator `register`. A Trainer
    accepts an instance, or the lower-case class name, as ``kvstore``.
    """

    OPTIMIZER: ClassVar[str] = "optimizer"
    kv_registry: ClassVar[dict[str, type["KVStoreBase"]]] = {}

    def __repr__(self) -> str:
        facts = {}
        for name in ("type", "rank", "num_workers"):
            with contextlib.suppress(Exception):  # a program's store may lack it
                facts[name] = getattr(self, name)
        return object_repr(self, **facts)

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Copy the values of the root process to ``out`` on all devices and processes.

        Args:
            key: An int or a str, or a list of keys.
            value: Array for each key.
            out: Array, or list of arrays, for each key.
            priority: Operations of higher priority run first.
        """
        raise self._missing("broadcast")

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Sum the arrays of a key over devices and processes, and write the sum to all of ``out``.

        Args:
            key: An int or a str, or a list of keys.
            value: Array, or list of arrays, for each key.
            out: Array, or list of arrays, for the sum; None for ``value`` itself.
            priority: Operations of higher priority run first.
        """
        raise self._missing("pushpull")

    def set_optimizer(self, optimizer: Any) -> None:
        """Update the weights in the store with an optimizer; needs the capability `OPTIMIZER`.

        Args:
            optimizer: The optimizer.
        """
        raise self._missing("set_optimizer")

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store has a capability; `OPTIMIZER` means that it can update weights.

        Args:
            capability: Name of the capability.

        Raises:
            NotSupportedError: A subclass does not define this method.
        """
        raise NotSupportedError("KVStoreBase: expected a subclass with is_capable, got none")

    def save_optimizer_states(
        self, fname: str | os.PathLike[str], dump_optimizer: bool = False
    ) -> None:
        """Save the states of the store's optimizer to a file.

        Args:
            fname: Path of the file.
            dump_optimizer: Whether to save the optimizer's settings and update counts, too.
        """
        raise self._missing("save_optimizer_states")

    def load_optimizer_states(self, fname: str | os.PathLike[str]) -> None:
        """Load the states of the store's optimizer from a file.

        Args:
            fname: Path of the file.
        """
        raise self._missing("load_optimizer_states")

    @property
    def type(self) -> str:
        """Name of the store's type."""
        raise self._missing("type")

    @property
    def rank(self) -> int:
        """Index of this process, from 0."""
        raise self._missing("rank")

    @property
    def num_workers(self) -> int:
        """Number of processes."""
        raise self._missing("num_workers")

    def _missing(self, member: str) -> NotSupportedError:
        return NotSupportedError(
            f"{type(self).__name__}: expected a store that defines {member}, got one that does not"
        )

    @staticmethod
    def register(klass: S) -> S:
        """Class decorator that registers a store for `create`, under its lower-case class name.

        Args:
            klass: The store class, which is returned.

        Raises:
            ArgumentTypeError: ``klass`` is not a class.
        """
        if not isinstance(klass, type):
            raise ArgumentTypeError(f"register: expected a class, got {klass!r}")
        KVStoreBase.kv_registry[klass.__name__.lower()] = klass
        return klass


def check_capability(capability: str) -> str:
    """Return the name of a capability in lower case.

    Raises:
        ArgumentError: There is no such capability.
    """
    name = capability.lower()
    if name != KVStoreBase.OPTIMIZER:
        raise ArgumentError(f"is_capable: expected {KVStoreBase.OPTIMIZER!r}, got {capability!r}")
    return name
