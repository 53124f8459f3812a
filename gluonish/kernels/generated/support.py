"""What generated kernels offer besides those of operators: fused operators and optimizer steps."""

from gluonish.core.loading import load
from gluonish.kernels.back_ends import Passes, Support
from gluonish.kernels.generated.register import enabled

_PASSES = (
    "fuse_log_softmax_pick",
    "fuse_rnn",
    "split_batch_norm",
    "drop_bias_gradient",
    "widen_products",
    "fuse_pointwise",
)


def _passes() -> Passes:
    return {name: {} for name in _PASSES} if enabled() else {}


SUPPORT = Support(
    _passes,
    optimizer_step=lambda: load("gluonish.kernels.generated.optimizer").fused_step,
)
