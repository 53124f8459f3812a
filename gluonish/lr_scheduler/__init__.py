"""Learning rate schedulers."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.lr_scheduler.combined import ChainedScheduler, SequentialScheduler
from gluonish.lr_scheduler.cycles import (
    CosineRestartScheduler,
    ExponentialScheduler,
    OneCycleScheduler,
)
from gluonish.lr_scheduler.plateau import ReduceLROnPlateau
from gluonish.lr_scheduler.scheduler import (
    CosineScheduler,
    FactorScheduler,
    InverseRootScheduler,
    LinearScheduler,
    LRScheduler,
    MultiFactorScheduler,
    PolyScheduler,
)

if not TYPE_CHECKING:
    __getattr__ = _attach(__name__)  # advice about unknown names

__all__ = [
    "ChainedScheduler",
    "CosineRestartScheduler",
    "CosineScheduler",
    "ExponentialScheduler",
    "FactorScheduler",
    "InverseRootScheduler",
    "LRScheduler",
    "LinearScheduler",
    "MultiFactorScheduler",
    "OneCycleScheduler",
    "PolyScheduler",
    "ReduceLROnPlateau",
    "SequentialScheduler",
]
