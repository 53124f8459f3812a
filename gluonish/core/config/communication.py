"""Communication and updates: the kvstore and the optimizer."""

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import boolean, integer

__all__ = [
    "MXNET_OPTIMIZER_AGGREGATION_SIZE",
    "MXNET_UPDATE_ON_KVSTORE",
]

MXNET_OPTIMIZER_AGGREGATION_SIZE = Flag(
    "MXNET_OPTIMIZER_AGGREGATION_SIZE",
    integer(1, 60),
    4,
    "Largest number of weights that one optimizer call updates together; unset: all of one dtype.",
)
MXNET_UPDATE_ON_KVSTORE = Flag(
    "MXNET_UPDATE_ON_KVSTORE",
    boolean(),
    True,
    "Let the Trainer update weights in the kvstore where its caller leaves that open.",
)
