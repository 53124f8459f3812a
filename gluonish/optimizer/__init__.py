"""Optimizers, and the updaters that keep their states."""

from gluonish.optimizer.adagrad import AdaGrad
from gluonish.optimizer.adam import Adam, AdamW
from gluonish.optimizer.lamb import LAMB
from gluonish.optimizer.nag import NAG
from gluonish.optimizer.optimizer import Optimizer, create, register
from gluonish.optimizer.rmsprop import RMSProp
from gluonish.optimizer.sgd import SGD, ccSGD
from gluonish.optimizer.updater import Updater, get_updater

__all__ = [
    "LAMB",
    "NAG",
    "SGD",
    "AdaGrad",
    "Adam",
    "AdamW",
    "Optimizer",
    "RMSProp",
    "Updater",
    "ccSGD",
    "create",
    "get_updater",
    "register",
]
