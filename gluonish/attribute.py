"""Attributes of Symbols by scope: `mx.attribute.AttrScope`."""

from gluonish.symbol.name import AttrScope

__all__ = ["AttrScope"]
