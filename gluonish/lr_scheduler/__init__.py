"""Learning rate schedulers."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
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
    "CosineScheduler",
    "FactorScheduler",
    "InverseRootScheduler",
    "LRScheduler",
    "LinearScheduler",
    "MultiFactorScheduler",
    "PolyScheduler",
]
