"""All optimizers, under the name of MXNet's module."""

from gluonish.ndarray import abs as NDabs
from gluonish.optimizer.adabelief import AdaBelief
from gluonish.optimizer.adafactor import Adafactor
from gluonish.optimizer.adagrad import AdaDelta, AdaGrad, RMSProp
from gluonish.optimizer.adam import Adam, Adamax, AdamW
from gluonish.optimizer.base import Optimizer, create, register
from gluonish.optimizer.ftml import FTML
from gluonish.optimizer.ftrl import Ftrl
from gluonish.optimizer.lamb import LAMB
from gluonish.optimizer.lans import LANS
from gluonish.optimizer.lars import LARS
from gluonish.optimizer.lbsgd import LBSGD
from gluonish.optimizer.lion import Lion
from gluonish.optimizer.lookahead import Lookahead
from gluonish.optimizer.muon import Muon
from gluonish.optimizer.nadam import Nadam
from gluonish.optimizer.radam import RAdam
from gluonish.optimizer.sgd import DCASGD, NAG, SGD, SGLD, ccSGD
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
    "AdaBelief",
    "AdaDelta",
    "AdaGrad",
    "Adafactor",
    "Adam",
    "AdamW",
    "Adamax",
    "Ftrl",
    "Lion",
    "Lookahead",
    "Muon",
    "NDabs",
    "Nadam",
    "Optimizer",
    "RAdam",
    "RMSProp",
    "Signum",
    "Test",
    "Updater",
    "ccSGD",
    "create",
    "get_updater",
    "register",
]
