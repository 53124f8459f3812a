"""All optimizers, under the name of MXNet's module."""

from gluonish.ndarray import abs as NDabs
from gluonish.optimizer.adadelta import AdaDelta
from gluonish.optimizer.adagrad import AdaGrad
from gluonish.optimizer.adam import Adam, AdamW
from gluonish.optimizer.adamax import Adamax
from gluonish.optimizer.base import Optimizer, create, register
from gluonish.optimizer.dcasgd import DCASGD
from gluonish.optimizer.ftml import FTML
from gluonish.optimizer.ftrl import Ftrl
from gluonish.optimizer.lamb import LAMB
from gluonish.optimizer.lans import LANS
from gluonish.optimizer.lars import LARS
from gluonish.optimizer.lbsgd import LBSGD
from gluonish.optimizer.nadam import Nadam
from gluonish.optimizer.nag import NAG
from gluonish.optimizer.rmsprop import RMSProp
from gluonish.optimizer.sgd import SGD, ccSGD
from gluonish.optimizer.sgld import SGLD
from gluonish.optimizer.signum import Signum
from gluonish.optimizer.test import Test
from gluonish.optimizer.updater import Updater, get_updater

__all__ = [
    "DCASGD",
    "FTML",
    "LAMB",
    "LANS",
    "LARS",
    "LBSGD",
    "NAG",
    "SGD",
    "SGLD",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Ftrl",
    "NDabs",
    "Nadam",
    "Optimizer",
    "RMSProp",
    "Signum",
    "Test",
    "Updater",
    "ccSGD",
    "create",
    "get_updater",
    "register",
]
