"""The `Support` of generated kernels: graph passes and fused optimizer steps.

llvmlite is imported when the first kernel is compiled or loaded.
"""

import sys
from typing import Any

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.loading import load
from gluonish.kernels.back_ends import Passes, Support
from gluonish.kernels.compiler import available
from gluonish.kernels.generated.expressions import aligned_shape, supports

_PASSES = (
    "fuse_log_softmax_pick",
    "fuse_rnn",
    "split_batch_norm",
    "drop_bias_gradient",
    "widen_products",
)


def enabled() -> bool:
    """Whether generated kernels are switched on, and llvmlite is installed."""
    return MXNET_USE_FUSION.value and sys.byteorder == "little" and available()


def _passes() -> Passes:
    if not enabled():
        return {}
    fusion = {"supports": supports, "aligned_shape": aligned_shape}
    return {
        **{name: {} for name in _PASSES},
        "fuse_pointwise": fusion,
        "fuse_attention": {"supports": _attention_pays},
    }


def _attention_pays(*arguments: Any) -> bool:
    """Call `gluonish.kernels.generated.attention.is_faster`."""
    pays: bool = load("gluonish.kernels.generated.attention").is_faster(*arguments)
    return pays


SUPPORT = Support(
    _passes,
    optimizer_step=lambda: load("gluonish.kernels.generated.optimizer").fused_step,
)
