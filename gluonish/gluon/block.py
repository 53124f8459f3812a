"""Blocks under the name that programs import them by: `mx.gluon.block`."""

from gluonish.block import Block, HookHandle
from gluonish.hybrid_block import HybridBlock
from gluonish.symbol_block import SymbolBlock

__all__ = ["Block", "HookHandle", "HybridBlock", "SymbolBlock"]
