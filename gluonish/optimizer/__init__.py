"""Optimizers, and the updaters that store their states."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.optimizer import adam as adamW
from gluonish.optimizer import arguments as utils
from gluonish.optimizer import contrib, optimizer
from gluonish.optimizer.optimizer import *  # noqa: F403  # one list of names, in MXNet's module

if not TYPE_CHECKING:
    __getattr__ = _attach(__name__)  # advice about unknown names

__all__ = ["adamW", "contrib", "optimizer", "utils"]
__all__ += optimizer.__all__
