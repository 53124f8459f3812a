"""Optimizer steps beyond those of `gluonish.ops.optimizer_update`."""

from gluonish.ops.updates.ftml import FTML, FTML_UPDATE
from gluonish.ops.updates.ftrl import FTRL, FTRL_UPDATE
from gluonish.ops.updates.sign import SIGNSGD_UPDATE, SIGNUM, SIGNUM_UPDATE

__all__ = [
    "FTML",
    "FTML_UPDATE",
    "FTRL",
    "FTRL_UPDATE",
    "SIGNSGD_UPDATE",
    "SIGNUM",
    "SIGNUM_UPDATE",
]
