"""Reads: tracks the attributes of Blocks read in a trace, which invalidate the graph on change."""

import threading
from collections.abc import Iterable
from contextvars import Token
from typing import Any

from gluonish.core.versions import Basis, Version, reads
from gluonish.gluon.block.block import Block
from gluonish.gluon.parameter import Parameter

_LOCK = threading.RLock()  # a signal handler may trace, too
_scopes = 0


def _noted(block: Block, name: str) -> Any:
    """Read an attribute as ``object`` does, and record the read if this thread traces."""
    if reads.get() is not None and not name.startswith("__"):
        version = super(Block, block).__getattribute__("__dict__").get("_version")
        if version is not None:
            version.read(None if name in type(block)._untracked else name)
    return super(Block, block).__getattribute__(name)


class Reads:
    """Scope of a trace that records reads of any Block's attributes.

    Block has a ``__getattribute__`` only while a thread traces, as it takes ten times as long as
    that of ``object``.
    """

    __slots__ = ("_before", "_found", "_newest", "_token")

    def __enter__(self) -> "Reads":
        global _scopes
        self._newest = Version.newest
        self._before = reads.get()
        self._found: dict[Version, int] = {}
        self._token: Token[dict[Version, int] | None] = reads.set(self._found)
        with _LOCK:
            _scopes += 1
            if _scopes == 1:
                Block.__getattribute__ = _noted  # type: ignore[assignment, method-assign]
        return self

    def __exit__(self, *exc_info: object) -> None:
        global _scopes
        with _LOCK:
            _scopes -= 1
            if _scopes == 0:
                del Block.__getattribute__
        reads.reset(self._token)
        if self._before is not None:
            for version, number in self._found.items():
                self._before.setdefault(version, number)

    def basis(self, parameters: Iterable[Parameter] = ()) -> Basis:
        """Return the versions, when read, of all Blocks that were read, and the parameters."""
        return Basis(self._found, self._newest, parameters)
