"""Blocks that collect losses."""

from gluonish.gluon.probability.block import stochastic_block
from gluonish.gluon.probability.block.stochastic_block import (
    StochasticBlock,
    StochasticSequential,
)

__all__ = ["StochasticBlock", "StochasticSequential", "stochastic_block"]
