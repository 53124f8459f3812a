"""Learning rate schedulers."""

from gluonish.lr_scheduler.scheduler import (
    CosineScheduler,
    FactorScheduler,
    InverseRootScheduler,
    LinearScheduler,
    LRScheduler,
    MultiFactorScheduler,
    PolyScheduler,
)

__all__ = [
    "CosineScheduler",
    "FactorScheduler",
    "InverseRootScheduler",
    "LRScheduler",
    "LinearScheduler",
    "MultiFactorScheduler",
    "PolyScheduler",
]
