"""oneDNN's `Support`: graph passes that fuse layers with the operators that follow them."""

from gluonish.core.config import MXNET_SUBGRAPH_BACKEND
from gluonish.kernels.back_ends import Passes, Support
from gluonish.kernels.onednn.register import enabled

_PASSES = ("fuse_batch_norm_relu", "fold_batch_norm", "move_strides", "fuse_primitives")


def _passes() -> Passes:
    on = MXNET_SUBGRAPH_BACKEND.value != "NONE" and enabled()
    return {name: {} for name in _PASSES} if on else {}


SUPPORT = Support(_passes)
