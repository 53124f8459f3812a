"""FullyConnected that adds an array to its result and applies a function to it."""

from gluonish.core.schema import boolean
from gluonish.ops.dense import FULLY_CONNECTED
from gluonish.ops.fused.operator import register_fused

__all__ = ["FUSED_DENSE"]

FUSED_DENSE = register_fused(
    FULLY_CONNECTED,
    "_fused_dense",
    "activation(FullyConnected(data, weight, bias) + addend).\n\n"
    "Inputs and attributes of FullyConnected; addend, with with_sum, has the shape of the output,\n"
    "whose memory may be the addend's. alpha and beta are parameters of the activation: the\n"
    "slope of leaky and elu, the ends of clip, the factor in swish. packed says that the weight rarely\n"
    "changes, so that a kernel may rearrange it ahead.",
    packed=boolean(False),
)
