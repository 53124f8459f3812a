"""`mx.attribute`: attributes of Symbols that are created in a scope."""

from gluonish.symbol.name import AttrScope

__all__ = ["AttrScope", "current"]


def current() -> AttrScope:
    """Return the innermost scope of attributes."""
    scope: AttrScope = AttrScope.current
    return scope
