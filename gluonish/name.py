"""Names of Symbols: `mx.name.NameManager` and `mx.name.Prefix`."""

from gluonish.symbol.name import NameManager, Prefix

__all__ = ["NameManager", "Prefix"]
