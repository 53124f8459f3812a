"""What generated kernels offer besides those of operators: fused operators and optimizer steps."""

from gluonish.core.loading import load
from gluonish.kernels.back_ends import Passes, Support
from gluonish.kernels.generated.expressions import aligned_shape, supports
from gluonish.kernels.generated.register import enabled

_PASSES = (
    "fuse_log_softmax_pick",
    "fuse_rnn",
    "split_batch_norm",
    "drop_bias_gradient",
    "widen_products",
)


def _passes() -> Passes:
    if not enabled():
        return {}
    fusion = {"supports": supports, "aligned_shape": aligned_shape}
    return {**{name: {} for name in _PASSES}, "fuse_pointwise": fusion}


SUPPORT = Support(
    _passes,
    optimizer_step=lambda: load("gluonish.kernels.generated.optimizer").fused_step,
)
