"""Optimizer steps beyond those of `gluonish.ops.updates.update`."""

from gluonish.ops.updates.adaptive import ADADELTA, ADAMAX, NADAM
from gluonish.ops.updates.delayed import DCASGD, DCASGD_MOMENTUM
from gluonish.ops.updates.ftml import FTML, FTML_STEPS, FTML_UPDATE
from gluonish.ops.updates.ftrl import FTRL, FTRL_UPDATE
from gluonish.ops.updates.layerwise import LANS, LARS, LARS_MOMENTUM
from gluonish.ops.updates.sign import (
    SIGNSGD,
    SIGNSGD_UPDATE,
    SIGNUM,
    SIGNUM_STEPS,
    SIGNUM_UPDATE,
)

__all__ = [
    "ADADELTA",
    "ADAMAX",
    "DCASGD",
    "DCASGD_MOMENTUM",
    "FTML",
    "FTML_STEPS",
    "FTML_UPDATE",
    "FTRL",
    "FTRL_UPDATE",
    "LANS",
    "LARS",
    "LARS_MOMENTUM",
    "NADAM",
    "SIGNSGD",
    "SIGNSGD_UPDATE",
    "SIGNUM",
    "SIGNUM_STEPS",
    "SIGNUM_UPDATE",
]
