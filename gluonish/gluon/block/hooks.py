"""Hooks before and after the calls of a Block, and HookHandle, which removes a hook."""

import itertools
import warnings
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.object_repr import default_repr

_identifiers = itertools.count()


class Hooks(dict[int, Any]):
    """Hooks of one block in the order of registration; a dict that can be weakly referenced.

    Hooks before ``forward`` (with True) and after it share one dict, so that a call has only
    one test to make. Adding a hook does not change the block's version: graphs contain no hooks.
    """

    __slots__ = ("__weakref__",)

    def register(self, before: bool, hook: Callable[..., Any]) -> "HookHandle":
        """Add a hook before or after ``forward``, and return its handle."""
        handle = HookHandle()
        handle.attach(self, (before, hook))
        return handle

    def around(
        self,
        block: object,
        args: tuple[Any, ...],
        forward: Callable[..., Any],
        kwargs: dict[str, Any],
    ) -> Any:
        """Run ``forward(*args, **kwargs)`` between the hooks, which get ``block`` and ``args``."""
        hooks = list(self.values())
        for before, hook in hooks:
            if before:
                hook(block, args)
        output = forward(*args, **kwargs)
        for before, hook in hooks:
            if not before:
                hook(block, args, output)
        return output


class HookHandle:
    """Handle of a registered hook; `detach`, or leaving a ``with`` block, removes the hook."""

    __repr__ = default_repr

    __slots__ = ("_hooks", "_identifier")

    def __init__(self) -> None:
        self._hooks: weakref.ref[Hooks] | None = None
        self._identifier = -1

    def attach(self, hooks_dict: Hooks, hook: Callable[..., Any] | tuple[Any, ...]) -> None:
        """Add a hook to a dict of hooks; `detach` removes it.

        Args:
            hooks_dict: The dict.
            hook: The function.

        Raises:
            ArgumentError: The handle is already attached to a hook.
        """
        if self._hooks is not None:
            raise ArgumentError(
                "HookHandle: expected an unused handle, got one that belongs to a hook; register "
                "the hook once more for a second handle"
            )
        self._identifier = next(_identifiers)
        hooks_dict[self._identifier] = hook
        self._hooks = weakref.ref(hooks_dict)

    def detach(self) -> None:
        """Remove the hook; a second call does nothing."""
        hooks = None if self._hooks is None else self._hooks()
        if hooks is not None:
            hooks.pop(self._identifier, None)

    def __enter__(self) -> "HookHandle":
        return self

    def __exit__(
        self,
        ptype: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.detach()


def warn_of_hooks(name: str) -> None:
    """Warn the caller's caller that hooks of a hybridized block may not be called."""
    warnings.warn(
        f"{name}: hybridized with forward hooks; they run when the block is called directly, but "
        "not when it is part of the graph of an enclosing hybridized block",
        UserWarning,
        stacklevel=3,
    )
