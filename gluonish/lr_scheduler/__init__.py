"""Learning rates that change with the number of updates."""

from gluonish.lr_scheduler.decay import CosineScheduler, PolyScheduler
from gluonish.lr_scheduler.scheduler import LRScheduler
from gluonish.lr_scheduler.steps import FactorScheduler, MultiFactorScheduler

__all__ = [
    "CosineScheduler",
    "FactorScheduler",
    "LRScheduler",
    "MultiFactorScheduler",
    "PolyScheduler",
]
