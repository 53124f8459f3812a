"""Positions in arrays."""

from gluonish.ops.indexing.ravel import RAVEL_MULTI_INDEX, UNRAVEL_INDEX

__all__ = ["RAVEL_MULTI_INDEX", "UNRAVEL_INDEX"]
