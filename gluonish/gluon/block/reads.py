"""Reads: what a trace reads of Blocks, so that a graph is made anew when it changed."""

import threading
import time
import warnings
from collections.abc import Iterable, Sequence
from contextvars import Token
from typing import TYPE_CHECKING, Any

from gluonish.core.versions import Basis, Version, reads
from gluonish.gluon.block.block import Block
from gluonish.gluon.block.tracing import Traced, infer_parameters
from gluonish.gluon.parameter import Parameter

if TYPE_CHECKING:
    from gluonish.gluon.block.hybrid_block import HybridBlock

__all__ = ["Reads", "forget_changed", "inferred"]

_LOCK = threading.RLock()  # a signal's handler may trace, too
_scopes = 0

# How many graphs are dropped in a row, each so soon after its trace, before the user is warned.
_MANY, _SOON_S = 16, 1.0
_CALLER = 6  # frames from the warning to whoever calls the block


def _noted(block: Block, name: str) -> Any:
    """Read an attribute as ``object`` does, and note it if this thread traces."""
    if reads.get() is not None and not name.startswith("__"):
        version = super(Block, block).__getattribute__("__dict__").get("_version")
        if version is not None:
            version.read(None if name in type(block)._unwatched else name)
    return super(Block, block).__getattribute__(name)


class Reads:
    """Scope of a trace, in which reading an attribute of any Block takes note of it.

    Only while somebody traces does Block have a ``__getattribute__``, which takes ten times as long
    as that of ``object``.
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
        """Return the versions of all Blocks that were read, as they were then.

        Args:
            parameters: Those of the graph.
        """
        return Basis(self._found, self._newest, parameters)


def inferred(
    block: "HybridBlock", args: Sequence[Any], *, shapes: bool
) -> tuple[Traced, Basis] | None:
    """Infer shapes or dtypes as `infer_parameters` does, and say what the graph depends on.

    Args:
        block: The block.
        args: The arguments of a call.
        shapes: Whether to find shapes; else dtypes.
    """
    with Reads() as found:
        traced = infer_parameters(block, args, shapes=shapes)
    return None if traced is None else (traced, found.basis())


def forget_changed(block: "HybridBlock") -> None:
    """Drop a block's graphs if a block that they were traced from is not as it was then."""
    newest = Version.newest  # before the look at what may change meanwhile
    bases = [graph.basis for graph in block._graphs.values()]
    if block._inferred is not None:
        bases.append(block._inferred[1])
    if not bases:
        block._is_symbolic = None
    elif not all(basis.holds() for basis in bases):
        _warn_of_many(block, bases[-1])
        block._drop_graphs()
        block._untraceable = None
    block._checked = newest


def _warn_of_many(block: "HybridBlock", basis: Basis) -> None:
    """Warn once if graph after graph is dropped soon after its trace, as an attribute was set."""
    name = basis.changed()
    soon = name is not None and time.monotonic() - basis.made_s < _SOON_S
    block._dropped = block._dropped + 1 if soon else 0
    if block._dropped == _MANY:
        warnings.warn(
            f"{block.name}: hybridized, but traced {_MANY} times in a row because the attribute "
            f"{name!r} was set between calls; a trace takes much longer than a call: make it an "
            "input of the block, or a Constant parameter and set its data",
            UserWarning,
            stacklevel=_CALLER,
        )
