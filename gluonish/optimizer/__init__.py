"""Optimizers, and the updaters that store their states."""

from gluonish.optimizer import contrib, optimizer
from gluonish.optimizer.optimizer import *  # noqa: F403  # one list of names, in MXNet's module

__all__ = ["contrib", "optimizer"]
__all__ += optimizer.__all__
