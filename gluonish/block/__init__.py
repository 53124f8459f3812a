"""Block, the base of all layers and networks, with its naming, hooks, files and summary."""

from gluonish.block.block import Block
from gluonish.block.hooks import HookHandle

__all__ = ["Block", "HookHandle"]
