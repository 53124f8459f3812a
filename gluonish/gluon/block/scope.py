"""Names of Blocks: prefixes such as ``net0_dense1_``, and the scopes that nest them.

Outside any scope a Block is named after its class, with a counter shared with the symbols of its
thread. Inside ``with parent.name_scope():`` the counter is the parent's, and the parent's prefix
comes first. The open scope is local to the thread; the counters belong to the Block.
"""

from contextvars import ContextVar, Token
from typing import ClassVar, Protocol

from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.gluon.parameter import ParameterDict
from gluonish.symbol.name import NameManager, Prefix


class _Named(Protocol):
    """The interface of a scope's Block."""

    _child_counts: dict[str, int]

    @property
    def prefix(self) -> str:
        """Prefix of the Block."""
        raise NotImplementedError

    @property
    def params(self) -> ParameterDict:
        """The Block's parameters."""
        raise NotImplementedError


_current: ContextVar[_Named | None] = ContextVar("gluonish_name_scope", default=None)


def name_block(
    prefix: str | None, params: ParameterDict | None, hint: str
) -> tuple[str, ParameterDict]:
    """Return the full prefix and the ParameterDict of a new Block.

    Args:
        prefix: The user's prefix; None for the hint with a counter.
        params: Parameters to share; None for those that the parent shares.
        hint: The class name in lower case, or its alias.
    """
    parent = _current.get()
    if parent is None:
        if prefix is None:
            prefix = NameManager.current.get(None, hint) + "_"
        created = ParameterDict(prefix) if params is None else ParameterDict(params.prefix, params)
        return prefix, created
    if prefix is None:
        count = parent._child_counts.get(hint, 0)
        parent._child_counts[hint] = count + 1
        prefix = f"{hint}{count}_"
    if params is None:
        created = ParameterDict(parent.params.prefix + prefix, parent.params._shared)
    else:
        created = ParameterDict(params.prefix, params)
    return parent.prefix + prefix, created


def set_name(block: object, attribute: str, value: object) -> None:
    """Store a program's attribute ``name`` or ``prefix``, which blocks of MXNet 2.0 lack.

    Raises:
        AttributeError: The rules are not those of MXNet 2.0.
    """
    if not follows_mxnet2():
        raise AttributeError(
            f"{type(block).__name__}: expected no new value of {attribute}, got {value!r}; pass "
            "prefix= to the constructor"
        )
    setattr(block, f"_{attribute}", value)


class _Innermost:
    """The open scope of this thread, with the attribute that programs for MXNet read."""

    @property
    def value(self) -> "NameScope | None":
        """A scope of the innermost Block; None outside any scope."""
        block = _current.get()
        return None if block is None else NameScope(block, False)


class NameScope:
    """``with block.name_scope():``: Blocks and Symbols made inside get the block's prefix.

    The scope of a Block with an empty prefix changes nothing.

    Args:
        block: The Block, or any object with a ``prefix``.
        empty: Whether the prefix was passed as an empty string; None for the Block's flag.
    """

    __slots__ = ("_block", "_symbols", "_token")

    create = staticmethod(name_block)
    _current: ClassVar[_Innermost] = _Innermost()

    def __init__(self, block: _Named, empty: bool | None = None) -> None:
        if empty is None:
            empty = bool(getattr(block, "_empty_prefix", False))
        self._block = None if empty else block
        self._symbols: Prefix | None = None
        self._token: Token[_Named | None] | None = None

    def __enter__(self) -> "NameScope":
        if self._block is not None:
            self._token = _current.set(self._block)
            self._symbols = Prefix(self._block.prefix)
            self._symbols.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._token is not None and self._symbols is not None:
            self._symbols.__exit__(*exc_info)
            _current.reset(self._token)
            self._token = None
