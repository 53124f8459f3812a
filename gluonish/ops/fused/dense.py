"""FullyConnected that adds an array to its result and applies a function to it."""

from gluonish.core.schema import boolean
from gluonish.ops.fused.operator import register_fused
from gluonish.ops.nn.dense import FULLY_CONNECTED

FUSED_DENSE = register_fused(
    FULLY_CONNECTED,
    "_fused_dense",
    (
        "activation(FullyConnected(data, weight, bias) + addend).\n\n"
        "Inputs and attributes of FullyConnected; addend, with with_sum, has the shape of\n"
        "the output, whose memory may be the addend's. alpha and beta are parameters of the\n"
        "activation: the slope of leaky and elu, the bounds of clip, the factor in swish.\n"
        "packed says that the weight rarely changes, so that a kernel may rearrange it in\n"
        "advance."
    ),
    packed=boolean(False),
)
