"""Optimizers, and the updaters that keep their states."""

from gluonish.optimizer.adam import Adam
from gluonish.optimizer.nag import NAG
from gluonish.optimizer.optimizer import Optimizer, create, register
from gluonish.optimizer.sgd import SGD, ccSGD
from gluonish.optimizer.updater import Updater, get_updater

__all__ = [
    "NAG",
    "SGD",
    "Adam",
    "Optimizer",
    "Updater",
    "ccSGD",
    "create",
    "get_updater",
    "register",
]
