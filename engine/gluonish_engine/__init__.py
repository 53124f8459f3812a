"""A dependency engine: operators run as soon as the variables they read and write allow.

Uses the standard library only, and is independent of arrays and of the environment. Start at
`create_engine`, `Engine` and `Var`.
"""

from gluonish_engine.base import BulkScope, Engine, PushHook
from gluonish_engine.errors import EngineError, Failure
from gluonish_engine.factory import create_engine
from gluonish_engine.memory_pool import (
    Block,
    MemoryPool,
    PoolStatistics,
    linear_sizes,
    power_of_two_sizes,
)
from gluonish_engine.streams import Stream
from gluonish_engine.var import Var

__all__ = [
    "Block",
    "BulkScope",
    "Engine",
    "EngineError",
    "Failure",
    "MemoryPool",
    "PoolStatistics",
    "PushHook",
    "Stream",
    "Var",
    "create_engine",
    "linear_sizes",
    "power_of_two_sizes",
]
